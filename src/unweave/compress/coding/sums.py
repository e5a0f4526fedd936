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
# What rough passes are, set on patches of china.jpg: sums fade so that about a tenth of the rows seen so far count, and
# never fewer than _LEAST or _EACH for an atom; they end where a pass lowers the objective by less than _SLOW of it.
_FADING, _LEAST, _EACH, _SLOW = 10, 512, 1, 3e-4
_SINGLE = 1e-12, 1e12  # lengths of rows that float32 can square and add up


class BatchSums(FactorScheme):
    """Codes of a batch of rows, then all atoms, then the next batch: a pass over the table is a step.

    The atoms need UᵀU and UᵀX alone. The first passes over a long table are rough: these sums fade, so that the codes
    of the last few thousand rows decide, and an atom moves many times a pass; they run in float32. Later a batch that
    comes again takes its former codes out of the sums and puts the new ones in, so they always say what all rows ask
    of the atoms by their latest codes. Every half-step is then a descent of the one objective, which the sums give as
    well. A rough pass that did not lower it is taken back, so it never rises after the first pass.

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
        sums = {"gram": np.zeros((k, k)), "cross": np.zeros((k, m)), "size": 0.0}
        rough = self.batch < n and max(_LEAST, _EACH * k) < n // 2
        return {
            "components": Z, "codes": codes, **sums, "order": rng.permutation(n), "value": np.inf, "rough": rough,
            "seen": 0, "fading_gram": sums["gram"], "fading_cross": sums["cross"],
        }  # fmt: skip

    def step(self, state):
        if not state["rough"]:
            return self._whole(state)
        new, value = self._rough(state)
        if value <= state["value"]:
            return new, value
        return self._again(state)

    def _whole(self, state: dict) -> tuple[dict, float]:
        """A pass on sums over all rows."""
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
        return self._done(state, Z, {"gram": gram, "cross": cross, "size": size}, rows)

    def _rough(self, state: dict) -> tuple[dict, float]:
        """A pass on sums that fade, in float32 where the numbers allow it; the last sweep is on all rows alike."""
        (n, m), U, dtype = self.objective.shape, state["codes"], self._single()
        Z, seen, k = state["components"].astype(np.float64), state["seen"], len(state["components"])
        fading, recent = state["fading_gram"].copy(), state["fading_cross"].copy()
        gram, cross, size = np.zeros((k, k)), np.zeros((k, m)), 0.0
        l1, ridge, nonnegative = self.terms
        for start, stop in chunks(n, self.batch):
            rows = np.sort(state["order"][start:stop])
            some, H = self.objective.take(rows), Z.astype(dtype)
            assert some is not None, "a table in memory can be taken apart"
            X: Any = some.X.astype(dtype)
            codes = lasso_rows(np.asarray(X @ H.T), H @ H.T, U[rows].astype(dtype), l1, nonnegative, ridge)
            seen += len(rows)
            share = 1 - len(rows) / min(seen, max(_LEAST, _EACH * k, len(rows), seen // _FADING))
            own, both = (codes.T @ codes).astype(np.float64), np.asarray(X.T @ codes).T.astype(np.float64)
            for total, part in ((gram, own), (cross, both)):
                total += part
            for total, part in ((fading, own), (recent, both)):
                total *= share
                total += part
            size += float(np.abs(codes).sum(dtype=np.float64))
            U[rows] = codes
            sweep_atoms(fading, recent, Z, *self.ball)
        sweep_atoms(gram, cross, Z, *self.ball)
        kept = {"seen": seen, "fading_gram": fading, "fading_cross": recent}
        new, value = self._done(state | kept, Z, {"gram": gram, "cross": cross, "size": size}, rows)
        slow = state["value"] - value < _SLOW * value or seen >= _FADING * n
        return {**new, "rough": not slow}, value

    def _again(self, state: dict) -> tuple[dict, float]:
        """The codes of all rows at the atoms that the state has, then the atoms: no higher than the state, for sure."""
        Z, U = state["components"].astype(np.float64), state["codes"]
        gram, cross, size = np.zeros_like(state["gram"]), np.zeros_like(state["cross"]), 0.0
        for start, stop in chunks(len(U), self.batch):
            rows = np.sort(state["order"][start:stop])
            some = self.objective.take(rows)
            assert some is not None, "a table in memory can be taken apart"
            U[rows] = 0
            size += self._batch(some, U, rows, Z, gram, cross)
        sweep_atoms(gram, cross, Z, *self.ball)
        return self._done(state | {"rough": False}, Z, {"gram": gram, "cross": cross, "size": size}, rows)

    def _done(self, state: dict, Z: NDArray, sums: dict, rows: NDArray) -> tuple[dict, float]:
        """The state after a pass that ended with these rows, and the objective of its codes and atoms."""
        U = state["codes"]
        some = self.objective if self.batch >= len(U) else self.objective.take(rows)
        assert some is not None, "a table in memory can be taken apart"
        self._revive(some, U[rows], Z, sums["gram"])
        value = self.objective.half_norm - float(np.vdot(sums["cross"], Z))
        value = max(value + 0.5 * float(np.vdot(sums["gram"], Z @ Z.T)), 0.0) + self.terms[0] * sums["size"]
        Z = np.ascontiguousarray(Z, dtype=U.dtype)
        return {**state, **sums, "components": Z, "value": value}, value

    def _single(self) -> np.dtype:
        """float32, unless squares of the rows could leave its range."""
        size = float(np.sqrt(2 * self.objective.half_norm / self.objective.shape[0]))
        return np.dtype(np.float32) if _SINGLE[0] < size < _SINGLE[1] else self.objective.dtype

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
