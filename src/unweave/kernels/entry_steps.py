"""Improve rows of a factor entry by entry: gradient steps and coordinate descent where each row has its own entries."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.entries import gather, gram_scratch, mirror, row_gram

# rows of up to this many entries are gathered once and kept through all steps
_KEEP = 1024


@part
def _apply(indices, data, weights, first, last, H, tile, target, kept, v, forward, e):
    """``e = S v`` (forward) or ``v = S' e``, with S the rows ``sqrt(w) h_j``; gathered again unless they are kept."""
    if not forward:
        v[:] = 0
    for begin in range(0, last - first, _KEEP):
        count = min(_KEEP, last - first - begin)
        if not kept:
            gather(indices, data, weights, first + begin, first + begin + count, H, tile, target)
        if forward:
            np.dot(tile[:count], v, e[begin : begin + count])
        else:
            more = np.dot(e[begin : begin + count], tile[:count])
            for t in range(v.shape[0]):
                v[t] += more[t]


@part
def _value(e, f, ridge):
    """``1/2 |e|^2 + ridge/2 |f|^2`` in float64."""
    fit, size = 0.0, 0.0
    for t in range(e.shape[0]):
        fit += np.float64(e[t]) * e[t]
    for t in range(f.shape[0]):
        size += np.float64(f[t]) * f[t]
    return 0.5 * (fit + ridge * size)


@part
def _descend_row(indices, data, weights, first, last, H, ridge, steps, tile, target, e, q, r, p, trial, f):
    """CGLS: conjugate gradients on the normal equations, the residual ``e = s - S f`` kept entry by entry."""
    k, count = f.shape[0], last - first
    kept = count <= _KEEP
    if kept:
        gather(indices, data, weights, first, last, H, tile, target)
    _apply(indices, data, weights, first, last, H, tile, target, kept, f, True, e)
    for t in range(count):
        root = np.sqrt(weights[first + t]) if weights.shape[0] > 0 else H.dtype.type(1)
        e[t] = root * data[first + t] - e[t]
    value = _value(e, f, ridge)
    p[:] = 0
    former = H.dtype.type(1)
    for _ in range(steps):
        _apply(indices, data, weights, first, last, H, tile, target, kept, r, False, e)
        square = H.dtype.type(0)
        for t in range(k):
            r[t] -= ridge * f[t]
            square += r[t] * r[t]
        turn = square / former
        length = H.dtype.type(0)
        for t in range(k):
            p[t] = r[t] + turn * p[t]
            length += p[t] * p[t]
        _apply(indices, data, weights, first, last, H, tile, target, kept, p, True, q)
        curvature = ridge * length
        for t in range(count):
            curvature += q[t] * q[t]
        if not curvature > 0:
            return
        step = square / curvature
        for t in range(count):
            e[t] -= step * q[t]
        for t in range(k):
            trial[t] = f[t] + step * p[t]
        after = _value(e, trial, ridge)
        # at the minimum rounding may lead upwards: keep the row and stop
        if not after < value:
            return
        for t in range(f.shape[0]):
            f[t] = trial[t]
        value, former = after, square


@kernel
def descend_range(indptr, indices, data, weights, H, ridge, steps, out, start, stop):
    """At most `steps` conjugate-gradient steps on each row of `out`, in place; none of them raises the objective."""
    k = H.shape[1]
    longest = 1
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    tile = np.empty((min(longest, _KEEP), k), H.dtype)
    target = np.empty(min(longest, _KEEP), H.dtype)
    e, q = np.empty(longest, H.dtype), np.empty(longest, H.dtype)
    r, p, trial = np.empty(k, H.dtype), np.empty(k, H.dtype), np.empty(k, H.dtype)
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        n = last - first
        _descend_row(
            indices, data, weights, first, last, H, ridge[i], steps, tile, target, e[:n], q[:n], r, p, trial, out[i]
        )


@part
def _best_entry(free, l1, curvature, nonnegative):
    """Minimiser of ``curvature/2 (z - free)^2 + l1 |z|``, over ``z >= 0`` if asked."""
    size = l1 / curvature
    if free > size:
        return free - size
    if free < -size and not nonnegative:
        return free + size
    return size * 0


@part
def _sweep_row(B, gradient, l1, nonnegative, f):
    """One pass over the entries of f on ``1/2 f'Bf - a'f + l1 |f|_1``, gradient ``Bf - a`` kept; largest change."""
    k = f.shape[0]
    change = f.dtype.type(0)
    for t in range(k):
        curvature = B[t, t]
        if not curvature > 0:
            # the entry does not touch the data: only the penalty sees it
            if l1 > 0:
                f[t] = 0
            continue
        step = _best_entry(f[t] - gradient[t] / curvature, l1, curvature, nonnegative) - f[t]
        if step != 0:
            f[t] += step
            row = B[t]
            for u in range(k):
                gradient[u] += step * row[u]
            change = max(change, abs(step))
    return change


@kernel
def coordinate_range(indptr, indices, data, weights, H, l1, ridge, nonnegative, sweeps, tol, out, start, stop):
    """Sweeps over each row of `out`, in place, until none of its entries moves by more than tol times the largest."""
    k = H.shape[1]
    B = np.empty((k, k), H.dtype)
    gradient = np.empty(k, H.dtype)
    scratch = np.empty(gram_scratch(k), H.dtype)
    for i in range(start, stop):
        f = out[i]
        if nonnegative:
            for t in range(k):
                f[t] = max(f[t], H.dtype.type(0))
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, B, gradient)
        mirror(B)
        for t in range(k):
            B[t, t] += ridge[i]
            gradient[t] = -gradient[t]
        for t in range(k):
            row, multiple = B[t], f[t]
            if multiple != 0:
                for u in range(k):
                    gradient[u] += multiple * row[u]
        for _ in range(sweeps):
            change = _sweep_row(B, gradient, l1[i], nonnegative, f)
            largest = H.dtype.type(0)
            for t in range(k):
                largest = max(largest, abs(f[t]))
            if change <= tol * largest:
                break
