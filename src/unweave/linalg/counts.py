"""Rows under Kullback-Leibler loss with counts in CSR: values, multiplicative updates, coordinate sweeps.

For a row f of F and the rows h_j of H (m×k), with p_j = f·h_j over all m columns, zeros included,

    KL(f) = sum_j x_j log(x_j / p_j) - x_j + p_j  =  sum over stored j of (x_j log(x_j / p_j) - x_j)  +  f·s,

where s = sum_j h_j is `column_sums`. p is floored at 1e-12 (float32) or 1e-30 (float64) times the mean of the row's
stored entries, so a row whose prediction misses a count has a large finite value, never NaN.

`indptr` is int64, `indices` int32 (others are converted), and `data`, `H`, `F` share one float dtype.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unweave import parallel
from unweave.kernels.counts import coordinate_counts_range, multiply_range, value_range

_LEAST = {np.dtype(np.float32): 1e-12, np.dtype(np.float64): 1e-30}  # floor of p, as a share of the row's mean count
_NONE = np.empty(0)


def kl_row_values(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    H: np.ndarray,
    F: np.ndarray,
    column_sums: np.ndarray,
) -> np.ndarray:
    """KL of every row, float64 (n,).

    >>> import numpy as np
    >>> H = np.array([[1.0], [2.0]])
    >>> kl_row_values(np.array([0, 1]), np.array([1]), np.array([4.0]), H, np.array([[2.0]]), H.sum(axis=0))
    array([2.])
    """
    indptr, indices, data, H, F, sums = _arrays(indptr, indices, data, H, F, column_sums)
    values = np.empty(F.shape[0])
    least = F.dtype.type(_LEAST[F.dtype])

    def task(start: int, stop: int) -> None:
        value_range(indptr, indices, data, H, F, sums, least, values, start, stop)

    _spread(task, indptr, F.shape[1], 1)
    return values


def multiply_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    H: np.ndarray,
    F: np.ndarray,
    column_sums: np.ndarray,
    l1: float = 0.0,
    ridge: float = 0.0,
    repeats: int = 1,
    tol: float = 0.0,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """Multiplicative (EM) updates of every row, `repeats` times, on KL(f) + l1 Σf + ridge/2 Σf²; a new array.

    With n_t = sum_j x_j h_jt / p_j the update is f_t ← f_t n_t / (s_t + l1), or for ridge > 0 the positive root of
    ridge f² + (s_t + l1) f - f_t n_t = 0. It never raises the objective. A zero stays zero, and so does a mass
    f_t s_t that falls below 1e-25 (float32; 1e-200 in float64) of the row's total: start from positive numbers.
    A row stops early when a repeat changes no f_t by more than `tol` times the row's largest. `values`, a float64
    array (n,), receives KL of the rows before the update, for the price of the logarithms.

    Prefer :func:`kl_rows` where zeros may come and go; use this one as the textbook update, or when the factors
    must keep their support.

    Reference: Lee & Seung (2001), Algorithms for non-negative matrix factorization.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> x = np.array([0, 2]), np.array([0, 1]), np.array([3.0, 5.0])
    >>> F = multiply_rows(*x, H, np.ones((1, 2)), H.sum(axis=0), repeats=100)
    >>> (F @ H.T).round(6)
    array([[3., 5.]])
    """
    indptr, indices, data, H, F, sums = _arrays(indptr, indices, data, H, F, column_sums)
    dtype = F.dtype.type
    out, values = np.empty_like(F), _room(values, F)
    speck = 1e-25 if dtype is np.float32 else 1e-200
    scalars = dtype(l1), dtype(ridge), int(repeats), dtype(tol), dtype(_LEAST[F.dtype]), dtype(speck)

    def task(start: int, stop: int) -> None:
        multiply_range(indptr, indices, data, H, F, sums, *scalars, out, values, start, stop)

    _spread(task, indptr, F.shape[1], repeats)
    return out


def kl_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    H: np.ndarray,
    F: np.ndarray,
    column_sums: np.ndarray,
    l1: float = 0.0,
    ridge: float = 0.0,
    sweeps: int = 2,
    tol: float = 0.0,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """Coordinate sweeps of every row f >= 0 on KL(f) + l1 Σf + ridge/2 Σf²; a new array. The fastest we know.

    Each coordinate makes a second-order step that provably does not overshoot, so nothing is ever raised and no line
    search is needed. With n = sum_j x_j h_jt / p_j, q = sum_j x_j h_jt² / p_j², g = s_t + l1 and ridge = 0 it is

        f + (n / g - 1) n / q          where n > g  (upwards; it also brings zeros back),
        f · f q / (f q + g - n)        otherwise    (downwards; quadratic convergence to zero).

    Coordinates at zero that are not pulled up when the call begins are left out of its sweeps, so the work falls as
    the rows become sparse. A downward step to a share below eps² of the row's total ends at exactly zero. A row stops
    early when a sweep changes no f_t by more than `tol` times the row's largest. `values` as in
    :func:`multiply_rows`.

    The bounds are those of the expectation step restricted to one coordinate; the scheme is the cyclic coordinate
    descent of Hsieh & Dhillon (2011), Fast coordinate descent methods with variable selection for NMF, with its
    Newton step made safe.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> x = np.array([0, 2]), np.array([0, 1]), np.array([3.0, 5.0])
    >>> F = kl_rows(*x, H, np.ones((1, 2)), H.sum(axis=0), sweeps=20)
    >>> (F @ H.T).round(6)
    array([[3., 5.]])
    """
    indptr, indices, data, H, F, sums = _arrays(indptr, indices, data, H, F, column_sums)
    dtype = F.dtype.type
    out, values = np.empty_like(F), _room(values, F)
    speck = float(np.finfo(dtype).eps) ** 2
    scalars = float(l1), float(ridge), int(sweeps), dtype(tol), dtype(_LEAST[F.dtype]), dtype(speck)

    def task(start: int, stop: int) -> None:
        coordinate_counts_range(indptr, indices, data, H, F, sums, *scalars, out, values, start, stop)

    _spread(task, indptr, F.shape[1], 5 * sweeps)
    return out


def _arrays(indptr, indices, data, H, F, column_sums) -> tuple[np.ndarray, ...]:
    """One dtype and one layout, so that every call finds the same compiled kernel."""
    F = np.ascontiguousarray(F)
    if F.dtype not in _LEAST:
        raise TypeError(f"F must be float32 or float64, got {F.dtype}")
    H = np.ascontiguousarray(H, dtype=F.dtype)
    if H.shape[1] != F.shape[1] or len(column_sums) != F.shape[1]:
        raise ValueError(f"F has {F.shape[1]} columns; H has {H.shape[1]} and column_sums {len(column_sums)}")
    if len(indptr) != F.shape[0] + 1:
        raise ValueError(f"F has {F.shape[0]} rows, the counts {len(indptr) - 1}")
    return (
        np.ascontiguousarray(indptr, dtype=np.int64),
        np.ascontiguousarray(indices, dtype=np.int32),
        np.ascontiguousarray(data, dtype=F.dtype),
        H,
        F,
        np.ascontiguousarray(column_sums, dtype=F.dtype),
    )


def _room(values: np.ndarray | None, F: np.ndarray) -> np.ndarray:
    if values is None:
        return _NONE
    if values.shape != (F.shape[0],) or values.dtype != np.float64 or not values.flags.c_contiguous:
        raise ValueError(f"values must be a contiguous float64 array of shape ({F.shape[0]},)")
    return values


def _spread(task: Callable[[int, int], object], indptr: np.ndarray, k: int, passes: int) -> None:
    """Run `task` over ranges of rows of about equal work: rows differ too much for ranges of equal length."""
    work = (indptr + 8 * np.arange(len(indptr))) * float(k * max(1, passes))  # a row costs some even when empty
    count = int(np.clip(work[-1] / 1e6, 1, max(32, work[-1] / 2e7)))
    ends = np.searchsorted(work, work[-1] * np.arange(1, count) / count)
    bounds = np.unique(np.concatenate([[0], ends, [len(indptr) - 1]]))
    parallel.run(lambda start, stop: task(int(bounds[start]), int(bounds[stop])), len(bounds) - 1, 1)
