"""Measure how far predicted ratings are from the true ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.hold_out import KnownEntries
from unweave.data.named import NamedTable
from unweave.judge.answers import Answers, is_model
from unweave.judge.matching import matched
from unweave.solve.progress import warn_user


def rmse(predicted, truth, *, given=None) -> float:
    """Compute the root mean square error, √(Σ (p − x)² / N) over the N known entries of the truth. Less is better.

    Large errors count most; it is in the units of the ratings.

    Parameters
    ----------
    predicted : array, or fitted model
        One number per entry, a dense table of the shape of `truth`, or a model, which is then asked for the entries.
    truth : array of numbers, or table of ratings
        Sparse means unobserved: only stored entries (dense: those that are not NaN) are compared. Ratings with ids
        are matched with those of a model; a warning counts the ratings of ids that it does not know.
    given : table, optional
        Known ratings of the users, for a model that was not fitted on them or that cannot predict single entries.

    Examples
    --------
    >>> import numpy as np
    >>> rmse([3.0, 5.0], [4.0, 5.0]), rmse(np.full((1, 3), 2.0), np.array([[1.0, np.nan, 2.0]]))
    (0.7071067811865476, 0.7071067811865476)
    """
    return float(np.sqrt(np.square(differences(predicted, truth, given)).mean()))


def mae(predicted, truth, *, given=None) -> float:
    """Compute the mean absolute error, Σ |p − x| / N over the N known entries of the truth. Less is better.

    As :func:`rmse`, but an error of 2 counts as two errors of 1.

    >>> mae([3.0, 5.0], [4.0, 5.0])
    0.5
    """
    return float(np.abs(differences(predicted, truth, given)).mean())


def differences(predicted, truth, given=None) -> NDArray[np.float64]:
    """Subtract the truth from the prediction at the known entries, in float64."""
    if not isinstance(truth, NamedTable) and np.ndim(truth) == 1:
        if is_model(predicted):
            raise TypeError("a model is compared with a table of ratings, not with a list of numbers")
        known, guess = _numbers(truth, "truth"), _numbers(predicted, "predicted")
        if known.shape != guess.shape:
            raise ValueError(f"predicted has shape {guess.shape}, but truth has {len(known)} entries")
    else:
        truth = _in_places(predicted, truth, given) if is_model(predicted) else truth
        entries = KnownEntries(truth, "truth")
        known = entries.values.astype(np.float64)
        guess = _at_entries(predicted, truth, entries, given)
    if not len(known):
        raise ValueError("truth has no known entry: there is nothing to compare with")
    if not np.isfinite(known).all():
        raise ValueError("truth holds NaN or infinity: leave these entries out")
    if not np.isfinite(guess).all():
        raise ValueError(f"predicted holds NaN or infinity at {int((~np.isfinite(guess)).sum())} entries to compare")
    return guess - known


def _in_places(model, truth, given):
    """Put the ids of `truth` in the places that they have in the model; say how many ratings it lacks ids for."""
    users = getattr(model, "user_ids_", None) if given is None else None
    items = getattr(model, "item_ids_", None)
    found = matched(truth, None if users is None else list(users), None if items is None else list(items))
    if found.ratings:
        warn_user(found.said("the model"))
    return found.table


def _at_entries(predicted, truth, entries: KnownEntries, given) -> NDArray:
    if is_model(predicted):
        answers = Answers(predicted, truth, given)
        return np.asarray(answers.entries(entries.rows, np.asarray(entries.columns)), dtype=np.float64)
    guess = _numbers(predicted, "predicted")
    if guess.shape == entries.shape:
        return guess[entries.rows, entries.columns]
    if guess.shape != (len(entries),):
        raise ValueError(f"predicted has shape {guess.shape}: give {len(entries)} numbers, or a table {entries.shape}")
    return guess


def _numbers(values, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers ({error})") from error
