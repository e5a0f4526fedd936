"""What it would gain to split a cluster in two, and cost to take its centre away: the two halves of a swap."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

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


@kernel
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


@kernel
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


@kernel
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
