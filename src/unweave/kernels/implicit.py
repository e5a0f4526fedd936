"""Weighted least squares for rows that see every column: the stored ones with confidence 1 + a, the rest with 1.

Row i of the answer minimises, over y,

    1/2 sum_{e in row} [(1 + a_e)(1 - w_e . y)^2 - (w_e . y)^2] + 1/2 sum_t d_it y_t^2,     a_e = alpha * data[e]

where ``W`` (m x k) holds the other factor rotated by the eigenvectors of its own Gram matrix. There the part that all
rows share (every column once, and the ridge) is the diagonal ``d_i = spectrum + ridge[i]``. So it costs a row k
operations instead of k^2, and it is the best preconditioner there is: the curvature lies between d and (1 + max a) d.

Entries are CSR, values above zero. ``values[i]`` gets that minimum (or where the row stopped), in float64.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.cholesky import factor, scratch_size, solve_factored
from unweave.kernels.entries import add_block

# numbers in a row's gathered vectors that are kept through all passes (1 MB in float32: they stay in the L2 cache)
_KEEP = 1 << 18


@kernel
def entry_values(a, s):
    """``1/2 [(1 + a)(1 - s)^2 - s^2]``: the loss of a stored entry predicted as s, less its share of the rest."""
    return 0.5 * (1 - s) * (1 - s) * (1 + a) - 0.5 * s * s


@kernel
def _pass(indices, data, alpha, first, last, W, y, out, residual):
    """``out = sum_e g_e w_e`` with ``g = a (w . y)``, or ``g = 1 + a - a (w . y)`` for the residual; the value then.

    One visit an entry does both products. Four entries together share the reads of `y` and the writes of `out`.
    """
    k = W.shape[1]
    value = 0.0
    one, zero = W.dtype.type(1), W.dtype.type(0)
    for t in range(k):
        out[t] = zero
    e = first
    while e + 4 <= last:
        w0, w1 = W[np.uint32(indices[e])], W[np.uint32(indices[e + 1])]
        w2, w3 = W[np.uint32(indices[e + 2])], W[np.uint32(indices[e + 3])]
        s0, s1, s2, s3 = zero, zero, zero, zero
        for t in range(k):
            s0 += w0[t] * y[t]
            s1 += w1[t] * y[t]
            s2 += w2[t] * y[t]
            s3 += w3[t] * y[t]
        a0, a1, a2, a3 = alpha * data[e], alpha * data[e + 1], alpha * data[e + 2], alpha * data[e + 3]
        g0, g1, g2, g3 = a0 * s0, a1 * s1, a2 * s2, a3 * s3
        if residual:
            value += entry_values(a0, s0) + entry_values(a1, s1)
            value += entry_values(a2, s2) + entry_values(a3, s3)
            g0, g1, g2, g3 = one + a0 - g0, one + a1 - g1, one + a2 - g2, one + a3 - g3
        for t in range(k):
            out[t] += (g0 * w0[t] + g1 * w1[t]) + (g2 * w2[t] + g3 * w3[t])
        e += 4
    while e < last:
        w0, a0, s0 = W[np.uint32(indices[e])], alpha * data[e], zero
        for t in range(k):
            s0 += w0[t] * y[t]
        g0 = a0 * s0
        if residual:
            value += entry_values(a0, s0)
            g0 = one + a0 - g0
        for t in range(k):
            out[t] += g0 * w0[t]
        e += 1
    return value


@kernel
def _descend_row(indices, data, alpha, first, last, W, d, steps, tolerance, y, r, p, q):
    """Conjugate gradients preconditioned by d, on one row in place; its value where it stopped."""
    k = W.shape[1]
    value = _pass(indices, data, alpha, first, last, W, y, r, np.int64(1))
    slope, own = W.dtype.type(0), W.dtype.type(0)
    for t in range(k):
        own += d[t] * y[t] * y[t]
        r[t] -= d[t] * y[t]
        p[t] = r[t] / d[t]
        slope += r[t] * p[t]
    value += 0.5 * own
    # The curvature is at least d, so the value can fall by no more than half the slope from here.
    enough = tolerance * abs(value)
    for step_number in range(steps):
        # one step always: rows that are nearly done must not bring the fit to a halt
        if step_number > 0 and not slope > enough:
            break
        _pass(indices, data, alpha, first, last, W, p, q, np.int64(0))
        curvature = W.dtype.type(0)
        for t in range(k):
            q[t] += d[t] * p[t]
            curvature += p[t] * q[t]
        if not curvature > 0:
            break
        step, former = slope / curvature, slope
        slope = W.dtype.type(0)
        for t in range(k):
            y[t] += step * p[t]
            r[t] -= step * q[t]
            q[t] = r[t] / d[t]
            slope += r[t] * q[t]
        value -= 0.5 * step * former
        turn = slope / former
        for t in range(k):
            p[t] = q[t] + turn * p[t]
    return value


@kernel
def descend_range(indptr, indices, data, alpha, W, spectrum, ridge, steps, tolerance, Y, values, start, stop):
    """At most `steps` steps of conjugate gradients on the rows of `Y` (row i in ``Y[i - start]``), in place.

    A row also stops, after one step, when its value can fall by no more than `tolerance` times itself.
    """
    k = W.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    room = min(longest, max(_KEEP // max(k, 1), 1))
    tile = np.empty((room, k), W.dtype)
    order = np.arange(room).astype(np.int32)
    d, r, p, q = (np.empty(k, W.dtype), np.empty(k, W.dtype), np.empty(k, W.dtype), np.empty(k, W.dtype))
    for i in range(start, stop):
        first, last, y = indptr[i], indptr[i + 1], Y[i - start]
        count = last - first
        for t in range(k):
            d[t] = spectrum[t] + ridge[i]
        if count == 0:
            y[:] = 0
            values[i] = 0.0
        elif count <= room:
            for e in range(count):
                source, row = W[np.uint32(indices[first + e])], tile[e]
                for t in range(k):
                    row[t] = source[t]
            mine = data[first:last]
            values[i] = _descend_row(order, mine, alpha, np.int64(0), count, tile, d, steps, tolerance, y, r, p, q)
        else:
            values[i] = _descend_row(indices, data, alpha, first, last, W, d, steps, tolerance, y, r, p, q)


@kernel
def slope_range(indptr, indices, data, alpha, W, spectrum, ridge, Y, values, start, stop):
    """Rows of `Y` (row i in ``Y[i - start]``) become the preconditioned slope ``(b - A y) / d``: 0 at the minimum.

    ``values[i]`` is the row's value before that.
    """
    k = W.shape[1]
    r = np.empty(k, W.dtype)
    for i in range(start, stop):
        y = Y[i - start]
        value = _pass(indices, data, alpha, indptr[i], indptr[i + 1], W, y, r, np.int64(1))
        for t in range(k):
            d = spectrum[t] + ridge[i]
            value += 0.5 * d * y[t] * y[t]
            y[t] = r[t] / d - y[t]
        values[i] = value


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


@part
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


@part
def _solve_short(indices, data, alpha, first, count, W, d, tile, target, kept, B, scratch, y):
    """A row of fewer entries than unknowns: ``y = D T' (I + T T')^-1 g``, T the rows ``sqrt(a) w D``, D = d^-1/2."""
    k = W.shape[1]
    S = tile[:count]
    _gather(indices, data, alpha, first, W, np.int64(0), scratch[:0], S, target)
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


@part
def _solve_long(indices, data, alpha, first, last, W, d, B, b, scratch, y):
    """A row of at least as many entries as unknowns: ``(diag(d) + sum a w w') y = sum (1 + a) w``."""
    k = W.shape[1]
    _block_gram(indices, data, alpha, first, last, W, np.int64(0), scratch[:0], scratch, B, b)
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


@part
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
        _predict(indices, first, count, W, np.int64(0), k, y, s)
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
