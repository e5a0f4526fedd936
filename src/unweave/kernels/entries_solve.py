"""Exact least squares for every row on its own observed entries."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.cholesky import factor, scratch_size, solve_factored
from unweave.kernels.entries import gather, gram_scratch, row_gram


@kernel
def _solve_tall(indices, data, weights, first, last, H, ridge, tolerance, scratch, B, f):
    """``(sum w h h' + ridge I) f = sum w x h`` by Cholesky: for rows with at least as many entries as unknowns."""
    row_gram(indices, data, weights, first, last, H, scratch, B, f)
    for t in range(B.shape[0]):
        B[t, t] += ridge
    if not factor(B, scratch, tolerance):
        return False
    solve_factored(B, f)
    return True


@kernel
def _solve_wide(indices, data, weights, first, last, H, ridge, tolerance, scratch, tile, target, B, f):
    """``f = S'(S S' + ridge I)^-1 s`` with S the gathered rows: fewer entries than unknowns.

    The same minimum from a smaller system, and with no ridge the solution of least norm.
    """
    count = last - first
    gather(indices, data, weights, first, last, H, tile, target)
    np.dot(tile[:count], tile[:count].T, B)
    for t in range(count):
        B[t, t] += ridge
    if not factor(B, scratch, tolerance):
        return False
    solve_factored(B, target)
    np.dot(target, tile[:count], f)
    return True


@kernel
def solve_range(indptr, indices, data, weights, H, ridge, tolerance, out, failed, start, stop):
    """Least-squares rows of `out`; ``failed[i]`` is set where the matrix of a row is singular to working precision.

    Rows without entries are 0: the minimum with a ridge, the least norm without.
    """
    k = H.shape[1]
    tile = np.empty((k, k), H.dtype)
    target = np.empty(k, H.dtype)
    memory = np.empty(k * k, H.dtype)
    scratch = np.empty(max(scratch_size(k), gram_scratch(k)), H.dtype)
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        size, f = min(last - first, k), out[i]
        B = memory[: size * size].reshape(size, size)
        if size == 0:
            f[:] = 0
        elif size < k:
            failed[i] = not _solve_wide(
                indices, data, weights, first, last, H, ridge[i], tolerance, scratch, tile, target[:size], B, f
            )
        else:
            failed[i] = not _solve_tall(indices, data, weights, first, last, H, ridge[i], tolerance, scratch, B, f)
