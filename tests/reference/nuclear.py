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


def thresholding(X, seen, tau, step, rounds=1000):
    """Cai, Candès and Shen (2010) as printed, without the kicked start."""
    Y = np.zeros_like(X, dtype=np.float64)
    for _ in range(rounds):
        Y += step * np.where(seen, X - shrink(Y, tau), 0)
    return shrink(Y, tau)
