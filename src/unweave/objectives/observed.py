"""A sparse table whose stored entries are all that was observed."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from unweave.linalg import entries as kernels
from unweave.linalg.products import squared_norm
from unweave.linalg.sparse import SparseProduct
from unweave.losses.base import Loss
from unweave.objectives.base import Objective
from unweave.objectives.models import Entries
from unweave.objectives.models.entries import EntryTable
from unweave.objectives.sparse import entry_table


class Observed(Objective):
    """Stored entries of X (explicit zeros included) are data, the rest is unknown. `weights` has the same pattern."""

    complete = False
    _like: Observed | None = None  # a table with the same entries seen, whose layouts serve this one too

    def __init__(self, X: sp.csr_array, loss: Loss, weights: sp.csr_array | None = None):
        self.X, self.loss, self.weights = X, loss, weights
        self.shape, self.dtype = X.shape, X.dtype
        self.squared = loss.is_squared
        self.reweights = loss.reweights and not self.squared and loss.width == 1

    def dense_rows(self, start, stop):
        block = self.X[start:stop]
        seen = sp.csr_array((np.ones_like(block.data), block.indices, block.indptr), shape=block.shape).toarray()
        if self.weights is not None:
            seen = self.weights[start:stop].toarray()
        return block.toarray(), seen

    def take(self, rows):
        return Observed(self.X[rows], self.loss, None if self.weights is None else self.weights[rows])

    def in_double(self):
        weights = None if self.weights is None else self.weights.astype(np.float64, copy=False)
        return Observed(self.X.astype(np.float64, copy=False), self.loss, weights)

    def column_sums(self):
        m, indices = self.shape[1], self.X.indices
        return np.bincount(indices, self.X.data, m), np.bincount(indices, minlength=m).astype(np.float64)

    @property
    def is_sparse(self):
        return True

    def weighted_residual(self, U, Z):
        t = self.by_row
        x = t.data.astype(np.float64)
        r = x - self._at_entries(t, U, Z.T)
        slope = t.scaled(r)
        table = SparseProduct(sp.csr_array((slope, t.indices, t.indptr), shape=self.shape))
        return table, float(np.vdot(slope, x)), float(np.vdot(slope, r)), 0.5 * float(np.vdot(t.scaled(x), x))

    def squares(self):
        return squared_norm(self.X.data[None, :])

    def shifted(self, row):
        X = self.X
        less = X.data - row.astype(self.dtype)[X.indices]
        return Observed(sp.csr_array((less, X.indices, X.indptr), shape=X.shape), self.loss, self.weights)

    @property
    def weighted(self):
        return self.weights is not None and not (self.weights.data == 1).all()

    def values_and_seen(self):
        X = self.X.astype(np.float64)
        weights = np.ones_like(X.data) if self.weights is None else self.weights.data.astype(np.float64)
        return X, sp.csr_array((weights, X.indices, X.indptr), shape=X.shape)

    def entries(self):
        return self.X

    def seen_values(self):
        return self.X.data

    def mapped(self, change):
        X = self.X
        return Observed(sp.csr_array((change(X.data), X.indices, X.indptr), shape=X.shape), self.loss, self.weights)

    def less(self, off: np.ndarray) -> Observed:
        """The entries less something, entry by entry; the layout by column is not made anew."""
        data = self.X.data - off.astype(self.dtype)
        table = self.mapped(lambda _: data)
        table.by_row = self.by_row.with_data(data)
        table._like = self._like or self
        return table

    @cached_property
    def _column_order(self) -> np.ndarray:
        """Where each entry of the layout by column is in that by row."""
        X = self.X
        return sp.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).T.tocsr().data

    @property
    def heaviest(self):
        return 1.0 if self.weights is None or not self.weights.nnz else float(self.weights.data.max())

    @property
    def n_observed(self):
        return self.X.nnz

    def rows_given(self, Z):
        return Entries(self.by_row, np.ascontiguousarray(Z.T)) if self.squared else super().rows_given(Z)

    def columns_given(self, U):
        return Entries(self.by_column, np.ascontiguousarray(U)) if self.squared else super().columns_given(U)

    @cached_property
    def by_row(self) -> EntryTable:
        return entry_table(self.X, self.weights)

    @cached_property
    def by_column(self) -> EntryTable:
        if self._like is not None:
            return self._like.by_column.with_data(self.X.data[self._like._column_order])
        return entry_table(self.X.T.tocsr(), None if self.weights is None else self.weights.T.tocsr())

    def _at_entries(self, table: EntryTable, F, H):
        return kernels.predict_entries(table.indptr, table.indices, np.ascontiguousarray(H), np.ascontiguousarray(F))

    def row_values(self, U, Z):
        if self.loss.width != 1:
            return super().row_values(U, Z)
        table = self.by_row
        loss = table.scaled(self.loss.value(table.data, self._at_entries(table, U, Z.T)))
        return _sums(loss, table.indptr)

    def _summed(self, slope_of, U, Z, side):
        if self.loss.width != 1:
            return super()._summed(slope_of, U, Z, side)
        table, F, H = (self.by_row, U, Z.T) if side == "rows" else (self.by_column, Z.T, U)
        slope = table.scaled(slope_of(table.data, self._at_entries(table, F, H)))
        return kernels.gradient_rows(table.indptr, table.indices, slope, np.ascontiguousarray(H))

    def majorise(self, U, Z, side):
        """Weighted least squares that bounds the loss and touches it at U·Z."""
        table, F, H = (self.by_row, U, Z.T) if side == "rows" else (self.by_column, Z.T, U)
        raw = np.asarray(self.loss.weights(table.data, self._at_entries(table, F, H)), dtype=self.dtype)
        bound = table.scaled(raw)
        weighted = EntryTable(table.indptr, table.indices, table.data, bound, table.n_columns)
        return Entries(weighted, np.ascontiguousarray(H))


def observed(objective: Objective) -> Observed:
    """The entries of a table that were seen, as a list, however the table is stored."""
    return objective if isinstance(objective, Observed) else Observed(objective.entries(), objective.loss)


def _sums(values, indptr) -> np.ndarray:
    """Sum of each row's stretch of `values`, in float64; empty rows give 0."""
    total = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    return total[indptr[1:]] - total[indptr[:-1]]
