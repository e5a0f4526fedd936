"""Plain Lloyd and greedy k-means++ passes, one obvious line after the other, in float64."""

from __future__ import annotations

import numpy as np


def squared_distances(X, centres):
    """All of |x_i - c_j|^2 from differences."""
    X, centres = np.asarray(X, np.float64), np.asarray(centres, np.float64)
    return ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)


def lloyd_step(X, weights, centres):
    """Labels for these centres, then the weighted means; a cluster without weight keeps its centre."""
    labels = squared_distances(X, centres).argmin(axis=1)
    moved = np.array(centres, np.float64)
    for j in range(len(centres)):
        weight = weights[labels == j].sum()
        if weight > 0:
            moved[j] = (weights[labels == j, None] * X[labels == j].astype(np.float64)).sum(axis=0) / weight
    return labels, moved


def objective(X, weights, centres, labels):
    """1/2 sum w |x - c_label|^2."""
    gaps = np.asarray(X, np.float64) - np.asarray(centres, np.float64)[labels]
    return 0.5 * float((weights * (gaps**2).sum(axis=1)).sum())


def move_sums(X, weights, old, new, sums, counts):
    """Sums and counts by cluster after labels went from old to new."""
    sums, counts = sums.copy(), counts.copy()
    for i in range(len(X)):
        if old[i] != new[i]:
            sums[new[i]] += weights[i] * X[i].astype(np.float64)
            counts[new[i]] += weights[i]
            if old[i] >= 0:
                sums[old[i]] -= weights[i] * X[i].astype(np.float64)
                counts[old[i]] -= weights[i]
    return sums, counts


def seed_pass(X, candidates, closest, weights):
    """Distances that each candidate would leave, and their weighted sums."""
    trial = np.minimum(closest[:, None], squared_distances(X, candidates))
    return trial.T, weights @ trial
