"""Sums and chances of a lightweight coreset, row by row."""

import numpy as np


def weighted_sums(X, origin, weights):
    sums, total = np.zeros(X.shape[1]), 0.0
    for row, w in zip(X.astype(np.float64), weights):
        sums += w * (row - origin)
        total += w * ((row - origin) ** 2).sum()
    return sums, total


def chances(X, weights):
    """½ w/Σw + ½ w d²/Σ w d², straight from the definition."""
    X = X.astype(np.float64)
    mean = (weights[:, None] * X).sum(axis=0) / weights.sum()
    squares = weights * ((X - mean) ** 2).sum(axis=1)
    return 0.5 * weights / weights.sum() + 0.5 * squares / squares.sum()
