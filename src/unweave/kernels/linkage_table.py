"""Trees from the distances of all pairs: what is done to a table of them between two rounds of joins.

The table of n clusters is scipy's condensed one: row i holds the distances to the clusters j > i, one row after the
other. A round joins every pair of clusters that are each other's nearest. The next table is then written row by row
from the last one, and while a row is warm in the cache its distances are noted as candidates for the nearest of both
their clusters; nothing is searched. Where there are few such pairs, a chain of nearest neighbours is followed instead.

Reference: F. Murtagh, "A survey of recent advances in hierarchical clustering algorithms", Comput. J. 26 (1983);
D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011); G. N. Lance, W. T. Williams, Comput. J. 9
(1967), for the distances of a joined cluster.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.linkage import TILE, tile_distances

_LANES = 32  # minima that are kept side by side, so that they are found by vector instructions


@kernel
def row_base(i, n):
    """Where row i of a condensed table of n clusters begins, so that the distance of i < j is at ``row_base + j``."""
    return i * (2 * n - i - 1) // 2 - i - 1


@part
def _least(row, bound):
    """The smallest entry of a row, or the bound if that is smaller."""
    lanes = np.full(_LANES, bound)
    whole = len(row) // _LANES * _LANES
    for p in range(0, whole, _LANES):
        for q in range(_LANES):
            value = row[p + q]
            lanes[q] = value if value < lanes[q] else lanes[q]
    for p in range(whole, len(row)):
        lanes[0] = row[p] if row[p] < lanes[0] else lanes[0]
    return lanes.min()


@part
def note_nearest(row, i, near):
    """Take in the distances ``row[p]`` of cluster i to the clusters ``i + 1 + p`` as candidates for their nearest."""
    later = near[i + 1 : i + 1 + len(row)]
    for p in range(len(row)):
        later[p] = row[p] if row[p] < later[p] else later[p]
    near[i] = _least(row, near[i])


@kernel
def nearest_of_rows(table, near, start, stop):
    """Note the distances of rows ``[start, stop)`` of a table in `near`."""
    n = len(near)
    for i in range(start, stop):
        base = row_base(i, n)
        note_nearest(table[base + i + 1 : base + n], i, near)


@kernel
def euclidean_rows(tiles, rows, table, near, start, stop):
    """Write rows ``[start, stop)`` of the table of Euclidean distances and note them in `near`.

    `tiles` holds the rows once more, transposed in tiles of 128; columns come in fours.
    """
    n = len(rows)
    total = np.empty(TILE, tiles.dtype)
    for t in range(start // TILE, len(tiles)):
        for i in range(start, min(stop, (t + 1) * TILE)):
            tile_distances(tiles[t], rows[i], total, np.int64(TILE))
            first = max(i + 1 - t * TILE, 0)
            last = min(n - t * TILE, TILE)
            if first < last:
                base = row_base(i, n) + t * TILE
                part = table[base + first : base + last]
                for p in range(last - first):
                    part[p] = np.sqrt(total[first + p])
    nearest_of_rows(table, near, start, stop)


@kernel
def combined(x, y, share, rule):
    """Distance to a joined cluster: the larger (rule 1), the smaller (-1), or the mean with `share` for the second."""
    # Not x + share (y - x): two clusters that are both infinitely far (dead) must stay so.
    mean = (1 - share) * x + share * y
    larger = x if x > y else y
    smaller = x if x < y else y
    return larger if rule == 1 else (smaller if rule == -1 else mean)


@kernel
def squeeze_rows(old, n, first, second, share, rule, block, origin, near, start, stop):
    """Write rows ``[start, stop)`` of the table after joins to a block whose first row is `origin`, and note them.

    Cluster i is made of the clusters ``first[i] < second[i]`` of the old table of n, or is ``first[i] == second[i]``
    itself; `first` is increasing. ``share[i]`` is the share of the second of its rows, in the type of the table. Rows
    of the old table before ``first[origin]`` are not read, so blocks may be copied over it one after the other.
    """
    m = len(first)
    line = np.empty(n, old.dtype)
    offset = row_base(origin, m) + origin + 1
    for i in range(start, stop):
        a, b = np.int64(first[i]), np.int64(second[i])
        base = row_base(a, n)
        for j in range(a + 1, n):
            line[j] = old[base + j]
        if b != a:
            place = row_base(a + 1, n) + b
            for j in range(a + 1, b):
                line[j] = combined(line[j], old[place], share[i], rule)
                place += n - 2 - j
            tail, other = line[b + 1 :], old[row_base(b, n) + b + 1 : row_base(b, n) + n]
            for j in range(n - b - 1):
                tail[j] = combined(tail[j], other[j], share[i], rule)
        base = row_base(i, m) - offset
        row = block[base + i + 1 : base + m]
        ones, twos, shares = first[i + 1 :], second[i + 1 :], share[i + 1 :]
        for j in range(m - i - 1):
            row[j] = combined(line[ones[j]], line[twos[j]], shares[j], rule)
        note_nearest(row, i, near)


@kernel
def mutual_pairs(table, near, order, taken, pairs):
    """Pairs of clusters that are each other's nearest, no cluster twice; returns how many.

    Two clusters can only be so if their `near` are equal, and `order` sorts by it (stable). Of several that are equally
    near the first that is free is taken.
    """
    n, count, k = len(near), 0, 0
    while k < n:
        level, stop = near[order[k]], k + 1
        while stop < n and near[order[stop]] == level:
            stop += 1
        for p in range(k, stop):
            i = order[p]
            base = row_base(i, n)
            q = p + 1
            while q < stop and taken[i] == 0:
                j = order[q]
                if taken[j] == 0 and table[base + j] == level:
                    taken[i] = taken[j] = 1
                    pairs[count, 0] = i
                    pairs[count, 1] = j
                    count += 1
                q += 1
        k = stop
    return count


@part
def _place(i, j, n):
    return row_base(i, n) + j if i < j else row_base(j, n) + i


@part
def join_in_place(table, n, a, b, share, rule):
    """Give cluster a the distances of a joined with b > a, and b infinite ones: it stays in the table, dead."""
    to_a, to_b = a - 1, b - 1
    for j in range(a):
        table[to_a] = combined(table[to_a], table[to_b], share, rule)
        table[to_b] = np.inf
        to_a += n - 2 - j
        to_b += n - 2 - j
    row = row_base(a, n)
    to_b += n - 2 - a
    table[row + b] = np.inf
    for j in range(a + 1, b):
        table[row + j] = combined(table[row + j], table[to_b], share, rule)
        table[to_b] = np.inf
        to_b += n - 2 - j
    ours, gone = table[row + b + 1 : row + n], table[row_base(b, n) + b + 1 : row_base(b, n) + n]
    for j in range(len(gone)):
        ours[j] = combined(ours[j], gone[j], share, rule)
        gone[j] = np.inf


@kernel
def _nearest(table, n, r, best, least):
    """The nearest cluster of r if it is nearer than `least`, otherwise `best`."""
    place = r - 1
    for j in range(r):
        if table[place] < least:
            best, least = j, table[place]
        place += n - 2 - j
    row = table[row_base(r, n) + r + 1 : row_base(r, n) + n]
    low = _least(row, least)
    if low < least:
        least, best = low, r + 1
        while row[best - r - 1] != low:
            best += 1
    return best, least


@kernel
def follow_chain(table, n, sizes, rule, pairs, heights):
    """Make ``len(pairs)`` joins in place: from a cluster to its nearest, to the nearest of that, until two are mutual.

    ``sizes[i]`` is 0 for dead clusters. Distances along the chain fall strictly, so it ends; after a join it goes on
    from where it was.
    """
    chain = np.empty(n, np.int64)
    depth, begin = 0, 0
    for k in range(len(pairs)):
        if depth == 0:
            while sizes[begin] == 0:
                begin += 1
            chain[0] = begin
            depth = 1
        while True:
            r = chain[depth - 1]
            before = chain[depth - 2] if depth > 1 else -1
            least = table[_place(r, before, n)] if depth > 1 else table.dtype.type(np.inf)
            found, least = _nearest(table, n, r, before, least)
            if found == before:
                break
            chain[depth] = found
            depth += 1
        a, b = min(r, before), max(r, before)
        pairs[k, 0], pairs[k, 1], heights[k] = a, b, least
        share = sizes[b] / (sizes[a] + sizes[b])
        join_in_place(table, n, a, b, table.dtype.type(share), rule)
        sizes[a] += sizes[b]
        sizes[b] = 0
        depth -= 2
