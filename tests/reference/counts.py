"""Slow, obvious twins of `unweave.linalg.counts`: dense rows, one at a time, in float64."""

from __future__ import annotations

import numpy as np
from scipy.special import kl_div


def values(X, H, F, l1=0.0, ridge=0.0):
    """KL of each row, plus the penalties."""
    X, H, F = (np.asarray(v, dtype=np.float64) for v in (X, H, F))
    return kl_div(X, np.maximum(F @ H.T, 1e-300)).sum(axis=1) + l1 * F.sum(axis=1) + 0.5 * ridge * (F**2).sum(axis=1)


def multiply_rows(X, H, F, l1=0.0, ridge=0.0, repeats=1):
    """Multiplicative updates of all rows."""
    X, H, F = (np.asarray(v, dtype=np.float64) for v in (X, H, F))
    for _ in range(repeats):
        a = F * ((X / (F @ H.T)) @ H)
        slope = H.sum(axis=0) + l1
        F = a / slope if ridge == 0 else (np.sqrt(slope**2 + 4 * ridge * a) - slope) / (2 * ridge)
    return F


def kl_rows(X, H, F, l1=0.0, ridge=0.0, sweeps=1):
    """Coordinate sweeps over the coordinates that could move at the start; each step solves its bound by bisection."""
    X, H, F = (np.array(v, dtype=np.float64) for v in (X, H, F))
    slope = H.sum(axis=0) + l1
    for x, f in zip(X, F):
        movable = [t for t in range(len(f)) if f[t] > 0 or ((x / (H @ f)) @ H)[t] > slope[t]]
        for _ in range(sweeps):
            for t in movable:
                f[t] = _step(x, H @ f, H[:, t], f[t], slope[t], ridge)
    return F


def _step(x, p, h, f, slope, ridge):
    n, q = (x * h / p).sum(), (x * h**2 / p**2).sum()
    if n > slope + ridge * f:
        return _root(lambda v: slope + ridge * v - n / (1 + (v - f) * q / n), f, f + 1e6)
    return _root(lambda v: slope + ridge * v - (n - f * q + q * f * f / v), 1e-300, f) if f > 0 else 0.0


def _root(rising, low, high):
    """Where a rising function crosses zero, by bisection."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return 0.5 * (low + high)
