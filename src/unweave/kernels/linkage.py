"""Nearest clusters, for trees that are built from pairs of mutual neighbours.

Ward's cost of joining two clusters, ``2 s t / (s + t) |x - y|^2`` for sizes s, t and means x, y, is searched among
means that stand in tiles of 128, transposed. It grows with t, so a tile's lightest cluster and the box around its means
bound it from below, and tiles that cannot hold the answer are left out. Of equal costs the partner whose number differs
from one's own in the lowest bits is taken (the smallest ``a ^ b``): a rule that both partners agree on, so that a table
full of ties falls into many pairs at once and not into one.

For the linkages that need all distances, rows of the table of distances are searched and joined instead.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.spanning import TILE, box_distance, tile_distances


@kernel
def nearest_means(tiles, low, high, who, sizes, lightest, safe, means, own, weight, partner, cost, start, stop):
    """``partner[i]``, ``cost[i]``: the cheapest cluster to join query i with, of rows ``[start, stop)`` of `means`.

    Queries are clusters themselves: ``own[i]`` is the number of query i, which it does not meet, and ``weight[i]`` its
    size. `who` holds -1 where a place is empty; the means there are infinite. `safe` is a little below 1.
    """
    total = np.empty(TILE, tiles.dtype)
    zero = tiles.dtype.type(0.0)
    for i in range(start, stop):
        cost[i] = np.inf
        partner[i] = -1
    for turn in range(2):
        for t in range(len(lightest)):
            for i in range(start, stop):
                # The first turn meets the tiles nearby, for a good bound; the second all others.
                bound = box_distance(means[i], low[t], high[t])
                if (bound == zero) != (turn == 0):
                    continue
                s = weight[i]
                least = 2.0 * s * lightest[t] / (s + lightest[t])
                if bound * least * safe > cost[i]:
                    continue
                tile_distances(tiles[t], means[i], total, TILE)
                limit = tiles.dtype.type(cost[i] / (least * safe))
                hits = 0
                for p in range(TILE):
                    hits += 1 if total[p] <= limit else 0
                if hits == 0:
                    continue
                for p in range(TILE):
                    other = who[t, p]
                    if total[p] <= limit and other >= 0 and other != own[i]:
                        value = total[p] * (2.0 * (s * sizes[t, p]) / (s + sizes[t, p]))
                        tie = value == cost[i] and (other ^ own[i]) < (partner[i] ^ own[i])
                        if value < cost[i] or tie or partner[i] < 0:
                            cost[i] = value
                            partner[i] = other


@kernel
def nearest_in_table(distances, live, queries, partner, near, start, stop):
    """``partner[r]``, ``near[r]``: the nearest live cluster of ``r = queries[i]``, for queries ``[start, stop)``."""
    for i in range(start, stop):
        r = queries[i]
        best, least = -1, np.inf
        for j in live:
            value = distances[r, j]
            if j != r and (value < least or (value == least and (j ^ r) < (best ^ r)) or best < 0):
                best, least = j, value
        partner[r] = best
        near[r] = least


@kernel
def join_in_table(distances, live, a, b, share_a, share_b, farthest, start, stop):
    """Distances of a joined with b to the live clusters ``[start, stop)``, written over those of a.

    The larger of the two if `farthest` is 1 (complete), the smaller if -1 (single), else their weighted mean (average).
    """
    for i in range(start, stop):
        j = live[i]
        if j in (a, b):
            continue
        x, y = distances[a, j], distances[b, j]
        value = share_a * x + share_b * y
        if farthest == 1:
            value = x if x > y else y
        elif farthest == -1:
            value = x if x < y else y
        distances[a, j] = value
        distances[j, a] = value
