"""Linkages that need the distance of every pair: complete, average, and single for other distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.linkage_distances import distance_table, squeeze
from unweave.group.linkage_tree import Merges
from unweave.kernels.linkage_table import follow_chain, mutual_pairs

MOST_ROWS = 16_384  # a table of their distances is 1 GiB
RULES = {"complete": 1, "average": 0, "single": -1}
_FEW = 16  # a round that joins less than one cluster of this many is not worth a new table
_SMALL = 256  # clusters whose table is so small that a chain through it is the quickest
_CHAIN = 1 << 24  # distances that one chain looks at, about


class Table:
    """A scheme of the one loop: in rounds, all pairs of clusters that are each other's nearest are joined at once.

    For these linkages a join never brings a third cluster nearer than the nearer of the two was, so such pairs are
    joins of the final tree in whatever order they are made. Each round writes the table of distances anew, smaller
    (:mod:`unweave.kernels.linkage_table`). A table with few such pairs is joined along a chain of neighbours.

    ``who[i]`` is a row that stands for cluster i, ``sizes`` and ``floor`` its rows and the height at which it was made
    (rounding may not undercut it). The table belongs to the scheme; a state from elsewhere (a checkpoint) is brought
    about by making its rounds again, which costs no more than making its joins one by one and gives the same bits.
    """

    def __init__(self, X: NDArray, linkage: str, metric: str):
        self.X, self.metric, self.rule = X, metric, RULES[linkage]
        self._begin()

    def start(self) -> dict:
        return Merges.none(len(self.X))

    def step(self, state: dict) -> tuple[dict, float]:
        done = int(state["done"])
        if done < self.done:
            self._begin()
        while self.done < done:
            self._joins()
        return Merges.add(state, *self._joins())

    def _joins(self) -> tuple[NDArray, NDArray]:
        """The next joins: rows that stand for the clusters, and heights."""
        pairs = self._mutual()
        rows, heights = self._chain() if len(pairs) * _FEW < len(self.who) else self._round(pairs)
        self.done += len(rows)
        return rows, heights

    def _begin(self) -> None:
        """Every row is a cluster of its own."""
        n = len(self.X)
        self.table, self.near, self.who = distance_table(self.X, self.metric)
        self.done, self.sizes, self.floor = 0, np.ones(n, np.int64), np.zeros(n)

    def _mutual(self) -> NDArray[np.int64]:
        """Pairs of clusters that are each other's nearest; none of a small table."""
        n = len(self.who)
        pairs = np.empty((n // 2, 2), np.int64)
        if n <= _SMALL:
            return pairs[:0]
        order = np.argsort(self.near, kind="stable")
        return pairs[: mutual_pairs(self.table, self.near, order, np.zeros(n, np.int8), pairs)]

    def _round(self, pairs: NDArray) -> tuple[NDArray, NDArray]:
        """Join pairs of which no two share a cluster: rows that stand for them, and heights."""
        a, b = pairs.T
        heights = np.maximum(self.near[a].astype(np.float64), np.maximum(self.floor[a], self.floor[b]))
        rows = self.who[pairs]
        second, stays = np.arange(len(self.who)), np.ones(len(self.who), bool)
        second[a], stays[b], self.floor[a] = b, False, heights
        self._squeeze(np.flatnonzero(stays), second)
        return rows, heights

    def _chain(self) -> tuple[NDArray, NDArray]:
        """Some joins along a chain of neighbours, then the table without the clusters that are gone."""
        n = len(self.who)
        count = n - 1 if n <= _SMALL else max(1, min(n // 8, _CHAIN // n))
        pairs, heights = np.empty((count, 2), np.int64), np.empty(count)
        follow_chain(self.table, n, self.sizes, self.rule, pairs, heights)
        for i, (a, b) in enumerate(pairs.tolist()):
            heights[i] = self.floor[a] = max(heights[i], self.floor[a], self.floor[b])
        rows = self.who[pairs]
        self._squeeze(np.flatnonzero(self.sizes), np.arange(n))
        return rows, heights

    def _squeeze(self, first: NDArray, second: NDArray) -> None:
        """The table of the clusters `first`, each joined with its `second` (or with itself: left as it is)."""
        n, second = len(self.who), second[first]
        joined = np.where(second == first, 0, self.sizes[second])
        self.sizes = self.sizes[first] + joined
        self.near = squeeze(self.table, n, first, second, joined / self.sizes, self.rule)
        self.who, self.floor = self.who[first], self.floor[first]
