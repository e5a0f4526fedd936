"""The log-cosh contrast of ICA: its derivative, and sums of its curvature and value, in one pass."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_PRODUCT = 64  # factors between 1 and 2 that are multiplied before a logarithm is taken: 2^64 fits any float


@kernel
def log_cosh_sums(Y, slope, level):
    """Replace every y by tanh y; of every row of Y sum 1 − tanh² y into `slope` and log cosh y into `level`.

    With e = exp(−2|y|), tanh |y| = (1 − e)/(1 + e) and log cosh y = |y| − log 2 + log(1 + e). The exponential is the
    64th power of a polynomial of a small number: products and sums alone, which processors do several at a time.
    """
    one, most = Y.dtype.type(1), Y.dtype.type(20)
    for j in range(Y.shape[0]):
        bent = 0.0
        total = 0.0
        for start in range(0, Y.shape[1], _PRODUCT):
            row = Y[j, start : start + _PRODUCT]
            product = one
            squares = Y.dtype.type(0)
            size = Y.dtype.type(0)
            for i in range(len(row)):
                y = row[i]
                a = abs(y)
                size += a
                x = (a if a < most else most) * Y.dtype.type(-1 / 32)
                e = x * Y.dtype.type(1 / 362880) + Y.dtype.type(1 / 40320)
                e = e * x + Y.dtype.type(1 / 5040)
                e = e * x + Y.dtype.type(1 / 720)
                e = e * x + Y.dtype.type(1 / 120)
                e = e * x + Y.dtype.type(1 / 24)
                e = e * x + Y.dtype.type(1 / 6)
                e = e * x + Y.dtype.type(1 / 2)
                e = e * x + one
                e = e * x + one
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                t = (one - e) / (one + e)
                product *= one + e
                squares += t * t
                row[i] = t if y >= 0 else -t
            bent += squares
            total += size + np.log(product)
        slope[j] = Y.shape[1] - bent
        level[j] = total - Y.shape[1] * np.log(2.0)
