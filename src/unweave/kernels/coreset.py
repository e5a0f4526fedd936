"""The two passes of a lightweight coreset: sums of a block, then how likely each row is to be drawn."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def weighted_sums(X, origin, weights, stride, sums, start, stop):
    """``sums[t] += w_i (x_it - origin_t)``; returns ``sum_i w_i |x_i - origin|^2``.

    `weights` has one entry a row (`stride` 1) or one in all (`stride` 0). Sums run in float64.
    """
    total = 0.0
    for i in range(start, stop):
        w = weights[i * stride]
        squares = 0.0
        for t in range(X.shape[1]):
            gap = np.float64(X[i, t]) - origin[t]
            sums[t] += w * gap
            squares += gap * gap
        total += w * squares
    return total


@kernel
def chances(X, mean, weights, stride, even, spread, q, start, stop):
    """``q[i] = w_i (even + spread |x_i - mean|^2)``: the chance of a row in one draw."""
    for i in range(start, stop):
        squares = 0.0
        for t in range(X.shape[1]):
            gap = np.float64(X[i, t]) - mean[t]
            squares += gap * gap
        q[i] = weights[i * stride] * (even + spread * squares)
