"""Find nearest centres in tables of few columns, sum over clusters, and draw the starts of k-means++."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def move_sums(X, weights, stride, old, new, sums, counts, start, stop):
    """Move the weight of every row whose label changed from its old cluster's sum to its new one's.

    `old` = -1 means "in no cluster yet". `weights` has one entry a row (`stride` 1) or one in all (`stride` 0). Returns
    the number of rows that changed.
    """
    changed = 0
    d = X.shape[1]
    for i in range(start, stop):
        a, b = old[i], new[i]
        if a == b:
            continue
        changed += 1
        w = weights[i * stride]
        for t in range(d):
            sums[b, t] += w * X[i, t]
        counts[b] += w
        if a >= 0:
            for t in range(d):
                sums[a, t] -= w * X[i, t]
            counts[a] -= w
    return changed


@kernel
def own_squares(X, centres, labels, squares, start, stop):
    """``squares[i] = |x_i - c_label|^2``, summed from differences in float64."""
    for i in range(start, stop):
        total = 0.0
        a = labels[i]
        for t in range(X.shape[1]):
            gap = np.float64(X[i, t]) - np.float64(centres[a, t])
            total += gap * gap
        squares[i] = total


@kernel
def row_squares(X, norms, start, stop):
    """``norms[i] = |x_i|^2``, summed in float64."""
    for i in range(start, stop):
        total = 0.0
        for t in range(X.shape[1]):
            value = np.float64(X[i, t])
            total += value * value
        norms[i] = total


@kernel
def seed_pass(X, candidates, apart, owner, closest, weights, stride, trial, potentials, start, stop):
    """One pass of greedy k-means++: what every candidate centre would make of the squared distances.

    ``trial[l, i] = min(closest[i], |x_i - candidates[l]|^2)`` and ``potentials[l] = sum_i w_i trial[l, i]`` of the rows
    ``[start, stop)``. ``apart[l, j]`` is the squared distance from candidate l to centre j (rounded down): where it is
    at least four times ``closest[i]``, j = ``owner[i]``, the triangle inequality says that nothing is gained and the
    row is not read.
    """
    d = X.shape[1]
    for c in range(candidates.shape[0]):
        potentials[c] = 0.0
    for i in range(start, stop):
        w = weights[i * stride]
        near = closest[i]
        limit = 4.0 * near
        home = owner[i]
        for c in range(candidates.shape[0]):
            value = near
            if home < 0 or apart[c, home] < limit:
                total = X.dtype.type(0.0)
                for t in range(d):
                    gap = X[i, t] - candidates[c, t]
                    total += gap * gap
                value = total if total < near else near
            trial[c, i] = value
            potentials[c] += w * value


@kernel
def seed_accept(trial, closest, owner, centre, start, stop):
    """Take one candidate: rows that it brings nearer now belong to `centre`."""
    for i in range(start, stop):
        if trial[i] < closest[i]:
            closest[i] = trial[i]
            owner[i] = centre


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
