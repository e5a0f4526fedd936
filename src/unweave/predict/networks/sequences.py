"""Read sequences of numbers or letters, and pad them to one length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.predict.predictor import dense_table


class Padded(NamedTuple):
    """Sequences side by side: an array (n, longest, d) with zeros after the end of each, and their lengths."""

    steps: NDArray[np.float64]
    lengths: NDArray[np.int64]


def are_texts(X) -> bool:
    """Whether X is a list (or an array, or a column) of texts."""
    if isinstance(X, str) or getattr(X, "ndim", 1) != 1:
        return False
    try:
        return len(X) > 0 and all(isinstance(one, str) for one in X)
    except TypeError:
        return False


def pad_texts(texts, alphabet: str) -> Padded:
    """Letters as ones in the place of the letter; a letter that is not in the alphabet is all zeros.

    >>> pad_texts(["ab", "b"], "ab").steps.tolist()
    [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]]
    """
    place = {letter: i for i, letter in enumerate(alphabet)}
    lengths = np.array([len(text) for text in texts])
    steps = np.zeros((len(lengths), int(lengths.max(initial=0)), len(alphabet)))
    for i, text in enumerate(texts):
        at = np.array([place.get(letter, -1) for letter in text], dtype=np.int64)
        known = np.flatnonzero(at >= 0)
        steps[i, known, at[known]] = 1.0
    return Padded(steps, lengths)


def pad_numbers(sequences) -> Padded:
    """Sequences of numbers, (length,) or (length, d) each, which may differ in length but not in d."""
    arrays = []
    for i, one in enumerate(sequences):
        try:
            array = np.asarray(one, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"sequence {i} of X does not hold numbers, or its steps differ in how many") from None
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise ValueError(f"sequence {i} of X must be an array (length,) or (length, numbers), got {array.shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"sequence {i} of X contains NaN or infinity: only finite numbers can be carried on")
        arrays.append(array)
    if not arrays:
        raise ValueError("X holds no sequence: give at least one")
    widths = {array.shape[1] for array in arrays if len(array)}
    if len(widths) != 1:
        raise ValueError(f"all steps of X must have as many numbers, got {sorted(widths)}")
    lengths = np.array([len(array) for array in arrays])
    steps = np.zeros((len(arrays), int(lengths.max()), widths.pop()))
    for i, array in enumerate(arrays):
        steps[i, : len(array)] = array.reshape(len(array), -1) if len(array) else 0.0
    return Padded(steps, lengths)


def read_numbers(estimator, X, *, reset: bool) -> Padded:
    """Sequences of numbers of any kind: a table (one number a step), an array (n, steps, d), or a list of arrays."""
    if getattr(X, "ndim", 0) == 3:
        X = np.asarray(X, dtype=np.float64)
        if not np.isfinite(X).all():
            raise ValueError("X contains NaN or infinity: only finite numbers can be carried on")
        return counted(estimator, Padded(X, np.full(len(X), X.shape[1])), reset=reset)
    if isinstance(X, list | tuple) and len(X) and hasattr(X[0], "__len__") and not _is_table(X):
        return counted(estimator, pad_numbers(X), reset=reset)
    table = dense_table(estimator, X, reset=reset)
    return Padded(np.asarray(table, dtype=np.float64)[:, :, None], np.full(len(table), table.shape[1]))


def counted(estimator, padded: Padded, *, reset: bool) -> Padded:
    """Note how many numbers a step has, which for a table is told by its columns."""
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = padded.steps.shape[2]
    return padded


def _is_table(X) -> bool:
    """Whether a list is rows of plain numbers, all of one length."""
    try:
        return np.asarray(X, dtype=np.float64).ndim == 2
    except (TypeError, ValueError):
        return False
