"""Logarithms of many numbers at once: plain arithmetic on the bits, which the compiler turns into SIMD."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_FRACTION, _ONE = np.int64(0x000FFFFFFFFFFFFF), np.int64(0x3FF0000000000000)
_ROOT, _HALF, _LOG2 = 1.4142135623730951, 0.34657359027997264, 0.6931471805599453


@kernel
def log_ratio_sum(x, p, lo, hi, room):
    """sum of x_j log(x_j / p_j) - x_j for j in lo..hi, p counted from 0, in float64; x_j = 0 adds 0.

    `room` is float64 (2 × the longest row at least). With x / p = 2^e m and s = (m - √2) / (m + √2), |s| < 0.172, the
    logarithm is (e + ½) log 2 + 2 (s + s³/3 + s⁵/5 + …); eight terms leave an error below 1e-14.
    """
    n = hi - lo
    fractions, powers = room[0], room[1]
    bits = fractions.view(np.int64)
    for j in range(n):
        fractions[j] = np.float64(x[lo + j]) / np.float64(p[j])
    for j in range(n):
        powers[j] = np.float64(np.int32(bits[j] >> 52)) - 1023.0
        bits[j] = (bits[j] & _FRACTION) | _ONE
    total = 0.0
    for j in range(n):
        s = (fractions[j] - _ROOT) / (fractions[j] + _ROOT)
        r = s * s
        tail = 1 / 9 + r * (1 / 11 + r * (1 / 13 + r * (1 / 15)))
        series = 1.0 + r * (1 / 3 + r * (1 / 5 + r * (1 / 7 + r * tail)))
        value = np.float64(x[lo + j])
        total += value * (powers[j] * _LOG2 + _HALF + 2.0 * s * series - 1.0)
    return total
