"""Move single rows between clusters of k-means: what leads out of a local optimum, and settling row by row."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

_POWER = 4  # iterations for the longest axis of a cluster, which only has to be roughly right
_HALVINGS = 10  # iterations of 2-means at most; most clusters settle sooner


@kernel
def _square(X, i, centres, j):
    """Squared distance of row i to centre j, in float64."""
    total = 0.0
    for t in range(X.shape[1]):
        gap = np.float64(X[i, t]) - centres[j, t]
        total += gap * gap
    return total


@part
def _mean(X, weights, begin, end, mean):
    """Weighted mean of the rows ``[begin, end)``; returns their weight."""
    mean[:] = 0.0
    mass = 0.0
    for i in range(begin, end):
        mass += weights[i]
        for t in range(X.shape[1]):
            mean[t] += weights[i] * X[i, t]
    for t in range(X.shape[1]):
        mean[t] /= mass
    return mass


@part
def _axis(X, weights, begin, end, mean, axis, image):
    """The longest axis of the rows, by the power method from the row farthest from their mean."""
    d = X.shape[1]
    longest = -1.0
    for i in range(begin, end):
        length = 0.0
        for t in range(d):
            length += (X[i, t] - mean[t]) ** 2
        if length > longest:
            longest = length
            for t in range(d):
                axis[t] = X[i, t] - mean[t]
    for _ in range(_POWER):
        norm = 0.0
        for t in range(d):
            norm += axis[t] * axis[t]
            image[t] = 0.0
        if norm == 0.0:
            return
        for i in range(begin, end):
            along = 0.0
            for t in range(d):
                along += (X[i, t] - mean[t]) * axis[t]
            along *= weights[i] / norm
            for t in range(d):
                image[t] += along * (X[i, t] - mean[t])
        for t in range(d):
            axis[t] = image[t]


@part
def _halve(X, begin, end, pair, side):
    """Give every row the nearer of two centres; how many changed."""
    changed = 0
    for i in range(begin, end):
        there = np.int8(_square(X, i, pair, 1) < _square(X, i, pair, 0))
        changed += there != side[i]
        side[i] = there
    return changed


@kernel
def _middles(X, weights, begin, end, side, pair, mass):
    """The two weighted means; returns whether both sides hold weight."""
    d = X.shape[1]
    pair[:, :] = 0.0
    mass[:] = 0.0
    for i in range(begin, end):
        s = side[i]
        mass[s] += weights[i]
        for t in range(d):
            pair[s, t] += weights[i] * X[i, t]
    if mass[0] == 0.0 or mass[1] == 0.0:
        return False
    for s in range(2):
        for t in range(d):
            pair[s, t] /= mass[s]
    return True


@kernel
def split_gains(X, weights, bounds, pairs, gains, side, start, stop):
    """2-means inside each of the clusters ``[start, stop)``, begun by a cut across its longest axis.

    The rows of cluster j are ``bounds[j]:bounds[j + 1]``, all of positive weight. ``pairs[j]`` are the two means and
    ``gains[j] = sum_s m_s |mean_s - mean|^2`` what the split takes from ``sum w |x - mean|^2``; 0 where there is none.
    """
    d = X.shape[1]
    mean, axis, image, mass = np.empty(d), np.empty(d), np.empty(d), np.empty(2)
    for j in range(start, stop):
        begin, end = bounds[j], bounds[j + 1]
        gains[j] = 0.0
        if end - begin < 2:
            continue
        _mean(X, weights, begin, end, mean)
        _axis(X, weights, begin, end, mean, axis, image)
        for i in range(begin, end):
            along = 0.0
            for t in range(d):
                along += (X[i, t] - mean[t]) * axis[t]
            side[i] = np.int8(along > 0.0)
        filled = _middles(X, weights, begin, end, side, pairs[j], mass)
        for _ in range(_HALVINGS):
            if not filled or _halve(X, begin, end, pairs[j], side) == 0:
                break
            filled = _middles(X, weights, begin, end, side, pairs[j], mass)
        if filled:
            for s in range(2):
                for t in range(d):
                    gains[j] += mass[s] * (pairs[j, s, t] - mean[t]) ** 2


@kernel
def removal_costs(X, weights, bounds, centres, near, costs, start, stop):
    """What ``sum w |x - c|^2`` grows by when a cluster's rows go each to the best of the centres ``near[j]``."""
    for j in range(start, stop):
        total = 0.0
        for i in range(bounds[j], bounds[j + 1]):
            best = np.inf
            for q in range(near.shape[1]):
                value = _square(X, i, centres, near[j, q])
                best = value if value < best else best
            total += weights[i] * (best - _square(X, i, centres, j))
        costs[j] = total if total > 0.0 else 0.0


