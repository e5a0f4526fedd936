"""Exact least squares for every row on its own observed entries."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.cholesky import factor, scratch_size, solve_factored
from unweave.kernels.entries import gather, row_gram

_TILE = 256


@kernel
def _solve_tall(indices, data, weights, first, last, H, ridge, tolerance, tile, target, part, B, scratch, f):
    """``(sum w h h' + ridge I) f = sum w x h`` by Cholesky: for rows with at least as many entries as unknowns."""
    row_gram(indices, data, weights, first, last, H, tile, target, part, B, f)
    for t in range(B.shape[0]):
        B[t, t] += ridge
    if not factor(B, scratch, tolerance):
        return False
    solve_factored(B, f)
    return True


@kernel
def _solve_wide(indices, data, weights, first, last, H, ridge, tolerance, tile, target, memory, scratch, f):
    """``f = S'(S S' + ridge I)^-1 s`` with S the gathered rows: fewer entries than unknowns.

    The same minimum from a smaller system, and with no ridge the solution of least norm.
    """
    count = last - first
    gather(indices, data, weights, first, last, H, tile, target)
    B = memory[: count * count].reshape(count, count)
    np.dot(tile[:count], tile[:count].T, B)
    for t in range(count):
        B[t, t] += ridge
    if not factor(B, scratch, tolerance):
        return False
    solve_factored(B, target[:count])
    np.dot(target[:count], tile[:count], f)
    return True


@kernel
def solve_range(indptr, indices, data, weights, H, ridge, tolerance, out, failed, start, stop):
    """Least-squares rows of `out`; ``failed[i]`` is set where the matrix of a row is singular to working precision.

    Rows without entries are 0: the minimum with a ridge, the least norm without.
    """
    k = H.shape[1]
    size = max(_TILE, k)
    tile = np.empty((size, k), H.dtype)
    target = np.empty(size, H.dtype)
    part = np.empty((k, k), H.dtype)
    memory = np.empty(k * k, H.dtype)
    scratch = np.empty(scratch_size(k), H.dtype)
    B = memory.reshape(k, k)
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        f = out[i]
        if last == first:
            f[:] = 0
        elif last - first < k:
            failed[i] = not _solve_wide(
                indices, data, weights, first, last, H, ridge[i], tolerance, tile, target, memory, scratch, f
            )
        else:
            failed[i] = not _solve_tall(
                indices, data, weights, first, last, H, ridge[i], tolerance, tile, target, part, B, scratch, f
            )
