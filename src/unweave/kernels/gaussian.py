"""Loops of mixtures and chains: products of columns, logarithms below the largest, shares, covariances of holes.

Tables lie on their side here, one row a feature or component and one column a sample: the inner loops then run along
samples and vectorise, however few features there are.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.imputer import _add_inverse, _factor, _invert, _same_holes


@kernel
def products_range(X, shift, F, start, stop):
    """Columns of F: all products y_a y_b (a ≥ b), then y, then 1, of the rows y = X[i] - shift in ``[start, stop)``."""
    d, n = X.shape[1], stop - start
    first = d * (d + 1) // 2
    for i in range(n):
        for a in range(d):
            F[first + a, i] = X[start + i, a] - shift[a]
    at = 0
    for a in range(d):
        left = F[first + a]
        for b in range(a + 1):
            right, out = F[first + b], F[at]
            for i in range(n):
                out[i] = left[i] * right[i]
            at += 1
    ones = F[first + d]
    for i in range(n):
        ones[i] = 1.0


@kernel
def below_top(logs, least, instead, top):
    """Take the largest of every column of `logs` out of it (into `top`); what is then below `least` becomes `instead`.

    Exponentials of what is far below are numbers that some processors calculate with a hundred times as slowly.
    """
    states, size = logs.shape
    for e in range(size):
        top[e] = logs[0, e]
    for k in range(1, states):
        for e in range(size):
            top[e] = logs[k, e] if logs[k, e] > top[e] else top[e]
    for k in range(states):
        for e in range(size):
            value = logs[k, e] - top[e]
            logs[k, e] = instead if value < least else value  # what is no number stays so, and is found


@kernel
def scale_columns(L, weights, sums):
    """Scale every column of L so that it adds up to its weight; `sums` keeps what it added up to."""
    k, n = L.shape
    for i in range(n):
        sums[i] = L[0, i]
    for c in range(1, k):
        row = L[c]
        for i in range(n):
            sums[i] += row[i]
    for c in range(k):
        row = L[c]
        for i in range(n):
            row[i] *= weights[i] / sums[i]


@kernel
def covariances_range(seen, precision, weights, covariance, start, stop):
    """Add w_i A⁻¹ to ``covariance[q, q]`` for the holes q of the rows ``[start, stop)``, A = precision[q, q].

    Rows with the holes of the row before share its factor, so sort the table by its holes.
    """
    m = seen.shape[1]
    holes = np.empty(m, np.int64)
    A = np.empty((m, m))
    B = np.empty((m, m))
    d, total = 0, 0.0
    for i in range(start, stop):
        if i == start or not _same_holes(seen, i, holes, d):
            _add_inverse(B, holes, d, total, covariance)
            d, total = 0, 0.0
            for j in range(m):
                if not seen[i, j]:
                    holes[d] = j
                    d += 1
            for r in range(d):
                for c in range(r + 1):
                    A[r, c] = precision[holes[r], holes[c]]
            _factor(A, d)
            _invert(A, B, d)
        total += weights[i]
    _add_inverse(B, holes, d, total, covariance)
