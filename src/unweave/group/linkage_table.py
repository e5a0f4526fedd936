"""Linkages that need the distance of every pair: complete, average, and single for other distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.linkage_pairs import Pairs
from unweave.kernels.linkage import join_in_table, nearest_in_table

MOST_ROWS = 16_384  # a table of their distances is 2 GiB
RULES = {"complete": 1, "average": 0, "single": -1}
_CELLS = 1 << 22  # distances that one call looks at


class Table(Pairs):
    """Distances between all clusters in one square table (float64), joined by the rule of Lance and Williams.

    Complete: the largest distance of a pair of rows, average: the mean over all pairs (UPGMA), single: the smallest.

    Reference: G. N. Lance, W. T. Williams, Comput. J. 9 (1967).
    """

    def __init__(self, distances: NDArray[np.float64], linkage: str):
        self.given, self.rule = distances, RULES[linkage]
        super().__init__(len(distances))

    def _reset(self) -> None:
        self.table, self.sizes = self.given.copy(), np.ones(self.n)
        self.live = np.arange(self.n)

    def _heights(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
        return self.table[a, b]

    def _join(self, a: NDArray, b: NDArray) -> None:
        for i, j in zip(a.tolist(), b.tolist()):
            s, t = self.sizes[i], self.sizes[j]
            join_in_table(self.table, self.live, i, j, s / (s + t), t / (s + t), self.rule, 0, len(self.live))
            self.sizes[i] += t
            self.live = self.live[self.live != j]

    def _search(self, queries: NDArray) -> None:
        parallel.run(
            lambda start, stop: nearest_in_table(self.table, self.live, queries, self.partner, self.near, start, stop),
            len(queries),
            int(np.clip(_CELLS // max(1, len(self.live)), 1, 256)),
        )
