"""Coordinate descent for every row on its own observed entries."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.entries import gram_scratch, row_gram


@kernel
def _sweep(B, a, f, l1, ridge, nonnegative):
    """One cyclic sweep over the coordinates of f, in place; the largest change."""
    k = B.shape[0]
    largest = B.dtype.type(0)
    for t in range(k):
        curvature = B[t, t] + ridge
        row = B[t]
        pull = a[t]
        for u in range(k):
            pull -= row[u] * f[u]
        pull += B[t, t] * f[t]
        if curvature <= 0:
            new = B.dtype.type(0)
        elif pull > l1:
            new = (pull - l1) / curvature
        elif pull < -l1 and not nonnegative:
            new = (pull + l1) / curvature
        else:
            new = B.dtype.type(0)
        largest = max(largest, abs(new - f[t]))
        f[t] = new
    return largest


@kernel
def coordinate_entries_range(
    indptr, indices, data, weights, H, F, l1, ridge, nonnegative, sweeps, tol, out, start, stop
):
    """Rows ``[start, stop)`` of `out`: sweeps from F on each row's own Gram until it settles."""
    k = H.shape[1]
    scratch = np.empty(gram_scratch(k), H.dtype)
    B = np.empty((k, k), H.dtype)
    a = np.empty(k, H.dtype)
    for i in range(start, stop):
        f = out[i]
        f[:] = F[i]
        first, last = indptr[i], indptr[i + 1]
        if first == last:
            B[:] = 0
            a[:] = 0
        else:
            row_gram(indices, data, weights, first, last, H, scratch, B, a)
        for _ in range(sweeps):
            change = _sweep(B, a, f, l1, ridge, nonnegative)
            if tol > 0 and change <= tol * np.abs(f).max():
                break
