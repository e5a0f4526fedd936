"""Trees by mutual neighbours: in rounds, all pairs of clusters that are each other's nearest are joined at once.

Where a join never brings a third cluster nearer than the nearer of the two was (Ward, average, complete, single), pairs
of mutual neighbours are joins of the final tree in whatever order they are made, and a cluster's nearest stays nearest
until it is itself joined. So only clusters whose nearest was joined look again, many at a time.

Reference: D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011); F. Murtagh, Comput. J. 26
(1983), for reciprocal neighbours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.linkage_tree import Merges

_SHARE = 32  # a step of the loop goes on until it has joined one cluster of this many


class Pairs:
    """A scheme of the one loop; subclasses know how clusters are kept, searched and joined.

    A cluster is known by the number of one of its rows: a joins b, b < a is kept, a is gone. ``partner`` and ``near``
    are the nearest cluster and how near, for clusters that are not ``stale``. The working memory belongs to the scheme;
    a state from elsewhere (a checkpoint) is brought about by making its joins again.
    """

    def __init__(self, n: int):
        self.n = n
        self._begin()

    # -- what a linkage says ---------------------------------------------------------------------------------------

    def _reset(self) -> None:
        """Every row is a cluster of its own."""
        raise NotImplementedError("a linkage keeps its clusters")

    def _heights(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
        """Heights at which pairs of clusters would join."""
        raise NotImplementedError("a linkage knows its heights")

    def _join(self, a: NDArray, b: NDArray) -> None:
        """Join pairs (of which no two share a cluster); a stays."""
        raise NotImplementedError("a linkage joins clusters")

    def _search(self, queries: NDArray) -> None:
        """Find `partner` and `near` of these clusters."""
        raise NotImplementedError("a linkage finds the nearest")

    # -- the rounds ------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        n = self.n
        self.done, self.left = 0, n
        self.alive, self.stale = np.ones(n, bool), np.ones(n, bool)
        self.partner, self.near = np.full(n, -1, np.int64), np.full(n, np.inf)
        self.floor = np.zeros(n)  # the height at which each cluster was made; rounding may not undercut it
        self._reset()

    def start(self) -> dict:
        return Merges.none(self.n)

    def step(self, state: dict) -> tuple[dict, float]:
        if int(state["done"]) != self.done:
            self._again(state)
        goal = max(1, self.left - max(1, self.left // _SHARE))
        pairs, heights = [], []
        while self.left > goal:
            self._search(np.flatnonzero(self.stale))
            self.stale[:] = False
            a, b = self._mutual()
            pairs.append(np.column_stack([a, b]))
            heights.append(self._make(a, b))
        return Merges.add(state, np.concatenate(pairs), np.concatenate(heights))

    def _mutual(self) -> tuple[NDArray, NDArray]:
        """All pairs that are each other's nearest; should rounding leave none, the nearest of all."""
        live = np.flatnonzero(self.alive)
        partner = self.partner[live]
        a = live[(self.partner[partner] == live) & (live < partner)]
        if not len(a):
            a = live[[int(self.near[live].argmin())]]
        b = self.partner[a]
        return np.minimum(a, b), np.maximum(a, b)

    def _make(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
        heights = np.maximum(self._heights(a, b), np.maximum(self.floor[a], self.floor[b]))
        self._join(a, b)
        self.floor[a] = heights
        self.alive[b] = False
        self.left -= len(a)
        self.done += len(a)
        touched = ~self.alive
        touched[a] = True
        live = np.flatnonzero(self.alive)
        lost = np.where(self.partner[live] < 0, True, touched[self.partner[live]])
        self.stale[live] = lost
        self.stale[a] = True
        return heights

    def _again(self, state: dict) -> None:
        """Make the joins of a state once more, one by one, then look at everything afresh."""
        self._begin()
        for a, b in state["pairs"][: int(state["done"])]:
            self._make(np.array([a]), np.array([b]))
        self.stale = self.alive.copy()
