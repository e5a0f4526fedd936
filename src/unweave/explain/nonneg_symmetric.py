"""A symmetric table as U·Uᵀ: coordinate descent, row after row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.kernels.nonneg import symmetric_dense_range, symmetric_sparse_range
from unweave.linalg.products import gram
from unweave.objectives import Dense, Objective, Sparse
from unweave.parallel import chunks
from unweave.updates import Coordinate

_PIECE = 100_000_000  # multiply-adds in one call: a tenth of a second, so that Ctrl-C is heard


@dataclass
class SymmetricDescent:
    """½‖A − U·Uᵀ‖² over U ≥ 0: in one entry of U it is a quartic, minimised exactly; entries go round in order."""

    objective: Objective
    left = Coordinate()

    def start(self, U: NDArray) -> dict:
        """Begin at U, scaled as suits A best."""
        U = np.ascontiguousarray(U, dtype=self.objective.dtype)
        inner, square = self._products(U)
        scale = np.sqrt(max(inner, 0.0) / square) if square > 0 else 0.0
        return {"codes": U * U.dtype.type(scale or 1.0), "moved": np.inf}

    def step(self, state: dict) -> tuple[dict, float]:
        U = state["codes"].copy()
        G, A = gram(U), self.objective.X
        n, k = U.shape
        rows = max(1, _PIECE * n // max(1, k * (A.nnz if sp.issparse(A) else n * n)))
        for start, stop in chunks(n, rows):
            if sp.issparse(A):
                t = self.objective.by_row  # type: ignore[attr-defined]
                symmetric_sparse_range(t.indptr, t.indices, t.data, U, G, start, stop)
            else:
                symmetric_dense_range(A, U, G, start, stop)
        inner, square = self._products(U)
        moved = float(np.abs(U - state["codes"]).max(initial=0)) / max(float(U.max(initial=0)), 1e-300)
        return {"codes": U, "moved": moved}, max(0.0, self.objective.half_norm - inner + 0.5 * square)

    def settled(self, state: dict) -> bool:
        """Whether U stays where it is: in float32 the objective is too coarse to tell."""
        return state["moved"] <= 100 * np.finfo(self.objective.dtype).eps

    def fixed(self, state: dict) -> bool:
        return state["moved"] == 0

    def finish(self, state: dict) -> dict:
        return {"codes": state["codes"], "components": np.ascontiguousarray(state["codes"].T)}

    def _products(self, U: NDArray) -> tuple[float, float]:
        """⟨A, U·Uᵀ⟩ and ‖U·Uᵀ‖²."""
        cross = self.objective.rows_given(np.ascontiguousarray(U.T)).cross
        return float(np.einsum("ij,ij->", U, cross, dtype=np.float64)), float(np.square(gram(U)).sum())

    def residual(self, U: NDArray) -> float:
        """How far a projected gradient step moves U, relative to U; its length is 1/(3·curvature) of each column."""
        cross, G = self.objective.rows_given(np.ascontiguousarray(U.T)).cross, gram(U)
        slope = U @ G.astype(U.dtype) - cross
        moved = np.maximum(U - slope / max(3 * float(np.linalg.norm(G, 2)), 1e-300), 0) - U
        return float(np.linalg.norm(moved) / max(float(np.linalg.norm(U)), 1e-30))


def similarity(objective: Objective) -> Objective:
    """The objective of the mean of A and Aᵀ, or an error if these differ beyond rounding."""
    A = objective.X
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"X must be a square table of similarities, got the shape {A.shape}")
    gap, size = abs(A - A.T).max(), abs(A).max()
    if gap > 1e-5 * size:
        raise ValueError("X must be symmetric: similarities do not depend on the order; pass (X + X.T) / 2")
    both = 0.5 * (A + A.T)
    return (
        Sparse(sp.csr_array(both), objective.loss)
        if sp.issparse(A)
        else Dense(np.ascontiguousarray(both, dtype=objective.dtype), objective.loss)
    )
