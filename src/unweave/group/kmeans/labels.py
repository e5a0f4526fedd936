"""Work with centres that are found already: labels and losses of rows, and codes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unweave.group.kmeans.passes import assign
from unweave.group.large.blocks import RowBlocks
from unweave.linalg.products import matmul
from unweave.objectives import Objective
from unweave.penalties import OneHot
from unweave.solve.progress import warn_user
from unweave.updates import Effort, Half, Nearest

_CANCELLED = 1e-3  # a squared distance this small against its parts has lost too many digits
_AT_ONCE = 2**14


def nearest(objective: Objective, Z: NDArray) -> tuple[NDArray, NDArray]:
    """Find the nearest centre of every row and half the squared distance to it; blocks are visited once."""
    if not objective.in_blocks:
        return _nearest_in_memory(objective, Z)
    labels, losses = zip(*objective.answers(_nearest_in_block, Z), strict=True)
    return np.concatenate(labels), np.concatenate(losses)


def _nearest_in_block(block, Z: NDArray, own):
    return _nearest_in_memory(block, Z), None


def _nearest_in_memory(objective: Objective, Z: NDArray) -> tuple[NDArray, NDArray]:
    if objective.is_array:
        labels, squares = assign(objective.X, np.ascontiguousarray(Z, dtype=objective.dtype))
        return labels, 0.5 * squares.astype(np.float64)
    return nearest_by_entries(objective, Z.astype(objective.dtype, copy=False))


def nearest_by_entries(objective: Objective, centres: NDArray) -> tuple[NDArray, NDArray]:
    """Find the centre of least loss for every row (over the entries seen), and that loss."""
    model = objective.rows_given(np.ascontiguousarray(centres))
    U = Nearest()(model, np.zeros((objective.shape[0], len(centres)), dtype=objective.dtype), Half(OneHot()), Effort())
    return U.argmax(axis=1).astype(np.int32), np.maximum(model.row_losses(U), 0)


def nearest_in_blocks(rows: RowBlocks, points: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Find, for every block, the nearest of `points` to each row, and the squared distance."""
    points, n = np.ascontiguousarray(points, dtype=rows.dtype), 0
    for block in rows:
        if len(block):
            yield assign(block, points)
            n += len(block)
    if not n:
        raise ValueError("X has no rows: 0 samples; give at least one")


def total(losses: NDArray, weights: NDArray | None) -> float:
    """Add up the losses of rows, each as often as its weight says."""
    return float(losses.sum(dtype=np.float64) if weights is None else losses @ weights)


def warn_of_empty(labels: NDArray, k: int, name: str) -> None:
    """Warn where some of the k clusters hold no row; `name` is what their number is called."""
    found = len(np.unique(labels))
    if found < k:
        warn_user(
            f"only {found} of {name}={k} clusters hold rows: X has too few distinct ones; lower {name}",
            ConvergenceWarning,
        )


def any_alike(Z: NDArray) -> bool:
    """Tell whether two centres are one point up to rounding.

    >>> any_alike(np.array([[0.1, 0.2], [5.0, 5.0], [0.1, 0.1 + 0.1]])), any_alike(np.array([[0.1], [0.2]]))
    (True, False)
    """
    C = Z.astype(np.float64)
    # Equal points are neighbours along any direction; one that no grid is orthogonal to keeps others from between them.
    order = np.argsort(C @ np.cos(1.0 + np.arange(C.shape[1])), kind="stable")
    apart, size = np.abs(np.diff(C[order], axis=0)), np.abs(C).max(axis=0, initial=0.0)
    return bool((apart <= 8 * np.finfo(Z.dtype).eps * size).all(axis=1).any())


def one_hot(labels: NDArray, k: int, dtype) -> sp.csr_array:
    """Write labels as one-hot codes."""
    n = len(labels)
    return sp.csr_array((np.ones(n, dtype), labels.astype(np.int32), np.arange(n + 1)), shape=(n, k))


def all_losses(objective: Objective, Z: NDArray) -> NDArray:
    """Compute half the squared distance of every row in memory to every centre."""
    if objective.is_array:
        return _array_losses(objective.X, Z)
    ones = np.ones((objective.shape[0], 1), dtype=objective.dtype)
    models = (objective.rows_given(np.ascontiguousarray(centre[None])) for centre in Z)
    return np.column_stack([model.row_losses(ones) for model in models])


def _array_losses(X: NDArray, Z: NDArray) -> NDArray:
    """Compute |x|² − 2 x·c + |c|² about the centres' mean, and sums of squared differences where that has cancelled."""
    middle = Z.mean(axis=0)
    X, C = X - middle, Z - middle
    norms = (X * X).sum(axis=1, keepdims=True) + (C * C).sum(axis=1)
    squares = norms - 2 * matmul(X, C.T)
    rows, columns = np.nonzero(squares <= _CANCELLED * norms)
    for start in range(0, len(rows), _AT_ONCE):
        r, c = rows[start : start + _AT_ONCE], columns[start : start + _AT_ONCE]
        squares[r, c] = ((X[r] - C[c]) ** 2).sum(axis=1)
    return 0.5 * squares
