"""Build trees of Euclidean rows in O(n·d) memory: Ward's linkage and single linkage, over tiles of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.kmeans.passes import padded
from unweave.group.trees.tree import Joining, with_joins
from unweave.kernels.linkage import TILE, grow_tree, nearest_means

_SHARE = 32  # a step of Ward goes on until it has joined one cluster of this many
_CHUNK = 64  # queries that share a look at a tile
_FULL = 0.7  # share of places in use below which tiles are packed anew
_WORK = 1.5e8  # squared differences of one call of the kernel that grows a tree, about a tenth of a second


def neighbours_together(X: NDArray) -> NDArray[np.int64]:
    """Order the rows so that each stretch of `TILE` rows is a leaf of a k-d tree.

    The rows are cut at the median of their widest column until at most `TILE` are left.

    >>> neighbours_together(np.array([[5.0], [1.0]])).tolist()
    [0, 1]
    """
    order = np.arange(len(X))
    pending = [(0, len(X))]
    while pending:
        start, stop = pending.pop()
        tiles = -(-(stop - start) // TILE)
        if tiles < 2:
            continue
        rows = order[start:stop]
        part = X[rows]
        column = part[:, int(np.argmax(part.max(axis=0) - part.min(axis=0)))]
        middle = (tiles // 2) * TILE
        order[start:stop] = rows[np.argpartition(column, middle)]
        pending += [(start, start + middle), (start + middle, stop)]
    return order


@dataclass
class Tiles:
    """Hold points of some rows in tiles: ``points[t, column, place]``, with columns padded by zeros to fours.

    `members` holds the number of the row at each place, -1 where there is none (its point is infinite); ``tile`` and
    ``place`` say where the i-th of the rows packed stands.
    """

    points: NDArray
    low: NDArray
    high: NDArray
    members: NDArray[np.int64]
    count: NDArray[np.int64]
    tile: NDArray[np.int64]
    place: NDArray[np.int64]


def pack(X: NDArray, rows: NDArray) -> Tiles:
    """Pack the rows with these numbers of X (padded) into tiles."""
    rows = rows[neighbours_together(X[rows])]
    m, d = len(rows), X.shape[1]
    n_tiles = -(-m // TILE)
    flat = np.full((n_tiles * TILE, d), np.inf, X.dtype)
    flat[:m] = X[rows]
    members = np.full(n_tiles * TILE, -1, np.int64)
    members[:m] = rows
    starts = np.arange(0, m, TILE)
    low = np.minimum.reduceat(flat[:m], starts, axis=0)
    high = np.maximum.reduceat(flat[:m], starts, axis=0)
    points = np.ascontiguousarray(flat.reshape(n_tiles, TILE, d).transpose(0, 2, 1))
    tile, place = np.divmod(np.arange(m), TILE)
    return Tiles(points, low, high, members.reshape(n_tiles, TILE), np.bincount(tile), tile, place)


class Ward(Joining):
    """Join the two clusters whose union costs least: ``h² = 2 s t / (s + t) ‖x − y‖²`` for sizes s, t and means x, y.

    That is twice the rise of the sum of squares about the means. Means and heights are float64; the search runs in the
    type of X, about the mean of the rows.

    In rounds, all pairs of clusters that are each other's nearest are joined at once. A join never brings a third
    cluster nearer than the nearer of the two was, so such pairs are joins of the final tree in whatever order they are
    made, and a cluster's nearest stays nearest until it is itself joined: only clusters whose nearest was joined look
    again, many at a time.

    A cluster is known by the number of one of its rows: of a join a < b, a stays and b is gone. ``partner`` and
    ``near`` are the nearest cluster and how near, for clusters that are not ``stale``. The working memory belongs to
    the scheme; a state from elsewhere (a checkpoint) is brought about by making its joins again.

    References: J. H. Ward, "Hierarchical grouping to optimize an objective function", J. Am. Stat. Assoc. 58 (1963).
    D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011); F. Murtagh, Comput. J. 26 (1983), for
    reciprocal neighbours.
    """

    def __init__(self, X: NDArray):
        self.X, self.n = X, len(X)
        self._begin()

    def _begin(self) -> None:
        """Make every row a cluster of its own."""
        n = self.n
        self.done, self.left = 0, n
        self.alive, self.stale = np.ones(n, bool), np.ones(n, bool)
        self.partner, self.near = np.full(n, -1, np.int64), np.full(n, np.inf)
        self.floor = np.zeros(n)  # the height at which each cluster was made; rounding may not undercut it
        self.means = self.X.astype(np.float64)
        self.means -= self.means.mean(axis=0)
        self.rows = padded(self.means.astype(self.X.dtype))
        self.sizes = np.ones(n)
        self._pack(np.arange(n))

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
        return with_joins(state, np.concatenate(pairs), np.concatenate(heights))

    def _mutual(self) -> tuple[NDArray, NDArray]:
        """Find all pairs that are each other's nearest; should rounding leave none, the nearest of all."""
        live = np.flatnonzero(self.alive)
        partner = self.partner[live]
        a = live[(self.partner[partner] == live) & (live < partner)]
        if not len(a):
            a = live[[int(self.near[live].argmin())]]
        b = self.partner[a]
        return np.minimum(a, b), np.maximum(a, b)

    def _make(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
        """Join pairs (of which no two share a cluster), a stays: their heights."""
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

    def _pack(self, clusters: NDArray) -> None:
        self.tiles = tiles = pack(self.rows, clusters)
        self.packed = len(clusters)
        self.where = np.zeros((2, self.n), np.int64)
        self.where[:, tiles.members[tiles.tile, tiles.place]] = tiles.tile, tiles.place
        self.weights = np.where(tiles.members >= 0, self.sizes[tiles.members], 1.0)
        self.lightest = np.where(tiles.members >= 0, self.weights, np.inf).min(axis=1)

    def _heights(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
        """Compute the heights at which pairs of clusters would join."""
        gaps = self.means[a] - self.means[b]
        s, t = self.sizes[a], self.sizes[b]
        return np.sqrt(2.0 * s * t / (s + t) * np.einsum("ij,ij->i", gaps, gaps))

    def _join(self, a: NDArray, b: NDArray) -> None:
        s, t = self.sizes[a, None], self.sizes[b, None]
        self.means[a] += (t / (s + t)) * (self.means[b] - self.means[a])
        self.sizes[a] += self.sizes[b]
        self.rows[a, : self.means.shape[1]] = self.means[a]
        if self.left - len(a) <= _FULL * self.packed:
            left = self.alive.copy()
            left[b] = False
            self._pack(np.flatnonzero(left))
            return
        tiles, (tile, place), (gone, hole) = self.tiles, self.where[:, a], self.where[:, b]
        tiles.points[tile, :, place] = self.rows[a]
        tiles.points[gone, :, hole] = np.inf
        tiles.members[gone, hole] = -1
        self.weights[tile, place] = self.sizes[a]
        np.minimum.at(tiles.low, tile, self.rows[a])
        np.maximum.at(tiles.high, tile, self.rows[a])

    def _search(self, queries: NDArray) -> None:
        """Find `partner` and `near` of these clusters."""
        tiles, places = self.tiles, self.where[:, queries]
        queries = queries[np.lexsort(places[::-1])]  # neighbours side by side: they leave out the same tiles
        means, sizes = self.rows[queries], self.sizes[queries]
        partner, cost = np.empty(len(queries), np.int64), np.empty(len(queries))
        safe = 1.0 - 8.0 * (tiles.points.shape[1] + 4) * float(np.finfo(self.X.dtype).eps)

        def part(start: int, stop: int) -> None:
            nearest_means(
                tiles.points, tiles.low, tiles.high, tiles.members, self.weights, self.lightest, safe, means, queries,
                sizes, partner, cost, start, stop,
            )  # fmt: skip

        parallel.run(part, len(queries), int(np.clip(len(queries) // 8, 4, _CHUNK)))
        self.partner[queries], self.near[queries] = partner, cost


class Single(Joining):
    """Grow the minimum spanning tree: a step adds rows to it, for a tenth of a second or less.

    The tree lies in O(n·d) memory. Its edges in order of length are the joins of single linkage. A state from a
    checkpoint is grown anew up to where it stood.
    """

    def __init__(self, X: NDArray):
        self.X, self.n, self.rows = X, len(X), padded(X)
        self._begin()

    def step(self, state: dict) -> tuple[dict, float]:
        done = int(state["done"])
        if done < self.done:
            self._begin()
        while self.done < done:
            self._grow(done - self.done)
        pairs = self._grow(len(self.X) - 1 - done)
        gaps = self.X[pairs[:, 0]].astype(np.float64) - self.X[pairs[:, 1]]
        return with_joins(state, pairs, np.sqrt(np.einsum("ij,ij->i", gaps, gaps)))

    def _begin(self) -> None:
        self.done, self.last = 0, 0
        n = len(self.X)
        self._pack(np.arange(1, n), np.full(n, np.inf, self.X.dtype), np.zeros(n, np.int64))
        self.tail = self.rows[0].copy()

    def _pack(self, rows: NDArray, dist: NDArray, owner: NDArray) -> None:
        """Pack the rows that are not in the tree yet into tiles; `dist` and `owner` are by row."""
        if not len(rows):
            return
        self.tiles = tiles = pack(self.rows, rows)
        self.packed = len(rows)
        real = tiles.members >= 0
        self.dist = np.where(real, dist[tiles.members], -1).astype(self.X.dtype)
        self.owner = np.where(real, owner[tiles.members], 0)
        word = "8" if self.X.dtype == np.float64 else "4"
        self.signed, self.unsigned = self.dist.view(f"i{word}"), self.dist.view(f"u{word}")
        self.least, self.most = self.unsigned.min(axis=1), self.signed.max(axis=1)

    def _grow(self, wanted: int) -> NDArray[np.int64]:
        """Add at most `wanted` rows, fewer if that would take long or the tiles have run half empty."""
        tiles = self.tiles
        left = int(tiles.count.sum())
        if left <= self.packed // 2 and left > TILE:
            self._repack()
            tiles = self.tiles
        quick = max(1, int(_WORK / (left * self.rows.shape[1])))
        made = np.empty((min(wanted, quick, max(1, left - self.packed // 2)), 2), np.int64)
        self.last = grow_tree(
            tiles.points, tiles.low, tiles.high, tiles.members, tiles.count, self.dist, self.signed, self.unsigned,
            self.owner, self.least, self.most, self.most.view(self.X.dtype), self.last, self.tail, made,
        )  # fmt: skip
        self.done += len(made)
        return made

    def _repack(self) -> None:
        real = np.arange(TILE) < self.tiles.count[:, None]
        rows = self.tiles.members[real]
        dist, owner = np.zeros(len(self.X), self.X.dtype), np.zeros(len(self.X), np.int64)
        dist[rows], owner[rows] = self.dist[real], self.owner[real]
        self._pack(np.sort(rows), dist, owner)
