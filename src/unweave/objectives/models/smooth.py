"""Any loss: value and gradient through the objective, in row blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models.base import RowModel, positive


def _curvature_bound(gram: NDArray, dtype: np.dtype) -> NDArray:
    top = float(np.linalg.eigvalsh(gram)[-1]) if gram.size else 0.0
    return positive(np.array([[top]]), dtype)


class SmoothRows(RowModel):
    """Rows of the table: F = U with Z fixed."""

    def __init__(self, objective, Z: NDArray):
        self.objective, self.Z = objective, np.ascontiguousarray(Z)
        self.shape, self.dtype = (objective.shape[0], Z.shape[0]), objective.dtype
        self.nonnegative, self.reweights = objective.loss.nonnegative, objective.reweights
        self.power = objective.loss.power

    def row_values(self, F):
        return self.objective.row_values(F, self.Z)

    def gradient(self, F):
        return self.objective.gradient(F, self.Z, "rows")

    @property
    def lipschitz(self):
        """λmax(Z·diag(c)·Zᵀ) with c the curvature of each prediction column, times the largest weight."""
        curvature = self.objective.curvature
        if curvature is None:
            return None
        Z = self.Z.astype(np.float64)
        return _curvature_bound((Z * curvature) @ Z.T * self.objective.heaviest, self.dtype)

    def take(self, rows):
        smaller = self.objective.take(rows)
        return None if smaller is None else SmoothRows(smaller, self.Z)

    def denominator(self, F):
        return self.objective.rising(F, self.Z, "rows")

    def majorise(self, F):
        return self.objective.majorise(F, self.Z, "rows")

    def majorise_by_sums(self, F):
        return self.objective.majorise_by_sums(F, self.Z, "rows")

    def parts(self):
        return ((a, b, SmoothRows(part, self.Z)) for a, b, part in self.objective.parts())


class SmoothColumns(RowModel):
    """Columns of the table: F = Zᵀ with U fixed."""

    def __init__(self, objective, U: NDArray):
        self.objective, self.U = objective, np.ascontiguousarray(U)
        self.shape, self.dtype = (objective.n_predictions, U.shape[1]), objective.dtype
        self.nonnegative, self.reweights = objective.loss.nonnegative, objective.reweights
        self.separable = objective.n_predictions == objective.shape[1]
        self.power = objective.loss.power

    def value(self, F):
        return float(self.objective.row_values(self.U, F.T).sum())

    def row_values(self, F):
        return self.objective.column_values(self.U, F.T)

    def gradient(self, F):
        return self.objective.gradient(self.U, F.T, "columns")

    @property
    def lipschitz(self):
        """c_j·λmax(UᵀU) for prediction column j, times the largest weight."""
        curvature = self.objective.curvature
        if curvature is None:
            return None
        top = _curvature_bound(self.U.T.astype(np.float64) @ self.U * self.objective.heaviest, self.dtype)
        return positive(top * curvature[:, None], self.dtype)

    def denominator(self, F):
        return self.objective.rising(self.U, F.T, "columns")

    def majorise(self, F):
        return self.objective.majorise(self.U, F.T, "columns")

    def majorise_by_sums(self, F):
        return self.objective.majorise_by_sums(self.U, F.T, "columns")
