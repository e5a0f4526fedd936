"""Bisecting k-means as a scheme of the one loop."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.group.linkage_door import group_means, squares_to_mean
from unweave.group.linkage_tree import Merges, linkage_of
from unweave.solve.iterate import Loop, iterate
from unweave.solve.kmeans_start import kmeans_plus_plus
from unweave.solve.lloyd import Lloyd, assign


class Bisect:
    """A step splits the cluster of the largest cost in two; the objective is half the cost of all.

    State: ``labels``, the ``means`` and ``costs`` of the clusters, and of each split the cluster it divided
    (``split``), its two centres (``pairs``) and by how much the cost fell (``falls``).
    """

    def __init__(self, X: NDArray, k: int, starts: int, max_iter: int, tol: float | None):
        self.X, self.k, self.starts = X, k, starts
        self.inner = Loop(max_iter=max_iter, tol=tol, ending="one of several starts")

    def start(self, rng: np.random.Generator) -> dict:
        k, d = self.k, self.X.shape[1]
        labels = np.zeros(len(self.X), np.int32)
        means, costs = np.zeros((k, d)), np.zeros(k)
        means[0], costs[0] = self._mean_and_cost(self.X)
        return {
            "labels": labels, "means": means, "costs": costs, "split": np.zeros(k - 1, np.int64),
            "pairs": np.zeros((k - 1, 2, d)), "falls": np.zeros(k - 1), "made": 0, "generator": rng,
        }  # fmt: skip

    def pace(self, loop: Loop) -> Loop:
        """A step for each split, whatever the limits of a 2-means are."""
        return replace(loop, max_iter=max(1, self.k - 1), tol=None, ending=f"{self.k} clusters are found")

    def settled(self, state: dict) -> bool:
        """Enough clusters, or none left whose rows differ."""
        return int(state["made"]) == self.k - 1 or not state["costs"].any()

    def step(self, state: dict) -> tuple[dict, float]:
        if self.settled(state):
            return state, 0.5 * float(state["costs"].sum())
        new, rng = deepcopy(state), deepcopy(state["generator"])
        widest, made = int(state["costs"].argmax()), int(state["made"])
        rows = np.flatnonzero(state["labels"] == widest)
        part = np.ascontiguousarray(self.X[rows])
        pair, side = self._halves(part, rng)
        new["labels"][rows[side == 1]] = made + 1
        new["split"][made], new["pairs"][made], new["made"] = widest, pair, made + 1
        new["generator"] = rng
        for which, name in enumerate((widest, made + 1)):
            new["means"][name], new["costs"][name] = self._mean_and_cost(part[side == which])
        new["falls"][made] = max(0.0, state["costs"][widest] - new["costs"][widest] - new["costs"][made + 1])
        return new, 0.5 * float(new["costs"].sum())

    def _mean_and_cost(self, part: NDArray) -> tuple[NDArray, float]:
        labels = np.zeros(len(part), np.int64)
        mean = group_means(part, labels, 1)
        # Rows that are all equal cost nothing, whatever rounding says of their mean.
        equal = bool((part == part[0]).all())
        return mean[0], 0.0 if equal else float(squares_to_mean(part, labels, mean).sum())

    def _halves(self, part: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """The best of several 2-means: two centres, and which of them each row is nearer to; neither side is empty."""
        lloyd, best = Lloyd(part, 2), None
        for _ in range(self.starts):
            first = lloyd.start(kmeans_plus_plus(part, 2, rng))
            state, history = iterate(lloyd.step, first, self.inner, settled=lloyd.converged)
            if best is None or history.objective[-1] < best[0]:
                best = history.objective[-1], state["centres"]
        assert best is not None
        pair, (side, _) = best[1], assign(part, best[1])
        if side.min() == side.max():  # distances of nearly equal rows vanish: the first against the others
            side = (part != part[0]).any(axis=1).astype(np.int32)
            pair = np.stack([part[0], part[int(side.argmax())]])
        # The half of the first row keeps the name, so that names do not depend on the start.
        return (pair, side) if side[0] == 0 else (pair[::-1], 1 - side)


def tree_of_splits(split: NDArray, falls: NDArray) -> NDArray[np.float64]:
    """Splits as a tree in scipy's format: the last is the first join, at √(2·fall), never below the join before.

    >>> tree_of_splits(np.array([0, 0]), np.array([50.0, 2.0]))
    array([[ 0.,  2.,  2.,  2.],
           [ 1.,  3., 10.,  3.]])
    """
    k = len(split) + 1
    pairs = np.column_stack([split, np.arange(1, k)])[::-1]
    heights = np.maximum.accumulate(np.sqrt(2.0 * falls[::-1]))
    return linkage_of({"pairs": pairs, "heights": heights, "done": k - 1} if k > 1 else Merges.none(1))
