"""Truncated singular value decomposition, ``X - 1 shift^T ~ U diag(s) Vt``, by whichever way suits the matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from unweave import parallel
from unweave.linalg.operators import DenseProduct, Flipped, Shifted, as_product, small_gram
from unweave.linalg.products import gram, matmul
from unweave.solve.krylov import block_krylov
from unweave.solve.power import power_method

_FULL = 250_000  # entries up to which LAPACK is fast enough to be the first choice
_GRAM_DENSE = 3000  # shorter side up to which the Gram and its eigenvectors are affordable
_GRAM_SPARSE = 1000
_FULL_WORK = 3e11  # n m min(n, m) up to which LAPACK may rescue an ill-conditioned Gram


class SVDResult(NamedTuple):
    """``X - 1 shift^T ~ U diag(s) Vt``.

    `tail` is the sum of the squared singular values beyond k, `exact` says whether s are singular values of X up to
    rounding (gram, full) or lower bounds of them (krylov, power), `total` is ``||X - 1 shift^T||^2``.
    """

    U: np.ndarray | None
    s: np.ndarray
    Vt: np.ndarray
    tail: float
    exact: bool
    method: str
    shift: np.ndarray | None = None
    total: float = 0.0
    converged: bool = True


def truncated_svd(
    X,
    k: int,
    *,
    shift: np.ndarray | str | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    rng: np.random.Generator | int | None = None,
    method: str = "auto",
    codes: bool = True,
) -> SVDResult:
    """The k largest singular values of ``X - 1 shift^T`` and their vectors.

    Parameters
    ----------
    X : dense array, CSR matrix, or SparseProduct.
    k : at most ``min(X.shape)``.
    shift : row subtracted from every row without forming the result; ``"mean"`` for the column means (PCA).
    tol, max_iter : for krylov (1e-3, 200 blocks; :func:`~unweave.solve.krylov.block_krylov` says what tol means) and
        power (1e-8, or 1e-5 in float32; 10,000 steps).
    rng : seed or generator of the random start; None is a fixed seed.
    method : ``"gram"`` (eigenvectors of the smaller Gram), ``"full"`` (LAPACK), ``"krylov"``, ``"power"``, ``"auto"``:
        full when X is small, gram when its shorter side is, else krylov; and full after all when s_k is so small that
        the Gram, whose condition is that of X squared, cannot resolve it.
    codes : False leaves U out (None).

    The largest entry by absolute value of each row of Vt is positive.

    Reference: Halko, Martinsson, Tropp, "Finding structure with randomness" (2011); Musco and Musco (2015).

    Examples
    --------
    >>> import numpy as np
    >>> result = truncated_svd(np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]]), 2)
    >>> [round(float(value), 10) for value in result.s]
    [5.0, 3.0]
    >>> round(truncated_svd(np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]]), 1).tail, 10)
    9.0
    """
    product = as_product(X)
    if not 1 <= k <= min(product.shape):
        raise ValueError(f"k must lie between 1 and min(X.shape) = {min(product.shape)}, got {k}")
    if isinstance(shift, str) and shift != "mean":
        raise ValueError(f'shift must be a row of numbers, "mean" or None, got {shift!r}')
    if method not in ("auto", "gram", "full", "krylov", "power"):
        raise ValueError(f'method must be "auto", "gram", "full", "krylov" or "power", got {method!r}')
    chosen = choose_method(product, k) if method == "auto" else method
    with parallel.single_blas():
        if chosen == "gram":
            result = _by_gram(product, k, shift, codes, rescue=method == "auto")
        elif chosen == "full":
            result = _by_lapack(product, k, shift, codes)
        else:
            result = _by_products(product, k, shift, codes, chosen, tol, max_iter, np.random.default_rng(rng or 0))
    return _with_signs(result, product.dtype)


def choose_method(product, k: int) -> str:
    """What ``method="auto"`` starts with."""
    n, m = product.shape
    short = min(n, m)
    if n * m <= _FULL:
        return "full"
    limit = _GRAM_DENSE if isinstance(product, DenseProduct) else _GRAM_SPARSE
    return "gram" if short <= limit or 5 * k >= short else "krylov"


def _with_signs(result: SVDResult, dtype: np.dtype) -> SVDResult:
    """Signs fixed and dtype restored: the largest entry of each row of Vt becomes positive."""
    rows = np.arange(len(result.Vt))
    signs = np.sign(result.Vt[rows, np.abs(result.Vt).argmax(axis=1)])
    signs = np.where(signs == 0, 1, signs).astype(dtype)
    U = None if result.U is None else result.U.astype(dtype, copy=False) * signs
    Vt = np.ascontiguousarray(result.Vt, dtype=dtype) * signs[:, None]
    return result._replace(U=U, s=result.s.astype(dtype), Vt=Vt, tail=max(float(result.tail), 0.0))


def top_eigen(G: np.ndarray, k: int, *, rough: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The k largest eigenvalues of a symmetric float64 G, falling, and their vectors.

    `rough`: G was itself multiplied in float32, so its leading eigenvectors are found in float32 too, at half the
    cost, then improved by one subspace step and Rayleigh-Ritz in float64.
    """
    size = len(G)
    if rough and size >= 200 and 4 * k <= size:
        extra = min(size, k + max(8, k // 4))
        scale = np.abs(G).max()
        if scale > 0:
            start = _upper(G.astype(np.float32) / np.float32(scale), extra)[1].astype(np.float64)
            Q = linalg.qr(matmul(G, start), mode="economic", check_finite=False)[0]
            values, Y = linalg.eigh(Q.T @ matmul(G, Q), check_finite=False)
            return values[::-1][:k], Q @ Y[:, ::-1][:, :k]
    values, vectors = _upper(G, k)
    return values[::-1], vectors[:, ::-1]


def _upper(G: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    size = len(G)
    if 3 * k <= size:
        try:
            return linalg.eigh(G, subset_by_index=[size - k, size - 1], driver="evr", check_finite=False)
        except linalg.LinAlgError:
            pass
    values, vectors = linalg.eigh(G, driver="evd", check_finite=False)
    return values[size - k :], vectors[:, size - k :]


def _by_gram(product, k: int, shift, codes: bool, *, rescue: bool) -> SVDResult:
    """Eigenvectors of ``A^T A`` or ``A A^T``, whichever is smaller; the other side by one product."""
    n, m = product.shape
    single = product.dtype == np.float32
    G, shift = small_gram(product, shift)
    values, E = top_eigen(G, k, rough=single and isinstance(product, DenseProduct))
    if single and isinstance(product, DenseProduct) and values[-1] < 1e-3 * values[0]:
        G, shift = small_gram(product, shift, np.float64)
        values, E = top_eigen(G, k)
    if rescue and values[-1] < 1e-8 * values[0] and float(n) * m * min(n, m) <= _FULL_WORK:
        return _by_lapack(product, k, shift, codes)
    s = np.sqrt(np.maximum(values, 0.0))
    total = float(np.trace(G))
    A = product if shift is None else Shifted(product, shift)
    if n >= m:
        U = _unit_columns(A.dot(E), s) if codes else None
        Vt = E.T
    else:
        U = E if codes else None
        Vt = _unit_columns(A.tdot(E), s).T
    return SVDResult(U, s, Vt, total - float(values.sum()), True, "gram", shift, total)


def _unit_columns(W: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Columns of W at length 1; those of vanishing singular values become directions orthogonal to the others."""
    eps = np.sqrt(np.finfo(np.float64).eps) if W.dtype == np.float64 else np.finfo(np.float32).eps
    good = s > max(eps * s[0], 0.0) * 10
    lengths = np.sqrt(np.einsum("ij,ij->j", W, W, dtype=np.float64))
    unit = (W / np.where(good, lengths, 1.0)).astype(W.dtype)
    for j in np.flatnonzero(~good):
        others = np.flatnonzero(good | (np.arange(len(s)) < j))
        unit[:, j] = _orthogonal_to(unit[:, others])
    return unit


def _orthogonal_to(Q: np.ndarray) -> np.ndarray:
    v = np.random.default_rng(0).standard_normal(len(Q))
    for _ in range(3):
        v = v - Q @ (Q.T @ v)
        v /= np.linalg.norm(v)
    return v


def _by_lapack(product, k: int, shift, codes: bool) -> SVDResult:
    """All singular values to machine precision: small matrices, and spectra that the Gram cannot resolve."""
    A = product.matrix if isinstance(product, DenseProduct) else product.matrix.toarray()
    A = np.asarray(A, dtype=np.float64)
    shift = product.column_means() if isinstance(shift, str) else shift
    A = A if shift is None else A - np.asarray(shift, dtype=np.float64)
    U, s, Vt = thin_svd(A, codes)
    U = U[:, :k] if U is not None else None
    return SVDResult(U, s[:k], Vt[:k], float(s[k:] @ s[k:]), True, "full", shift, float(s @ s))


def thin_svd(A: np.ndarray, codes: bool = True) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """LAPACK's thin SVD; without codes a tall A is first reduced to its triangular factor."""
    if not codes and len(A) > 2 * A.shape[1]:
        A = linalg.qr(A, mode="r", check_finite=False)[0][: A.shape[1]]
    try:
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:  # divide and conquer fails to converge now and then; QR iteration does not
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return (U if codes else None), s, Vt


class _Normal:
    """``A^T A`` as something to multiply vectors by."""

    def __init__(self, A):
        self.A, self.shape = A, (A.shape[1], A.shape[1])

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        return self.A.tdot(self.A.dot(v.astype(self.A.dtype)[:, None]))[:, 0]


def _by_products(product, k: int, shift, codes: bool, method: str, tol, max_iter, rng) -> SVDResult:
    """Krylov or power on the shorter side, then Rayleigh-Ritz on ``W = A V``: s are the singular values of W."""
    shift = product.column_means() if isinstance(shift, str) else shift
    A = product if shift is None else Shifted(product, shift)
    total = A.squared_norm()
    wide = A.shape[0] < A.shape[1]
    side = Flipped(A) if wide else A
    if method == "krylov":
        ritz = block_krylov(side, k, total=total, tol=tol or 1e-3, max_iter=max_iter or 200, rng=rng)
        V, converged = ritz.V, ritz.converged
    else:
        floor = 1e-8 if side.dtype == np.float64 else 1e-5
        found = power_method(_Normal(side), k, tol=max(tol or 0.0, floor), max_iter=max_iter or 10_000, rng=rng)
        V, converged = found.vectors.astype(side.dtype), found.converged
    W = side.dot(V)
    values, R = linalg.eigh(gram(W), check_finite=False)
    R = np.ascontiguousarray(R[:, ::-1])
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    V = matmul(V, R.astype(V.dtype))
    if codes or wide:
        W = _unit_columns(matmul(W, R.astype(W.dtype)), s)
    U, Vt = (V, W.T) if wide else (W, V.T)
    return SVDResult(U if codes else None, s, Vt, total - float(s @ s), False, method, shift, total, converged)
