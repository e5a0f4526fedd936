"""The hierarchy of CURE as a scheme of the one loop: a step is a run of merges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.large import merge_nearest, nearest_clusters

_WORK = 1 << 25  # multiplications of one step, about
_SLOW = 3  # one cluster in so many is left when those that have not grown are looked at
_RARE = 20  # a cluster of less than this part of an even share is rare


@dataclass(frozen=True)
class Merging:
    """Every row of the sample a cluster, then the two nearest become one until `n_clusters` are left.

    At most `spare` rows are set aside as outliers: rows that are still alone when a third of the clusters is left, the
    most isolated first, and tiny clusters when few are left.
    """

    X: NDArray
    n_clusters: int
    n_representatives: int
    shrink: float
    spare: int

    def start(self) -> dict:
        n, d = self.X.shape
        reps = np.zeros((n, self.n_representatives, d))
        reps[:, 0] = self.X
        state = {
            "labels": np.arange(n, dtype=np.int32), "sums": self.X.copy(), "sizes": np.ones(n, np.int64), "reps": reps,
            "many": np.ones(n, np.int64), "near": np.empty(n, np.int64), "gaps": np.empty(n), "left": n,
            "merges": 0, "aside": 0, "looked": 0,
        }  # fmt: skip
        self._look_around(state)
        return state

    def step(self, state: dict) -> tuple[dict, float]:
        """Merge for a while; the objective is the number of clusters that are too many."""
        new = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        goals = self._goals()
        goal = max((g for g in goals if g < new["left"]), default=self.n_clusters)
        n, d = self.X.shape
        times = min(new["left"] - goal, max(1, _WORK // (n * self.n_representatives * d)))
        if times > 0:
            merge_nearest(
                self.X, new["labels"], new["sums"], new["sizes"], new["reps"], new["many"], new["near"], new["gaps"],
                self.shrink, times,
            )  # fmt: skip
        new["left"], new["merges"] = new["left"] - times, new["merges"] + times
        if new["looked"] < 2 and new["left"] <= goals[new["looked"]]:
            self._set_aside(new, 1 if new["looked"] == 0 else n // (_RARE * self.n_clusters))
            new["looked"] += 1
        return new, float(new["left"] - self.n_clusters)

    def settled(self, state: dict) -> bool:
        return state["left"] <= self.n_clusters

    def most_steps(self) -> int:
        n, d = self.X.shape
        return 4 + n // max(1, _WORK // (n * self.n_representatives * d))

    def _goals(self) -> tuple[int, int, int]:
        """Numbers of clusters at which to stop: twice to look for outliers, then for good."""
        k = self.n_clusters
        return max(k, len(self.X) // _SLOW), min(max(k, len(self.X) // _SLOW), 3 * k), k

    def _set_aside(self, state: dict, most: int) -> None:
        """Drop clusters of at most `most` rows, the farthest from the others first, within what may be spared."""
        small = np.flatnonzero((state["sizes"] > 0) & (state["sizes"] <= most))
        small = small[np.argsort(-state["gaps"][small], kind="stable")]
        room = np.cumsum(state["sizes"][small]) <= self.spare - state["aside"]
        drop = small[room][: state["left"] - self.n_clusters]
        if not len(drop):
            return
        state["aside"] += int(state["sizes"][drop].sum())
        state["labels"][np.isin(state["labels"], drop)] = -1
        state["sizes"][drop], state["many"][drop] = 0, 0
        state["left"] -= len(drop)
        self._look_around(state)

    def _look_around(self, state: dict) -> None:
        reps, many, near, gaps = state["reps"], state["many"], state["near"], state["gaps"]
        n, _, d = reps.shape
        size = max(1, (1 << 22) // (n * d))
        parallel.run(lambda start, stop: nearest_clusters(reps, many, near, gaps, start, stop), n, size)
