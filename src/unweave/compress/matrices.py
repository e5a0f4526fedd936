"""Tell rank, column space, null space and the error of the best approximation of a matrix, from its singular values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.data.arguments import number, whole
from unweave.data.table import check_table, refuse_blocks
from unweave.parallel import single_blas
from unweave.solve import spectrum
from unweave.solve.svd import truncated_svd

_EXACT = 1e11  # n·m·min(n, m) up to which all singular values of an array are found to the last digits


class ApproximationError(NamedTuple):
    """Errors of the best approximation of rank k: ``frobenius`` = √Σ_{i>k} s_i², ``spectral`` = s_{k+1}."""

    frobenius: float
    spectral: float


def _matrix(X):
    refuse_blocks(None, X, " function", new=True)
    return check_table(BaseEstimator(), X, None, reset=True).values


def _dense(X, what: str) -> NDArray:
    values = _matrix(X)
    if not isinstance(values, np.ndarray):
        raise ValueError(f"{what} needs X as an array, not sparse: its answer is one; pass X.toarray()")
    return values


def _rtol(rtol) -> float | None:
    return None if rtol is None else number(rtol, "rtol")


def matrix_rank(X, *, rtol=None) -> int:
    """How many rows (or columns) of X no others can be combined to: the number of singular values that are not zero.

    A singular value counts as zero up to ``rtol`` times the largest.

    Parameters
    ----------
    X : array or data frame
    rtol : float, optional
        ``max(X.shape)`` times the precision of X unless given.

    Examples
    --------
    >>> import unweave
    >>> unweave.matrix_rank([[k, 2 * k, 3 * k] for k in range(1, 7)])  # six multiples of one row
    1
    """
    with single_blas():
        return spectrum.rank(_dense(X, "matrix_rank"), rtol=_rtol(rtol))


def range_basis(X, *, rtol=None) -> NDArray:
    """Orthonormal basis of the column space of X, as columns: all that X·v can be.

    Parameters
    ----------
    X : array or data frame (n, m)
    rtol : float, optional
        As in :func:`matrix_rank`.

    Returns
    -------
    array (n, rank)

    Examples
    --------
    >>> import numpy as np, unweave
    >>> Q = unweave.range_basis([[1.0, 2.0], [2.0, 4.0]])
    >>> np.round(np.abs(Q) * 5**0.5, 6).ravel().tolist()
    [1.0, 2.0]
    """
    with single_blas():
        return spectrum.range_space(_dense(X, "range_basis"), rtol=_rtol(rtol))


def null_space(X, *, rtol=None) -> NDArray:
    """Orthonormal basis of what X takes to zero, {v : X·v = 0}, as columns: combinations of columns that cancel.

    Parameters
    ----------
    X : array or data frame (n, m)
    rtol : float, optional
        As in :func:`matrix_rank`.

    Returns
    -------
    array (m, m − rank)

    Examples
    --------
    >>> import numpy as np, unweave
    >>> N = unweave.null_space([[1.0, 2.0], [2.0, 4.0]])
    >>> N.shape, bool(np.allclose([[1.0, 2.0]] @ N, 0))
    ((2, 1), True)
    """
    with single_blas():
        return spectrum.null_space(_dense(X, "null_space"), rtol=_rtol(rtol))


def approximation_error(X, k) -> ApproximationError:
    """How far X is from the nearest matrix of rank k, in Frobenius and in spectral norm (Eckart and Young).

    Both are of singular values alone: √Σ_{i>k} s_i² and s_{k+1}. Of a large sparse X, k + 1 are searched for, and what
    is left of ‖X‖² is the rest.

    Parameters
    ----------
    X : array, sparse matrix or data frame
    k : int
        From 0 to the shorter side of X.

    Returns
    -------
    ApproximationError
        A pair (frobenius, spectral).

    Examples
    --------
    >>> import unweave
    >>> errors = unweave.approximation_error([[3, 2, 2], [2, 3, -2]], 1)  # singular values 5 and 3
    >>> round(errors.frobenius, 9), round(errors.spectral, 9)
    (3.0, 3.0)

    References
    ----------
    Eckart and Young (1936), The approximation of one matrix by another of lower rank.
    """
    values, k = _matrix(X), whole(k, "k", 0)
    if k > min(values.shape):
        raise ValueError(f"k={k} must be at most min(X.shape)={min(values.shape)}")
    if k == min(values.shape):
        return ApproximationError(0.0, 0.0)
    n, m = values.shape
    method = "full" if isinstance(values, np.ndarray) and float(n) * m * min(n, m) <= _EXACT else "auto"
    with single_blas():
        found = truncated_svd(values.astype(np.float64), k + 1, codes=False, tol=1e-6, method=method)
    after = float(found.s[k])
    return ApproximationError(float(np.hypot(np.sqrt(max(found.tail, 0.0)), after)), after)
