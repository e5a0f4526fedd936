"""Slow, obvious twin of `unweave.linalg.nnls`: every support and every sign is tried."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from tests.reference.coordinate import row_objective


def exact_row(a, B, l1=0.0, ridge=0.0, nonnegative=True):
    """The best of all rows f that are exact on their support and keep their signs, in float64."""
    a, B = np.asarray(a, dtype=np.float64), np.asarray(B, dtype=np.float64)
    best, least = np.zeros(len(a)), 0.0
    for signs in product((0, 1) if nonnegative else (-1, 0, 1), repeat=len(a)):
        s = np.array(signs, dtype=np.float64)
        on = np.flatnonzero(s)
        f = np.zeros(len(a))
        f[on] = np.linalg.lstsq(B[np.ix_(on, on)] + ridge * np.eye(len(on)), a[on] - l1 * s[on], rcond=None)[0]
        value = row_objective(f, a, B, l1, ridge)
        if (f * s >= 0).all() and value < least:
            best, least = f, value
    return best


def exact_rows(A, B, l1=0.0, ridge=0.0, nonnegative=True):
    """All rows with one Gram."""
    return np.array([exact_row(a, B, l1, ridge, nonnegative) for a in A])


def exact_entries(indptr, indices, data, weights, H, l1=0.0, ridge=0.0, nonnegative=True):
    """Each row with the Gram of its own entries."""
    rows = []
    for first, last in pairwise(indptr):
        h, x = np.asarray(H, dtype=np.float64)[indices[first:last]], np.asarray(data, dtype=np.float64)[first:last]
        w = np.ones(last - first) if weights is None else np.asarray(weights, dtype=np.float64)[first:last]
        rows.append(exact_row((h * w[:, None]).T @ x, (h * w[:, None]).T @ h, l1, ridge, nonnegative))
    return np.array(rows)
