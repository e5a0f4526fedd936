"""k-means that does not stay in a bad start: when Lloyd has settled, centres are swapped to where they are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.group.kmeans_moves import Sample, find_moves, rows_a_cluster, sample_rows, swapped, swaps
from unweave.objectives import Objective
from unweave.solve.iterate import Loop

_PATIENCE = 12  # Lloyd steps that a swap is given to pay
_HOPE = 10.0  # times the last fall, as far as a trial may lie above the best and go on
_LEAST = 1e-9  # relative fall that counts
_MEAGRE = 2  # repairs in a row that, with the Lloyd steps after them, lower the objective by less than `tol`: enough
_RISK = 6.0  # a swap may promise to cost this many times the mean loss of a cluster and still be tried


class Repaired:
    """A k-means scheme whose settled state is tried to be bettered by swaps; one round of trials is one step.

    A swap takes away the centre whose rows cost least elsewhere and splits the cluster that 2-means divides best. It is
    kept if the objective falls below the one before within a few Lloyd steps, so the history never rises; then
    Lloyd goes on. The fit ends when a round finds nothing, or when two repairs in a row have paid less than `tol`: wide
    tables always hold another swap that pays a little.

    References
    ----------
    Fränti and Kivijärvi (2000), Randomised local search for the clustering problem. Kaukoranta, Fränti and Nevalainen
    (1998), Iterative split-and-merge algorithm for VQ codebook generation.
    """

    title = "Lloyd with swaps"

    def __init__(self, scheme, objective: Objective, weights: NDArray | None, k: int, tol: float):
        self.scheme, self.left, self.means = scheme, scheme.left, scheme.means
        self.objective, self.weights, self.k, self.tol = objective, weights, k, tol

    def start(self, centres: NDArray) -> dict:
        return {
            **self.scheme.start(centres),
            "value": np.inf,
            "calm": False,
            "repaired": False,
            "mark": np.inf,
            "meagre": 0,
        }

    def pace(self, loop: Loop) -> Loop:
        """The scheme itself watches `tol`: a small fall calls for a repair before it ends the fit."""
        return loop if loop.tol == 0 else replace(loop, tol=None)

    def settled(self, state: dict) -> bool:
        return bool(state["repaired"])

    def fixed(self, state: dict) -> bool:
        return bool(state["repaired"])

    def step(self, state: dict) -> tuple[dict, float]:
        if state["calm"] and not state["repaired"]:
            return self._repair(state)
        new, value = self.scheme.step(state)
        calm = self.scheme.settled(new) or self._little(state["value"], value)
        kept = {name: state[name] for name in ("repaired", "mark", "meagre")}
        return {**new, "value": value, "calm": bool(calm), **kept}, value

    def _little(self, before: float, value: float) -> bool:
        return self.tol > 0 and value >= (1 - self.tol) * before

    def _repair(self, state: dict) -> tuple[dict, float]:
        """A round of trials; ``mark`` is the objective when the last one began."""
        value = state["value"]
        meagre = state["meagre"] + 1 if self._little(state["mark"], value) else 0
        found = None if meagre == _MEAGRE else self._better(state)
        if found is None:
            return {**state, "repaired": True}, value
        return {**found, "mark": value, "meagre": meagre}, found["value"]

    def _better(self, state: dict) -> dict | None:
        """The state after the first swap that pays, None if none does."""
        moves = find_moves(self._sample(state), state["centres"])
        for swap in swaps(moves, self.objective.shape[0]):
            if -swap.promise > _RISK * state["value"] / self.k:
                break
            found = self._tried(swapped(state["centres"], moves, swap), state["value"])
            if found is not None:
                return found
        return None

    def _sample(self, state: dict) -> Sample:
        """Some rows of every cluster as an array; an entry not seen lies where its centre does."""
        most = rows_a_cluster(self.k, self.objective.shape[1])
        rows, weights, bounds = sample_rows(state["labels"], self.weights, self.k, most)
        part = self.objective.take(rows)
        assert part is not None
        X, seen = part.dense_rows(0, len(rows))
        if seen is not None:
            X = np.where(seen != 0, X, state["centres"][state["labels"][rows]])
        return Sample(np.ascontiguousarray(X), weights, bounds)

    def _tried(self, centres: NDArray, best: float) -> dict | None:
        """Lloyd from these centres until it is better than the best, or will not be."""
        state, former = self.scheme.start(centres), np.inf
        for _ in range(_PATIENCE):
            state, value = self.scheme.step(state)
            if value < best * (1 - _LEAST):
                return {**state, "value": value, "calm": False, "repaired": False}
            if value - best > _HOPE * (former - value):
                return None
            former = value
        return None
