"""Nearest clusters by Ward's cost, for trees built from pairs of mutual neighbours; spanning trees; joins.

Ward's cost of joining two clusters, ``2 s t / (s + t) |x - y|^2`` for sizes s, t and means x, y, is searched among
means that stand in tiles of 128, transposed. It grows with t, so a tile's lightest cluster and the box around its means
bound it from below, and tiles that cannot hold the answer are left out. Of equal costs the partner whose number differs
from one's own in the lowest bits is taken (the smallest ``a ^ b``): a rule that both partners agree on, so that a table
full of ties falls into many pairs at once and not into one.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part


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
                tile_distances(tiles[t], means[i], total, np.int64(TILE))
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
def name_joins(pairs, tree):
    """Rows of scipy's tree, heights apart: join i of rows that stand for clusters makes cluster n + i.

    ``tree[i, 0] < tree[i, 1]`` are the numbers of the clusters that are joined, ``tree[i, 3]`` the rows of their union.
    Returns the numbers of the clusters that are left, with their sizes.
    """
    n = len(tree) + 1
    parent, name, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if size[a] < size[b]:
            a, b = b, a
        tree[i, 0] = min(name[a], name[b])
        tree[i, 1] = max(name[a], name[b])
        parent[b] = a
        size[a] += size[b]
        tree[i, 3] = size[a]
        name[a] = n + i
    roots = parent == np.arange(n)
    return name[roots], size[roots]


@kernel
def leaf_labels(children, labels):
    """The cluster of every leaf after the joins `children` of a tree, numbered as they appear."""
    n, made = len(labels), len(children)
    top = np.arange(n + made)
    for i in range(made - 1, -1, -1):
        top[children[i, 0]] = top[n + i]
        top[children[i, 1]] = top[n + i]
    number = np.full(n + made, -1)
    count = 0
    for leaf in range(n):
        if number[top[leaf]] < 0:
            number[top[leaf]] = count
            count += 1
        labels[leaf] = number[top[leaf]]


TILE = 128  # rows of a tile: 16 columns of float64 are 16 KiB, which the first cache holds


@part
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


@part
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
