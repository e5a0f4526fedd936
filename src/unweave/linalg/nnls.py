"""Least squares row by row under l1, ridge and sign constraints, solved exactly."""

from __future__ import annotations

import numpy as np

from unweave import parallel
from unweave.kernels.nnls import entries_range, shared_range
from unweave.linalg.observed import normalise, spread

_ROWS_WORK = 2e7  # multiplications in one call: about ten milliseconds


def exact_rows(
    A: np.ndarray, B: np.ndarray, F: np.ndarray, l1: float = 0.0, ridge: float = 0.0, nonnegative: bool = True
) -> np.ndarray:
    """The minimiser of ``1/2 f B fᵀ - f·a + l1 ‖f‖₁ + ridge/2 ‖f‖²`` (``f >= 0`` if `nonnegative`) for every row.

    a is a row of `A` (n×k), and `B` (k×k) the Gram matrix that all rows share. `F` says where to begin: coordinate
    descent finds most of the support in a few cheap sweeps, but takes without end where components are nearly
    dependent, and the active-set method here changes the support one unknown at a time, each exactly. It works in
    float64 whatever the type of `F`. Where many rows f tie (dependent components), one that F holds already is kept.

    References: Lawson & Hanson (1974), Solving least squares problems, chapter 23; Bro & De Jong (1997), A fast
    non-negativity-constrained least squares algorithm.

    >>> import numpy as np
    >>> B = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> exact_rows(np.array([[3.0, 0.0], [3.0, 3.0]]), B, np.zeros((2, 2)))
    array([[1.5, 0. ],
           [1. , 1. ]])
    """
    out, A = np.array(F, order="C"), np.asarray(A)
    n, k = out.shape
    if A.shape != (n, k) or B.shape != (k, k):
        raise ValueError(f"F is {(n, k)}, so A must be {(n, k)} and B {(k, k)}; got {A.shape} and {B.shape}")
    B = np.array(B, dtype=np.float64, order="C")
    B[np.diag_indices(k)] += ridge
    scalars = float(l1), bool(nonnegative), max(k, 1) * np.finfo(np.float64).eps

    def task(start: int, stop: int) -> None:
        # In float64 whatever the type of the data: the kernel is compiled once.
        rows, a = out[start:stop].astype(np.float64), np.ascontiguousarray(A[start:stop], dtype=np.float64)
        shared_range(a, B, *scalars, rows, 0, stop - start)
        out[start:stop] = rows

    parallel.run(task, n, int(max(16, _ROWS_WORK / (k**3 + 100))))
    return out


def exact_entries(
    indptr, indices, data, weights, H, F, l1: float = 0.0, ridge: float = 0.0, nonnegative: bool = True
) -> np.ndarray:
    """As :func:`exact_rows` where each row sees only some entries, or weighs them, as in :mod:`unweave.linalg.entries`.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> indptr, indices, data = np.array([0, 2]), np.array([0, 1]), np.array([2.0, -1.0])
    >>> exact_entries(indptr, indices, data, None, H, np.ones((1, 2)), 0.5)
    array([[1.5, 0. ]])
    """
    # The Gram of float32 numbers does not tell components apart that these do.
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    entries = normalise(indptr, indices, np.asarray(data, np.float64), weights, np.asarray(H, np.float64))
    out = np.array(F, dtype=np.float64, order="C")
    k = out.shape[1]
    scalars = float(l1), float(ridge), bool(nonnegative), max(k, 1) * float(np.finfo(out.dtype).eps)
    spread(
        lambda start, stop: entries_range(*entries, *scalars, out, start, stop),
        entries.indptr,
        k * (k + 8),
        k**3 + 1000,
    )
    return out.astype(np.result_type(H), copy=False)
