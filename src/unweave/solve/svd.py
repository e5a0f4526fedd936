"""Truncated singular value decomposition, ``X - 1 shift^T ~ U diag(s) Vt``, by whichever way suits the matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from unweave import parallel
from unweave.data.storage import as_dense
from unweave.linalg.operators import as_product, small_gram, stored, weighted_operator
from unweave.linalg.products import matmul
from unweave.solve.iterate import Loop, iterate
from unweave.solve.search import Search, SVDResult, seed_of, unit_columns

_FULL = 250_000  # entries up to which LAPACK is fast enough to be the first choice
_GRAM_DENSE = 3000  # shorter side up to which the Gram and its eigenvectors are affordable
_GRAM_SPARSE = 1000
_FULL_WORK = 3e11  # n m min(n, m) up to which LAPACK may rescue an ill-conditioned Gram,
_MOST_FILLED = 20  # and how many times the stored entries it may write out for that


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
    weights: np.ndarray | None = None,
) -> SVDResult:
    """The k largest singular values of ``X - 1 shift^T`` and their vectors.

    Parameters
    ----------
    X : dense array, CSR matrix, or SparseProduct.
    k : at most ``min(X.shape)``.
    shift : row subtracted from every row without forming the result; ``"mean"`` for the column means (PCA).
    tol : for krylov (1e-3; :class:`~unweave.solve.krylov.BlockKrylov` says what it means) and power (1e-8, or 1e-5 in
        float32).
    max_iter : blocks that krylov may use (200); ``converged`` in the result says whether they were enough.
    rng : seed or generator of the random start; None is a fixed seed.
    method : ``"gram"`` (eigenvectors of the smaller Gram), ``"full"`` (LAPACK), ``"krylov"``, ``"power"``, ``"auto"``:
        full when X is small, gram when its shorter side is, else krylov; and full after all when s_k is so small that
        the Gram, whose condition is that of X squared, cannot resolve it.
    codes : False leaves U out (None).
    weights : of the rows: each is times the root of its weight, and ``"mean"`` is the weighted mean.

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
            result = _by_gram(product, k, shift, codes, weights, rescue=method == "auto")
        elif chosen == "full":
            result = _by_lapack(product, k, shift, codes, weights)
        else:
            search = Search(product, k, shift, chosen, tol, seed_of(rng), weights)
            loop = Loop(max_iter or 200, ending="out of blocks")
            state, _ = iterate(search, search.begin(), search.adapt(loop))
            result = search.result(state, codes)
    return with_signs(result, product.dtype)


def choose_method(product, k: int) -> str:
    """What ``method="auto"`` starts with."""
    n, m = product.shape
    short = min(n, m)
    if n * m <= _FULL:
        return "full"
    limit = _GRAM_DENSE if product.is_dense else _GRAM_SPARSE
    return "gram" if short <= limit or 5 * k >= short else "krylov"


def with_signs(result: SVDResult, dtype: np.dtype) -> SVDResult:
    """Signs fixed and dtype restored: the largest entry of each row of Vt becomes positive."""
    Vt, signs = np.array(result.Vt, dtype=dtype, order="C"), np.ones(len(result.Vt), dtype)
    for i, row in enumerate(Vt):  # one at a time stays in the cache
        if row[np.abs(row).argmax()] < 0:
            signs[i] = -1
            np.negative(row, out=row)
    U = None if result.U is None else result.U.astype(dtype, copy=False) * signs
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
            # float32 is reduced to a tridiagonal a tenth faster from its upper triangle; float64 is not.
            lower = G.dtype != np.float32
            chosen = [size - k, size - 1]
            return linalg.eigh(G.T, lower=lower, subset_by_index=chosen, driver="evr", check_finite=False)
        except linalg.LinAlgError:
            pass
    values, vectors = linalg.eigh(G, driver="evd", check_finite=False)
    return values[size - k :], vectors[:, size - k :]


def _by_gram(product, k: int, shift, codes: bool, weights, *, rescue: bool) -> SVDResult:
    """Eigenvectors of ``A^T A`` or ``A A^T``, whichever is smaller; the other side by one product."""
    n, m = product.shape
    single = product.dtype == np.float32
    G, shift = small_gram(product, shift, None, weights)
    values, E = top_eigen(G, k, rough=single and product.is_dense)
    if single and product.is_dense and values[-1] < 1e-3 * values[0]:
        G, shift = small_gram(product, shift, np.float64, weights)
        values, E = top_eigen(G, k)
    affordable = float(n) * m * min(n, m) <= _FULL_WORK and n * m <= _MOST_FILLED * stored(product)
    if rescue and values[-1] < 1e-8 * values[0] and affordable:
        return _by_lapack(product, k, shift, codes, weights)
    s = np.sqrt(np.maximum(values, 0.0))
    total = float(np.trace(G))
    A = weighted_operator(product, shift, weights)
    if n >= m:
        U = unit_columns(A.dot(E), s) if codes else None
        Vt = E.T
    else:
        U = E if codes else None
        Vt = unit_columns(A.tdot(E), s).T
    return SVDResult(U, s, Vt, total - float(values.sum()), True, "gram", shift, total)


def _by_lapack(product, k: int, shift, codes: bool, weights) -> SVDResult:
    """All singular values to machine precision: small matrices, and spectra that the Gram cannot resolve."""
    A = np.asarray(as_dense(product.matrix), dtype=np.float64)
    shift = product.column_means(weights) if isinstance(shift, str) else shift
    A = A if shift is None else A - np.asarray(shift, dtype=np.float64)
    A = A if weights is None else A * np.sqrt(weights)[:, None]
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
