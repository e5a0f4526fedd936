"""Measure how well a model explains the table it has seen, and entries that it has not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.hold_out import Hidden, hide, known_csr
from unweave.data.table import Table
from unweave.losses import Loss, get_loss
from unweave.report.answers.errors import held_out_errors
from unweave.report.view import View, codes_of, components_of, moments, predicted, ranks

_ENTRIES = 4_000_000


def quality_facts(model: Any, view: View | None) -> dict | None:
    """Measure the share explained: of the variance for models that know means, else of the sum of squares."""
    ratio = getattr(model, "explained_variance_ratio_", None)
    if ratio is not None and hasattr(model, "noise_variance_"):
        return {"share": float(np.sum(ratio)), "of": "the variance", "seen": "every row"}
    loss = loss_of(model)
    if ranks(model):  # its scores are meant to be ordered, not compared with the table
        return None
    if view is None or view.X is None or view.n_columns > _ENTRIES or loss is None or not loss.in_data_units:
        return None
    rows = view.sample(max(1, min(view.n_rows, _ENTRIES // view.n_columns)))
    table = view.dense(rows)
    guess = predicted(model, codes_of(model, view, rows))
    if guess.shape != table.shape:
        return None
    return _explained(model, table, guess, len(rows) == view.n_rows)


def _explained(model: Any, table: np.ndarray, guess: np.ndarray, every: bool) -> dict | None:
    knows_means = hasattr(model, "mean_") or hasattr(model, "offset_") or hasattr(model, "cluster_centers_")
    known = ~np.isnan(table)
    middle = moments(table)[0] if knows_means else 0.0
    if hasattr(model, "item_bias_"):
        middle = table[known].mean()
    total = float(np.square(np.where(known, table - middle, 0)).sum())
    left = float(np.square(np.where(known, table - guess, 0)).sum())
    if not total > 0:
        return None
    return {
        "share": max(0.0, 1 - left / total),
        "of": "the variance" if knows_means else "the sum of squares",
        "seen": "every row" if every else f"{len(table):,} rows drawn at random",
    }


_OWN = (
    "A tenth of the known entries was held out while the model chose its strengths, and predicted from the rest. "
    "Less is better."
)
_SHARE = 0.1
_SECONDS = 2.0  # a guard for slow machines; work is counted, so that the same table gives the same score
_ITERATIONS = 40
_WORK = 1_200_000  # known entries × components that one fit may look at in an iteration
_LEAST = 60  # known entries below which a tenth says nothing
_COLUMNS = 400
_SPEED = {"gaussian": 1.0, "poisson": 0.8}  # of an iteration, by the noise of the loss, against the squared one


def held_out_facts(model: Any, view: View | None) -> dict:
    """Measure the errors of model and baselines on hidden entries, or give the reason why there are none."""
    own = held_out_errors(model, view)
    if own:
        scores = [[name.removeprefix("the "), error] for name, error in own.items()]
        return {"scores": scores, "unit": "Root mean square error", "how": _OWN}
    reason = _why_not(model, view)
    if reason:
        return {"skipped": reason}
    assert view is not None
    loss = loss_of(model)
    assert loss is not None
    rows, columns = _part(view, len(components_of(model)), _WORK * _SPEED.get(loss.noise, 0.05))
    table = view.dense(rows, columns)
    known = ~np.isnan(table)
    too_few = {"skipped": f"Too few known entries ({int(known.sum())}) to hide some of them."}
    try:
        hidden = hide(Table(np.where(known, table, 0.0), known), _SHARE, np.random.default_rng(2))
    except ValueError:
        return too_few
    if len(hidden.truth) < _LEAST * _SHARE:
        return too_few
    try:
        guess = _refit(model, view, hidden.seen)
    except Exception as error:  # whatever a model refuses, a report is still worth having
        return {"skipped": f"The model could not be fitted again with a tenth of the entries hidden: {error}"}
    return _compared(loss, view, hidden, guess)


def _why_not(model: Any, view: View | None) -> str:
    if view is None:
        return "The data were not at hand, so nothing could be held out."
    if ranks(model):
        return "The model ranks what a row has not yet met; it does not predict values."
    if view.X is None:
        return "The columns are of different kinds, which have no error in common."
    if "missing" not in model.get_params(deep=False) or not hasattr(model, "inverse_transform"):
        return "The model does not predict single entries, so there is nothing to compare."
    loss = loss_of(model)
    if loss is None or not (loss.in_data_units or _of_chances(loss)):
        name = "columns" if loss is None else loss.name
        return f"Predictions under the {name} loss are not numbers of the table's own units."
    m = min(view.n_columns, _COLUMNS if view.sparse and not view.unstored else view.n_columns)
    if len(components_of(model)) >= min(m, view.n_rows):
        return "There are as many components as columns or rows: they can repeat the table, not predict it."
    if view.n_columns > 200_000:
        return "The table has too many columns to fit again for a report."
    return ""


def loss_of(model: Any) -> Loss | None:
    """Return the loss of a model; squared where it has none of its own, None where each column has another."""
    loss = getattr(getattr(model, "_learned", None), "loss", None)
    if isinstance(loss, Loss):
        return loss
    try:
        return get_loss(getattr(model, "loss", "squared"))
    except ValueError:
        return None


def _of_chances(loss: Loss) -> bool:
    """Tell whether the data are 0 or 1 and predictions the chance of 1, which can be compared with them."""
    return loss.noise == "discrete" and not loss.predicts_names


def _part(view: View, k: int, work: float) -> tuple[NDArray, NDArray]:
    """Choose rows and columns to fit on: all, or as many as fit the time.

    Of a wide sparse table the fullest columns.
    """
    columns = np.arange(view.n_columns)
    if view.sparse and not view.unstored and view.n_columns > _COLUMNS:
        columns = view.fullest_columns(_COLUMNS)
    known = view.X.nnz / max(1, view.n_rows) if view.unstored else len(columns)
    most = int(min(work / max(1.0, known * (k + 2)), 20_000_000 / len(columns)))
    return view.sample(max(most, min(50, 5 * k), k + 2), seed=1), columns


def _refit(model: Any, view: View, seen: NDArray) -> NDArray:
    from sklearn.base import clone

    changes: dict[str, Any] = {"callback": _Clock(), "checkpoint": None, "verbose": False, "missing": "nan"}
    known = model.get_params(deep=False)
    changes["max_iter"] = min(_ITERATIONS, int(known.get("max_iter") or _ITERATIONS))  # None: as the solver likes
    if "n_components" in known:
        changes["n_components"] = len(components_of(model))
    choice = getattr(model, "choice_", None)
    if choice is not None:  # the number was searched for already
        changes[choice.name] = choice.best
    X: Any = seen
    if view.unstored:
        changes["missing"] = "zeros" if known.get("missing") != "auto" else "auto"
        X = known_csr(Table(seen, ~np.isnan(seen)))
    second = clone(model).set_params(**{key: value for key, value in changes.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second.fit(X)
        codes = second.codes_ if getattr(second, "codes_", None) is not None else second.transform(X)
        return predicted(second, codes)


class _Clock:
    """End a fit when its time is over; a callback."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def __call__(self, progress: Any) -> bool:
        return time.perf_counter() - self.began > _SECONDS


