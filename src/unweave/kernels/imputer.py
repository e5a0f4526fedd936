"""Rows of a Gaussian with holes: what the entries seen say about the others.

With the precision matrix L and the residuals g = L·(x - mean), holes at zero, the missing entries q of a row have the
mean mean_q + d and the covariance A⁻¹, where A = L[q, q] and A·d = -g_q. Only a system of the size of the holes is
solved, however wide the table is.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part


@kernel
def _factor(A, d):
    """The Cholesky factor of the leading d x d block of `A`, in its lower triangle; pivots are kept above rounding."""
    log = 0.0
    for t in range(d):
        pivot = A[t, t]
        for u in range(t):
            pivot -= A[t, u] * A[t, u]
        pivot = np.sqrt(max(pivot, 1e-12))
        A[t, t] = pivot
        log += np.log(pivot)
        for r in range(t + 1, d):
            value = A[r, t]
            for u in range(t):
                value -= A[r, u] * A[t, u]
            A[r, t] = value / pivot
    return log


@part
def _invert(A, B, d):
    """``B = L⁻¹`` (lower triangle) for the factor L in the lower triangle of `A`."""
    for c in range(d):
        B[c, c] = 1.0 / A[c, c]
        for r in range(c + 1, d):
            value = 0.0
            for u in range(c, r):
                value -= A[r, u] * B[u, c]
            B[r, c] = value / A[r, r]


@kernel
def _add_inverse(B, holes, d, times, covariance):
    """``covariance[q, q] += times · BᵀB``."""
    for r in range(d):
        for c in range(r + 1):
            total = 0.0
            for u in range(r, d):
                total += B[u, r] * B[u, c]
            covariance[holes[r], holes[c]] += times * total
            if r != c:
                covariance[holes[c], holes[r]] += times * total


@part
def _same_holes(seen, i, holes, d):
    """Whether row i of `seen` misses exactly the columns ``holes[:d]``."""
    at = 0
    for j in range(seen.shape[1]):
        if not seen[i, j]:
            if at == d or holes[at] != j:
                return False
            at += 1
    return at == d


@kernel
def condition_range(seen, g, precision, noise, shift, variance, covariance, values, start, stop):
    """Conditional means and variances of the holes in the rows ``[start, stop)``.

    ``shift[i, q] = d`` (plus a draw ``L⁻ᵀ e`` of the conditional covariance with the numbers e of `noise`, unless that
    has no rows), ``variance[i, q] = diag(A⁻¹)``, both 0 where seen; A⁻¹ is added to ``covariance[q, q]`` (unless it has
    no rows), and ``values[i] = log|A| / 2 + d.g_q / 2``. Rows with the holes of the row before share its factor, so a
    table sorted by its holes costs one factor a pattern.
    """
    m = seen.shape[1]
    holes = np.empty(m, np.int64)
    A = np.empty((m, m))
    B = np.empty((m, m))
    half = np.empty(m)
    spread = np.empty(m)
    draws, adds = noise.shape[0] > 0, covariance.shape[0] > 0
    d, times, log = 0, 0, 0.0
    for i in range(start, stop):
        if i == start or not _same_holes(seen, i, holes, d):
            if adds:
                _add_inverse(B, holes, d, times, covariance)
            d, times = 0, 0
            for j in range(m):
                if not seen[i, j]:
                    holes[d] = j
                    d += 1
            for r in range(d):
                for c in range(r + 1):
                    A[r, c] = precision[holes[r], holes[c]]
            log = _factor(A, d)
            _invert(A, B, d)
            for r in range(d):
                spread[r] = 0.0
                for u in range(r, d):
                    spread[r] += B[u, r] * B[u, r]
        times += 1
        values[i] = log
        for j in range(m):
            shift[i, j] = 0.0
            variance[i, j] = 0.0
        # A⁻¹ = BᵀB, so d = -Bᵀ(B·g): half = B·g
        for r in range(d):
            total = 0.0
            for c in range(r + 1):
                total += B[r, c] * g[i, holes[c]]
            half[r] = total
            values[i] -= 0.5 * total * total
        for r in range(d):
            mean = 0.0
            for u in range(r, d):
                mean -= B[u, r] * half[u]
                if draws:
                    mean += B[u, r] * noise[i, u]
            shift[i, holes[r]] = mean
            variance[i, holes[r]] = spread[r]
    if adds:
        _add_inverse(B, holes, d, times, covariance)
