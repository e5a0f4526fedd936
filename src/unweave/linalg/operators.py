"""One face for dense, sparse and shifted matrices: ``dot``, ``tdot``, ``shape``, ``dtype``, ``squared_norm``, means."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unweave.linalg.products import _add_up, centred_gram, column_means, floating, gram, matmul, squared_norm
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

    def column_means(self) -> np.ndarray:
        """Mean of every column, float64."""
        return column_means(self.matrix)


class Shifted:
    """``X - 1 shift^T`` without forming it: a sparse X stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> X = DenseProduct(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> Shifted(X, np.array([2.0, 3.0])).dot(np.eye(2))
    array([[-1., -1.],
           [ 1.,  1.]])
    """

    def __init__(self, product, shift: np.ndarray):
        self.product, self.shift = product, np.asarray(shift, dtype=np.float64)
        self.shape, self.dtype = product.shape, product.dtype

    def dot(self, B: np.ndarray) -> np.ndarray:
        """``X @ B - 1 (shift @ B)``."""
        return self.product.dot(B) - (self.shift @ B).astype(self.dtype)

    def tdot(self, B: np.ndarray) -> np.ndarray:
        """``X.T @ B - shift (1^T B)``."""
        return self.product.tdot(B) - np.outer(self.shift, B.sum(axis=0, dtype=np.float64)).astype(self.dtype)

    def squared_norm(self) -> float:
        """``||X - 1 shift^T||^2`` in float64."""
        if isinstance(self.product, DenseProduct):
            return squared_norm(self.product.matrix, shift=self.shift)
        n = self.shape[0]
        cross_term = n * (self.product.column_means() @ self.shift)
        return max(self.product.squared_norm() - 2 * cross_term + n * (self.shift @ self.shift), 0.0)


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


def small_gram(
    product: DenseProduct | SparseProduct, shift: np.ndarray | str | None, dtype=None
) -> tuple[np.ndarray, np.ndarray | None]:
    """``(G, shift)``: the Gram of ``X - 1 shift^T`` over its shorter side, float64; `shift` may be ``"mean"``.

    G is ``A^T A`` (columns) when X has at least as many rows as columns, else ``A A^T`` (rows).
    """
    n, m = product.shape
    if isinstance(product, DenseProduct) and n >= m and isinstance(shift, str):
        return centred_gram(product.matrix, dtype=dtype)[::-1]
    shift = product.column_means() if isinstance(shift, str) else shift
    if isinstance(product, SparseProduct):
        return _sparse_gram(product, shift), shift
    if n >= m:
        return gram(product.matrix, shift=shift, dtype=dtype), shift
    return gram(product.matrix.T, shift=None if shift is None else shift[:, None], dtype=dtype), shift


def _sparse_gram(product: SparseProduct, shift: np.ndarray | None) -> np.ndarray:
    n, m = product.shape
    rows = product.rows if n >= m else product.columns
    G = _tall_sparse_gram(rows, (max(n, m), min(n, m)))
    if shift is None:
        return G
    if n >= m:  # A^T A = X^T X - c s^T - s c^T + n s s^T with c = X^T 1
        outer = np.outer(n * product.column_means(), shift)
        return G - outer - outer.T + n * np.outer(shift, shift)
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
