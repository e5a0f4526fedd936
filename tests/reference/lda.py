"""Slow, obvious twins of the LDA kernels: dense tables, one document and one word at a time, in float64."""

from __future__ import annotations

import numpy as np
from scipy.special import psi


def collapsed(X, words, documents, alpha, eta, passes):
    """One sweep of zero-order collapsed updates: new documents, what the words get, minus the log-likelihood."""
    n, V = X.shape
    inverse = 1 / (words.sum(axis=0) + V * eta)
    share, new, values = np.zeros_like(words), np.zeros_like(documents), np.zeros(n)
    for i in range(n):
        current = documents[i]
        for turn in range(passes):
            got, values[i] = np.zeros_like(alpha), 0.0
            for w in np.flatnonzero(X[i]):
                plain = (words[w] + eta) * inverse * (current + alpha)
                own = plain / plain.sum()
                r = (np.maximum(words[w] - own, 0) + eta) * inverse * (np.maximum(current - own, 0) + alpha)
                r = X[i, w] * r / r.sum()
                got += r
                values[i] -= X[i, w] * np.log(plain.sum() / (current + alpha).sum())
                if turn == passes - 1:
                    share[w] += r
            current = got
        new[i] = current
    return new, share, values


def mixtures(X, topics, smooth, repeats):
    """θ ← normalise(θ·((x/(θφ))φᵀ) + smooth), as the evaluator is stated."""
    theta = np.tile(smooth / smooth.sum(), (len(X), 1))
    for _ in range(repeats):
        theta = theta * ((X / (theta @ topics)) @ topics.T) + smooth
        theta /= theta.sum(axis=1, keepdims=True)
    return theta


def perplexity(topics, A, B):
    """Document completion, in three lines."""
    phi = np.maximum(topics, 1e-12)
    p = mixtures(A, phi, np.full(len(phi), 0.1), 100) @ phi
    return np.exp(-(B * np.log(p)).sum() / B.sum())


def variational(X, E, alpha, gamma, passes):
    """Posterior parameters of the documents, what the words get, and the word terms of the bound."""
    for _ in range(passes):
        t = np.exp(psi(gamma))
        gamma = alpha + t * ((X / (t @ E.T)) @ E)
    t = np.exp(psi(gamma))
    p = t @ E.T
    return gamma, E * ((X / p).T @ t), (X * np.log(p)).sum(axis=1)


def expected_sums(N, prior):
    """Σ over rows of P(n > 0)(ψ(a + E[n | n > 0]) − ψ(a))."""
    some = -np.expm1(-N)
    mean = np.where(some > 0, N / np.where(some > 0, some, 1), 1)
    return (some * (psi(prior + mean) - psi(prior))).sum(axis=0)


MASK = 2**64 - 1


def mixed(z):
    """The output function of SplitMix64 in plain integers."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(state):
    """SplitMix64: the next number and the next state."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    return (mixed(state) >> 11) / 2**53, state


def gibbs(X, z, words, alpha, eta, seed):
    """One wave of draws, documents on their own: new topics and minus the log-probabilities.

    The draw walks over the topics of the document with the counts n_dk, then over all topics with alpha.
    """
    z, totals, q, values = z.copy(), words.sum(axis=0), 0, np.zeros(len(X))
    for i, x in enumerate(X):
        names = np.repeat(np.flatnonzero(x), x[x > 0].astype(int))
        document = np.bincount(z[q : q + len(names)], minlength=len(alpha))
        held = list(dict.fromkeys(z[q : q + len(names)].tolist()))  # the topics it has, in the kernel's order
        state = mixed((seed + i * 0xD1342543DE82EF95) & MASK)
        for w in names:
            old = z[q]
            document[old] -= 1
            own = np.arange(len(alpha)) == old
            likely = (words[w] - own + eta) / (totals - own + len(words) * eta)
            weights = np.concatenate([document[held] * likely[held], alpha * likely])
            values[i] -= np.log(weights.sum() / (len(names) - 1 + alpha.sum()))
            drawn, state = uniform(state)
            place = np.searchsorted(np.cumsum(weights), drawn * weights.sum(), "right")
            z[q] = [*held, *range(len(alpha))][place]
            if document[old] == 0:
                held[held.index(old)] = held[-1]
                held.pop()
            if z[q] not in held:
                held.append(z[q])
            document[z[q]] += 1
            q += 1
    return z, values
