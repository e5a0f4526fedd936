"""Orthogonal matching pursuit from Gram matrices: sparse rows, one atom after the other.

With ``B = H'H`` and ``a = H'x`` the residual of x never has to be formed. Each new atom adds one row to the Cholesky
factor of the chosen atoms; that row, taken against *all* atoms (D below), also updates every correlation at once:

    D_s = (B[t] - sum_i D_i[t] D_i) / sqrt(pivot),   y_s = corr[t] / sqrt(pivot),   corr -= y_s D_s,   |res|^2 -= y_s^2
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.entries import gram_scratch, mirror, row_gram


@part
def _best_atom(corr, B, used):
    """The unused atom that lowers the residual most on its own, ``argmax corr_t^2 / B_tt``, and by how much."""
    best, gain = -1, 0.0
    for t in range(corr.shape[0]):
        if not used[t] and B[t, t] > 0:
            score = np.float64(corr[t]) * corr[t] / B[t, t]
            if score > gain:
                best, gain = t, score
    return best, gain


@kernel
def _pursue(corr, B, norm, most, tolerance, D, y, chosen, used, f):
    """Write to f the code of at most `most` atoms; `corr` comes in as a = H'x and is spoilt."""
    k, count, left = corr.shape[0], 0, norm
    used[:] = False
    f[:] = 0
    while count < most and left > tolerance * norm:
        t, gain = _best_atom(corr, B, used)
        if t < 0 or gain <= tolerance * norm:
            break
        used[t] = True
        pivot = B[t, t]
        for i in range(count):
            pivot -= D[i, t] * D[i, t]
        if not pivot > tolerance * B[t, t]:
            continue
        row = D[count]
        for u in range(row.shape[0]):
            row[u] = B[t, u]
        for i in range(count):
            other, multiple = D[i], D[i, t]
            for u in range(k):
                row[u] -= multiple * other[u]
        root = np.sqrt(pivot)
        part = corr[t] / root
        for u in range(k):
            row[u] /= root
            corr[u] -= part * row[u]
        y[count] = part
        chosen[count] = t
        left -= np.float64(part) * part
        count += 1
    # back-substitution with L[i, j] = D_j[chosen_i]
    for j in range(count - 1, -1, -1):
        total = y[j]
        for i in range(j + 1, count):
            total -= D[j, chosen[i]] * f[chosen[i]]
        f[chosen[j]] = total / D[j, chosen[j]]


@kernel
def pursue_range(A, B, norms, most, tolerance, out, start, stop):
    """Rows that share the Gram `B`: ``out[i]`` from the cross products ``A[i]`` and the squared norm ``norms[i]``."""
    k = B.shape[0]
    D, y = np.empty((most, k), B.dtype), np.empty(most, B.dtype)
    chosen, used = np.empty(most, np.int64), np.empty(k, np.bool_)
    corr = np.empty(k, B.dtype)
    for i in range(start, stop):
        for t in range(corr.shape[0]):
            corr[t] = A[i, t]
        _pursue(corr, B, norms[i], most, tolerance, D, y, chosen, used, out[i])


@kernel
def pursue_entries_range(indptr, indices, data, weights, H, most, tolerance, out, start, stop):
    """Rows with a Gram of their own, formed from their observed entries."""
    k = H.shape[1]
    D, y = np.empty((most, k), H.dtype), np.empty(most, H.dtype)
    chosen, used = np.empty(most, np.int64), np.empty(k, np.bool_)
    corr, B = np.empty(k, H.dtype), np.empty((k, k), H.dtype)
    scratch = np.empty(gram_scratch(k), H.dtype)
    for i in range(start, stop):
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, B, corr)
        mirror(B)
        norm = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            square = np.float64(data[e]) * data[e]
            norm += weights[e] * square if weights.shape[0] > 0 else square
        _pursue(corr, B, norm, most, tolerance, D, y, chosen, used, out[i])
