"""Slow, obvious twin of ``unweave.solve.svd``: centre, decompose, cut."""

from __future__ import annotations

import numpy as np


def truncated_svd(X, k, shift=None):
    """(U, s, Vt, tail) in float64 by numpy, signs as in scikit-learn's svd_flip with u_based_decision=False."""
    X = np.asarray(X, dtype=np.float64)
    X = X if shift is None else X - shift
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    for i in range(len(s)):
        if Vt[i, np.argmax(np.abs(Vt[i]))] < 0:
            U[:, i], Vt[i] = -U[:, i], -Vt[i]
    return U[:, :k], s[:k], Vt[:k], float(np.sum(s[k:] ** 2))
