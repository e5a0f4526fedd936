"""The lasso over many rows that share one dictionary: exact codes from Gram matrices, a row at a time.

References: M. Osborne, B. Presnell, B. Turlach (2000), A new approach to variable selection in least squares problems;
H. Lee, A. Battle, R. Raina, A. Ng (2007), Efficient sparse coding algorithms (feature-sign search).
"""

from __future__ import annotations

import numpy as np

from unweave import parallel
from unweave.kernels.lasso import lasso_range, sweep_range
from unweave.linalg.nnls import exact_rows
from unweave.linalg.observed import per_row

_MOST = 256  # unknowns in a support; rows that need more take the other exact method
_STEPS = 2e6  # multiplications in one call: about a millisecond
_GUESS = 16  # nonzeros that a row is taken to have when work is cut into calls
_SLACK = 16  # eps of the dtype that count as rounding
_DEPENDENT = 1e-9  # share of an atom that others leave below which the inverse of a Gram keeps too few digits
_NOISE = 1e-12  # products with the residual this much of the largest above the strength count as equal to it


def lasso_rows(
    A: np.ndarray,
    B: np.ndarray,
    F: np.ndarray,
    l1: float | np.ndarray,
    nonnegative: bool = False,
    ridge: float = 0.0,
) -> np.ndarray:
    """The minimiser of ``1/2 f B fᵀ - f·a + l1 ‖f‖₁ + ridge/2 ‖f‖²`` for every row, searched from the rows of `F`.

    a is a row of `A` (n×k), and `B` (k×k) the Gram matrix that all rows share; `l1` is one number or one for each row.
    It is made for many unknowns of which few are used: a row with s nonzeros costs about s² k / 2. Rows whose support
    would hold atoms that depend on each other go to :func:`unweave.linalg.nnls.exact_rows`.

    >>> import numpy as np
    >>> B = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> lasso_rows(np.array([[2.0, 1.5], [0.3, 0.2]]), B, np.zeros((2, 2)), 0.5).round(6) + 0.0
    array([[1.40625, 0.15625],
           [0.     , 0.     ]])
    """
    dtype = B.dtype if B.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    out, A = np.array(F, dtype=dtype, order="C"), np.ascontiguousarray(A, dtype=dtype)
    n, k = out.shape
    if A.shape != (n, k) or B.shape != (k, k):
        raise ValueError(f"F is {(n, k)}, so A must be {(n, k)} and B {(k, k)}; got {A.shape} and {B.shape}")
    gram = np.array(B, dtype=dtype, order="C")
    gram[np.diag_indices(k)] += ridge
    strengths = per_row(l1, n, np.dtype(np.float64))
    rounding, most = float(_SLACK * np.finfo(dtype).eps), min(k, _MOST)
    scalars = bool(nonnegative), most, max(rounding, _DEPENDENT), max(rounding, _NOISE)
    chunk = int(max(16, _STEPS / (_GUESS**2 / 2 * max(k, 1) + 1000)))

    def task(start: int, stop: int) -> int:
        return lasso_range(A, gram, strengths, *scalars, out, start, stop)

    if sum(parallel.run(task, n, chunk)):
        _the_rest(A, B, strengths, nonnegative, ridge, out)
    return out


def _the_rest(A, B, strengths, nonnegative: bool, ridge: float, out: np.ndarray) -> None:
    """Solve the rows that the kernel gave up, a strength at a time."""
    left = np.flatnonzero(np.isnan(out[:, 0]))
    for l1 in np.unique(strengths[left]):
        rows = left[strengths[left] == l1]
        zeros = np.zeros((len(rows), out.shape[1]), out.dtype)
        out[rows] = exact_rows(A[rows], B, zeros, float(l1), ridge, nonnegative)


def sweep_rows(
    A: np.ndarray,
    B: np.ndarray,
    norms: np.ndarray,
    F: np.ndarray,
    l1: float | np.ndarray,
    nonnegative: bool = False,
    sweeps: int = 1000,
    tol: float = 1e-8,
) -> np.ndarray:
    """As :func:`lasso_rows` by cyclic coordinate descent, until the duality gap is below ``tol ‖x‖²/2`` (in float64).

    `norms` are the squared norms of the rows of X. Unknowns that the gap proves to be zero are looked at no more.

    References: J. Friedman, T. Hastie, R. Tibshirani (2010), Regularization paths for generalized linear models via
    coordinate descent; E. Ndiaye, O. Fercoq, A. Gramfort, J. Salmon (2017), Gap safe screening rules.

    >>> import numpy as np
    >>> B = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> A, norms = np.array([[2.0, 1.5]]), np.array([4.5])
    >>> sweep_rows(A, B, norms, np.zeros((1, 2)), 0.5, tol=1e-12).round(4)
    array([[1.4063, 0.1562]])
    """
    out = np.array(F, dtype=np.float64, order="C")
    A, B = np.ascontiguousarray(A, dtype=np.float64), np.ascontiguousarray(B, dtype=np.float64)
    n, k = out.shape
    norms = np.ascontiguousarray(norms, dtype=np.float64)
    strengths = per_row(l1, n, np.dtype(np.float64))
    chunk = int(max(16, _STEPS / (_GUESS * 10 * max(k, 1) + 1000)))
    parallel.run(
        lambda a, b: sweep_range(A, B, norms, strengths, bool(nonnegative), int(sweeps), float(tol), out, a, b),
        n,
        chunk,
    )
    return out.astype(np.result_type(F), copy=False)
