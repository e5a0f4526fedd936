"""Sums over the observed entries of each row: values, predictions, gradients, nearest centres, and the row's own Gram.

Entries are CSR: row i owns ``indices[indptr[i]:indptr[i + 1]]`` (int32 columns) and the values beside them. `H` (m x k)
holds the vector of column j in its row j. ``weights`` of length 0 means that every weight is one. Long sums are cut
into tiles: a tile is added up in the dtype of the data, where it vectorises, and the tiles in float64.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_TILE = 256


@kernel
def gather(indices, data, weights, first, last, H, tile, target):
    """Rows ``sqrt(w) h_j`` of the entries ``[first, last)`` into `tile`, and ``sqrt(w) x`` into `target`.

    Scaled so, the weighted problem is an unweighted one, and one tile gives both the Gram and the cross products.
    """
    k = H.shape[1]
    weighted = weights.shape[0] > 0
    root = H.dtype.type(1)
    for e in range(first, last):
        if weighted:
            root = np.sqrt(weights[e])
        source, row = H[indices[e]], tile[e - first]
        for t in range(k):
            row[t] = root * source[t]
        target[e - first] = root * data[e]


@kernel
def row_gram(indices, data, weights, first, last, H, tile, target, part, B, a):
    """``B = sum_j w_j h_j h_j'`` and ``a = sum_j w_j x_j h_j`` over the entries ``[first, last)``, tile after tile.

    `tile` (T x k), `target` (T,) and `part` (k x k) are scratch: a row of any length needs no more memory than that.
    """
    k, size = H.shape[1], tile.shape[0]
    if last - first <= size:
        count = last - first
        gather(indices, data, weights, first, last, H, tile, target)
        np.dot(tile[:count].T, tile[:count], B)
        np.dot(target[:count], tile[:count], a)
        return
    B[:] = 0
    a[:] = 0
    for begin in range(first, last, size):
        count = min(size, last - begin)
        gather(indices, data, weights, begin, begin + count, H, tile, target)
        np.dot(tile[:count].T, tile[:count], part)
        for t in range(k):
            for u in range(k):
                B[t, u] += part[t, u]
        np.dot(target[:count], tile[:count], part[0])
        for t in range(k):
            a[t] += part[0, t]


@kernel
def predict_range(indptr, indices, H, F, out, start, stop):
    """``out[e] = f_i . h_j`` at every observed entry of the rows ``[start, stop)``."""
    k = H.shape[1]
    for i in range(start, stop):
        f = F[i]
        for e in range(indptr[i], indptr[i + 1]):
            h = H[indices[e]]
            total = H.dtype.type(0)
            for t in range(k):
                total += f[t] * h[t]
            out[e] = total


@kernel
def values_range(indptr, indices, data, weights, H, F, out, start, stop):
    """``out[i] = 1/2 sum_j w_ij (x_ij - f_i . h_j)^2``, added up in float64."""
    k = H.shape[1]
    weighted = weights.shape[0] > 0
    for i in range(start, stop):
        f, value = F[i], 0.0
        for e in range(indptr[i], indptr[i + 1]):
            h = H[indices[e]]
            total = H.dtype.type(0)
            for t in range(k):
                total += f[t] * h[t]
            error = np.float64(data[e] - total)
            value += weights[e] * error * error if weighted else error * error
        out[i] = 0.5 * value


@kernel
def gradient_range(indptr, indices, residual, H, out, start, stop):
    """``out[i] = sum_j g_ij h_j`` with the numbers g given at the entries."""
    k = H.shape[1]
    part = np.empty(k, H.dtype)
    total = np.empty(k, np.float64)
    for i in range(start, stop):
        total[:] = 0.0
        for begin in range(indptr[i], indptr[i + 1], _TILE):
            part[:] = 0
            for e in range(begin, min(begin + _TILE, indptr[i + 1])):
                h, g = H[indices[e]], residual[e]
                for t in range(k):
                    part[t] += g * h[t]
            for t in range(k):
                total[t] += part[t]
        for t in range(k):
            out[i, t] = total[t]


@kernel
def nearest_range(indptr, indices, data, weights, H, labels, values, start, stop):
    """``labels[i] = argmin_t sum_j w_ij (x_ij - H[j, t])^2`` (the first on ties), ``values[i]`` that minimum."""
    k = H.shape[1]
    weighted = weights.shape[0] > 0
    part = np.empty(k, H.dtype)
    total = np.empty(k, np.float64)
    w = H.dtype.type(1)
    for i in range(start, stop):
        total[:] = 0.0
        for begin in range(indptr[i], indptr[i + 1], _TILE):
            part[:] = 0
            for e in range(begin, min(begin + _TILE, indptr[i + 1])):
                h, x = H[indices[e]], data[e]
                if weighted:
                    w = weights[e]
                for t in range(k):
                    part[t] += w * (x - h[t]) * (x - h[t])
            for t in range(k):
                total[t] += part[t]
        best = 0
        for t in range(1, k):
            if total[t] < total[best]:
                best = t
        labels[i] = best
        values[i] = total[best]
