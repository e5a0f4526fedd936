"""The problem of :mod:`unweave.kernels.implicit` solved with Cholesky factors: exactly, or block after block."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.cholesky import factor, scratch_size, solve_factored
from unweave.kernels.entries import add_block
from unweave.kernels.implicit import entry_values

# entries in a tile of a Gram and columns in a panel: the sizes where OpenBLAS has its fast small products
_TILE = 240
_PANEL = 32
# a confidence is kept above one by this much, because its root is divided by
_LEAST = 1e-37


@kernel
def _gather(indices, data, alpha, first, W, left, s, panel, target):
    """Rows ``sqrt(a) w`` of the entries from `first` on into `panel` (columns from `left` on), and their targets.

    Scaled so, the row is an ordinary least-squares problem with targets ``(1 + a - a s) / sqrt(a)``, s what the
    columns outside the block predict (empty: nothing).
    """
    count, width = panel.shape
    one, least = W.dtype.type(1), W.dtype.type(_LEAST)
    known = s.shape[0] > 0
    for e in range(count):
        a = max(alpha * data[first + e], least)
        root = np.sqrt(a)
        source, row = W[np.uint32(indices[first + e]), left : left + width], panel[e]
        for t in range(width):
            row[t] = root * source[t]
        target[e] = (one + a - a * s[e] if known else one + a) / root


@kernel
def gram_room(k):
    """Numbers of scratch that :func:`_block_gram` needs for k columns."""
    return _TILE * (k + 1) + _PANEL * (_PANEL + 1)


@kernel
def _block_gram(indices, data, alpha, first, last, W, low, s, scratch, B, b):
    """Upper triangle of ``B = sum a w w'`` and ``b = sum (1 + a - a s) w`` in the columns from `low` on that B has."""
    k = B.shape[0]
    cross, target, block = scratch[:_PANEL], scratch[_PANEL : _PANEL + _TILE], scratch[_PANEL + _TILE :]
    panels = block[_PANEL * _PANEL :]
    b[:k] = 0
    for begin in range(first, last, _TILE):
        count, fresh = min(_TILE, last - begin), begin == first
        known = s[begin - first :] if s.shape[0] > 0 else s
        for left in range(0, k, _PANEL):
            width = min(_PANEL, k - left)
            right = panels[left * count : (left + width) * count].reshape(count, width)
            _gather(indices, data, alpha, begin, W, low + left, known, right, target)
            np.dot(target[:count], right, cross[:width])
            part = b[left : left + width]
            for t in range(width):
                part[t] += cross[t]
            for top in range(0, left + 1, _PANEL):
                height = min(_PANEL, k - top)
                upper = panels[top * count : (top + height) * count].reshape(count, height)
                product = block[: height * width].reshape(height, width)
                np.dot(upper.T, right, product)
                add_block(B, product, top, left, fresh)


@kernel
def _solve_short(indices, data, alpha, first, count, W, d, tile, target, kept, B, scratch, y):
    """A row of fewer entries than unknowns: ``y = D T' (I + T T')^-1 g``, T the rows ``sqrt(a) w D``, D = d^-1/2."""
    k = W.shape[1]
    S = tile[:count]
    _gather(indices, data, alpha, first, W, 0, scratch[:0], S, target)
    for t in range(k):
        y[t] = 1 / np.sqrt(d[t])
    for e in range(count):
        row = S[e]
        for t in range(k):
            row[t] *= y[t]
        kept[e] = target[e]
    np.dot(S, S.T, B)
    for e in range(count):
        B[e, e] += 1
    if not factor(B, scratch, W.dtype.type(0)):
        return False, 0.0
    solve_factored(B, kept)
    value = 0.0
    for e in range(count):
        a = max(alpha * data[first + e], W.dtype.type(_LEAST))
        # b . y = g'(g - v), and the constant (1 + a)/2 of each entry
        value += 0.5 * (1 + a) - 0.5 * target[e] * (target[e] - kept[e])
    combined = scratch[:k]
    np.dot(kept[:count], S, combined)
    for t in range(k):
        y[t] *= combined[t]
    return True, value


