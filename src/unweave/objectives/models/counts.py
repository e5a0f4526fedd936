"""KL loss on sparse counts: stored entries one by one, zeros through the sum of all predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg import counts as kernels
from unweave.linalg import entries
from unweave.losses.kl import above_zero
from unweave.objectives.models.base import RowModel
from unweave.objectives.models.entries import EntryTable


class Counts(RowModel):
    """Σ_j x_ij log(x_ij / p_ij) − x_ij + p_ij with p_ij = f_i·h_j; entries not stored have x = 0 and cost p."""

    kind = "counts"
    nonnegative = True

    def __init__(self, table: EntryTable, H: NDArray):
        self.table, self.H = table, np.ascontiguousarray(H)
        self.column_sums = H.sum(axis=0, dtype=np.float64).astype(H.dtype)
        self.shape, self.dtype = (table.n_rows, H.shape[1]), H.dtype

    def row_values(self, F):
        t = self.table
        return kernels.kl_row_values(t.indptr, t.indices, t.data, self.H, np.ascontiguousarray(F), self.column_sums)

    def gradient(self, F):
        t = self.table
        p = entries.predict_entries(t.indptr, t.indices, self.H, np.ascontiguousarray(F))
        ratio = t.data / above_zero(t.data, p)
        return self.column_sums - entries.gradient_rows(t.indptr, t.indices, ratio, self.H)

    def take(self, rows):
        return Counts(self.table.take(rows), self.H)

    def denominator(self, F):
        return np.broadcast_to(self.column_sums, F.shape)
