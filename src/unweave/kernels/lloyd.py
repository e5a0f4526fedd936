"""Sums over clusters, squared distances to the own centre, and the passes of k-means++."""

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
