"""A table held as an array, whole or with entries that are missing or weighted."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.storage import divide_rows
from unweave.linalg.products import gram, matmul, row_squared_norms, squared_norm
from unweave.losses.base import Loss
from unweave.objectives.base import Objective
from unweave.objectives.models import Counts, Entries, Quadratic
from unweave.objectives.models.entries import EntryTable
from unweave.parallel import run

_ROWS = 1024  # of a piece of a table that is looked at row by row
_CONVERTED = 1 << 18  # entries of a piece of a float32 table that is converted to float64 and multiplied


class Dense(Objective):
    """X (n × m) with weights (n × m, 0 = not observed) or None. Entries that are not observed hold 0 in X."""

    def __init__(self, X: NDArray, loss: Loss, weights: NDArray | None = None):
        self.X, self.loss, self.weights = X, loss, weights
        self.shape, self.dtype = X.shape, X.dtype
        self.complete = weights is None
        self.squared = loss.is_squared
        self.reweights = loss.reweights and not self.squared and loss.width == 1

    def dense_rows(self, start, stop):
        return self.X[start:stop], None if self.weights is None else self.weights[start:stop]

    def take(self, rows):
        return Dense(self.X[rows], self.loss, None if self.weights is None else self.weights[rows])

    def in_double(self):
        weights = None if self.weights is None else self.weights.astype(np.float64, copy=False)
        return Dense(self.X.astype(np.float64, copy=False), self.loss, weights)

    @property
    def is_array(self):
        return self.complete

    def column_sums(self):
        counts = np.full(self.shape[1], float(len(self.X)))
        counts = counts if self.weights is None else np.count_nonzero(self.weights, axis=0).astype(np.float64)
        return self.X.sum(axis=0, dtype=np.float64), counts

    def shifted(self, row):
        if not row.any():
            return self
        less = self.X - row.astype(self.dtype)
        if self.weights is not None:
            less[self.weights == 0] = 0
        return Dense(less, self.loss, self.weights)

    @property
    def weighted(self):
        return self.weights is not None and self.by_row.weights.size > 0

    def rows_divided(self, numbers):
        return Dense(divide_rows(self.X, numbers), self.loss, self.weights)

    def values_and_seen(self):
        weights = None if self.weights is None else self.weights.astype(np.float64)
        return self.X.astype(np.float64), weights

    def column_gram(self, shift, weights=None):
        return gram(self.X, shift=shift, weights=weights)

    def weighted_residual(self, U, Z):
        X = self.X.astype(np.float64, copy=False)
        r = X - (U @ Z).astype(np.float64)
        w = 1.0 if self.weights is None else self.weights.astype(np.float64)
        slope = w * r
        return slope, float(np.vdot(slope, X)), float(np.vdot(slope, r)), 0.5 * float(np.vdot(w * X, X))

    def entries(self):
        table = self.by_row
        return sp.csr_array((table.data, table.indices, table.indptr), shape=self.shape)

    def seen_values(self):
        return self.X.ravel() if self.weights is None else self.X[np.broadcast_to(self.weights, self.shape) != 0]

    def mapped(self, change):
        X = change(self.X)
        X = X if self.weights is None else np.where(self.weights != 0, X, X.dtype.type(0))
        return Dense(X, self.loss, self.weights)

    @property
    def heaviest(self):
        return 1.0 if self.weights is None or not self.weights.size else float(self.weights.max())

    @cached_property
    def half_norm(self) -> float:
        """½‖X‖²."""
        return 0.5 * squared_norm(self.X)

    def row_norms(self) -> NDArray[np.float64]:
        """‖x_i‖² of every row."""
        return row_squared_norms(self.X)

    def row_residuals(self, Z, mean):
        Z, mean = Z.astype(np.float64, copy=False), mean.astype(np.float64)

        def task(start: int, stop: int) -> NDArray[np.float64]:
            C = self.X[start:stop].astype(np.float64) - mean
            return np.array([np.square(C - (C @ Z.T) @ Z).sum(axis=1), np.square(C).sum(axis=1)])

        left, total = np.concatenate(run(task, len(self.X), _ROWS) or [np.zeros((2, 0))], axis=1)
        return left, total

    @property
    def n_observed(self):
        return self.X.size if self.weights is None else int(np.count_nonzero(self.weights))

    def rows_given(self, Z):
        if self.loss.zeros_in_sums and self.complete:
            return Counts(self.counts[0], Z.T)
        if not self.squared:
            return super().rows_given(Z)
        if not self.complete:
            return Entries(self.by_row, np.ascontiguousarray(Z.T))
        B, precise = gram(Z.T, dtype=np.float64), _in_double(self.X, Z.T)
        return Quadratic(matmul(self.X, Z.T), B, self.half_norm, self.row_norms, precise)

    def columns_given(self, U):
        if self.loss.zeros_in_sums and self.complete:
            return Counts(self.counts[1], U)
        if not self.squared:
            return super().columns_given(U)
        if not self.complete:
            return Entries(self.by_column, U)
        B, precise = gram(U, dtype=np.float64), _in_double(self.X.T, U)
        return Quadratic(matmul(self.X.T, U), B, self.half_norm, precise=precise)

    @cached_property
    def by_row(self) -> EntryTable:
        return _entries(self.X, self.weights)

    @cached_property
    def by_column(self) -> EntryTable:
        return _entries(self.X.T, None if self.weights is None else self.weights.T)

    @cached_property
    def counts(self) -> tuple[EntryTable, EntryTable]:
        """The entries that are not zero, by row and by column: KL needs no others one by one."""
        seen = (self.X != 0).astype(self.dtype)
        return _entries(self.X, seen), _entries(self.X.T, seen.T)

    def majorise(self, U: NDArray, Z: NDArray, side: str) -> Entries:
        """Weighted least squares that bounds the loss and touches it at U·Z."""
        prediction = matmul(U, Z)
        bound = np.asarray(self.loss.weights(self.X, prediction), dtype=self.dtype)
        if self.weights is not None:
            bound *= self.weights
        rows = side == "rows"
        table = _reweighted(self.by_row if rows else self.by_column, bound if rows else bound.T, self.weights, rows)
        return Entries(table, np.ascontiguousarray(Z.T) if rows else U)


def _in_double(X: NDArray, H: NDArray):
    """How to multiply X·H in float64: rows of X are converted a few at a time."""

    def product() -> NDArray[np.float64]:
        wide, rows = H.astype(np.float64), max(1, _CONVERTED // max(1, X.shape[1]))
        return np.concatenate(run(lambda a, b: X[a:b].astype(np.float64) @ wide, len(X), rows))

    return product


def _entries(X: NDArray, weights: NDArray | None) -> EntryTable:
    """Observed entries of a dense table by row; weights are kept only where they differ from one."""
    n, m = X.shape
    if weights is None:
        indptr = np.arange(n + 1, dtype=np.int64) * m
        return EntryTable(indptr, np.tile(np.arange(m, dtype=np.int32), n), X.ravel(), np.empty(0, X.dtype), m)
    seen = weights != 0
    indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    kept = weights[seen].astype(X.dtype)
    kept = np.empty(0, X.dtype) if (kept == 1).all() else kept
    return EntryTable(indptr, np.nonzero(seen)[1].astype(np.int32), X[seen], kept, m)


def _reweighted(table: EntryTable, bound: NDArray, weights: NDArray | None, rows: bool) -> EntryTable:
    if weights is None:
        values = np.ascontiguousarray(bound).ravel()
    else:
        values = bound[(weights if rows else weights.T) != 0]
    return EntryTable(table.indptr, table.indices, table.data, values, table.n_columns)
