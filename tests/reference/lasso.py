"""Slow, obvious twin of the lasso kernels: proximal gradient in float64 until nothing moves."""

from __future__ import annotations

import numpy as np


def lasso(a, B, l1, nonnegative=False, steps=20_000):
    """The minimiser of ½fBf − f·a + l1|f|₁ (f ≥ 0 or not) for one row."""
    a, B = np.asarray(a, np.float64), np.asarray(B, np.float64)
    f, eta = np.zeros(len(a)), 1 / max(np.linalg.eigvalsh(B)[-1], 1e-300)
    for _ in range(steps):
        z = f + eta * (a - B @ f)
        new = np.maximum(z - eta * l1, 0) if nonnegative else np.sign(z) * np.maximum(np.abs(z) - eta * l1, 0)
        if np.abs(new - f).max(initial=0) <= 1e-14 * max(1e-300, np.abs(new).max(initial=0)):
            break
        f = new
    return f


def value(a, B, l1, f):
    """½fBf − f·a + l1|f|₁."""
    f = np.asarray(f, np.float64)
    return 0.5 * f @ B @ f - f @ a + l1 * np.abs(f).sum()
