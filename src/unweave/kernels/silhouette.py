"""Mean distance of each row to its own cluster and to the nearest other one, without a table of distances.

Rows are sorted by cluster, so that a cluster is a stretch of rows. A tile holds 256 query rows, transposed: each other
row meets all of them at once, and the innermost loops run over the queries and fill the vector registers. Distances
are roots of summed squared differences: no cancellation, and the distance of a row to itself is exactly zero. Sums of
64 distances are kept in the type of the data and added up in float64.

Reference: P. Rousseeuw, "Silhouettes", Journal of Computational and Applied Mathematics 20, 1987.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

TILE = 256
WIDTH = 8  # columns taken in one sweep over a tile; the caller pads with zeros to a multiple
_BLOCK = 64


@part
def _add_distances(tile, row, square, sums):
    """``sums[p] += |tile[:, p] - row|``; the last eight columns go with the root, the others before it."""
    last = row.shape[0] - WIDTH
    for p in range(TILE):
        square[p] = 0.0
    for t in range(0, last, WIDTH):
        a, b, c, d = row[t], row[t + 1], row[t + 2], row[t + 3]
        e, f, g, h = row[t + 4], row[t + 5], row[t + 6], row[t + 7]
        for p in range(TILE):
            x0, x1, x2, x3 = tile[t, p] - a, tile[t + 1, p] - b, tile[t + 2, p] - c, tile[t + 3, p] - d
            x4, x5, x6, x7 = tile[t + 4, p] - e, tile[t + 5, p] - f, tile[t + 6, p] - g, tile[t + 7, p] - h
            square[p] += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5 + x6 * x6 + x7 * x7
    t = last
    a, b, c, d = row[t], row[t + 1], row[t + 2], row[t + 3]
    e, f, g, h = row[t + 4], row[t + 5], row[t + 6], row[t + 7]
    for p in range(TILE):
        x0, x1, x2, x3 = tile[t, p] - a, tile[t + 1, p] - b, tile[t + 2, p] - c, tile[t + 3, p] - d
        x4, x5, x6, x7 = tile[t + 4, p] - e, tile[t + 5, p] - f, tile[t + 6, p] - g, tile[t + 7, p] - h
        value = square[p] + x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4 + x5 * x5 + x6 * x6 + x7 * x7
        sums[p] += np.sqrt(value)


@kernel
def mean_distances(X, queries, own, offsets, first, last, total, inside, nearest, start, stop):
    """Go on with queries ``[start, stop)`` (at most a tile) through the rows ``[first, last)`` of `X`.

    Cluster c is the rows ``offsets[c]`` to ``offsets[c + 1]``. `total` is the sum of distances within the cluster under
    way; at its end the mean goes to `inside` (own cluster, the row itself left out; zero if it is alone) or, if it is
    the smallest so far, to `nearest`.
    """
    m, d = stop - start, X.shape[1]
    tile = np.zeros((d, TILE), X.dtype)
    square, sums = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype)
    for p in range(m):
        for t in range(d):
            tile[t, p] = X[queries[start + p], t]
    c, j = 0, first
    while offsets[c + 1] <= first:
        c += 1
    while j < last:
        end = min(last, offsets[c + 1], j + _BLOCK)
        sums[:] = 0.0
        for r in range(j, end):
            _add_distances(tile, X[r], square, sums)
        for p in range(m):
            total[start + p] += sums[p]
        j = end
        if j == offsets[c + 1]:
            size = offsets[c + 1] - offsets[c]
            for q in range(start, stop):
                if own[q] == c:
                    inside[q] = total[q] / (size - 1) if size > 1 else 0.0
                elif total[q] / size < nearest[q]:
                    nearest[q] = total[q] / size
                total[q] = 0.0
            c += 1
