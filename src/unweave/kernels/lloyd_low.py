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
    """Smallest and second smallest squared distance of each column of `tile`.

    Centres come in twos and their columns in fours (:func:`unweave.solve.lloyd_rows.tiled`): a pass over the tile then
    needs twelve vector registers, of the sixteen that there are without AVX-512, and reads a row once for two centres.
    To choose is a loop of its own: together with the distances it takes more registers than there are.
    """
    k, d = centres.shape
    for p in range(TILE):
        best[p] = np.inf
        second[p] = np.inf
        label[p] = 0
    for j in range(0, k, 2):
        for p in range(TILE):
            total[0, p] = 0.0
            total[1, p] = 0.0
        for t in range(0, d, 4):
            a0, a1, a2, a3 = centres[j, t], centres[j, t + 1], centres[j, t + 2], centres[j, t + 3]
            b0, b1, b2, b3 = centres[j + 1, t], centres[j + 1, t + 1], centres[j + 1, t + 2], centres[j + 1, t + 3]
            for p in range(TILE):
                x0, x1, x2, x3 = tile[t, p], tile[t + 1, p], tile[t + 2, p], tile[t + 3, p]
                u0, u1, u2, u3 = x0 - a0, x1 - a1, x2 - a2, x3 - a3
                v0, v1, v2, v3 = x0 - b0, x1 - b1, x2 - b2, x3 - b3
                total[0, p] += u0 * u0 + u1 * u1 + u2 * u2 + u3 * u3
                total[1, p] += v0 * v0 + v1 * v1 + v2 * v2 + v3 * v3
        left, right = np.int32(j), np.int32(j + 1)
        for p in range(TILE):
            one, two = total[0, p], total[1, p]
            nearer = two if two < one else one
            farther = one if two < one else two
            here = right if two < one else left
            least, runner = best[p], second[p]
            larger = least if nearer < least else nearer
            other = farther if farther < runner else runner
            second[p] = larger if larger < other else other
            label[p] = here if nearer < least else label[p]
            best[p] = nearer if nearer < least else least


@kernel
def nearest_low(X, centres, labels, squares, start, stop):
    """``labels[i]``: the nearest centre, ``squares[i]``: its squared distance.

    `centres` as :func:`unweave.solve.lloyd_rows.tiled` gives them. Of equally near centres the first is taken.
    """
    d = X.shape[1]
    tile = np.zeros((centres.shape[1], TILE), X.dtype)
    total, best, second = np.empty((2, TILE), X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, X.dtype)
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
    total, best, second = np.empty((2, TILE), X.dtype), np.empty(TILE, X.dtype), np.empty(TILE, X.dtype)
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
