"""Cyclic coordinate descent (HALS) for rows that share one Gram matrix."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

TILE = 32  # rows done side by side: the innermost loops run over them and become SIMD


@kernel
def coordinate_range(A, B, F, out, inverse, l1, ridge, nonnegative, sweeps, tol, drop, start, stop):
    """Sweep rows ``[start, stop)`` of `F` into `out`; returns the most sweeps a row took.

    A tile of rows is held transposed (k × TILE) and the last one is padded with zeros, so a row's arithmetic is the
    same wherever it stands. `inverse` is 1 / (diag B + ridge), zero where that diagonal is zero.
    """
    k = B.shape[0]
    zero = F.dtype.type(0)
    watch = tol > 0 or drop > 0
    W, C = np.empty((k, TILE), F.dtype), np.empty((k, TILE), F.dtype)
    acc, live = np.empty(TILE, F.dtype), np.empty(TILE, F.dtype)
    change, size, first = np.empty(TILE, F.dtype), np.empty(TILE, F.dtype), np.empty(TILE, F.dtype)
    most = 0
    for base in range(start, stop, TILE):
        n = min(TILE, stop - base)
        W[:] = zero
        C[:] = zero
        for i in range(n):
            for t in range(k):
                W[t, i] = F[base + i, t]
                C[t, i] = A[base + i, t]
        live[:] = zero
        live[:n] = F.dtype.type(1)
        first[:] = zero
        done = 0
        while done < sweeps:
            change[:] = zero
            size[:] = zero
            for t in range(k):
                # acc = a_t - sum_r B_tr w_r - ridge w_t, eight r at a time so that acc is seldom loaded and stored
                for i in range(TILE):
                    acc[i] = C[t, i] - ridge * W[t, i]
                r = 0
                while r + 8 <= k:
                    b0, b1, b2, b3 = B[t, r], B[t, r + 1], B[t, r + 2], B[t, r + 3]
                    b4, b5, b6, b7 = B[t, r + 4], B[t, r + 5], B[t, r + 6], B[t, r + 7]
                    for i in range(TILE):
                        acc[i] -= (
                            b0 * W[r, i]
                            + b1 * W[r + 1, i]
                            + b2 * W[r + 2, i]
                            + b3 * W[r + 3, i]
                            + b4 * W[r + 4, i]
                            + b5 * W[r + 5, i]
                            + b6 * W[r + 6, i]
                            + b7 * W[r + 7, i]
                        )
                    r += 8
                while r < k:
                    b0 = B[t, r]
                    for i in range(TILE):
                        acc[i] -= b0 * W[r, i]
                    r += 1
                scale = inverse[t]
                if scale == zero:
                    # no curvature: the coordinate goes to 0 when its slope allows, else it has no minimiser and stays
                    for i in range(TILE):
                        slope = acc[i] if nonnegative else abs(acc[i])
                        v = zero if slope <= l1 else W[t, i]
                        v = v if live[i] > zero else W[t, i]
                        change[i] = max(change[i], abs(v - W[t, i]))
                        size[i] = max(size[i], abs(v))
                        W[t, i] = v
                    continue
                shift = l1 * scale
                for i in range(TILE):
                    old = W[t, i]
                    v = old + acc[i] * scale
                    v = max(v - shift, zero) if nonnegative else max(v - shift, zero) + min(v + shift, zero)
                    v = v if live[i] > zero else old
                    change[i] = max(change[i], abs(v - old))
                    size[i] = max(size[i], abs(v))
                    W[t, i] = v
            done += 1
            if watch:
                if done == 1:
                    for u in range(first.shape[0]):
                        first[u] = change[u]
                alive = zero
                for i in range(TILE):
                    if change[i] <= max(tol * size[i], drop * first[i]):
                        live[i] = zero
                    alive += live[i]
                if alive == zero:
                    break
        most = max(most, done)
        for i in range(n):
            for t in range(k):
                out[base + i, t] = W[t, i]
    return most
