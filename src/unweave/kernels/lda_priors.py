"""Digamma, and the sums from which Dirichlet priors are learned."""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel


@kernel
def digamma(x):
    """The derivative of log Γ for x > 0: the recurrence up to 6, then the asymptotic series."""
    below = 0.0
    while x < 6.0:
        below -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    return below + math.log(x) - 0.5 / x - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r / 240)))


@kernel
def expected_sums_range(N, prior, sums, start, stop):
    """Adds sum over rows of E[digamma(n + a_k) - digamma(a_k)] to `sums` (k), n Poisson with mean N[i, k].

    The mean is that of n given n > 0, times the probability of n > 0 (Teh, Newman and Welling 2007, zero order).
    """
    K = N.shape[1]
    base = np.empty(K)
    for k in range(K):
        base[k] = digamma(prior[k])
    for i in range(start, stop):
        for k in range(K):
            a, x = prior[k], float(N[i, k])
            if x > 1e-4:
                some = -math.expm1(-x)
                sums[k] += some * (digamma(a + x / some) - base[k])
            else:  # at most one: digamma(a + 1) - digamma(a) = 1 / a
                sums[k] += x / a


@kernel
def counted_sums_range(N, prior, sums, start, stop):
    """Adds sum over rows of digamma(n + a_k) - digamma(a_k) to `sums` (k) for whole counts n = N[i, k]."""
    K = prior.shape[0]
    base = np.empty(K)
    for k in range(K):
        base[k] = digamma(prior[k])
    for i in range(start, stop):
        for k in range(K):
            if N[i, k] == 1:
                sums[k] += 1.0 / prior[k]
            elif N[i, k] > 1:
                sums[k] += digamma(prior[k] + N[i, k]) - base[k]
