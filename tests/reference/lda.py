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


def uniform(state):
    """SplitMix64 in plain integers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) / 2**53, state


def gibbs(X, z, words, totals, alpha, eta, seed):
    """One sweep over the tokens, in the order of the entries; new topics and minus the log-probabilities."""
    words, totals, z = words.astype(float).copy(), totals.astype(float).copy(), z.copy()
    q, values = 0, np.zeros(len(X))
    for i, x in enumerate(X):
        names = np.repeat(np.flatnonzero(x), x[x > 0].astype(int))
        own = z[q : q + len(names)]
        document = alpha + np.bincount(own, minlength=len(alpha))
        for w in names:
            for change in (-1, 1):
                if change == 1:
                    weights = (words[w] + eta) * document / (totals + len(words) * eta)
                    values[i] -= np.log(weights.sum() / (len(names) - 1 + alpha.sum()))
                    drawn, seed = uniform(seed)
                    z[q] = min(np.searchsorted(np.cumsum(weights), drawn * weights.sum(), "right"), len(alpha) - 1)
                for table in (words[w], document, totals):
                    table[z[q]] += change
            q += 1
    return z, values
