"""Cholesky factor of one small symmetric matrix, in place, and the solve with it.

For a C-ordered n x n array: every inner loop runs along a row and subtracts four earlier rows at once, so it
vectorises; beyond 64 columns the bulk is left to BLAS. At n = 64 this takes less than half of LAPACK's time. A failed
pivot is reported, not raised: an error of LAPACK would end the kernel.

Inner loops run over slices from 0, not over ``range(low, high)``: only then does numba know that the index is not
negative, and only then does the loop vectorise (a factor of four here).
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_BLOCK = 64
_ALIGN = 16


@kernel
def _subtract_above(B, begin, end, scratch):
    """``B[begin:end, begin:] -= R[:begin, begin:end]' R[:begin, begin:]`` with the rows R already factored."""
    width, height = B.shape[0] - begin, end - begin
    right = scratch[: begin * width].reshape(begin, width)
    rest = scratch[begin * width :]
    left = rest[: begin * height].reshape(begin, height)
    product = rest[begin * height : (begin + width) * height].reshape(height, width)
    right[:] = B[:begin, begin:]
    left[:] = B[:begin, begin:end]
    np.dot(left.T, right, product)
    for r in range(height):
        row, change = B[begin + r, begin:], product[r]
        for c in range(width):
            row[c] -= change[c]


@kernel
def _subtract_rows(B, begin, j, low):
    """``B[j, low:] -= sum_r R[r, j] R[r, low:]`` over the rows r in ``[begin, j)``."""
    row, r = B[j, low:], begin
    width = row.shape[0]
    while r + 4 <= j:
        a, b, c, d = B[r, low:], B[r + 1, low:], B[r + 2, low:], B[r + 3, low:]
        p, q, u, v = B[r, j], B[r + 1, j], B[r + 2, j], B[r + 3, j]
        for t in range(width):
            row[t] -= p * a[t] + q * b[t] + u * c[t] + v * d[t]
        r += 4
    while r < j:
        a, p = B[r, low:], B[r, j]
        for t in range(width):
            row[t] -= p * a[t]
        r += 1


@kernel
def factor(B, scratch, tolerance):
    """Upper R with ``R'R = B``, written over the upper triangle of `B` (the lower one is spoilt); False on failure.

    A pivot fails when it is not above `tolerance` times its diagonal entry: then the columns are dependent to the
    precision of the dtype. `scratch` needs ``scratch_size(n)`` numbers.
    """
    n = B.shape[0]
    scale = scratch[scratch.shape[0] - _BLOCK :]
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        for j in range(begin, end):
            scale[j - begin] = B[j, j]
        if begin > 0:
            _subtract_above(B, begin, end, scratch)
        for j in range(begin, end):
            # whole vectors: a few numbers left of the diagonal are computed in vain
            low = j & ~(_ALIGN - 1)
            _subtract_rows(B, begin, j, low)
            pivot = B[j, j]
            # written so that NaN fails too
            if not pivot > tolerance * scale[j - begin]:
                return False
            inverse, row = 1 / np.sqrt(pivot), B[j, low:]
            for t in range(row.shape[0]):
                row[t] *= inverse
    return True


@kernel
def scratch_size(n):
    """Numbers of scratch that :func:`factor` may use for an n x n matrix."""
    return n * n // 4 + _BLOCK * (n + 1)


@kernel
def solve_factored(R, x):
    """Overwrite x with the solution of ``R'R y = x``."""
    n = R.shape[0]
    for j in range(n):
        x[j] /= R[j, j]
        known, row, rest = x[j], R[j, j + 1 :], x[j + 1 :]
        for t in range(n - j - 1):
            rest[t] -= known * row[t]
    for j in range(n - 1, -1, -1):
        row, rest = R[j, j + 1 :], x[j + 1 :]
        total = x[j]
        for t in range(n - j - 1):
            total -= row[t] * rest[t]
        x[j] = total / R[j, j]
