"""Slow, obvious twin of the sweep over atoms."""

from __future__ import annotations

import numpy as np


def sweep(gram, cross, Z, radius=1.0, nonnegative=False):
    """Each atom in turn: where the loss is least with all others fixed, then the nearest point of the ball."""
    Z = Z.copy()
    for t in range(len(Z)):
        if gram[t, t] <= 0:
            continue
        others = np.arange(len(Z)) != t
        best = (cross[t] - gram[t, others] @ Z[others]) / gram[t, t]
        best = np.maximum(best, 0) if nonnegative else best
        Z[t] = best * min(1.0, radius / max(np.linalg.norm(best), 1e-300))
    return Z
