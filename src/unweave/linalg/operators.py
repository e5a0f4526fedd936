"""One face for dense, sparse and shifted matrices: ``dot``, ``tdot``, ``shape``, ``dtype``, ``squared_norm``, means."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unweave.linalg.products import (
    _add_up,
    centred_gram,
    column_means,
    floating,
    gram,
    matmul,
    row_squared_norms,
    squared_norm,
    take_rank_one,
)
from unweave.linalg.sparse import SparseProduct


class DenseProduct:
    """Products with a dense matrix and its transpose, like :class:`~unweave.linalg.sparse.SparseProduct`."""

    is_dense = True

    def __init__(self, X: np.ndarray):
        self.matrix = X if X.dtype == floating(X.dtype) else X.astype(np.float64)
        self.shape = X.shape
        self.dtype = self.matrix.dtype

    def dot(self, B: np.ndarray) -> np.ndarray:
        """``X @ B`` in X's dtype."""
        return matmul(self.matrix, np.asarray(B, dtype=self.dtype))

    def tdot(self, B: np.ndarray) -> np.ndarray:
        """``X.T @ B`` in X's dtype."""
        return matmul(self.matrix.T, np.asarray(B, dtype=self.dtype))

    def squared_norm(self) -> float:
        """``||X||^2`` in float64."""
        return squared_norm(self.matrix)

    def column_means(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Mean of every column, float64; with `weights` row i counts ``weights[i]`` times."""
        return column_means(self.matrix, weights)


class Shifted:
    """``A = diag(roots) (X - 1 shift^T)`` without forming it: a sparse X stays sparse.

    `shift` is a row or None, `roots` a number for each row (the roots of their weights) or None.

    Examples
    --------
    >>> import numpy as np
    >>> X = DenseProduct(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> Shifted(X, np.array([2.0, 3.0])).dot(np.eye(2))
    array([[-1., -1.],
           [ 1.,  1.]])
    """

    def __init__(self, product, shift: np.ndarray | None, roots: np.ndarray | None = None):
        self.product, self.shape, self.dtype = product, product.shape, product.dtype
        self.shift = np.zeros(self.shape[1]) if shift is None else np.asarray(shift, dtype=np.float64)
        self.roots = None if roots is None else np.asarray(roots, dtype=np.float64)
        self._factors = None if self.roots is None else self.roots.astype(self.dtype)[:, None]

    def dot(self, B: np.ndarray) -> np.ndarray:
        """``A @ B = diag(roots) (X @ B - 1 (shift @ B))``."""
        found = self.product.dot(B)
        found -= (self.shift @ B).astype(self.dtype)
        if self._factors is not None:
            found *= self._factors
        return found

    def tdot(self, B: np.ndarray) -> np.ndarray:
        """``A.T @ B = X.T @ C - shift (1^T C)`` with ``C = diag(roots) B``."""
        C = B if self._factors is None else B * self._factors
        found = self.product.tdot(C)
        if self.shift.any():
            take_rank_one(found, self.shift, C.sum(axis=0, dtype=np.float64))
        return found

    def squared_norm(self) -> float:
        """``||A||^2`` in float64."""
        dense, weights = isinstance(self.product, DenseProduct), None if self.roots is None else self.roots**2
        if dense and weights is None:
            return squared_norm(self.product.matrix, shift=self.shift)
        if dense:
            return float(row_squared_norms(self.product.matrix, shift=self.shift) @ weights)
        n = float(self.shape[0] if weights is None else weights.sum())
        squares = self.product.squared_norm() if weights is None else self.product.row_squared_norms() @ weights
        cross_term = n * (self.product.column_means(weights) @ self.shift)
        return max(float(squares - 2 * cross_term + n * (self.shift @ self.shift)), 0.0)


def weighted_operator(product, shift: np.ndarray | None, weights: np.ndarray | None):
    """``X - 1 shift^T``, each row times the root of its weight: X itself where there is neither."""
    if shift is None and weights is None:
        return product
    return Shifted(product, shift, None if weights is None else np.sqrt(weights))


class Flipped:
    """The transpose of an operator."""

    def __init__(self, operator):
        self.operator, self.shape, self.dtype = operator, operator.shape[::-1], operator.dtype

    def dot(self, B: np.ndarray) -> np.ndarray:
        """``A.T @ B``."""
        return self.operator.tdot(B)

    def tdot(self, B: np.ndarray) -> np.ndarray:
        """``A @ B``."""
        return self.operator.dot(B)


def as_product(X) -> DenseProduct | SparseProduct:
    """The product object of a dense array, a SciPy sparse matrix, or one that is such an object already."""
    if isinstance(X, DenseProduct | SparseProduct):
        return X
    return SparseProduct(X.tocsr()) if sparse.issparse(X) else DenseProduct(np.asanyarray(X))


def stored(product: DenseProduct | SparseProduct) -> int:
    """How many entries are held."""
    return product.shape[0] * product.shape[1] if isinstance(product, DenseProduct) else product.nnz


def small_gram(
    product: DenseProduct | SparseProduct,
    shift: np.ndarray | str | None,
    dtype=None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """``(G, shift)``: the Gram of ``A = X - 1 shift^T`` over its shorter side, float64; `shift` may be ``"mean"``.

    G is ``A^T A`` (columns) when X has at least as many rows as columns, else ``A A^T`` (rows). With `weights` the rows
    of A are times their roots, and the mean is the weighted one.
    """
    n, m = product.shape
    if isinstance(product, DenseProduct) and n >= m and isinstance(shift, str) and weights is None:
        return centred_gram(product.matrix, dtype=dtype)[::-1]
    shift = product.column_means(weights) if isinstance(shift, str) else shift
    if isinstance(product, DenseProduct) and n >= m:
        return gram(product.matrix, shift=shift, weights=weights, dtype=dtype), shift
    if isinstance(product, DenseProduct):
        G = gram(product.matrix.T, shift=None if shift is None else shift[:, None], dtype=dtype)
    else:
        G = _sparse_gram(product, shift, weights)
    if weights is not None and n < m:
        G *= np.sqrt(np.outer(weights, weights))
    return G, shift


def _sparse_gram(product: SparseProduct, shift: np.ndarray | None, weights: np.ndarray | None) -> np.ndarray:
    """The Gram about `shift`; over columns with the weights of the rows, over rows without them."""
    n, m = product.shape
    weighted = product if weights is None or n < m else product.rows_times(np.sqrt(weights))
    G = _tall_sparse_gram(weighted.rows if n >= m else product.columns, (max(n, m), min(n, m)))
    if shift is None:
        return G
    if n >= m:  # A^T A = X^T W X - c s^T - s c^T + w s s^T with c = X^T W 1 and w the sum of the weights
        total = float(n if weights is None else weights.sum())
        outer = np.outer(total * product.column_means(weights), shift)
        return G - outer - outer.T + total * np.outer(shift, shift)
    ahead = product.dot(shift[:, None]).astype(np.float64)  # A A^T = X X^T - (Xs) 1^T - 1 (Xs)^T + s.s
    return G - ahead - ahead.T + shift @ shift


def _tall_sparse_gram(rows: tuple[np.ndarray, np.ndarray, np.ndarray], shape: tuple[int, int]) -> np.ndarray:
    """``M^T M`` in float64 for a tall CSR matrix M: sparse product, or dense blocks where rows are well filled."""
    indptr, indices, data = rows
    M = sparse.csr_array((data.astype(np.float64), indices, indptr), shape=shape)
    pairs = float(np.sum(np.diff(indptr).astype(np.float64) ** 2))
    if 20 * pairs < float(shape[0]) * shape[1] ** 2:
        return (M.T @ M).toarray()

    def block(start: int, stop: int) -> np.ndarray:
        dense = M[start:stop].toarray()
        return dense.T @ dense

    return _add_up(block, shape[0], 2048, (shape[1], shape[1]))
