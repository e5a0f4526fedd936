"""Rows and centres that are found already: labels, losses, one-hot codes, and how far centres are from their means."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unweave.linalg.products import matmul
from unweave.objectives import Blocks, Dense, Objective
from unweave.objectives.models import Quadratic
from unweave.solve.lloyd import assign
from unweave.solve.means import nearest_labels
from unweave.solve.progress import warn_user

_CANCELLED = 1e-3  # a squared distance this small against its parts has lost too many digits
_AT_ONCE = 2**14


def nearest(objective: Objective, Z: NDArray) -> tuple[NDArray, NDArray]:
    """Label and half squared distance of every row."""
    if isinstance(objective, Blocks):
        labels, losses = zip(*(nearest(block, Z) for _, _, block in objective))
        return np.concatenate(labels), np.concatenate(losses)
    if isinstance(objective, Dense) and objective.complete:
        labels, squares = assign(objective.X, np.ascontiguousarray(Z, dtype=objective.dtype))
        return labels, 0.5 * squares.astype(np.float64)
    return nearest_labels(objective, Z.astype(objective.dtype, copy=False))


def total(losses: NDArray, weights: NDArray | None) -> float:
    """Sum of the losses of rows, each as often as its weight says."""
    return float(losses.sum(dtype=np.float64) if weights is None else losses @ weights)


def warn_of_few(labels: NDArray, k: int, name: str) -> None:
    """Say so where some of the k clusters hold no row; `name` is what their number is called."""
    found = len(np.unique(labels))
    if found < k:
        warn_user(
            f"only {found} of {name}={k} clusters hold rows: X has too few distinct ones; lower {name}",
            ConvergenceWarning,
        )


def any_alike(Z: NDArray) -> bool:
    """Whether two centres are one point up to rounding.

    >>> any_alike(np.array([[0.1, 0.2], [5.0, 5.0], [0.1, 0.1 + 0.1]])), any_alike(np.array([[0.1], [0.2]]))
    (True, False)
    """
    C = Z.astype(np.float64)
    # Equal points are neighbours along any direction; one that no grid is orthogonal to keeps others from between them.
    order = np.argsort(C @ np.cos(1.0 + np.arange(C.shape[1])), kind="stable")
    apart, size = np.abs(np.diff(C[order], axis=0)), np.abs(C).max(axis=0, initial=0.0)
    return bool((apart <= 8 * np.finfo(Z.dtype).eps * size).all(axis=1).any())


def one_hot(labels: NDArray, k: int, dtype) -> sp.csr_array:
    """Labels as codes."""
    n = len(labels)
    return sp.csr_array((np.ones(n, dtype), labels.astype(np.int32), np.arange(n + 1)), shape=(n, k))


def all_losses(objective: Objective, Z: NDArray) -> NDArray:
    """Half squared distances to every centre."""
    if isinstance(objective, Dense) and objective.complete:
        return _whole_losses(objective.X, Z)
    columns = []
    for centre in Z:
        model = objective.rows_given(np.ascontiguousarray(centre[None]))
        losses = model.row_values(np.ones((objective.shape[0], 1), dtype=objective.dtype))
        columns.append(losses + 0.5 * model.row_norms() if isinstance(model, Quadratic) else losses)
    return np.column_stack(columns)


def _whole_losses(X: NDArray, Z: NDArray) -> NDArray:
    """|x|² − 2 x·c + |c|² about the centres' mean, and sums of squared differences where that has cancelled."""
    middle = Z.mean(axis=0)
    X, C = X - middle, Z - middle
    norms = (X * X).sum(axis=1, keepdims=True) + (C * C).sum(axis=1)
    squares = norms - 2 * matmul(X, C.T)
    rows, columns = np.nonzero(squares <= _CANCELLED * norms)
    for start in range(0, len(rows), _AT_ONCE):
        r, c = rows[start : start + _AT_ONCE], columns[start : start + _AT_ONCE]
        squares[r, c] = ((X[r] - C[c]) ** 2).sum(axis=1)
    return 0.5 * squares


def residual(scheme, labels: NDArray, Z: NDArray) -> float:
    """How far centres are from where their rows want them, relative to their size; rows are at their nearest centre."""
    gap = np.linalg.norm(scheme.means(labels, Z).astype(np.float64) - Z)
    return float(gap / max(float(np.linalg.norm(Z)), 1e-30))
