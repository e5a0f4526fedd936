"""One non-negative orthonormal factor: every row on one half-line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.explain.nonneg_base import indicator
from unweave.objectives import Objective
from unweave.updates import LeastSquares


@dataclass
class HalfLines:
    """½‖X − F·Fᵀ·X‖² over F ≥ 0 with FᵀF = I, for F on the side of the rows or of the columns of X.

    Non-negative columns that are orthogonal share no row, so each row of F has one entry at most: rows are projected
    on half-lines d_c (the directions), each takes the line that leaves least of it, and f_c = the projections of its
    rows, at norm one. The new direction is Xᵀf_c. Both halves maximise Σ‖Xᵀf_c‖², so the objective never rises.
    Row c of ``lines`` is ‖·‖ times its direction: the other factor.
    """

    objective: Objective
    side: str
    left = LeastSquares()

    def start(self, labels: NDArray, k: int) -> dict:
        """Begin at clusters: f_c = 1/√n_c on its rows has the objective of their means."""
        F = unit_columns(indicator(labels, k, self.objective.dtype))
        return {"factor": F, "lines": self._across(F), "moved": np.inf}

    def step(self, state: dict) -> tuple[dict, float]:
        F = unit_columns(nearest_line(self._along(unit_rows(state["lines"]))))
        F = self._revived(F)
        lines = self._across(F)
        kept = float(np.einsum("ij,ij->", lines, lines, dtype=np.float64))
        moved = float(np.abs(F - state["factor"]).max(initial=0))
        return {"factor": F, "lines": lines, "moved": moved}, max(0.0, self.objective.half_norm - 0.5 * kept)

    def settled(self, state: dict) -> bool:
        """Whether the factor stays where it is: in float32 the objective is too coarse to tell."""
        return state["moved"] <= 10 * np.finfo(self.objective.dtype).eps

    def fixed(self, state: dict) -> bool:
        return state["moved"] == 0

    def finish(self, state: dict) -> dict:
        F, lines = state["factor"], state["lines"]
        if self.side == "codes":
            return {"codes": F, "components": lines}
        return {"codes": np.ascontiguousarray(lines.T), "components": np.ascontiguousarray(F.T)}

    def _along(self, D: NDArray) -> NDArray:
        """Inner products of the rows (or columns) of X with each direction."""
        given = self.objective.rows_given if self.side == "codes" else self._columns_given
        return given(D).cross

    def _columns_given(self, D: NDArray):
        return self.objective.columns_given(np.ascontiguousarray(D.T))

    def _across(self, F: NDArray) -> NDArray:
        """Fᵀ·X (or Fᵀ·Xᵀ)."""
        if self.side == "codes":
            return np.ascontiguousarray(self.objective.columns_given(F).cross.T)
        return np.ascontiguousarray(self.objective.rows_given(np.ascontiguousarray(F.T)).cross.T)

    def _revived(self, F: NDArray) -> NDArray:
        """F with a row that lies on no line given to each line that has none, as far as there are such rows."""
        counts = np.count_nonzero(F, axis=0)
        for c in np.flatnonzero(counts == 0):
            free = np.flatnonzero(~F.any(axis=1))
            if len(free):
                F[free[0], c] = 1
        return F


def nearest_line(S: NDArray) -> NDArray:
    """Of the projections of every row on each line the largest, where it is positive; zeros elsewhere."""
    best = S.argmax(axis=1)
    rows = np.arange(len(S))
    F = np.zeros_like(S)
    F[rows, best] = np.maximum(S[rows, best], 0)
    return F


def unit_columns(F: NDArray) -> NDArray:
    """Columns at norm one; empty ones stay."""
    norms = np.sqrt(np.einsum("ij,ij->j", F, F, dtype=np.float64))
    return (F / np.where(norms > 0, norms, 1)).astype(F.dtype)


def unit_rows(lines: NDArray) -> NDArray:
    """Rows at norm one; empty ones stay."""
    return np.ascontiguousarray(unit_columns(lines.T).T)
