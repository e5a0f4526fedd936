"""Rows with entries of their own: least squares, coordinate sweeps, values and gradients over what was observed.

Entries are CSR (`indptr` int64, `indices` int32, `data`), with `weights` of the same length or empty for all ones. `H`
(m × k) holds the other factor with the vector of column j in row j. Work is cut at rows so that chunks hold about as
many entries each; every function gives the same bits on any number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.entries import gradient_range, nearest_range, predict_range, values_range
from unweave.kernels.entries_coordinate import coordinate_entries_range
from unweave.kernels.entries_solve import solve_range
from unweave.linalg.sparse import row_bounds


def _spread(task, indptr: NDArray, width: int) -> None:
    """Run ``task(start, stop)`` over ranges of rows with about equal numbers of entries."""
    bounds = row_bounds(indptr, width)
    parallel.run(lambda a, b: task(int(bounds[a]), int(bounds[b])), len(bounds) - 1, 1)


def solve_rows(
    indptr: NDArray, indices: NDArray, data: NDArray, weights: NDArray, H: NDArray, ridge: float | NDArray = 0.0
) -> NDArray:
    """For every row the f that minimises ½ Σ_j w_j (x_j − f·h_j)² + ½·ridge·‖f‖², by Cholesky; of several, the shortest.

    `ridge` is one number, or one for each row. Rows without entries are zero. Rows whose matrix is singular to working
    precision are solved again by their singular values, in float64.
    """
    n, k = len(indptr) - 1, H.shape[1]
    strengths = np.ascontiguousarray(np.broadcast_to(np.asarray(ridge, dtype=H.dtype), (n,)))
    out, failed = np.zeros((n, k), H.dtype), np.zeros(n, np.bool_)
    tolerance = H.dtype.type(4 * k * np.finfo(H.dtype).eps)

    def task(start, stop):
        solve_range(indptr, indices, data, weights, H, strengths, tolerance, out, failed, start, stop)

    _spread(task, indptr, k * k)
    for i in np.flatnonzero(failed):
        out[i] = _shortest(indptr, indices, data, weights, H, float(strengths[i]), i)
    return out


def _shortest(indptr, indices, data, weights, H, ridge: float, i: int) -> NDArray:
    """The least-squares solution of least norm of one row."""
    own = slice(indptr[i], indptr[i + 1])
    root = np.sqrt(weights[own].astype(np.float64)) if weights.size else 1.0
    A = H[indices[own]].astype(np.float64) * (root[:, None] if weights.size else 1.0)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    keep = s > max(A.shape) * np.finfo(H.dtype).eps * s.max(initial=0)
    return ((U.T @ (data[own] * root))[keep] * s[keep] / (s[keep] ** 2 + ridge)) @ Vt[keep]


def coordinate_rows(
    indptr: NDArray, indices: NDArray, data: NDArray, weights: NDArray, H: NDArray, F: NDArray, l1: float, ridge: float,
    nonnegative: bool, sweeps: int, tol: float,
) -> NDArray:  # fmt: skip
    """Coordinate sweeps from F on every row's own ½ Σ_j w_j (x_j − f·h_j)² + l1·‖f‖₁ + ½·ridge·‖f‖² (f ≥ 0 if asked).

    A row forms its Gram once, then sweeps; it stops after `sweeps`, or when the largest change is at most `tol` times
    its largest entry. No sweep raises the value.
    """
    out, kind = np.empty_like(F), H.dtype.type

    def task(start, stop):
        coordinate_entries_range(
            indptr, indices, data, weights, H, F, kind(l1), kind(ridge), bool(nonnegative), int(sweeps), kind(tol),
            out, start, stop,
        )  # fmt: skip

    _spread(task, indptr, H.shape[1] ** 2)
    return out


def row_values(
    indptr: NDArray, indices: NDArray, data: NDArray, weights: NDArray, H: NDArray, F: NDArray
) -> NDArray[np.float64]:
    """½ Σ_j w_j (x_j − f·h_j)² of every row."""
    out = np.empty(len(indptr) - 1)
    _spread(lambda a, b: values_range(indptr, indices, data, weights, H, F, out, a, b), indptr, H.shape[1])
    return out


def predict_entries(indptr: NDArray, indices: NDArray, H: NDArray, F: NDArray) -> NDArray:
    """f_i·h_j at every observed entry."""
    out = np.empty(len(indices), H.dtype)
    _spread(lambda a, b: predict_range(indptr, indices, H, F, out, a, b), indptr, H.shape[1])
    return out


def gradient_rows(indptr: NDArray, indices: NDArray, slopes: NDArray, H: NDArray) -> NDArray:
    """Σ_j g_ij h_j of every row, for numbers g given at the entries."""
    out, slopes = np.empty((len(indptr) - 1, H.shape[1]), H.dtype), np.ascontiguousarray(slopes, dtype=H.dtype)
    _spread(lambda a, b: gradient_range(indptr, indices, slopes, H, out, a, b), indptr, H.shape[1])
    return out


def nearest_rows(
    indptr: NDArray, indices: NDArray, data: NDArray, weights: NDArray, H: NDArray
) -> tuple[NDArray, NDArray]:
    """argmin_t Σ_j w_j (x_j − H[j, t])² over the entries of every row (the first on ties), and that minimum."""
    n = len(indptr) - 1
    labels, values = np.empty(n, np.int32), np.empty(n)
    _spread(lambda a, b: nearest_range(indptr, indices, data, weights, H, labels, values, a, b), indptr, H.shape[1])
    return labels, values
