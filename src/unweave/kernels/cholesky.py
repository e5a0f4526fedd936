"""Cholesky factor of one small symmetric matrix, in place, and the solve with it.

For a C-ordered n x n array: every inner loop runs along a row and subtracts four earlier rows at once, so it
vectorises; beyond 128 columns the bulk is left to BLAS. At n = 64 this takes half of LAPACK's time. A failed
pivot is reported, not raised: an error of LAPACK would end the kernel.

Inner loops run over slices from 0, not over ``range(low, high)``: only then does numba know that the index is not
negative, and only then does the loop vectorise (a factor of four here).
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

# up to this size in one piece, beyond it in blocks of rows
_WHOLE = 128
_BLOCK = 64
_ALIGN = 16


@kernel
def _factor_rows(P, scale, tolerance):
    """The first rows of a factor, ``R[:height]``, from the same rows `P` (height x width) of a symmetric matrix."""
    height, width = P.shape
    for j in range(height):
        # whole vectors: a few numbers left of the diagonal are computed in vain
        low, r = j & ~(_ALIGN - 1), 0
        row, size = P[j, low:], width - low
        while r + 4 <= j:
            a, b, c, d = P[r, low:], P[r + 1, low:], P[r + 2, low:], P[r + 3, low:]
            p, q, u, v = P[r, j], P[r + 1, j], P[r + 2, j], P[r + 3, j]
            for t in range(size):
                row[t] -= p * a[t] + q * b[t] + u * c[t] + v * d[t]
            r += 4
        while r < j:
            a, p = P[r, low:], P[r, j]
            for t in range(size):
                row[t] -= p * a[t]
            r += 1
        pivot = P[j, j]
        # written so that NaN fails too
        if not pivot > tolerance * scale[j]:
            return False
        inverse = 1 / np.sqrt(pivot)
        for t in range(size):
            row[t] *= inverse
    return True


@part
def _factor_block(B, begin, end, scratch, scale, tolerance):
    """Rows ``[begin, end)`` of the factor, given those above it, which are subtracted first."""
    width, height = B.shape[0] - begin, end - begin
    P = scratch[: height * width].reshape(height, width)
    rest = scratch[height * width :]
    right = rest[: begin * width].reshape(begin, width)
    left = rest[begin * width : begin * (width + height)].reshape(begin, height)
    for r in range(begin):
        source, wide, narrow = B[r, begin:], right[r], left[r]
        for t in range(width):
            wide[t] = source[t]
        for t in range(height):
            narrow[t] = source[t]
    np.dot(left.T, right, P)
    for r in range(height):
        row, source = P[r], B[begin + r, begin:]
        for t in range(width):
            row[t] = source[t] - row[t]
    if not _factor_rows(P, scale, tolerance):
        return False
    for r in range(height):
        row, source = B[begin + r, begin:], P[r]
        for t in range(width):
            row[t] = source[t]
    return True


@kernel
def factor(B, scratch, tolerance):
    """Upper R with ``R'R = B``, written over the upper triangle of `B` (the lower one is spoilt); False on failure.

    Only the upper triangle is read. A pivot fails when it is not above `tolerance` times its diagonal entry: then the
    columns are dependent to the precision of the dtype. `scratch` needs ``scratch_size(n)`` numbers.
    """
    n = B.shape[0]
    scale = scratch[scratch.shape[0] - max(n, 1) :]
    for j in range(n):
        scale[j] = B[j, j]
    if n <= _WHOLE:
        return _factor_rows(B, scale, tolerance)
    for begin in range(0, n, _BLOCK):
        end = min(begin + _BLOCK, n)
        if not _factor_block(B, begin, end, scratch, scale[begin:end], tolerance):
            return False
    return True


@kernel
def scratch_size(n):
    """Numbers of scratch that :func:`factor` may use for an n x n matrix."""
    return n * n // 4 + (_BLOCK + 2) * n + _BLOCK * n if n > _WHOLE else n


@part
def _forward(R, x):
    """Overwrite x with the solution of ``R'y = x``: four unknowns at a time leave the rest in one loop."""
    n, j = R.shape[0], 0
    while j + 4 <= n:
        for r in range(j, j + 4):
            for c in range(j, r):
                x[r] -= R[c, r] * x[c]
            x[r] /= R[r, r]
        rest, p, q, u, v = x[j + 4 :], x[j], x[j + 1], x[j + 2], x[j + 3]
        a, b, c, d = R[j, j + 4 :], R[j + 1, j + 4 :], R[j + 2, j + 4 :], R[j + 3, j + 4 :]
        for t in range(n - j - 4):
            rest[t] -= p * a[t] + q * b[t] + u * c[t] + v * d[t]
        j += 4
    for r in range(j, n):
        for c in range(j, r):
            x[r] -= R[c, r] * x[c]
        x[r] /= R[r, r]


@part
def _backward(R, x):
    """Overwrite x with the solution of ``R y = x``: four unknowns at a time share one loop over those known."""
    n = R.shape[0]
    end = n
    while end > 0:
        j = max(end - 4, 0)
        if end - j == 4:
            rest, p, q, u, v = x[end:], x[j], x[j + 1], x[j + 2], x[j + 3]
            a, b, c, d = R[j, end:], R[j + 1, end:], R[j + 2, end:], R[j + 3, end:]
            for t in range(n - end):
                p -= a[t] * rest[t]
                q -= b[t] * rest[t]
                u -= c[t] * rest[t]
                v -= d[t] * rest[t]
            x[j], x[j + 1], x[j + 2], x[j + 3] = p, q, u, v
        else:
            for r in range(j, end):
                for t in range(end, n):
                    x[r] -= R[r, t] * x[t]
        for r in range(end - 1, j - 1, -1):
            for t in range(r + 1, end):
                x[r] -= R[r, t] * x[t]
            x[r] /= R[r, r]
        end = j


@kernel
def solve_factored(R, x):
    """Overwrite x with the solution of ``R'R y = x``, R from :func:`factor`."""
    _forward(R, x)
    _backward(R, x)