@kernel
def _solve_long(indices, data, alpha, first, last, W, d, B, b, scratch, y):
    """A row of at least as many entries as unknowns: ``(diag(d) + sum a w w') y = sum (1 + a) w``."""
    k = W.shape[1]
    _block_gram(indices, data, alpha, first, last, W, 0, scratch[:0], scratch, B, b)
    for t in range(k):
        B[t, t] += d[t]
        y[t] = b[t]
    if not factor(B, scratch, W.dtype.type(0)):
        return False, 0.0
    solve_factored(B, y)
    value, explained = 0.0, 0.0
    for e in range(first, last):
        value += 1 + alpha * data[e]
    for t in range(k):
        explained += np.float64(b[t]) * y[t]
    return True, 0.5 * (value - explained)


@kernel
def solve_range(indptr, indices, data, alpha, W, spectrum, ridge, Y, values, failed, start, stop):
    """Exact rows of `Y` (row i in ``Y[i - start]``); ``failed[i]`` where rounding made a matrix indefinite."""
    k = W.shape[1]
    tile = np.empty((k, k), W.dtype)
    memory = np.empty(k * k, W.dtype)
    target, kept, d, b = (np.empty(k, W.dtype), np.empty(k, W.dtype), np.empty(k, W.dtype), np.empty(k, W.dtype))
    scratch = np.empty(max(scratch_size(k), gram_room(k)), W.dtype)
    for i in range(start, stop):
        first, last, y = indptr[i], indptr[i + 1], Y[i - start]
        size = min(last - first, k)
        if size == 0:
            y[:] = 0
            values[i] = 0.0
            continue
        for t in range(k):
            d[t] = spectrum[t] + ridge[i]
        B = memory[: size * size].reshape(size, size)
        if last - first < k:
            sound, value = _solve_short(
                indices, data, alpha, first, size, W, d, tile, target, kept[:size], B, scratch, y
            )
        else:
            sound, value = _solve_long(indices, data, alpha, first, last, W, d, B, b, scratch, y)
        failed[i] = not sound
        values[i] = value


@kernel
def _predict(indices, first, count, W, low, width, change, s):
    """``s_e += w_e . change`` over the columns ``[low, low + width)``."""
    for e in range(count):
        source, total = W[np.uint32(indices[first + e]), low : low + width], W.dtype.type(0)
        for t in range(width):
            total += source[t] * change[t]
        s[e] += total


@kernel
def subspace_range(indptr, indices, data, alpha, W, spectrum, ridge, block, Y, values, start, stop):
    """One cycle of exact solves in blocks of columns on each row of `Y` (row i in ``Y[i - start]``), in place.

    A block that rounding makes indefinite is left as it is, so no row's value rises.
    """
    k = W.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    memory, change, s = np.empty(block * block, W.dtype), np.empty(block, W.dtype), np.empty(longest, W.dtype)
    scratch = np.empty(max(scratch_size(block), gram_room(block)), W.dtype)
    for i in range(start, stop):
        first, last, y = indptr[i], indptr[i + 1], Y[i - start]
        count = last - first
        if count == 0:
            y[:] = 0
            values[i] = 0.0
            continue
        s[:count] = 0
        _predict(indices, first, count, W, 0, k, y, s)
        for low in range(0, k, block):
            width = min(block, k - low)
            B, part, d = memory[: width * width].reshape(width, width), y[low : low + width], spectrum[low:]
            _block_gram(indices, data, alpha, first, last, W, low, s[:count], scratch, B, change)
            for t in range(width):
                curvature = d[t] + ridge[i]
                change[t] -= curvature * part[t]
                B[t, t] += curvature
            if factor(B, scratch, W.dtype.type(0)):
                solve_factored(B, change[:width])
                for t in range(width):
                    part[t] += change[t]
                _predict(indices, first, count, W, low, width, change, s)
        value = 0.0
        for e in range(count):
            value += entry_values(alpha * data[first + e], s[e])
        for t in range(k):
            value += 0.5 * np.float64(spectrum[t] + ridge[i]) * y[t] * y[t]
        values[i] = value
