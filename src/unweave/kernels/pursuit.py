"""Orthogonal matching pursuit on summaries: cross products and one Gram."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def pursue_range(A, B, s, tolerance, out, start, stop):
    """Rows ``[start, stop)`` of `out`: at most s coordinates each, chosen by correlation with the residual.

    A Cholesky factor L of the chosen part of B grows by one row at a time (batch OMP). A row ends early when nothing
    correlates with its residual any more, or when the next component depends on those chosen.
    """
    k = B.shape[0]
    chosen = np.empty(s, np.int64)
    L = np.zeros((s, s), B.dtype)
    y = np.empty(s, B.dtype)
    x = np.empty(s, B.dtype)
    slope = np.empty(k, B.dtype)
    for i in range(start, stop):
        out[i, :] = 0
        slope[:] = A[i]
        largest = np.abs(slope).max()
        count = 0
        while count < s:
            best, top = -1, tolerance * largest
            for t in range(k):
                if B[t, t] <= 0:
                    continue
                taken = False
                for c in range(count):
                    if chosen[c] == t:
                        taken = True
                strength = abs(slope[t]) / np.sqrt(B[t, t])
                if not taken and strength > top / np.sqrt(B[t, t]) and (
                    best < 0 or strength > abs(slope[best]) / np.sqrt(B[best, best])
                ):
                    best = t
            if best < 0:
                break
            pivot = B[best, best]
            for r in range(count):
                total = B[best, chosen[r]]
                for c in range(r):
                    total -= L[r, c] * y[c]
                y[r] = total / L[r, r]
                pivot -= y[r] * y[r]
            if pivot <= 1e-6 * B[best, best]:
                break
            for r in range(count):
                L[count, r] = y[r]
            L[count, count] = np.sqrt(pivot)
            chosen[count] = best
            count += 1
            for r in range(count):
                total = A[i, chosen[r]]
                for c in range(r):
                    total -= L[r, c] * x[c]
                x[r] = total / L[r, r]
            for r in range(count - 1, -1, -1):
                total = x[r]
                for c in range(r + 1, count):
                    total -= L[c, r] * x[c]
                x[r] = total / L[r, r]
            for t in range(k):
                slope[t] = A[i, t]
                for c in range(count):
                    slope[t] -= B[t, chosen[c]] * x[c]
        for c in range(count):
            out[i, chosen[c]] = x[c]
