"""Build trees that need the distance of every pair of rows: complete, average, and single for other distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.kmeans.passes import padded
from unweave.group.trees.euclidean import pack
from unweave.group.trees.tree import Joining, with_joins
from unweave.kernels.linkage_table import euclidean_rows, follow_chain, mutual_pairs, nearest_of_rows, squeeze_rows

MOST_ROWS = 16_384  # a table of their distances is 1 GiB
RULES = {"complete": 1, "average": 0, "single": -1}
_WORTH = 16  # a round that joins less than one cluster of this many is not worth a new table
_SMALL = 256  # clusters whose table is so small that a chain through it is the quickest
_CHAIN = 1 << 24  # distances that one chain looks at, about
_CELLS = 1 << 17  # distances that one call of a kernel writes
_PARTS = 8  # calls that fill a block of new rows side by side


class Table(Joining):
    """Join, in rounds, all pairs of clusters that are each other's nearest, in a table of all distances.

    For these linkages a join never brings a third cluster nearer than the nearer of the two was, so such pairs are
    joins of the final tree in whatever order they are made. Each round writes the table of distances anew, smaller
    (:mod:`unweave.kernels.linkage_table`). A table with few such pairs is joined along a chain of neighbours.

    ``stands[i]`` is a row that stands for cluster i, ``sizes`` and ``floor`` its rows and the height at which it was
    made (rounding may not undercut it). The table belongs to the scheme; a state from elsewhere (a checkpoint) is
    brought about by making its rounds again, which costs no more than making its joins one by one and gives the same
    bits.
    """

    def __init__(self, X: NDArray, linkage: str, metric: str):
        self.X, self.n, self.metric, self.rule = X, len(X), metric, RULES[linkage]
        self._begin()

    def step(self, state: dict) -> tuple[dict, float]:
        done = int(state["done"])
        if done < self.done:
            self._begin()
        while self.done < done:
            self._joins()
        return with_joins(state, *self._joins())

    def _joins(self) -> tuple[NDArray, NDArray]:
        """Make the next joins: rows that stand for the clusters, and heights."""
        pairs = self._mutual()
        rows, heights = self._chain() if len(pairs) * _WORTH < len(self.stands) else self._round(pairs)
        self.done += len(rows)
        return rows, heights

    def _begin(self) -> None:
        """Make every row a cluster of its own."""
        n = len(self.X)
        self.table, self.near, self.stands = distance_table(self.X, self.metric)
        self.done, self.sizes, self.floor = 0, np.ones(n, np.int64), np.zeros(n)

    def _mutual(self) -> NDArray[np.int64]:
        """Find pairs of clusters that are each other's nearest; none of a small table."""
        n = len(self.stands)
        pairs = np.empty((n // 2, 2), np.int64)
        if n <= _SMALL:
            return pairs[:0]
        order = np.argsort(self.near, kind="stable")
        return pairs[: mutual_pairs(self.table, self.near, order, np.zeros(n, np.int8), pairs)]

    def _round(self, pairs: NDArray) -> tuple[NDArray, NDArray]:
        """Join pairs of which no two share a cluster: rows that stand for them, and heights."""
        a, b = pairs.T
        heights = np.maximum(self.near[a].astype(np.float64), np.maximum(self.floor[a], self.floor[b]))
        rows = self.stands[pairs]
        second, stays = np.arange(len(self.stands)), np.ones(len(self.stands), bool)
        second[a], stays[b], self.floor[a] = b, False, heights
        self._squeeze(np.flatnonzero(stays), second)
        return rows, heights

    def _chain(self) -> tuple[NDArray, NDArray]:
        """Make some joins along a chain of neighbours, then the table without the clusters that are gone."""
        n = len(self.stands)
        count = n - 1 if n <= _SMALL else max(1, min(n // 8, _CHAIN // n))
        pairs, heights = np.empty((count, 2), np.int64), np.empty(count)
        follow_chain(self.table, n, self.sizes, self.rule, pairs, heights)
        for i, (a, b) in enumerate(pairs.tolist()):
            heights[i] = self.floor[a] = max(heights[i], self.floor[a], self.floor[b])
        rows = self.stands[pairs]
        self._squeeze(np.flatnonzero(self.sizes), np.arange(n))
        return rows, heights

    def _squeeze(self, first: NDArray, second: NDArray) -> None:
        """Write the table of the clusters `first`, each joined with its `second` (or with itself: left as it is)."""
        n, second = len(self.stands), second[first]
        joined = np.where(second == first, 0, self.sizes[second])
        self.sizes = self.sizes[first] + joined
        self.near = squeeze(self.table, n, first, second, joined / self.sizes, self.rule)
        self.stands, self.floor = self.stands[first], self.floor[first]


def distance_table(X: NDArray, metric: str) -> tuple[NDArray, NDArray, NDArray[np.int64]]:
    """Measure all pairs of rows (scipy's condensed order), each row to its nearest, and order the rows.

    Euclidean distances have the type of X, and rows that are neighbours stand together: their distances are then
    near each other in memory when they join. Others are float64.

    >>> table, near, order = distance_table(np.array([[0.0], [3.0], [1.0]]), "cityblock")
    >>> table.tolist(), near.tolist(), order.tolist()
    ([3.0, 1.0, 2.0], [1.0, 2.0, 1.0], [0, 1, 2])
    """
    n = len(X)
    if metric != "euclidean":
        table = _other_distances(X, metric)
        near = _nearest_of(lambda near, start, stop: nearest_of_rows(table, near, start, stop), n, table.dtype)
        return table, near, np.arange(n)
    rows = padded(X)
    tiles = pack(rows, np.arange(n))
    order = tiles.members.reshape(-1)[:n].copy()
    rows, table = rows[order], np.empty(n * (n - 1) // 2, X.dtype)

    def part(near: NDArray, start: int, stop: int) -> None:
        euclidean_rows(tiles.points, rows, table, near, start, stop)

    return table, _nearest_of(part, n, X.dtype), order


def _other_distances(X: NDArray, metric: str) -> NDArray[np.float64]:
    from scipy.spatial.distance import pdist

    distances = pdist(X.astype(np.float64), metric)
    if not np.isfinite(distances).all():
        raise ValueError(
            f"metric={metric!r} is not defined for some rows of X (constant or zero rows): drop these rows or use "
            "another metric"
        )
    return distances


def _nearest_of(rows: Callable[[NDArray, int, int], None], n: int, dtype: np.dtype) -> NDArray:
    """Run ``rows(near, start, stop)`` over all rows of a table of n clusters: the distance of each to its nearest."""

    def part(start: int, stop: int) -> NDArray:
        near = np.full(n, np.inf, dtype)
        rows(near, start, stop)
        return near

    return np.minimum.reduce(parallel.run(part, n, max(16, _CELLS // n)))


def squeeze(table: NDArray, n: int, first: NDArray, second: NDArray, share: NDArray, rule: int) -> NDArray:
    """Write the table after joins over the front of the table of n clusters; each cluster's distance to its nearest.

    New cluster i is ``first[i] < second[i]`` joined, with `share` for the second, or ``first[i] == second[i]`` itself.
    New rows come in blocks, filled on the pool and then copied over rows that no later block reads.
    """
    m = len(first)
    share = share.astype(table.dtype)
    first, second = first.astype(np.uint32), second.astype(np.uint32)
    near = np.full((_PARTS, m), np.inf, table.dtype)
    part = max(1, min(-(-m // _PARTS), _CELLS // m))
    block = np.empty(_PARTS * part * m, table.dtype)
    for origin in range(0, m, _PARTS * part):
        stop = min(origin + _PARTS * part, m)

        def rows(begin: int, end: int, origin: int = origin) -> None:
            span = (near[begin // part], origin + begin, origin + end)
            squeeze_rows(table, n, first, second, share, rule, block, origin, *span)

        parallel.run(rows, stop - origin, part)
        begin, end = (i * (2 * m - i - 1) // 2 for i in (origin, stop))
        table[begin:end] = block[: end - begin]
    return near.min(axis=0)