def _compared(loss: Loss, view: View, hidden: Hidden, guess: NDArray) -> dict[str, Any]:
    """Compare errors at the hidden entries: of the model, of column means, and of one mean."""
    seen, at = hidden.seen, (hidden.rows, hidden.columns)
    everything = float(seen[~np.isnan(seen)].mean())
    mean, _, counts = moments(seen)
    mean = np.where(counts > 0, mean, everything)
    unit, measure = _measure_for(loss)
    guesses = [("this model", guess[at]), ("mean of the column", mean[hidden.columns])]
    guesses += [("one mean for all", np.full(len(hidden.truth), everything))]
    return {
        "scores": [[name, measure(hidden.truth, values, everything)] for name, values in guesses],
        "unit": unit,
        "how": _how(view, seen.shape, len(hidden.truth)),
    }


def _root_mean_square(truth: NDArray, guess: NDArray, scale: float) -> float:
    return float(np.sqrt(np.square(guess - truth).mean()))


def _mean_absolute(truth: NDArray, guess: NDArray, scale: float) -> float:
    return float(np.abs(guess - truth).mean())


def _mean_divergence(truth: NDArray, guess: NDArray, scale: float) -> float:
    """Average the KL divergence; a guess counts as at least a hundredth of the mean, or 0 would cost infinity."""
    guess = np.maximum(guess, 0.01 * scale)
    ratio = np.where(truth > 0, truth, 1.0) / np.where(truth > 0, guess, 1.0)
    return float((truth * np.log(ratio) - truth + guess).mean())


def _measure_for(loss: Loss) -> tuple[str, Callable[[NDArray, NDArray, float], float]]:
    """Say what errors are called and how they are measured, as suits the loss."""
    if loss.noise == "poisson":
        return "Mean KL divergence", _mean_divergence
    if loss.reweights:  # absolute and Huber: losses that a few large errors do not rule
        return "Mean absolute error", _mean_absolute
    if _of_chances(loss):
        return "Root mean square of 0 or 1 less its probability", _root_mean_square
    return "Root mean square error", _root_mean_square


def _how(view: View, shape: tuple[int, int], hidden: int) -> str:
    n, m = shape
    part = "" if (n, m) == (view.n_rows, view.n_columns) else f" of a part of the table ({n:,} rows × {m:,} columns)"
    return (
        f"A tenth of the known entries{part}, {hidden:,} drawn at random, were hidden; the same model was fitted to "
        f"the rest, in at most {_ITERATIONS} iterations, and predicted them. Less is better."
    )
