"""Slow, obvious twins of the products in ``unweave.linalg`` and ``unweave.kernels.sparse``."""

from __future__ import annotations

import numpy as np


def csr_matmul(indptr, indices, data, B):
    """X @ B entry by entry, in float64."""
    out = np.zeros((len(indptr) - 1, B.shape[1]))
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            out[i] += float(data[p]) * B[indices[p]].astype(np.float64)
    return out


def gram(A, shift=None, weights=None):
    """sum_i w_i (a_i - shift)(a_i - shift)^T, row by row, in float64."""
    A = np.asarray(A, dtype=np.float64)
    total = np.zeros((A.shape[1], A.shape[1]))
    for i, row in enumerate(A):
        row = row - (0 if shift is None else shift)
        total += (1.0 if weights is None else weights[i]) * np.outer(row, row)
    return total
