"""Silhouettes from the full table of distances, one obvious line after the other."""

from __future__ import annotations

import numpy as np


def silhouettes(X, labels):
    """s_i of every row; 0 for rows labelled -1, alone in their cluster, or when there is one cluster."""
    X, labels = np.asarray(X, np.float64), np.asarray(labels)
    gaps = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    clusters = [c for c in np.unique(labels) if c != -1]
    out = np.zeros(len(X))
    for i in range(len(X)):
        own = labels == labels[i]
        if labels[i] == -1 or own.sum() == 1 or len(clusters) == 1:
            continue
        a = gaps[i, own].sum() / (own.sum() - 1)
        b = min(gaps[i, labels == c].mean() for c in clusters if c != labels[i])
        out[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return out


def mean_distances(X, labels, i):
    """(mean distance of row i to the others of its cluster, least mean distance to another cluster)."""
    X = np.asarray(X, np.float64)
    gaps = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
    own = labels == labels[i]
    inside = gaps[own].sum() / max(own.sum() - 1, 1)
    return inside, min(gaps[labels == c].mean() for c in np.unique(labels) if c != labels[i])
