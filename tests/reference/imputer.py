"""Conditional Gaussians row by row, by the textbook."""

from __future__ import annotations

import numpy as np


def condition_slowly(X, seen, mean, covariance):
    """(mean shift, variances, summed covariances of the holes, ½ log|Σ_oo| + ½ quadratic form) from blocks of Σ."""
    n, m = X.shape
    shift, variance, total, values = np.zeros((n, m)), np.zeros((n, m)), np.zeros((m, m)), np.zeros(n)
    for i in range(n):
        o, q = np.flatnonzero(seen[i]), np.flatnonzero(~seen[i])
        oo, qo, qq = covariance[np.ix_(o, o)], covariance[np.ix_(q, o)], covariance[np.ix_(q, q)]
        solved = np.linalg.solve(oo, (X[i] - mean)[o])
        left = qq - qo @ np.linalg.solve(oo, qo.T)
        shift[i, q], variance[i, q] = qo @ solved, np.diag(left)
        total[np.ix_(q, q)] += left
        values[i] = 0.5 * np.linalg.slogdet(oo)[1] + 0.5 * (X[i] - mean)[o] @ solved
    return shift, variance, total, values
