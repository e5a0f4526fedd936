"""Codes on the simplex, slowly: the same steps written with sorts and vectors."""

from __future__ import annotations

import numpy as np


def project(v: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by sorting."""
    u = np.sort(v)[::-1]
    sums = np.cumsum(u) - 1
    last = np.flatnonzero(u * np.arange(1, len(v) + 1) > sums)[-1]
    return np.maximum(v - sums[last] / (last + 1), 0)


def cost(B: np.ndarray, a: np.ndarray, f: np.ndarray) -> float:
    return float(0.5 * f @ B @ f - a @ f)


def shares(A, B, curvature, F, sweeps: int, tol: float) -> np.ndarray:
    """Accelerated projected gradient on every row."""
    A, F = A.astype(np.float64), F.astype(np.float64)
    answer = F.copy()
    for i, (a, start) in enumerate(zip(A, F)):
        here = ahead = start
        momentum = 1.0
        for _ in range(sweeps):
            new = project(ahead - (B @ ahead - a) / curvature)
            former = 1.0 if (ahead - new) @ (new - here) > 0 else momentum
            momentum = (1 + np.sqrt(1 + 4 * former**2)) / 2
            ahead, moved, here = new + (former - 1) / momentum * (new - here), np.abs(new - here).max(), new
            if tol > 0 and moved <= tol * here.max():
                break
        if cost(B, a, here) <= cost(B, a, start):
            answer[i] = here
    return answer
