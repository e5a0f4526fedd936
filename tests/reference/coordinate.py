"""Slow, obvious twin of `unweave.linalg.coordinate`: one row and one coordinate at a time."""

from __future__ import annotations

import numpy as np


def row_objective(f, a, B, l1=0.0, ridge=0.0):
    """1/2 f B fᵀ - f·a + l1 ‖f‖₁ + ridge/2 ‖f‖², in float64."""
    f, a, B = (np.asarray(v, dtype=np.float64) for v in (f, a, B))
    return 0.5 * f @ B @ f - f @ a + l1 * np.abs(f).sum() + 0.5 * ridge * f @ f


def coordinate_rows(A, B, F, l1=0.0, ridge=0.0, nonnegative=True, sweeps=1, tol=0.0, drop=0.0):
    """The same contract as the real one, in float64 throughout."""
    A, B, F = (np.array(v, dtype=np.float64) for v in (A, B, F))
    most = 0
    for a, f in zip(A, F):
        first = None
        for done in range(1, sweeps + 1):
            before = f.copy()
            for t in range(len(f)):
                f[t] = _best(a[t] - B[t] @ f + B[t, t] * f[t], B[t, t] + ridge, f[t], l1, nonnegative)
            most = max(most, done)
            change, size = np.abs(f - before).max(), np.abs(f).max()
            first = change if first is None else first
            if (tol > 0 or drop > 0) and change <= max(tol * size, drop * first):
                break
    return F, most


def _best(pull, curvature, now, l1, nonnegative):
    """argmin over v of curvature/2 v² - pull v + l1 |v| (v >= 0)."""
    slope = pull if nonnegative else abs(pull)
    if slope <= l1:
        return 0.0
    if curvature == 0:
        return now
    return np.sign(pull) * (slope - l1) / curvature
