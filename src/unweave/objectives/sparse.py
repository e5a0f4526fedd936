"""A sparse table whose zeros are data."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from unweave.data.storage import divide_rows, scale_rows
from unweave.linalg.products import gram, squared_norm
from unweave.linalg.sparse import SparseProduct
from unweave.losses.base import Loss
from unweave.objectives.base import BLOCK_ENTRIES, Objective
from unweave.objectives.dense import Dense
from unweave.objectives.models import Counts, Quadratic
from unweave.objectives.models.entries import EntryTable

_FEW_ZEROS = 10  # times the stored entries: up to there it is worth while to look at the zeros too


class Sparse(Objective):
    """X in CSR form; entries that are not stored are zeros and count like any other.

    Squared loss needs only products with X, KL only the stored entries; any other loss looks at dense row blocks.
    """

    fills_if_shifted = True

    def __init__(self, X: sp.csr_array, loss: Loss):
        self.X, self.loss = X, loss
        self.shape, self.dtype = X.shape, X.dtype
        self.squared = loss.is_squared
        self.reweights = loss.reweights and not self.squared and loss.width == 1

    def dense_rows(self, start, stop):
        return self.X[start:stop].toarray(), None

    def take(self, rows):
        return Sparse(self.X[rows], self.loss)

    def in_double(self):
        return Sparse(self.X.astype(np.float64, copy=False), self.loss)

    def parts(self):
        """A loss that looks at every zero does so in arrays of a few rows, as on a table that is one."""
        size = max(1, BLOCK_ENTRIES // max(1, self.shape[1]))
        for start in range(0, self.shape[0], size):
            stop = min(start + size, self.shape[0])
            yield start, stop, Dense(self.dense_rows(start, stop)[0], self.loss)

    @property
    def is_sparse(self):
        return True

    @property
    def n_multiplied(self):
        return self.X.nnz

    def column_gram(self, shift, weights=None):
        X = self.X.astype(np.float64)
        weighted = X if weights is None else scale_rows(X, weights)
        total = (X.T @ weighted).toarray()
        if shift is not None:
            sums = np.asarray(weighted.sum(axis=0)).ravel()
            n = X.shape[0] if weights is None else weights.sum()
            total += n * np.outer(shift, shift) - np.outer(sums, shift) - np.outer(shift, sums)
        return total

    def weighted_residual(self, U, Z):
        return Dense(self.X.toarray(), self.loss).weighted_residual(U, Z)

    @property
    def matrix(self):
        return self.product

    def column_sums(self):
        return np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel(), np.full(self.shape[1], float(self.shape[0]))

    def shifted(self, row):
        return Dense(self.X.toarray() - row.astype(self.dtype), self.loss) if row.any() else self

    def rows_divided(self, numbers):
        return Sparse(divide_rows(self.X, numbers), self.loss)

    def values_and_seen(self):
        return self.X.astype(np.float64), None

    def entries(self):
        return Dense(self.X.toarray(), self.loss).entries()

    @cached_property
    def product(self) -> SparseProduct:
        return SparseProduct(self.X)

    @cached_property
    def _double_product(self) -> SparseProduct:
        return SparseProduct(self.X.astype(np.float64))

    @cached_property
    def half_norm(self) -> float:
        """½‖X‖²."""
        return 0.5 * squared_norm(self.X.data[None, :])

    def row_norms(self) -> np.ndarray:
        """‖x_i‖² of every row."""
        return np.asarray(self.X.multiply(self.X).sum(axis=1), dtype=np.float64).ravel()

    def row_residuals(self, Z, mean):
        Z, mean = Z.astype(np.float64, copy=False), mean.astype(np.float64)
        total = self.row_norms() - 2 * self._double_product.dot(mean[:, None])[:, 0] + mean @ mean
        codes = self._double_product.dot(np.ascontiguousarray(Z.T)) - Z @ mean
        return np.maximum(total - np.square(codes).sum(axis=1), 0), np.maximum(total, 0)

    @property
    def seen_quickly(self):
        return _FEW_ZEROS * self.X.nnz

    def rows_given(self, Z):
        if self.squared:
            H = np.ascontiguousarray(Z.T)
            return Quadratic(
                self.product.dot(H), gram(H, dtype=np.float64), self.half_norm, self.row_norms,
                lambda: self._double_product.dot(H.astype(np.float64)),
            )  # fmt: skip
        if self.loss.zeros_in_sums:
            return Counts(self.by_row, Z.T)
        return super().rows_given(Z)

    def columns_given(self, U):
        if self.squared:
            U = np.ascontiguousarray(U)
            return Quadratic(
                self.product.tdot(U), gram(U, dtype=np.float64), self.half_norm,
                precise=lambda: self._double_product.tdot(U.astype(np.float64)),
            )  # fmt: skip
        if self.loss.zeros_in_sums:
            return Counts(self.by_column, U)
        return super().columns_given(U)

    @cached_property
    def by_row(self) -> EntryTable:
        return entry_table(self.X)

    @cached_property
    def by_column(self) -> EntryTable:
        return entry_table(self.X.T.tocsr())


def entry_table(X: sp.csr_array, weights: sp.csr_array | None = None) -> EntryTable:
    """The stored entries of a CSR table as the kernels take them."""
    kept = np.empty(0, X.dtype) if weights is None else weights.data.astype(X.dtype)
    indptr = X.indptr.astype(np.int64, copy=False)
    return EntryTable(indptr, X.indices.astype(np.int32, copy=False), X.data, kept, X.shape[1])
