"""Splits and removals of clusters, one obvious line after the other, in float64."""

from __future__ import annotations

import numpy as np

from tests.reference.lloyd import squared_distances


def split_gain(X, weights):
    """2-means of the rows from a cut across their longest axis: by how much Σ w|x − mean|² falls, and the two means."""
    X = np.asarray(X, np.float64)
    mean = weights @ X / weights.sum()
    gaps = X - mean
    axis = gaps[np.argmax((gaps**2).sum(axis=1))]
    for _ in range(4):
        if not axis.any():
            return 0.0, None
        axis = (gaps * weights[:, None]).T @ (gaps @ axis) / (axis @ axis)
    side = gaps @ axis > 0
    for _ in range(10):
        if side.all() or not side.any():
            return 0.0, None
        pair = np.array([weights[side == s] @ X[side == s] / weights[side == s].sum() for s in (False, True)])
        squares = squared_distances(X, pair)
        nearer = squares[:, 1] < squares[:, 0]
        if (nearer == side).all():
            break
        side = nearer
    mass = np.array([weights[~side].sum(), weights[side].sum()])
    pair = np.array([weights[side == s] @ X[side == s] / weights[side == s].sum() for s in (False, True)])
    return float((mass * ((pair - mean) ** 2).sum(axis=1)).sum()), pair


def removal_cost(X, weights, centres, own, near):
    """What the rows of a cluster cost more when each goes to the best of the near centres."""
    squares = squared_distances(X, centres)
    return max(0.0, float(weights @ (squares[:, near].min(axis=1) - squares[:, own])))