_PASSES = 200
_LEAST = 1e-9  # share of what leaving saves that a move must gain, so that ties do not go round in circles


@kernel
def _apart(X, i, centres, j):
    """Squared distance of row i to centre j, in float64."""
    total = 0.0
    for t in range(X.shape[1]):
        gap = X[i, t] - centres[j, t]
        total += gap * gap
    return total


@part
def _begin(X, centres, fresh, labels, squares, changed):
    """Rows to their nearest centres. Only rows that lose their centre meet all; the others those that are `fresh`."""
    k = len(centres)
    for i in range(len(X)):
        a = labels[i]
        lost = a < 0 or fresh[a]
        best, b = (np.inf, 0) if lost else (squares[i], a)
        for j in range(k):
            if lost or fresh[j]:
                square = _apart(X, i, centres, j)
                if square < best:
                    best, b = square, j
        if b != a:
            if a >= 0:
                changed[a] = 1
            changed[b] = 1
            labels[i] = b


@kernel
def _means(X, weights, stride, centres, counts, labels, squares, changed):
    """Means of the clusters that have changed; returns ``sum w |x - c|^2``, `squares` brought up to date."""
    d, k = X.shape[1], len(centres)
    sums = np.zeros((k, d))
    for j in range(k):
        if changed[j]:
            counts[j] = 0.0
    for i in range(len(X)):
        j = labels[i]
        if changed[j]:
            w = weights[i * stride]
            counts[j] += w
            for t in range(d):
                sums[j, t] += w * X[i, t]
    for j in range(k):
        if changed[j] and counts[j] > 0.0:
            for t in range(d):
                centres[j, t] = sums[j, t] / counts[j]
    value = 0.0
    for i in range(len(X)):
        if changed[labels[i]]:
            squares[i] = _apart(X, i, centres, labels[i])
        value += weights[i * stride] * squares[i]
    return value


@part
def _shift(X, i, w, a, b, centres, counts):
    """Row i of weight w goes from cluster a to b."""
    counts[a] -= w
    counts[b] += w
    away, towards = w / counts[a], w / counts[b]
    for t in range(X.shape[1]):
        centres[a, t] += away * (centres[a, t] - X[i, t])
        centres[b, t] += towards * (X[i, t] - centres[b, t])


@kernel
def settle(X, weights, stride, centres, fresh, counts, labels, squares, goal, hope):
    """Lower ``sum w |x - c|^2`` from `centres` until no row alone can; the sum, infinite if given up.

    `fresh` marks centres that are not the means of their rows in `labels`; `squares` are the squared distances of the
    rows of the others. A row of cluster a goes to b if ``w n_b/(n_b + w) |x - c_b|^2 < w n_a/(n_a - w) |x - c_a|^2``,
    and both centres move at once. A row is compared only with clusters that have changed since it last was. Given up is
    what lies further above `goal` than `hope` times the fall of its last pass.
    """
    n, k = len(X), len(centres)
    changed, checked, clock = np.zeros(k, np.int64), np.zeros(n, np.int64), 1
    for j in range(k):
        changed[j] = fresh[j]
    _begin(X, centres, fresh, labels, squares, changed)
    value = _means(X, weights, stride, centres, counts, labels, squares, changed)
    for _ in range(_PASSES):
        fall, moves = 0.0, 0
        for i in range(n):
            w, a, since = weights[i * stride], labels[i], checked[i]
            if w == 0.0 or counts[a] <= w * (1.0 + 1e-9):
                continue
            anew = changed[a] > since
            cheapest, b = np.inf, -1
            for j in range(k):
                if j != a and (anew or changed[j] > since):
                    cost = counts[j] / (counts[j] + w) * _apart(X, i, centres, j)
                    if cost < cheapest:
                        cheapest, b = cost, j
            if b < 0:
                continue
            checked[i] = clock
            saved = counts[a] / (counts[a] - w) * _apart(X, i, centres, a)
            if cheapest < saved * (1.0 - _LEAST):
                _shift(X, i, w, a, b, centres, counts)
                labels[i] = b
                clock += 1
                changed[a], changed[b] = clock, clock
                fall += w * (saved - cheapest)
                moves += 1
        value -= fall
        if moves == 0:
            break
        if value - goal > hope * fall:
            return np.inf
    for j in range(k):
        changed[j] = 1
    return _means(X, weights, stride, centres, counts, labels, squares, changed)
