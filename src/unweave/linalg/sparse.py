"""Sparse times dense on the pool. SciPy's product runs on one thread; this one runs on all, over disjoint rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unweave import parallel
from unweave.kernels.sparse import csr_rows_times_dense, csr_rows_times_vector

_ENTRY_WORK = 4_000_000  # multiply-adds in one kernel call: a few milliseconds
_INDEX_WORK = 16  # what finding an entry costs, in multiply-adds
_ROW_WORK = 4  # what an empty row costs, in stored entries


def row_bounds(indptr: np.ndarray, width: int) -> np.ndarray:
    """Rows at which to cut, so that the pieces hold about as many stored entries each; depends on the shape only.

    Power-law data put half of the entries into a few rows, so equal numbers of rows would leave threads idle.
    """
    rows = len(indptr) - 1
    cost = indptr + _ROW_WORK * np.arange(rows + 1, dtype=np.int64)
    pieces = int(min(max(1, cost[-1] * (width + _INDEX_WORK) // _ENTRY_WORK), 512, max(1, rows)))
    return np.unique(np.searchsorted(cost, np.linspace(0, cost[-1], pieces + 1)).clip(0, rows))


def csr_matmul(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``C = X @ B`` for X in CSR form (rows by `indptr`) and dense B (columns of X by k), on the pool.

    `indptr` is int64, `indices` int32; `data` and B share one dtype, float32 or float64, which C has too. Every row is
    summed by one thread in the order stored, so the number of threads does not change a bit.

    Examples
    --------
    >>> import numpy as np
    >>> indptr, indices = np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.int32)
    >>> csr_matmul(indptr, indices, np.array([1.0, 2.0, 3.0]), np.eye(3))
    array([[1., 0., 2.],
           [0., 3., 0.]])
    """
    rows, width = len(indptr) - 1, B.shape[1]
    out = np.empty((rows, width), dtype=data.dtype)
    if width == 1:
        call, B, target = csr_rows_times_vector, B.reshape(-1), out.reshape(-1)
    else:
        call, target = csr_rows_times_dense, out
    bounds = row_bounds(indptr, width)
    parallel.run(lambda a, b: call(indptr, indices, data, B, target, bounds[a], bounds[b]), len(bounds) - 1, 1)
    return out


def _normalised(X) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three arrays of a CSR matrix in the types the kernels are compiled for."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return (
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=dtype),
    )


class SparseProduct:
    """Products ``X @ B`` and ``X.T @ B`` of a CSR matrix, both over disjoint rows on the pool.

    The transposed copy (as large as X) is made at the first `tdot` and kept: scattering into shared rows would need
    locks or a buffer a thread, and would sum in an order that depends on the threads.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> product = SparseProduct(sparse.csr_array(np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 1.0]])))
    >>> product.dot(np.array([[1.0], [10.0]])).ravel()
    array([20.,  3., 10.])
    >>> product.tdot(np.ones((3, 1))).ravel()
    array([3., 3.])
    """

    is_dense = False

    def __init__(self, X):
        if not (sparse.issparse(X) and X.format == "csr"):
            raise TypeError(f"X must be a CSR matrix or array, got {type(X).__name__}")
        self.shape = X.shape
        self.matrix = X
        self._rows = _normalised(X)
        self._columns = None
        self.dtype = self._rows[2].dtype

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self._rows[2])

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(indptr, indices, data)`` of X: int64, int32, float."""
        return self._rows

    @property
    def columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``(indptr, indices, data)`` of X.T, made when first asked for."""
        if self._columns is None:
            indptr, indices, data = self._rows
            # One index type for both arrays, or SciPy copies them again to make them agree.
            narrow = indptr.astype(np.int32) if len(data) < 2**31 else indptr
            X = sparse.csr_array((data, indices, narrow), shape=self.shape)
            self._columns = _normalised(X.tocsc())
        return self._columns

    def _checked(self, B: np.ndarray, length: int) -> np.ndarray:
        if B.ndim != 2 or B.shape[0] != length:
            raise ValueError(f"expected an array of {length} rows, got shape {B.shape}")
        return np.ascontiguousarray(B, dtype=self.dtype)

    def dot(self, B: np.ndarray) -> np.ndarray:
        """``X @ B`` in X's dtype."""
        return csr_matmul(*self._rows, self._checked(B, self.shape[1]))

    def tdot(self, B: np.ndarray) -> np.ndarray:
        """``X.T @ B`` in X's dtype."""
        return csr_matmul(*self.columns, self._checked(B, self.shape[0]))

    def squared_norm(self) -> float:
        """``||X||^2`` in float64."""
        data = self._rows[2]
        return float(sum(parallel.run(lambda a, b: _square(data[a:b]), len(data), 1 << 18)))

    def row_squared_norms(self) -> np.ndarray:
        """``||x_i||^2`` of every row, float64."""
        indptr, _, data = self._rows
        rows = np.repeat(np.arange(self.shape[0]), np.diff(indptr))
        return np.bincount(rows, weights=np.square(data, dtype=np.float64), minlength=self.shape[0])

    def column_means(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Mean of every column, zeros included, float64; with `weights` row i counts ``weights[i]`` times."""
        indptr, indices, data = self._rows
        if weights is not None:
            data = data * np.repeat(weights, np.diff(indptr))
        total = self.shape[0] if weights is None else float(weights.sum())
        return np.bincount(indices, weights=data, minlength=self.shape[1]) / total

    def rows_times(self, factors: np.ndarray) -> SparseProduct:
        """The matrix with every row times a number of its own; which entries are stored stays the same."""
        indptr, _, data = self._rows
        scaled = (data * np.repeat(factors, np.diff(indptr))).astype(data.dtype)
        return SparseProduct(sparse.csr_array((scaled, self.matrix.indices, self.matrix.indptr), shape=self.shape))


def _square(values: np.ndarray) -> float:
    values = values.astype(np.float64, copy=False)
    return float(values @ values)
