"""Group rows that come in blocks: kernels of BFR, coresets and CURE."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part


@kernel
def admit(X, means, scales, limit, origin, labels, counts, sums, squares, start, stop):
    """Add each row to set ``a = labels[i]`` if ``sum_t scales[a, t] (x_it - means[a, t])^2 <= limit``.

    Its N, SUM and SUMSQ (`counts`, `sums`, `squares`) are taken about `origin`, in float64. A row that is too far, or
    whose label is negative, gets the label -1 and changes nothing.
    """
    d = X.shape[1]
    for i in range(start, stop):
        a = labels[i]
        if a < 0:
            continue
        far = 0.0
        for t in range(d):
            gap = np.float64(X[i, t]) - means[a, t]
            far += scales[a, t] * (gap * gap)
        if not far <= limit:
            labels[i] = -1
            continue
        counts[a] += 1.0
        for t in range(d):
            value = np.float64(X[i, t]) - origin[t]
            sums[a, t] += value
            squares[a, t] += value * value


@kernel
def weighted_sums(X, origin, weights, stride, sums, start, stop):
    """``sums[t] += w_i (x_it - origin_t)``; returns ``sum_i w_i |x_i - origin|^2``.

    `weights` has one entry a row (`stride` 1) or one in all (`stride` 0). Sums run in float64.
    """
    total = 0.0
    for i in range(start, stop):
        w = weights[i * stride]
        squares = 0.0
        for t in range(X.shape[1]):
            gap = np.float64(X[i, t]) - origin[t]
            sums[t] += w * gap
            squares += gap * gap
        total += w * squares
    return total


@kernel
def chances(X, mean, weights, stride, even, spread, q, start, stop):
    """``q[i] = w_i (even + spread |x_i - mean|^2)``: the chance of a row in one draw."""
    for i in range(start, stop):
        squares = 0.0
        for t in range(X.shape[1]):
            gap = np.float64(X[i, t]) - mean[t]
            squares += gap * gap
        q[i] = weights[i * stride] * (even + spread * squares)


@kernel
def _apart(reps, many, a, b):
    """Smallest squared distance between a representative of a and one of b."""
    best = np.inf
    for i in range(many[a]):
        for j in range(many[b]):
            total = 0.0
            for t in range(reps.shape[2]):
                gap = reps[a, i, t] - reps[b, j, t]
                total += gap * gap
            if total < best:
                best = total
    return best


@kernel
def nearest_clusters(reps, many, near, gaps, start, stop):
    """``near[a]``, ``gaps[a]``: the nearest other cluster to each, and how far squared; dead ones have many = 0."""
    for a in range(start, stop):
        near[a], gaps[a] = -1, np.inf
        if many[a] == 0:
            continue
        for b in range(reps.shape[0]):
            if b != a and many[b] > 0:
                apart = _apart(reps, many, a, b)
                if apart < gaps[a]:
                    near[a], gaps[a] = b, apart


@part
def scatter(X, labels, a, mean, shrink, far, reps, many):
    """Representatives of cluster a: rows far apart (first the one farthest from the mean), drawn towards the mean."""
    n, d = X.shape
    for i in range(n):
        far[i] = -1.0
        if labels[i] == a:
            far[i] = 0.0
            for t in range(d):
                gap = X[i, t] - mean[t]
                far[i] += gap * gap
    many[a] = 0
    while many[a] < reps.shape[1]:
        best = np.argmax(far)
        if far[best] < 0.0 or (many[a] > 0 and far[best] == 0.0):
            break
        c = many[a]
        for t in range(d):
            reps[a, c, t] = X[best, t] + shrink * (mean[t] - X[best, t])
        many[a] = c + 1
        for i in range(n):
            if labels[i] == a:
                total = 0.0
                for t in range(d):
                    gap = X[i, t] - X[best, t]
                    total += gap * gap
                if c == 0 or total < far[i]:
                    far[i] = total


@kernel
def merge_nearest(X, labels, sums, sizes, reps, many, near, gaps, shrink, times):
    """Merge the two nearest clusters, `times` times; the arrays are changed in place."""
    n, d = X.shape
    mean, far = np.empty(d), np.empty(n)
    for _ in range(times):
        a = np.argmin(gaps)
        b = near[a]
        for i in range(n):
            if labels[i] == b:
                labels[i] = a
        sizes[a] += sizes[b]
        for t in range(d):
            sums[a, t] += sums[b, t]
            mean[t] = sums[a, t] / sizes[a]
        sizes[b], many[b], near[b], gaps[b] = 0, 0, -1, np.inf
        scatter(X, labels, a, mean, shrink, far, reps, many)
        near[a], gaps[a] = -1, np.inf
        for c in range(n):
            if c == a or many[c] == 0:
                continue
            apart = _apart(reps, many, a, c)
            if apart < gaps[a]:
                near[a], gaps[a] = c, apart
            if apart <= gaps[c]:
                near[c], gaps[c] = a, apart
            elif near[c] == a or near[c] == b:
                nearest_clusters(reps, many, near, gaps, c, c + 1)
