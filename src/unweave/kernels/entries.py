"""Sums over the observed entries of each row: values, predictions, gradients, nearest centres, and the row's own Gram.

Entries are CSR: row i owns ``indices[indptr[i]:indptr[i + 1]]`` (int32 columns) and the values beside them. `H` (m x k)
holds the vector of column j in its row j. ``weights`` of length 0 means that every weight is one. Long sums are cut
into tiles: a tile is added up in the dtype of the data, where it vectorises, and the tiles in float64.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.cholesky import factor, scratch_size, solve_factored

# entries in a tile of a Gram (240 * 64 * 64 < 10^6, OpenBLAS's limit for small products), and columns in a panel
GRAM_TILE = 240
_PANEL = 32
# entries added up in the dtype of the data before they join a float64 total
_TILE = 256


@kernel
def gather(indices, data, weights, first, last, H, tile, target):
    """Rows ``sqrt(w) h_j`` of the entries ``[first, last)`` into `tile`, and ``sqrt(w) x`` into `target`.

    Scaled so, the weighted problem is an unweighted one.
    """
    k = H.shape[1]
    weighted = weights.shape[0] > 0
    root = H.dtype.type(1)
    for e in range(last - first):
        if weighted:
            root = np.sqrt(weights[first + e])
        source, row = H[indices[first + e]], tile[e]
        for t in range(k):
            row[t] = root * source[t]
        target[e] = root * data[first + e]


@part
def _gather_panel(indices, data, weights, first, H, left, panel, target):
    """As `gather`, for the columns from `left` on that fit into `panel`."""
    count, width = panel.shape
    weighted = weights.shape[0] > 0
    root = H.dtype.type(1)
    for e in range(count):
        if weighted:
            root = np.sqrt(weights[first + e])
        source, row = H[indices[first + e], left : left + width], panel[e]
        for t in range(width):
            row[t] = root * source[t]
        target[e] = root * data[first + e]


@part
def add_block(B, block, top, left, fresh):
    """``B[top:, left:] = block``, or ``+=`` when not fresh."""
    height, width = block.shape
    for r in range(height):
        row, source = B[top + r, left : left + width], block[r]
        if fresh:
            for t in range(width):
                row[t] = source[t]
        else:
            for t in range(width):
                row[t] += source[t]


@kernel
def gram_scratch(k):
    """Numbers of scratch that :func:`row_gram` needs."""
    return GRAM_TILE * (k + 1) + _PANEL * (_PANEL + 1)


@kernel
def row_gram(indices, data, weights, first, last, H, scratch, B, a):
    """``a = sum_j w_j x_j h_j`` and the upper triangle of ``B = sum_j w_j h_j h_j'`` over entries ``[first, last)``.

    Tile after tile, so a row of any length needs no more memory than a short one. Products of panels of 32 columns
    stay on or above the diagonal, and in the range where OpenBLAS has its fast small kernels: at k = 256 this takes
    0.6 of the time of one product a tile.
    """
    k = H.shape[1]
    cross, target, block = scratch[:_PANEL], scratch[_PANEL : _PANEL + GRAM_TILE], scratch[_PANEL + GRAM_TILE :]
    panels = block[_PANEL * _PANEL :]
    for t in range(k):
        a[t] = 0
        if first == last:
            for u in range(k):
                B[t, u] = 0
    for begin in range(first, last, GRAM_TILE):
        count, fresh = min(GRAM_TILE, last - begin), begin == first
        for left in range(0, k, _PANEL):
            width = min(_PANEL, k - left)
            right = panels[left * count : (left + width) * count].reshape(count, width)
            _gather_panel(indices, data, weights, begin, H, left, right, target)
            np.dot(target[:count], right, cross[:width])
            part = a[left : left + width]
            for t in range(width):
                part[t] += cross[t]
            for top in range(0, left + 1, _PANEL):
                upper = panels[top * count : (top + min(_PANEL, k - top)) * count].reshape(count, min(_PANEL, k - top))
                product = block[: upper.shape[1] * width].reshape(upper.shape[1], width)
                np.dot(upper.T, right, product)
                add_block(B, product, top, left, fresh)


@kernel
def mirror(B):
    """Copy the upper triangle of `B` to the lower one."""
    for t in range(B.shape[0]):
        for u in range(t):
            B[t, u] = B[u, t]


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


@kernel
def solve_range(indptr, indices, data, weights, H, ridge, tolerance, out, failed, start, stop):
    """Least-squares rows of `out`; ``failed[i]`` is set where the matrix of a row is singular to working precision.

    Rows with at least k entries solve ``(S'S + ridge I) f = S's`` with S the rows ``sqrt(w) h_j`` and s the data beside
    them. Shorter ones ``f = S'(S S' + ridge I)^-1 s``: the same minimum from a smaller system, and with no ridge the
    solution of least norm. Rows without entries are 0.
    """
    k = H.shape[1]
    tile = np.empty((k, k), H.dtype)
    target = np.empty(k, H.dtype)
    memory = np.empty(k * k, H.dtype)
    scratch = np.empty(max(scratch_size(k), gram_scratch(k)), H.dtype)
    for i in range(start, stop):
        first, last, f = indptr[i], indptr[i + 1], out[i]
        size = min(last - first, k)
        wide = size < k
        if size == 0:
            for t in range(k):
                f[t] = 0
            continue
        B, unknown = memory[: size * size].reshape(size, size), target[:size]
        if wide:
            gather(indices, data, weights, first, last, H, tile, unknown)
            np.dot(tile[:size], tile[:size].T, B)
        else:
            row_gram(indices, data, weights, first, last, H, scratch, B, unknown)
        for t in range(size):
            B[t, t] += ridge[i]
        if not factor(B, scratch, tolerance):
            failed[i] = True
            continue
        solve_factored(B, unknown)
        if wide:
            np.dot(unknown, tile[:size], f)
        else:
            for t in range(k):
                f[t] = unknown[t]
