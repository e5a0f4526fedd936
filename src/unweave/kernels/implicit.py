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

from unweave.kernels import kernel

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
    value = _pass(indices, data, alpha, first, last, W, y, r, True)
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
        _pass(indices, data, alpha, first, last, W, p, q, False)
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
            values[i] = _descend_row(order, mine, alpha, 0, count, tile, d, steps, tolerance, y, r, p, q)
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
        value = _pass(indices, data, alpha, indptr[i], indptr[i + 1], W, y, r, True)
        for t in range(k):
            d = spectrum[t] + ridge[i]
            value += 0.5 * d * y[t] * y[t]
            y[t] = r[t] / d - y[t]
        values[i] = value
