"""Orthogonal matching pursuit from Gram matrices: sparse rows, one atom after the other.

With ``B = H'H`` and ``a = H'x`` the residual of x never has to be formed. Each new atom adds one row to the Cholesky
factor of the chosen atoms; that row, taken against *all* atoms (D below), also updates every correlation at once:

    D_s = (B[t] - sum_i D_i[t] D_i) / sqrt(pivot),   y_s = corr[t] / sqrt(pivot),   corr -= y_s D_s,   |res|^2 -= y_s^2
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.entries import gram_scratch, mirror, row_gram
from unweave.kernels.lasso import LANES, find, largest


@kernel
def _pursue(corr, B, norm, most, joint, tolerance, floor, D, y, chosen, whole, left_of, inverse, score, top, f):
    """Write to f the code of at most `most` atoms; `corr` comes in as a = H'x and is spoilt.

    The next atom t is the one with the largest ``corr_t^2 / left_of_t``: what is left of its squared length once the
    chosen atoms are taken out (`joint`), which is what the residual loses, or all of its squared length.
    """
    k, count, left = corr.shape[0], 0, norm
    for t in range(k):
        left_of[t] = whole[t]
        inverse[t] = 1 / whole[t] if whole[t] > 0 else 0
        f[t] = 0
    while count < most and left > max(tolerance * norm, floor):
        for t in range(k):
            score[t] = corr[t] * corr[t] * inverse[t]
        gain = largest(score, True, top)
        t = find(score, gain)
        if t >= k or gain <= tolerance * norm:
            break
        inverse[t] = 0
        pivot = B[t, t]
        for i in range(count):
            pivot -= D[i, t] * D[i, t]
        if not pivot > tolerance * B[t, t]:
            continue
        row, atom = D[count], B[t]
        for u in range(k):
            row[u] = atom[u]
        for i in range(count):
            other, multiple = D[i], D[i, t]
            for u in range(k):
                row[u] -= multiple * other[u]
        root = np.sqrt(pivot)
        part = corr[t] / root
        for u in range(k):
            row[u] /= root
            corr[u] -= part * row[u]
        if joint:
            for u in range(k):
                left_of[u] -= row[u] * row[u]
                sound = inverse[u] > 0 and left_of[u] > tolerance * whole[u]
                inverse[u] = 1 / left_of[u] if sound else 0
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
def pursue_range(A, B, norms, most, joint, tolerance, floor, out, start, stop):
    """Rows that share the Gram `B`: ``out[i]`` from the cross products ``A[i]`` and the squared norm ``norms[i]``."""
    k = B.shape[0]
    D, y, chosen = np.empty((most, k), B.dtype), np.empty(most, B.dtype), np.empty(most, np.int64)
    left_of, inverse, score = np.empty(k, B.dtype), np.empty(k, B.dtype), np.empty(k, B.dtype)
    corr, whole, top = np.empty(k, B.dtype), np.empty(k, B.dtype), np.empty(LANES, B.dtype)
    for t in range(k):
        whole[t] = B[t, t]
    for i in range(start, stop):
        for t in range(k):
            corr[t] = A[i, t]
        _pursue(
            corr, B, norms[i], most, joint, tolerance, floor, D, y, chosen, whole, left_of, inverse, score, top, out[i]
        )


@kernel
def pursue_entries_range(indptr, indices, data, weights, H, most, joint, tolerance, floor, out, start, stop):
    """Rows with a Gram of their own, formed from their observed entries; `floor` is for each of them."""
    k = H.shape[1]
    D, y, chosen = np.empty((most, k), H.dtype), np.empty(most, H.dtype), np.empty(most, np.int64)
    left_of, inverse, score = np.empty(k, H.dtype), np.empty(k, H.dtype), np.empty(k, H.dtype)
    corr, B, top = np.empty(k, H.dtype), np.empty((k, k), H.dtype), np.empty(LANES, H.dtype)
    whole = np.empty(k, H.dtype)
    scratch = np.empty(gram_scratch(k), H.dtype)
    for i in range(start, stop):
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, B, corr)
        mirror(B)
        for t in range(k):
            whole[t] = B[t, t]
        norm = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            square = np.float64(data[e]) * data[e]
            norm += weights[e] * square if weights.shape[0] > 0 else square
        own = floor * (indptr[i + 1] - indptr[i])
        _pursue(corr, B, norm, most, joint, tolerance, own, D, y, chosen, whole, left_of, inverse, score, top, out[i])
