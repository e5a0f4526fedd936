"""Collapsed Gibbs sampling of the topic of every token in a block of documents."""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel


@kernel
def _uniform(state):
    """The next number in [0, 1) and the next state (SplitMix64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0), state


@kernel
def gibbs_range(indptr, local, tokens, counts, totals, alpha, eta, V, seed, before, topics, values, start, stop):
    """Draw the topics of the tokens of the documents ``[start, stop)`` anew, from `before` into `topics`.

    The tokens of entry p are ``tokens[p]`` to ``tokens[p + 1]``. `counts` (words of the block × topics) and `totals`
    are the block's own copies and follow the draws. `values`: minus the log-probability of each document's tokens,
    each given all others.
    """
    K = alpha.shape[0]
    mass = 0.0
    inverse, document, heap = np.empty(K), np.empty(K), np.empty(K)
    for k in range(K):
        mass += alpha[k]
        inverse[k] = 1.0 / (totals[k] + V * eta)
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        document[:] = alpha
        for q in range(tokens[lo], tokens[hi]):
            document[before[q]] += 1
        value, length = 0.0, tokens[hi] - tokens[lo] - 1
        for p in range(lo, hi):
            word = counts[local[p]]
            for q in range(tokens[p], tokens[p + 1]):
                old = before[q]
                word[old] -= 1
                document[old] -= 1
                totals[old] -= 1
                inverse[old] = 1.0 / (totals[old] + V * eta)
                for k in range(K):
                    heap[k] = (word[k] + eta) * document[k] * inverse[k]
                total = 0.0
                for k in range(K):
                    total += heap[k]
                    heap[k] = total
                value += math.log((length + mass) / total)
                drawn, seed = _uniform(seed)
                drawn *= total
                new = 0
                while new < K - 1 and heap[new] <= drawn:
                    new += 1
                topics[q] = new
                word[new] += 1
                document[new] += 1
                totals[new] += 1
                inverse[new] = 1.0 / (totals[new] + V * eta)
        values[i] = value
