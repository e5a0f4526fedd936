"""What the singular values alone tell: tails, numerical rank, range and null space, best low-rank approximation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from unweave import parallel
from unweave.data.storage import as_dense
from unweave.linalg.operators import as_product, small_gram
from unweave.solve.svd import thin_svd

_SMALL = 250_000  # entries up to which the singular values are computed directly


def squared_spectrum(X, *, shift: np.ndarray | str | None = None, weights: np.ndarray | None = None) -> np.ndarray:
    """All squared singular values of ``X - 1 shift^T``, falling, float64: eigenvalues of the smaller Gram.

    With `weights` each row is times the root of its weight.

    Examples
    --------
    >>> import numpy as np
    >>> squared_spectrum(np.array([[3.0, 0.0], [0.0, 4.0]]))
    array([16.,  9.])
    """
    product = as_product(X)
    with parallel.single_blas():
        if product.shape[0] * product.shape[1] > _SMALL:
            G, _ = small_gram(product, shift, np.float64, weights)
            return np.maximum(linalg.eigvalsh(G, check_finite=False)[::-1], 0.0)
        A = as_dense(product.matrix)
        shift = product.column_means(weights) if isinstance(shift, str) else shift
        A = np.asarray(A, dtype=np.float64) - (0.0 if shift is None else np.asarray(shift, dtype=np.float64))
        A = A if weights is None else A * np.sqrt(weights)[:, None]
        return linalg.svdvals(A, check_finite=False) ** 2


def spectrum_tail(X, ks: int | Sequence[int], shift: np.ndarray | str | None = None) -> np.ndarray:
    """``sum_{i > k} s_i^2`` for every k in `ks`, float64: twice the least objective that rank k can reach.

    Added up from the smallest eigenvalue on, never by subtraction from ``||X||^2``, so a tail keeps its digits down to
    about 1e-9 of the whole. It costs :func:`tail_flops` of the shape: meant for a shorter side of up to 2000.

    Reference: Eckart and Young, "The approximation of one matrix by another of lower rank" (1936).

    Examples
    --------
    >>> import numpy as np
    >>> spectrum_tail(np.diag([3.0, 2.0, 1.0]), [0, 1, 2, 3])
    array([14.,  5.,  1.,  0.])
    """
    values = squared_spectrum(X, shift=shift)
    tails = np.append(np.cumsum(values[::-1])[::-1], 0.0)
    return tails[np.minimum(np.atleast_1d(ks), len(values))]


def tail_flops(n: int, m: int) -> float:
    """Floating-point operations that :func:`spectrum_tail` costs for a dense n by m matrix.

    Examples
    --------
    >>> tail_flops(1000, 10)
    101333.33333333333
    """
    short = float(min(n, m))
    return n * m * short + 4 / 3 * short**3


def _tolerance(s: np.ndarray, shape: tuple[int, int], dtype: np.dtype, rtol: float | None) -> float:
    precision = np.finfo(dtype).eps if np.issubdtype(dtype, np.floating) else np.finfo(np.float64).eps
    return float(s.max(initial=0.0)) * (max(shape) * precision if rtol is None else rtol)


def rank(X: np.ndarray, *, rtol: float | None = None) -> int:
    """Number of singular values above ``rtol * s_1`` (``max(n, m)`` times machine precision unless given).

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.outer(np.arange(1, 7), [1, 2, 3]))
    1
    """
    X = np.asarray(X)
    s = linalg.svdvals(X.astype(np.float64))
    return int(np.sum(s > _tolerance(s, X.shape, X.dtype, rtol)))


def range_space(X: np.ndarray, *, rtol: float | None = None) -> np.ndarray:
    """Orthonormal basis of the column space, as columns.

    Examples
    --------
    >>> import numpy as np
    >>> range_space(np.array([[1.0, 1.0], [0.0, 0.0]])).shape
    (2, 1)
    """
    X = np.asarray(X)
    U, s, _ = thin_svd(X.astype(np.float64))
    assert U is not None
    return U[:, s > _tolerance(s, X.shape, X.dtype, rtol)]


def null_space(X: np.ndarray, *, rtol: float | None = None) -> np.ndarray:
    """Orthonormal basis of ``{v: X v = 0}``, as columns.

    Examples
    --------
    >>> import numpy as np
    >>> null_space(np.array([[1.0, 2.0], [2.0, 4.0]])).shape
    (2, 1)
    """
    X = np.asarray(X)
    _, s, Vt = linalg.svd(X.astype(np.float64), full_matrices=True)
    return Vt[int(np.sum(s > _tolerance(s, X.shape, X.dtype, rtol))) :].T


class LowRank(NamedTuple):
    """Best approximation of rank k and its errors, ``||X - X_k||_F`` and ``||X - X_k||_2 = s_{k+1}``."""

    approximation: np.ndarray
    frobenius: float
    spectral: float


def low_rank(X: np.ndarray, k: int) -> LowRank:
    """The nearest matrix of rank k (Eckart-Young): ``X_k = sum_{i <= k} s_i u_i v_i^T``.

    Examples
    --------
    >>> import numpy as np
    >>> result = low_rank(np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]]), 1)
    >>> round(result.frobenius, 10), round(result.spectral, 10)
    (3.0, 3.0)
    """
    X = np.asarray(X)
    if not 0 <= k <= min(X.shape):
        raise ValueError(f"k must lie between 0 and min(X.shape) = {min(X.shape)}, got {k}")
    U, s, Vt = thin_svd(X.astype(np.float64))
    assert U is not None
    nearest = (U[:, :k] * s[:k]) @ Vt[:k]
    nearest = nearest.astype(X.dtype if np.issubdtype(X.dtype, np.floating) else np.float64)
    return LowRank(nearest, float(np.sqrt(s[k:] @ s[k:])), float(s[k]) if k < len(s) else 0.0)
