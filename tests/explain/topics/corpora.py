"""Documents with planted topics, and how near the topics found come to them."""

from __future__ import annotations

import numpy as np


def planted(n=200, words=40, k=4, length=60, seed=0):
    """Documents of k topics that share few words, and those topics."""
    rng = np.random.default_rng(seed)
    topics = np.full((k, words), 0.01 / words)
    for t in range(k):
        topics[t, t * (words // k) : (t + 1) * (words // k)] += rng.dirichlet(np.full(words // k, 2.0))
    topics /= topics.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(k, 0.2), size=n)
    return np.array([rng.multinomial(length, p) for p in theta @ topics]).astype(float), topics


def overlapping(n=400, words=200, k=8, length=60, seed=0):
    """Documents of k topics that share words, and those topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.05), size=k)
    theta = rng.dirichlet(np.full(k, 0.1), size=n)
    return np.array([rng.multinomial(length, p / p.sum()) for p in theta @ topics]).astype(float), topics


def matched(found, true):
    """Largest total variation from a true topic to the nearest one found."""
    return max(min(0.5 * np.abs(f - t).sum() for f in found) for t in true)


def nearest_pair(topics):
    """Total variation of the two topics that are most alike."""
    apart = 0.5 * np.abs(topics[:, None] - topics[None]).sum(axis=2)
    return (apart + np.eye(len(topics))).min()
