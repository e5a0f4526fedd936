"""Nearest centre of each row when rows are short: all distances of a tile of rows at once, bounds of Hamerly.

A tile holds 256 rows, transposed, so that the innermost loops run over rows and fill the vector registers. Distances
are sums of squared differences: no cancellation, whatever the mean of the data.

Bounds are kept *lazily*: with D_j the path length of centre j since the start, ``upper[i] + D_label`` bounds the
distance to the own centre from above and ``lower[i] - far`` the distance to every other one from below (`far` adds up
the longest step of each iteration). A row that keeps its place is read, never written.

Reference: G. Hamerly, "Making k-means even faster", SDM 2010.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

TILE = 256  # rows of a tile: 16 columns of float32 are 16 KiB, which the first cache holds
_PATH = 1.0 - 4e-7  # shrinks a float32 path length by more than its rounding, in the safe direction


@kernel
def _scan(tile, centres, total, best, second, label):
    """Smallest and second smallest squared distance of each column of `tile`; columns of `centres` come in fours."""
    k, d = centres.shape
    for p in range(TILE):
        best[p] = np.inf
        second[p] = np.inf
        label[p] = 0
        total[p] = 0.0
    last = d - 4
    for j in range(k):
        for t in range(0, last, 4):
            c0, c1, c2, c3 = centres[j, t], centres[j, t + 1], centres[j, t + 2], centres[j, t + 3]
            for p in range(TILE):
                x0 = tile[t, p] - c0
                x1 = tile[t + 1, p] - c1
                x2 = tile[t + 2, p] - c2
                x3 = tile[t + 3, p] - c3
                total[p] += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
        c0, c1, c2, c3 = centres[j, last], centres[j, last + 1], centres[j, last + 2], centres[j, last + 3]
        here = np.int32(j)
        for p in range(TILE):
            x0 = tile[last, p] - c0
            x1 = tile[last + 1, p] - c1
            x2 = tile[last + 2, p] - c2
            x3 = tile[last + 3, p] - c3
            value = total[p] + (x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3)
            total[p] = 0.0
            least, runner = best[p], second[p]
            larger = least if value < least else value
            second[p] = larger if larger < runner else runner
            label[p] = here if value < least else label[p]
            best[p] = value if value < least else least


@kernel
def nearest_low(X, centres, labels, squares, start, stop):
    """``labels[i]``: nearest row of `centres` (columns padded with zeros to a multiple of four); its squared distance.

    Of equally near centres the first is taken.
    """
    d = X.shape[1]
    tile = np.zeros((centres.shape[1], TILE), X.dtype)
    total, best, second = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, X.dtype)
    label = np.empty(TILE, np.int32)
    for first in range(start, stop, TILE):
        m = min(TILE, stop - first)
        for p in range(m):
            for t in range(d):
                tile[t, p] = X[first + p, t]
        _scan(tile, centres, total, best, second, label)
        for p in range(m):
            labels[first + p] = label[p]
            squares[first + p] = best[p]


@kernel
def hamerly_low(X, centres, old, new, upper, lower, path, far, half, slack, start, stop):
    """Labels of rows ``[start, stop)``; only rows whose bounds fail meet all the centres. Returns how many did.

    `half` is half the distance of each centre to the nearest other one; `slack` the relative error of a distance.
    """
    d = X.shape[1]
    tile = np.zeros((centres.shape[1], TILE), X.dtype)
    total, best, second = np.empty(TILE, X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, X.dtype)
    label, rows = np.empty(TILE, np.int32), np.empty(TILE, np.int64)
    up, down = 1.0 + slack, 1.0 - slack
    scanned, m = 0, 0
    for i in range(start, stop):
        a = old[i]
        new[i] = a
        reach = upper[i] + path[a]
        floor = lower[i] - far
        floor = half[a] if half[a] > floor else floor
        fails = a < 0 or not reach <= floor
        if fails and a >= 0:
            own = X.dtype.type(0.0)
            for t in range(d):
                gap = X[i, t] - centres[a, t]
                own += gap * gap
            reach = np.sqrt(own) * up
            upper[i] = reach - path[a] * _PATH
            fails = reach > floor
        if fails:
            rows[m] = i
            for t in range(d):
                tile[t, m] = X[i, t]
            m += 1
        if m == TILE or (i == stop - 1 and m > 0):
            _scan(tile, centres, total, best, second, label)
            for p in range(m):
                r, b = rows[p], label[p]
                new[r] = b
                upper[r] = np.sqrt(best[p]) * up - path[b] * _PATH
                lower[r] = np.sqrt(second[p]) * down + far * _PATH
            scanned += m
            m = 0
    return scanned
