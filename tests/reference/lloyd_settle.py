"""Hartigan's k-means, every row against every centre in every pass, in float64."""

from __future__ import annotations

import numpy as np

from tests.reference.lloyd import squared_distances


def gain(x, w, a, centres, counts):
    """(cluster, fall) of the best move of a row of weight w out of cluster a; the fall may be negative."""
    squares = ((centres - x) ** 2).sum(axis=1)
    costs = counts / (counts + w) * squares
    costs[a] = np.inf
    b = int(costs.argmin())
    return b, w * (counts[a] / (counts[a] - w) * squares[a] - costs[b])


def settle(X, weights, centres):
    """(labels, centres, Σ w|x − c|²) when no row alone can lower the sum any more."""
    X, centres = np.asarray(X, np.float64), np.array(centres, np.float64)
    labels = squared_distances(X, centres).argmin(axis=1)
    moved = True
    while moved:
        moved = False
        for i, x in enumerate(X):
            counts = np.bincount(labels, weights, len(centres))
            for j in np.flatnonzero(counts):
                centres[j] = weights[labels == j] @ X[labels == j] / counts[j]
            a = labels[i]
            if weights[i] == 0 or counts[a] <= weights[i] * (1 + 1e-9):
                continue
            b, fall = gain(x, weights[i], a, centres, counts)
            if fall > 1e-9 * weights[i] * counts[a] / (counts[a] - weights[i]) * ((x - centres[a]) ** 2).sum():
                labels[i], moved = b, True
    counts = np.bincount(labels, weights, len(centres))
    for j in np.flatnonzero(counts):
        centres[j] = weights[labels == j] @ X[labels == j] / counts[j]
    return labels, centres, float(weights @ ((X - centres[labels]) ** 2).sum(axis=1))
