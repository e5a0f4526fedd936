"""Slow, obvious twins of the kernels and of the E-step of Gaussian mixtures."""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal


def products(X, shift):
    """Columns: y_a y_b for a ≥ b, y, 1."""
    out = []
    for y in np.asarray(X, dtype=np.float64) - shift:
        pairs = [y[a] * y[b] for a in range(len(y)) for b in range(a + 1)]
        out.append([*pairs, *y, 1.0])
    return np.array(out).T


def responsibilities(L, weights):
    """(w p(c | x), log Σ exp L) column by column."""
    shares = [w * np.exp(column) / np.exp(column).sum() for column, w in zip(L.T, weights)]
    return np.array(shares).T, np.array([np.log(np.exp(column).sum()) for column in L.T])


def covariances(seen, precision, weights):
    """Σ_i w_i A_i⁻¹ on the holes of row i."""
    total = np.zeros_like(precision)
    for known, w in zip(seen, weights):
        q = np.flatnonzero(~known)
        if len(q):
            total[np.ix_(q, q)] += w * np.linalg.inv(precision[np.ix_(q, q)])
    return total


def moments(X, seen, sample_weight, weights, means, covs):
    """(count, Σ r x, Σ r x xᵀ, mean log p) with holes conditioned on, one row and one component at a time."""
    k, d = means.shape
    count, first, second, value = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)), 0.0
    for x, known, w in zip(X, seen, sample_weight):
        o, q = np.flatnonzero(known), np.flatnonzero(~known)
        logs, filled, spread = np.log(weights), [], []
        for c in range(k):
            S, full, C = covs[c], np.where(known, x, 0.0), np.zeros((d, d))
            if len(o):
                logs[c] += multivariate_normal.logpdf(x[o], means[c][o], S[np.ix_(o, o)])
                gain = S[np.ix_(q, o)] @ np.linalg.inv(S[np.ix_(o, o)])
                full[q] = means[c][q] + gain @ (x[o] - means[c][o])
                C[np.ix_(q, q)] = S[np.ix_(q, q)] - gain @ S[np.ix_(o, q)]
            else:
                full, C = means[c].copy(), S
            filled.append(full)
            spread.append(C)
        total = np.logaddexp.reduce(logs)
        value += w * total
        for c, r in enumerate(w * np.exp(logs - total)):
            count[c] += r
            first[c] += r * filled[c]
            second[c] += r * (np.outer(filled[c], filled[c]) + spread[c])
    return count, first, second, value / np.sum(sample_weight)
