"""Ward's linkage of Euclidean rows in O(n·d) memory: clusters are their means and sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.linkage_pairs import Pairs
from unweave.group.linkage_tiles import pack
from unweave.kernels.linkage import nearest_means
from unweave.solve.lloyd_rows import padded

_CHUNK = 64  # queries that share a look at a tile
_FULL = 0.7  # share of places in use below which tiles are packed anew


class Ward(Pairs):
    """Join the two clusters whose union costs least: ``h² = 2 s t / (s + t) ‖x − y‖²`` for sizes s, t and means x, y.

    That is twice the rise of the sum of squares about the means. Means and heights are float64; the search runs in the
    type of X, about the mean of the rows.

    Reference: J. H. Ward, "Hierarchical grouping to optimize an objective function", J. Am. Stat. Assoc. 58 (1963).
    """

    def __init__(self, X: NDArray):
        self.X = X
        super().__init__(len(X))

    def _reset(self) -> None:
        self.means = self.X.astype(np.float64)
        self.means -= self.means.mean(axis=0)
        self.rows = padded(self.means.astype(self.X.dtype))
        self.sizes = np.ones(self.n)
        self._pack(np.arange(self.n))

    def _pack(self, members: NDArray) -> None:
        self.tiles = tiles = pack(self.rows, members)
        self.packed = len(members)
        self.where = np.zeros((2, self.n), np.int64)
        self.where[:, tiles.who[tiles.tile, tiles.place]] = tiles.tile, tiles.place
        self.weights = np.where(tiles.who >= 0, self.sizes[tiles.who], 1.0)
        self.lightest = np.where(tiles.who >= 0, self.weights, np.inf).min(axis=1)

    def _heights(self, a: NDArray, b: NDArray) -> NDArray[np.float64]:
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
        tiles.who[gone, hole] = -1
        self.weights[tile, place] = self.sizes[a]
        np.minimum.at(tiles.low, tile, self.rows[a])
        np.maximum.at(tiles.high, tile, self.rows[a])

    def _search(self, queries: NDArray) -> None:
        tiles, places = self.tiles, self.where[:, queries]
        queries = queries[np.lexsort(places[::-1])]  # neighbours side by side: they leave out the same tiles
        means, sizes = self.rows[queries], self.sizes[queries]
        partner, cost = np.empty(len(queries), np.int64), np.empty(len(queries))
        safe = 1.0 - 8.0 * (tiles.points.shape[1] + 4) * float(np.finfo(self.X.dtype).eps)

        def part(start: int, stop: int) -> None:
            nearest_means(
                tiles.points, tiles.low, tiles.high, tiles.who, self.weights, self.lightest, safe, means, queries,
                sizes, partner, cost, start, stop,
            )  # fmt: skip

        parallel.run(part, len(queries), int(np.clip(len(queries) // 8, 4, _CHUNK)))
        self.partner[queries], self.near[queries] = partner, cost
