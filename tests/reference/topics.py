"""Slow, obvious twins of what models of topics do."""

from __future__ import annotations

import numpy as np


def log_likelihood(words: np.ndarray, documents: np.ndarray) -> float:
    """Of all words when each is in its topic, but for what the topics do not change."""
    value = 0.0
    for k in range(words.shape[1]):
        value += sum(n * np.log(n / words[:, k].sum()) for n in words[:, k] if n > 0)
        value += sum(n * np.log(n) for n in documents[:, k] if n > 0)
    return value


def merging(words: np.ndarray, documents: np.ndarray, k: int) -> list[set[int]]:
    """Which columns are together when the pair that loses least is merged until `k` are left."""
    groups = [{j} for j in range(words.shape[1])]
    while words.shape[1] > k:
        best = None
        for a in range(words.shape[1]):
            for b in range(a + 1, words.shape[1]):
                trial = []
                for table in (words, documents):
                    one = np.delete(table, b, axis=1)
                    one[:, a] = table[:, a] + table[:, b]
                    trial.append(one)
                value = log_likelihood(*trial)
                if best is None or value > best[0]:
                    best = value, a, b, trial
        _, a, b, (words, documents) = best
        groups[a] |= groups.pop(b)
    return groups
