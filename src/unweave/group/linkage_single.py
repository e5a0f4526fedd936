"""Single linkage of Euclidean rows: the minimum spanning tree, grown row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.linkage_tiles import TILE, pack
from unweave.group.linkage_tree import Merges
from unweave.kernels.linkage import grow_tree
from unweave.solve.lloyd_rows import padded

_WORK = 1.5e8  # squared differences of one call of the kernel, about a tenth of a second


class Single:
    """A scheme of the one loop: a step adds rows to the spanning tree, for a tenth of a second or less.

    The tree lies in O(n·d) memory. Its edges in order of length are the joins of single linkage. A state from a
    checkpoint is grown anew up to where it stood.
    """

    def __init__(self, X: NDArray):
        self.X, self.rows = X, padded(X)
        self._begin()

    def start(self) -> dict:
        return Merges.none(len(self.X))

    def step(self, state: dict) -> tuple[dict, float]:
        done = int(state["done"])
        if done < self.done:
            self._begin()
        while self.done < done:
            self._grow(done - self.done)
        pairs = self._grow(len(self.X) - 1 - done)
        gaps = self.X[pairs[:, 0]].astype(np.float64) - self.X[pairs[:, 1]]
        return Merges.add(state, pairs, np.sqrt(np.einsum("ij,ij->i", gaps, gaps)))

    def _begin(self) -> None:
        self.done, self.last = 0, 0
        n = len(self.X)
        self._pack(np.arange(1, n), np.full(n, np.inf, self.X.dtype), np.zeros(n, np.int64))
        self.tail = self.rows[0].copy()

    def _pack(self, members: NDArray, dist: NDArray, owner: NDArray) -> None:
        """Tiles of the rows that are not in the tree yet; `dist` and `owner` are by row."""
        if not len(members):
            return
        self.tiles = tiles = pack(self.rows, members)
        self.packed = len(members)
        real = tiles.who >= 0
        self.dist = np.where(real, dist[tiles.who], -1).astype(self.X.dtype)
        self.owner = np.where(real, owner[tiles.who], 0)
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
            tiles.points, tiles.low, tiles.high, tiles.who, tiles.count, self.dist, self.signed, self.unsigned,
            self.owner, self.least, self.most, self.most.view(self.X.dtype), self.last, self.tail, made,
        )  # fmt: skip
        self.done += len(made)
        return made

    def _repack(self) -> None:
        real = np.arange(TILE) < self.tiles.count[:, None]
        members = self.tiles.who[real]
        dist, owner = np.zeros(len(self.X), self.X.dtype), np.zeros(len(self.X), np.int64)
        dist[members], owner[members] = self.dist[real], self.owner[real]
        self._pack(np.sort(members), dist, owner)
