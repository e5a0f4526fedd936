"""Coordinate descent for every row on its own observed entries: non-negative and lasso rows."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.entries import gram_scratch, mirror, row_gram


@kernel
def _best_entry(free, l1, curvature, nonnegative):
    """Minimiser of ``curvature/2 (z - free)^2 + l1 |z|``, over ``z >= 0`` if asked."""
    size = l1 / curvature
    if free > size:
        return free - size
    if free < -size and not nonnegative:
        return free + size
    return size * 0


@kernel
def _sweep_row(B, gradient, l1, nonnegative, f):
    """One pass over the entries of f on ``1/2 f'Bf - a'f + l1 |f|_1``, gradient ``Bf - a`` kept; largest change."""
    k = f.shape[0]
    change = f.dtype.type(0)
    for t in range(k):
        curvature = B[t, t]
        if not curvature > 0:
            # the entry does not touch the data: only the penalty sees it
            if l1 > 0:
                f[t] = 0
            continue
        step = _best_entry(f[t] - gradient[t] / curvature, l1, curvature, nonnegative) - f[t]
        if step != 0:
            f[t] += step
            row = B[t]
            for u in range(k):
                gradient[u] += step * row[u]
            change = max(change, abs(step))
    return change


@kernel
def coordinate_range(indptr, indices, data, weights, H, l1, ridge, nonnegative, sweeps, tol, out, start, stop):
    """Sweeps over each row of `out`, in place, until none of its entries moves by more than tol times the largest."""
    k = H.shape[1]
    B = np.empty((k, k), H.dtype)
    gradient = np.empty(k, H.dtype)
    scratch = np.empty(gram_scratch(k), H.dtype)
    for i in range(start, stop):
        f = out[i]
        if nonnegative:
            for t in range(k):
                f[t] = max(f[t], H.dtype.type(0))
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, B, gradient)
        mirror(B)
        for t in range(k):
            B[t, t] += ridge[i]
            gradient[t] = -gradient[t]
        for t in range(k):
            row, multiple = B[t], f[t]
            if multiple != 0:
                for u in range(k):
                    gradient[u] += multiple * row[u]
        for _ in range(sweeps):
            change = _sweep_row(B, gradient, l1[i], nonnegative, f)
            largest = H.dtype.type(0)
            for t in range(k):
                largest = max(largest, abs(f[t]))
            if change <= tol * largest:
                break
