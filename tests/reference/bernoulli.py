"""Slow, obvious twin of the E-step of Bernoulli mixtures."""

from __future__ import annotations

import numpy as np


def step(X, seen, weights, means):
    """(count, ones, seen, log-likelihood) row by row."""
    k, d = means.shape
    count, ones, known = np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    value = 0.0
    for x, s in zip(X, seen):
        likelihood = weights.copy()
        for c in range(k):
            for j in np.flatnonzero(s):
                likelihood[c] *= means[c, j] if x[j] else 1 - means[c, j]
        value += np.log(likelihood.sum())
        r = likelihood / likelihood.sum()
        count += r
        ones += np.outer(r, np.where(s, x, 0))
        known += np.outer(r, s)
    return count, ones, known, value
