"""Minimum spanning tree of rows by Prim's rule, for single linkage: O(n·d) memory, tiles that cannot matter left out.

Rows that are not yet in the tree stand in tiles of 128, transposed, with the box around each tile. A tile keeps for
every row the squared distance to the tree and the row of the tree it is to; a new row of the tree changes nothing in a
tile whose box is farther away than the largest of these distances.

Distances are sums of squared differences. Their bit patterns, read as whole numbers, have the order of the numbers
themselves, and whole numbers have a vectorised minimum. An empty place holds -1: below all as a signed number and
above all as an unsigned one, so neither extreme sees it.

Reference: R. C. Prim, "Shortest connection networks and some generalizations", Bell Syst. Tech. J. 36 (1957).
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

TILE = 128  # rows of a tile: 16 columns of float64 are 16 KiB, which the first cache holds


@kernel
def box_distance(point, low, high):
    """Squared distance of a point to the box [low, high]."""
    total = point.dtype.type(0.0)
    zero = point.dtype.type(0.0)
    for c in range(len(point)):
        below, above = low[c] - point[c], point[c] - high[c]
        gap = below if below > above else above
        gap = gap if gap > zero else zero
        total += gap * gap
    return total


@kernel
def tile_distances(tile, point, total, count):
    """``total[p]`` for the first `count` rows of a tile: squared distance to the point; columns come in fours."""
    for p in range(count):
        total[p] = 0.0
    for c in range(0, len(point), 4):
        c0, c1, c2, c3 = point[c], point[c + 1], point[c + 2], point[c + 3]
        for p in range(count):
            x0 = tile[c, p] - c0
            x1 = tile[c + 1, p] - c1
            x2 = tile[c + 2, p] - c2
            x3 = tile[c + 3, p] - c3
            total[p] += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3


@kernel
def _extremes(signed, unsigned, t, count, least, most):
    """Smallest and largest distance of a tile, as bit patterns."""
    low, high = unsigned[t, 0], signed[t, 0]
    for p in range(count):
        low = unsigned[t, p] if unsigned[t, p] < low else low
        high = signed[t, p] if signed[t, p] > high else high
    least[t] = low
    most[t] = high


@kernel
def grow_tree(tiles, low, high, who, count, dist, signed, unsigned, owner, least, most, largest, row, tail, made):
    """Add rows to the tree one by one, nearest first, until ``len(made)`` are added; returns the last row added.

    `dist`, `signed` and `unsigned` are one array read in three ways, `largest` is `most` read as numbers. `row` is the
    last row of the tree and `tail` its columns (replaced). For each row added, ``made[i] = (row, row of the tree)`` is
    written; a caller who wants the distance takes it from the rows themselves.
    """
    n_tiles = len(count)
    total = np.empty(TILE, tiles.dtype)
    for i in range(len(made)):
        for t in range(n_tiles):
            if count[t] == 0 or box_distance(tail, low[t], high[t]) > largest[t]:
                continue
            rows = min(TILE, (count[t] + 15) // 16 * 16)
            tile_distances(tiles[t], tail, total, rows)
            hits = 0
            for p in range(rows):
                hits += 1 if total[p] < dist[t, p] else 0
            if hits == 0:
                continue
            for p in range(rows):
                nearer = total[p] < dist[t, p]
                dist[t, p] = total[p] if nearer else dist[t, p]
                owner[t, p] = row if nearer else owner[t, p]
            _extremes(signed, unsigned, t, rows, least, most)
        best = 0
        for t in range(1, n_tiles):
            best = t if least[t] < least[best] else best
        p = 0
        while unsigned[best, p] != least[best]:
            p += 1
        row = who[best, p]
        made[i, 0] = row
        made[i, 1] = owner[best, p]
        last = count[best] - 1
        count[best] = last
        for c in range(tiles.shape[1]):
            tail[c] = tiles[best, c, p]
            tiles[best, c, p] = tiles[best, c, last]
        who[best, p], owner[best, p], dist[best, p] = who[best, last], owner[best, last], dist[best, last]
        dist[best, last] = -1.0
        _extremes(signed, unsigned, best, TILE, least, most)
    return row
