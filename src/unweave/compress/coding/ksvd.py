"""K-SVD: each atom is improved together with the codes of the rows that use it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.solve.alternate import half_step, sides
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import choose_start, make_start, reseed
from unweave.updates import Effort, Pursuit


class KSVD(FactorScheme):
    """Greedy codes, then each atom with its own codes: a power step towards the best rank-one fit of what others leave.

    A row takes its new code only where that is better, and an atom's step never raises the loss, so the objective
    falls.

    References
    ----------
    Aharon, Elad and Bruckstein (2006), K-SVD: an algorithm for designing overcomplete dictionaries. Rubinstein,
    Zibulevsky and Elad (2008), Efficient implementation of the K-SVD algorithm.
    """

    left = Pursuit()

    def __init__(self, objective: Objective, problem: Problem):
        self.objective, self.problem = objective, problem
        self.half = sides(problem)[0]

    def begin(self, rng=None) -> dict:
        name, _ = choose_start(self.objective, self.problem)
        return self.start(make_start(self.objective, self.problem, name, np.random.default_rng(rng))[1])

    def start(self, Z: NDArray) -> dict:
        """The state at these atoms, with no codes yet."""
        lengths = np.linalg.norm(Z, axis=1, keepdims=True)
        Z = np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 0)
        return {"components": Z, "codes": np.zeros((self.objective.shape[0], len(Z)), Z.dtype)}

    def step(self, state):
        Z, U = state["components"].copy(), state["codes"]
        U = half_step(self.objective.rows_given(Z), U, self.half, self.left, Effort(), []).copy()
        for t in range(len(Z)):
            self._turn(U, Z, t)
        value = self.objective.value(U, Z)
        return {"components": reseed(self.objective, self.problem, U, Z), "codes": U}, value

    def _turn(self, U: NDArray, Z: NDArray, t: int) -> None:
        """z ← Eᵀu/‖Eᵀu‖, u ← E·z with E what all other atoms leave of the rows that use atom t; E is never formed."""
        rows = np.flatnonzero(U[:, t])
        if not rows.size:
            return
        X, mine, u = self.objective.X[rows], U[rows], U[rows, t]
        back = np.asarray(X.T @ u) - Z.T @ (mine.T @ u) + Z[t] * (u @ u)
        length = np.linalg.norm(back)
        if length > 0:
            old = Z[t].copy()
            Z[t] = back / length
            rest = mine.copy()
            rest[:, t] = 0
            new = np.asarray(X @ Z[t]) - rest @ (Z @ Z[t])
            if np.isfinite(new).all() and new.any():
                U[rows, t] = new
            else:
                Z[t] = old
