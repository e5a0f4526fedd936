"""Exact least squares for every row on its own observed entries."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.cholesky import factor, scratch_size, solve_factored
from unweave.kernels.entries import gather, gram_scratch, row_gram


@kernel
def solve_range(indptr, indices, data, weights, H, ridge, tolerance, out, failed, start, stop):
    """Least-squares rows of `out`; ``failed[i]`` is set where the matrix of a row is singular to working precision.

    Rows with at least k entries solve ``(S'S + ridge I) f = S's`` with S the rows ``sqrt(w) h_j`` and s the data beside
    them. Shorter ones ``f = S'(S S' + ridge I)^-1 s``: the same minimum from a smaller system, and with no ridge the
    solution of least norm. Rows without entries are 0.
    """
    k = H.shape[1]
    tile = np.empty((k, k), H.dtype)
    target = np.empty(k, H.dtype)
    memory = np.empty(k * k, H.dtype)
    scratch = np.empty(max(scratch_size(k), gram_scratch(k)), H.dtype)
    for i in range(start, stop):
        first, last, f = indptr[i], indptr[i + 1], out[i]
        size = min(last - first, k)
        wide = size < k
        if size == 0:
            for t in range(k):
                f[t] = 0
            continue
        B, unknown = memory[: size * size].reshape(size, size), target[:size]
        if wide:
            gather(indices, data, weights, first, last, H, tile, unknown)
            np.dot(tile[:size], tile[:size].T, B)
        else:
            row_gram(indices, data, weights, first, last, H, scratch, B, unknown)
        for t in range(size):
            B[t, t] += ridge[i]
        if not factor(B, scratch, tolerance):
            failed[i] = True
            continue
        solve_factored(B, unknown)
        if wide:
            np.dot(unknown, tile[:size], f)
        else:
            for t in range(k):
                f[t] = unknown[t]
