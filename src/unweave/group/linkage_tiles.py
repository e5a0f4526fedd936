"""Points in tiles of neighbours, with the box around each tile: what the searches of a tree run over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.kernels.linkage import TILE


def neighbours_together(X: NDArray) -> NDArray[np.int64]:
    """An order of the rows in which each stretch of `TILE` rows is a leaf of a k-d tree: cut at the median of the
    widest column until few are left.

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
    """Points of some members in tiles: ``points[t, column, place]``, with columns padded by zeros to fours.

    `who` holds the number of the member at each place, -1 where there is none (its point is infinite); ``tile`` and
    ``place`` say where the i-th of the members packed stands.
    """

    points: NDArray
    low: NDArray
    high: NDArray
    who: NDArray[np.int64]
    count: NDArray[np.int64]
    tile: NDArray[np.int64]
    place: NDArray[np.int64]


def pack(X: NDArray, members: NDArray) -> Tiles:
    """Tiles of the rows `members` of X (padded)."""
    members = members[neighbours_together(X[members])]
    m, d = len(members), X.shape[1]
    n_tiles = -(-m // TILE)
    flat = np.full((n_tiles * TILE, d), np.inf, X.dtype)
    flat[:m] = X[members]
    who = np.full(n_tiles * TILE, -1, np.int64)
    who[:m] = members
    starts = np.arange(0, m, TILE)
    low = np.minimum.reduceat(flat[:m], starts, axis=0)
    high = np.maximum.reduceat(flat[:m], starts, axis=0)
    points = np.ascontiguousarray(flat.reshape(n_tiles, TILE, d).transpose(0, 2, 1))
    tile, place = np.divmod(np.arange(m), TILE)
    return Tiles(points, low, high, who.reshape(n_tiles, TILE), np.bincount(tile), tile, place)
