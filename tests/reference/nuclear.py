"""Slow, obvious twins of the nuclear-norm methods: dense arrays, full decompositions, plain NumPy in float64."""

from __future__ import annotations

import numpy as np


def shrink(A, tau):
    """U·(s − τ)₊·Vᵀ."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(s - tau, 0)) @ Vt


def objective(X, seen, M, tau):
    """½ Σ over the entries seen of (x − m)², plus τ times the nuclear norm."""
    return 0.5 * np.sum(np.where(seen, X - M, 0) ** 2) + tau * np.linalg.norm(M, "nuc")


def soft_impute(X, seen, tau, rounds=1000):
    """Fill the holes with the present M, shrink, again and again (Mazumder, Hastie and Tibshirani 2010)."""
    M = np.zeros_like(X, dtype=np.float64)
    for _ in range(rounds):
        M = shrink(np.where(seen, X, M), tau)
    return M


def weighted_best(X, weights, tau, rounds=4000):
    """min ½ Σ w(x − m)² + τ‖M‖₊ by plain proximal gradient with momentum that starts anew when the value rises."""
    most = weights.max()
    M = Y = np.zeros(X.shape)
    value, t = np.inf, 1.0
    for _ in range(rounds):
        new = shrink(Y + weights / most * (X - Y), tau / most)
        reached = weighted_objective(X, weights, new, tau)
        if reached > value:
            Y, t = M, 1.0
            continue
        if value - reached <= 1e-13 * reached and t > 1:
            break
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        M, Y, value, t = new, new + (t - 1) / after * (new - M), reached, after
    return M


def weighted_objective(X, weights, M, tau):
    return 0.5 * np.sum(weights * np.square(X - M)) + tau * np.linalg.norm(M, "nuc")


def thresholding(X, seen, tau, step, rounds=1000):
    """Cai, Candès and Shen (2010) as printed, without the kicked start."""
    Y = np.zeros_like(X, dtype=np.float64)
    for _ in range(rounds):
        Y += step * np.where(seen, X - shrink(Y, tau), 0)
    return shrink(Y, tau)
