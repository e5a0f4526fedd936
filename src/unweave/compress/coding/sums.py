"""Dictionary learning a batch of rows at a time, on sums that always hold every row once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.lasso import lasso_rows
from unweave.objectives import Objective
from unweave.parallel import chunks
from unweave.penalties.base import Penalty
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import choose_start, make_start
from unweave.updates import ActiveSet
from unweave.updates.atoms import ball_of, sweep_atoms

_SWEEPS = 5  # over the atoms where they are improved but once a pass


class BatchSums(FactorScheme):
    """Codes of a batch of rows, then all atoms, then the next batch: a pass over the table is a step.

    The atoms need UᵀU and UᵀX alone. A batch that comes again takes its former codes out of these sums and puts the
    new ones in, so they always say what all rows ask of the atoms by their latest codes. Every half-step is a descent
    of the one objective, which the sums give as well: as quick as a stochastic method, and it never rises after the
    first pass.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro (2010), Online learning for matrix factorization and sparse coding. Neal and Hinton
    (1998), A view of the EM algorithm that justifies incremental, sparse, and other variants.
    """

    reuses = ("codes",)
    left = ActiveSet()

    def __init__(self, objective: Objective, problem: Problem, batch: int):
        self.objective, self.problem, self.batch = objective, problem, batch
        terms, ball = problem.codes.separable_terms(), ball_of(problem.components)
        assert terms is not None and ball is not None, "lasso codes, atoms in balls"
        self.terms, self.ball = terms, ball

    def begin(self, rng=None) -> dict:
        rng = np.random.default_rng(rng)
        name, _ = choose_start(self.objective, self.problem)
        return self.start(make_start(self.objective, self.problem, name, rng)[1], rng)

    def start(self, Z: NDArray, rng: np.random.Generator) -> dict:
        """The state at these atoms: no row has been seen yet."""
        (n, m), k = self.objective.shape, len(Z)
        codes = np.zeros((n, k), self.objective.dtype)
        sums = {"gram": np.zeros((k, k)), "cross": np.zeros((k, m))}
        return {"components": Z, "codes": codes, **sums, "size": 0.0, "order": rng.permutation(n)}

    def step(self, state):
        Z, U, order = state["components"].astype(np.float64), state["codes"], state["order"]
        gram, cross, size = state["gram"].copy(), state["cross"].copy(), state["size"]
        once = self.batch >= len(U)
        for start, stop in chunks(len(U), self.batch):
            rows = np.sort(order[start:stop])
            some = self.objective if once else self.objective.take(rows)
            assert some is not None, "a table in memory can be taken apart"
            size += self._batch(some, U, slice(None) if once else rows, Z, gram, cross)
            for _ in range(_SWEEPS if once else 1):
                sweep_atoms(gram, cross, Z, *self.ball)
        assert some is not None, "a table has rows"
        self._revive(some, U[rows], Z, gram)
        value = self.objective.half_norm - float(np.vdot(cross, Z)) + 0.5 * float(np.vdot(gram, Z @ Z.T))
        value = max(value, 0.0) + self.terms[0] * size
        new = {"codes": U, "gram": gram, "cross": cross, "size": size, "order": order}
        return {**new, "components": np.ascontiguousarray(Z, dtype=U.dtype)}, value

    def _batch(self, some: Objective, U: NDArray, rows, Z: NDArray, gram: NDArray, cross: NDArray) -> float:
        """New codes of a batch, in place of the old in the sums; by how much ‖U‖₁ grew."""
        l1, ridge, nonnegative = self.terms
        model: Any = some.rows_given(np.ascontiguousarray(Z, dtype=U.dtype))
        old = U[rows]
        new = lasso_rows(model.cross, model.gram_cast, old, l1, nonnegative, ridge)
        more, both = new - old, new + old
        change = (more.T @ both).astype(np.float64)  # VᵀV − UᵀU = ½((V − U)ᵀ(V + U) + (V + U)ᵀ(V − U))
        gram += 0.5 * (change + change.T)
        cross += np.asarray(some.X.T @ more).T
        grown = float(np.abs(new).sum(dtype=np.float64) - np.abs(old).sum(dtype=np.float64))
        U[rows] = new
        return grown

    def _revive(self, some: Objective, U: NDArray, Z: NDArray, gram: NDArray) -> None:
        """Move atoms that no row uses to what the worst rows of the last batch leave; nothing changes now."""
        dead = np.flatnonzero(np.diag(gram) <= 0)
        if not dead.size:
            return
        losses = some.row_values(U, np.ascontiguousarray(Z, dtype=U.dtype))
        for t, i in zip(dead, np.argsort(-losses, kind="stable"), strict=False):
            row, _ = some.dense_rows(int(i), int(i) + 1)
            rest = row[0] - U[i] @ Z
            if losses[i] > 0:
                Z[t] = _at_the_edge(self.problem.components, rest)


def _at_the_edge(penalty: Penalty, row: NDArray) -> NDArray:
    inside = penalty.prox(np.asarray(row, dtype=np.float64)[None], 0.0)
    return penalty.outermost(inside)[0] if inside.any() else inside[0]
