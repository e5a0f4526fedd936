"""Slow, obvious twins of the kernels of the non-negative family."""

from __future__ import annotations

import numpy as np


def mix_sweep(K, s, w, curvature):
    """One sweep of coordinate descent on ½·curvature·wᵀKw − w·s over w ≥ 0; the new w."""
    w = w.astype(np.float64).copy()
    for i in range(len(w)):
        if K[i, i] > 0:
            slope = curvature * (K[i] @ w) - s[i]
            w[i] = max(0.0, w[i] - slope / (curvature * K[i, i]))
    return w


def quartic(a, c):
    """The u ≥ 0 that minimises u⁴/4 + a·u²/2 − c·u, of all real roots of its slope."""
    roots = np.roots([1.0, 0.0, a, -c])
    candidates = [0.0, *(r.real for r in roots if abs(r.imag) < 1e-6 and r.real > 0)]
    return min(candidates, key=lambda u: u**4 / 4 + a * u * u / 2 - c * u)


def symmetric_sweep(A, U):
    """One sweep over all entries of U on ½‖A − U·Uᵀ‖², each minimised exactly; the new U."""
    U = U.astype(np.float64).copy()
    n, k = U.shape
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for t in range(k):
            rest = sum(U[i, s] ** 2 for s in range(k) if s != t)
            left = [A[i, j] - sum(U[i, s] * U[j, s] for s in range(k) if s != t) for j in others]
            a = rest - A[i, i] + sum(U[j, t] ** 2 for j in others)
            c = sum(r * U[j, t] for r, j in zip(left, others, strict=True))
            U[i, t] = quartic(a, c)
    return U


def semi_nmf(X, U, iterations):
    """Ding, Li and Jordan's rule: Z by least squares, U ← U·√((A⁺ + U·B⁻)/(A⁻ + U·B⁺)), a± = (|a| ± a)/2."""
    for _ in range(iterations):
        Z = np.linalg.pinv(U) @ X
        A, B = X @ Z.T, Z @ Z.T
        above, below = _plus(A) + U @ _minus(B), _minus(A) + U @ _plus(B)
        U = U * np.sqrt(above / np.maximum(below, 1e-12))
    return U, np.linalg.pinv(U) @ X


def convex_nmf(X, U, W, iterations):
    """Ding, Li and Jordan's rule for X ≈ U·W·X, W (k × n), on K = X·Xᵀ."""
    K = X @ X.T
    P, N = _plus(K), _minus(K)
    for _ in range(iterations):
        above, below = P @ W.T + U @ (W @ N @ W.T), N @ W.T + U @ (W @ P @ W.T)
        U = U * np.sqrt(above / np.maximum(below, 1e-12))
        G = U.T @ U
        above, below = P @ U + N @ W.T @ G, N @ U + P @ W.T @ G
        W = (W.T * np.sqrt(above / np.maximum(below, 1e-12))).T
    return U, W


def _plus(A):
    return (np.abs(A) + A) / 2


def _minus(A):
    return (np.abs(A) - A) / 2
