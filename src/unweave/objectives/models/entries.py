"""Squared loss where each row has entries and weights of its own (missing or weighted data)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.linalg import entries as kernels
from unweave.objectives.models.base import RowModel, fall_along, positive, without_rounding


@dataclass(frozen=True)
class EntryTable:
    """Observed entries by row: CSR arrays, and a weight for each entry (an empty array means all ones)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray
    weights: NDArray
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of every entry."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def take(self, rows: NDArray) -> EntryTable:
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        pick = np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        weights = self.weights[pick] if self.weights.size else self.weights
        return EntryTable(indptr, self.indices[pick], self.data[pick], weights, self.n_columns)

    def with_data(self, data: NDArray) -> EntryTable:
        return EntryTable(self.indptr, self.indices, data, self.weights, self.n_columns)

    def scaled(self, values: NDArray) -> NDArray:
        """`values` at the entries, times their weights."""
        return values * self.weights if self.weights.size else values


class Entries(RowModel):
    """½ Σ_j w_ij (x_ij − f_i·h_j)² over the observed entries of each row i; H holds h_j as rows (m × k)."""

    kind = "entries"

    def __init__(self, table: EntryTable, H: NDArray):
        self.table, self.H = table, np.ascontiguousarray(H)
        self.shape, self.dtype = (table.n_rows, H.shape[1]), H.dtype

    def row_values(self, F):
        t = self.table
        return kernels.row_values(t.indptr, t.indices, t.data, t.weights, self.H, np.ascontiguousarray(F))

    def gradient(self, F):
        t = self.table
        residual = kernels.predict_entries(t.indptr, t.indices, self.H, np.ascontiguousarray(F)) - t.data
        return kernels.gradient_rows(t.indptr, t.indices, t.scaled(residual), self.H)

    @property
    def lipschitz(self):
        """Each row's bound: the trace of its Gram, Σ_j w_ij ‖h_j‖²."""
        t = self.table
        norms = np.einsum("ij,ij->i", self.H, self.H)
        weighted = t.scaled(norms[t.indices])
        sums = np.add.reduceat(np.append(weighted, 0), np.minimum(t.indptr[:-1], len(weighted)))
        sums[np.diff(t.indptr) == 0] = 0
        return positive(sums, self.dtype)[:, None]

    def in_double(self) -> Entries:
        """The same model with its numbers in float64."""
        t = self.table
        data, weights = t.data.astype(np.float64, copy=False), t.weights.astype(np.float64, copy=False)
        table = EntryTable(t.indptr, t.indices, data, weights, t.n_columns)
        return Entries(table, self.H.astype(np.float64, copy=False))

    def most_fall(self, F, ridge, nonnegative):
        model, F = self.in_double(), F.astype(np.float64, copy=False)
        t, slope = model.table, model.gradient(F) + np.reshape(ridge, (-1, 1)) * F
        if not nonnegative:
            best = kernels.solve_rows(t.indptr, t.indices, t.data, t.weights, model.H, F, ridge)
            return np.maximum(0.5 * (slope * (F - best)).sum(axis=1), 0)
        absolute = Entries(t.with_data(-np.abs(t.data)), np.abs(model.H))
        slope = without_rounding(slope, absolute.gradient(np.abs(F)))
        up = np.maximum(slope, 0)
        fall = (up * F).sum(axis=1)
        for i in np.flatnonzero((slope < 0).any(axis=1)):
            span = slice(t.indptr[i], t.indptr[i + 1])
            H = model.H[t.indices[span]]
            gram = H.T @ (H * t.weights[span, None]) if t.weights.size else H.T @ H
            fall[i] += fall_along(gram, (slope - up)[i : i + 1], ridge, True)[0]
        return fall

    def take(self, rows):
        return Entries(self.table.take(rows), self.H)

    def denominator(self, F):
        """Σ_j w_ij (f_i·h_j) h_j: right for non-negative data and factors."""
        t = self.table
        predicted = kernels.predict_entries(t.indptr, t.indices, self.H, np.ascontiguousarray(F))
        return kernels.gradient_rows(t.indptr, t.indices, t.scaled(predicted), self.H)

    def hold(self, F, held):
        if not held:
            return self
        free = [t for t in range(F.shape[1]) if t not in held]
        t = self.table
        part = kernels.predict_entries(
            t.indptr, t.indices, np.ascontiguousarray(self.H[:, held]), np.ascontiguousarray(F[:, held])
        )
        return Entries(t.with_data(t.data - part), self.H[:, free])
