"""The slow, obvious twin of `unweave.linalg.contrast`, and one step of FastICA as its paper writes it."""

from __future__ import annotations

import numpy as np


def log_cosh_sums(Y):
    """tanh, and for each row the sums of 1 − tanh² and of log cosh."""
    Y = np.asarray(Y, dtype=np.float64)
    return np.tanh(Y), (1 - np.tanh(Y) ** 2).sum(axis=1), (np.logaddexp(Y, -Y) - np.log(2)).sum(axis=1)


def fastica_step(Z, W):
    """(B·Bᵀ)^(−½)·B with b_j = E[z·tanh(w_j·z)] − E[1 − tanh²(w_j·z)]·w_j; whitened rows are the columns of Z."""
    B = np.array([(Z * np.tanh(w @ Z)).mean(axis=1) - (1 - np.tanh(w @ Z) ** 2).mean() * w for w in W])
    values, vectors = np.linalg.eigh(B @ B.T)
    return vectors @ np.diag(values**-0.5) @ vectors.T @ B
