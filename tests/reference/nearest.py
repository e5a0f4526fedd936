"""Slow, obvious twins of the search for the nearest rows: every product, a full sort."""

from __future__ import annotations

import numpy as np


def coarsen(row, most):
    """The step, the whole numbers, and the length of what step times numbers leaves of the row."""
    row = np.asarray(row, np.float64)
    step = np.abs(row).max(initial=0.0) / most
    numbers = np.zeros(len(row)) if step == 0 else np.clip(np.rint(row / step), -most, most)
    return step, numbers.astype(int), float(np.linalg.norm(row - step * numbers))


def nearest(units, point, n):
    """The n rows with the largest products, best first, of equals the lower row; and the products in float64."""
    products = units.astype(np.float64) @ point.astype(np.float64)
    best = sorted(range(len(units)), key=lambda i: (-products[i], i))[:n]
    return np.array(best), products[best]
