"""K-SVD: each atom is improved together with the codes of the rows that use it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.solve.alternate import half_step, sides
from unweave.solve.iterate import Loop
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import choose_start, make_start, reseed
from unweave.updates import Effort, Pursuit

# How exchanges are tried: set on 20 planted dictionaries of 8 to 64 atoms.
_PATIENCE = 5  # passes that an exchange is given to pay
_FAILED = 4  # exchanges in a row that do not lower the objective by `tol`: enough
_SORTING = 5  # turns of sorting rows to the two halves of an atom
_WITNESSES = 4096  # rows that an atom is split by
_LEAST = 1e-9  # of the objective: a fall that counts


class KSVD(FactorScheme):
    """Greedy codes, then each atom with its own codes: a power step towards the best rank-one fit of what others leave.

    A row takes its new code only where that is better, and an atom's step never raises the loss, so the objective
    falls. It falls into poor optima, in which two atoms share the work of one while another is missing. So where a pass
    lowers the objective by less than `tol`, the atom that would be missed least (few rows use it, or another is nearly
    the same) is given up for a second half of one that stands for two, and the passes after it decide whether that
    stays.

    References
    ----------
    Aharon, Elad and Bruckstein (2006), K-SVD: an algorithm for designing overcomplete dictionaries (with the exchange
    of atoms that are rarely used or too close to others). Rubinstein, Zibulevsky and Elad (2008), Efficient
    implementation of the K-SVD algorithm.
    """

    left = Pursuit()
    ending = "no exchange of an atom pays any more"

    def __init__(self, objective: Objective, problem: Problem, tol: float = 1e-4):
        self.objective, self.problem, self.tol = objective, problem, tol
        self.half = sides(problem)[0]

    def adapt(self, loop: Loop) -> Loop:
        """The loop's limits; exchanges that all fail end it, not a pass that gains little."""
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> dict:
        name, _ = choose_start(self.objective, self.problem)
        return self.start(make_start(self.objective, self.problem, name, np.random.default_rng(rng))[1])

    def start(self, Z: NDArray) -> dict:
        """The state at these atoms, with no codes yet."""
        Z = _of_length_one(Z)
        codes = np.zeros((self.objective.shape[0], len(Z)), Z.dtype)
        return {"components": Z, "codes": codes, "value": np.inf, "still": False, "failed": 0}

    def step(self, state):
        if state["still"] and self.tol:
            return self._exchange(state)
        U, Z, value = self._pass(state["codes"], state["components"])
        still = bool(state["value"] - value <= self.tol * value)
        return {**state, "components": Z, "codes": U, "value": value, "still": still}, value

    def settled(self, state: dict) -> bool:
        return state["failed"] >= _FAILED

    def _pass(self, U: NDArray, Z: NDArray) -> tuple[NDArray, NDArray, float]:
        """Codes of all rows, then every atom with its codes: the new ones, and the objective."""
        Z = Z.copy()
        U = half_step(self.objective.rows_given(Z), U, self.half, self.left, Effort(), []).copy()
        for t in range(len(Z)):
            self._turn(U, Z, t)
        value = self.objective.value(U, Z)
        return U, reseed(self.objective, self.problem, U, Z), value

    def _exchange(self, state: dict) -> tuple[dict, float]:
        """The state after an exchange and the passes that make it pay, or the state as it was."""
        U, Z, before = state["codes"].copy(), state["components"].copy(), state["value"]
        t = least_missed(U, Z)
        U[:, t] = 0
        split = self._split(U, Z, t, state["failed"])
        if split is not None:
            p, lines = split
            Z[[p, t]] = lines
            for _ in range(_PATIENCE):
                U, Z, value = self._pass(U, Z)
                if value < (1 - _LEAST) * before:
                    paid = before - value > self.tol * value
                    found = {"components": Z, "codes": U, "value": value, "still": False}
                    return {**state, **found, "failed": 0 if paid else state["failed"] + 1}, value
        return {**state, "failed": state["failed"] + 1}, before

    def _split(self, U: NDArray, Z: NDArray, t: int, turn: int) -> tuple[int, NDArray] | None:
        """An atom that stands for two, and the two: lines through what all others leave of the rows that use it.

        Of all atoms but t it is the one whose rows are fitted worst, or the one after so many `turn`.
        """
        lost = self.objective.row_values(U, Z) @ (U != 0)
        lost[t] = -1
        p = int(np.argsort(-lost, kind="stable")[min(turn, len(lost) - 1)])
        rows = np.flatnonzero(U[:, p])
        rows = rows[:: -(-len(rows) // _WITNESSES)] if len(rows) else rows
        some = self.objective.take(rows) if p != t and len(rows) > 1 else None
        if some is None:
            return None
        rest = some.dense_rows(0, len(rows))[0].astype(np.float64) - U[rows].astype(np.float64) @ Z
        mine, aside = rest + np.outer(U[rows, p], Z[p]), rest[np.square(rest).sum(axis=1).argmax()]
        for _ in range(_SORTING):
            aside = _of_length_one((rest @ aside) @ rest)
        lines = _of_length_one(np.array([Z[p] + aside, Z[p] - aside]))
        for _ in range(_SORTING):
            nearest = np.square(mine @ lines.T).argmax(axis=1)
            for i in range(2):
                some = mine[nearest == i]
                lines[i] = _of_length_one((some @ lines[i]) @ some)
        return (p, lines.astype(Z.dtype)) if lines.any(axis=1).all() else None

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


def _of_length_one(rows: NDArray) -> NDArray:
    """Rows of length one; what is zero stays zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def least_missed(U: NDArray, Z: NDArray) -> int:
    """The atom whose codes, less what the atom nearest to it could take over, have the least energy.

    >>> U, Z = np.array([[3.0, 2.0, 0.0], [0.0, 2.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> least_missed(U, Z)
    0
    """
    alike = np.square(Z.astype(np.float64) @ Z.T.astype(np.float64))
    np.fill_diagonal(alike, 0)
    return int((np.square(U, dtype=np.float64).sum(axis=0) * (1 - alike.max(axis=1, initial=0))).argmin())
