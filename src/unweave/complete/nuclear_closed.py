"""Singular-value shrinkage of a table that is observed throughout: the answer in one step."""

from __future__ import annotations

import numpy as np

from unweave.complete.sparse_plus_low_rank import LowRank
from unweave.objectives import Dense, Sparse
from unweave.solve.iterate import Loop
from unweave.solve.svd import truncated_svd
from unweave.updates import LeastSquares

_FIRST = 16  # singular values asked for at first; four times as many while all of them survive


class Shrunk:
    """min ½‖X − M‖² + τ‖M‖₊ is solved by M = U·(s − τ)₊·Vᵀ, the singular values of X less τ.

    Reference: Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion, theorem 2.1.
    """

    def __init__(self, objective: Dense | Sparse, tau: float, most: int, seed: int):
        self.objective, self.most, self.seed = objective, most, seed
        self.strengths, self.left = [tau], LeastSquares()

    def pace(self, loop: Loop) -> Loop:
        return loop.once()

    def begin(self) -> dict:
        return {}

    def step(self, state: dict) -> tuple[dict, float]:
        table = self.objective.product if isinstance(self.objective, Sparse) else self.objective.X
        k, tau = min(_FIRST, self.most), self.strengths[0]
        svd = truncated_svd(table, k, rng=self.seed)
        while svd.s[-1] > tau and k < self.most:
            k = min(4 * k, self.most)
            svd = truncated_svd(table, k, rng=self.seed)
        assert svd.U is not None
        kept = int(np.count_nonzero(svd.s > tau))
        s = svd.s.astype(np.float64)
        M = LowRank(svd.U, np.maximum(s - tau, 0.0), np.ascontiguousarray(svd.Vt.T)).cut(kept)
        value = 0.5 * max(svd.total - float(s[:kept] @ s[:kept]), 0.0) + 0.5 * kept * tau**2 + tau * float(M.s.sum())
        path = {"stage": 0, "path_rank": np.array([kept]), "path_objective": np.array([value])}
        return {**path, **M._asdict()}, value

    def finish(self, state: dict) -> dict:
        codes, components = LowRank(state["U"], state["s"], state["V"]).padded().halves()
        return {**state, "codes": codes, "components": components}
