"""Kullback-Leibler loss on counts in rows of CSR: values, multiplicative (EM) updates and coordinate steps.

For a row f of F and the rows h_j of H, p_j = f·h_j and the value of the row is

    sum over stored j of (x_j log(x_j / p_j) - x_j)  +  f·s,      s = sum over all j of h_j,

so zeros are data that cost p_j and are paid for by s alone. Every row has its own floor under p, `least` times the mean
of its stored entries, so nothing divides by zero and no row depends on another. The scalars `l1` and so on come in the
dtype of F, except in the coordinate kernel, whose one-dimensional steps are computed in float64.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel, part


@kernel
def ratios(indices, data, H, f, floor, lo, hi, p, numerator):
    """p_j = f·h_j for the stored entries lo..hi, and numerator_t = sum_j x_j h_jt / p_j."""
    k = f.shape[0]
    zero = f.dtype.type(0)
    for t in range(k):
        numerator[t] = zero
    j = lo
    while j + 4 <= hi:  # four at a time: f and the numerator are loaded once for four h_j
        h0, h1, h2, h3 = H[indices[j]], H[indices[j + 1]], H[indices[j + 2]], H[indices[j + 3]]
        p0, p1, p2, p3 = zero, zero, zero, zero
        for t in range(k):
            ft = f[t]
            p0 += ft * h0[t]
            p1 += ft * h1[t]
            p2 += ft * h2[t]
            p3 += ft * h3[t]
        p0, p1, p2, p3 = max(p0, floor), max(p1, floor), max(p2, floor), max(p3, floor)
        b = j - lo
        p[b], p[b + 1], p[b + 2], p[b + 3] = p0, p1, p2, p3
        w0, w1, w2, w3 = data[j] / p0, data[j + 1] / p1, data[j + 2] / p2, data[j + 3] / p3
        for t in range(k):
            numerator[t] += (w0 * h0[t] + w1 * h1[t]) + (w2 * h2[t] + w3 * h3[t])
        j += 4
    while j < hi:
        h = H[indices[j]]
        total = zero
        for t in range(k):
            total += f[t] * h[t]
        total = max(total, floor)
        p[j - lo] = total
        w = data[j] / total
        for t in range(k):
            numerator[t] += w * h[t]
        j += 1


@part
def _value(data, f, sums, lo, hi, p, room):
    """KL of one row from its predictions p; every sum in float64."""
    value = log_ratio_sum(data, p, lo, hi, room)
    for t in range(f.shape[0]):
        value += np.float64(f[t]) * np.float64(sums[t])
    return value


@part
def _total(data, lo, hi):
    total = data.dtype.type(0)
    for j in range(lo, hi):
        total += data[j]
    return total


@part
def _floor(data, total, lo, hi, least):
    """The smallest p of a row whose stored entries lo..hi sum to `total`."""
    tiny = np.finfo(data.dtype).tiny
    return max(least * total / data.dtype.type(max(hi - lo, 1)), data.dtype.type(tiny))


@kernel
def longest_row(indptr, start, stop):
    longest = 0
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@kernel
def value_range(indptr, indices, data, H, F, sums, least, values, start, stop):
    """KL of the rows ``[start, stop)`` into `values` (float64)."""
    longest = longest_row(indptr, start, stop)
    p, unused, room = np.empty(longest, F.dtype), np.empty(F.shape[1], F.dtype), np.empty((2, longest))
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        floor = _floor(data, _total(data, lo, hi), lo, hi, least)
        ratios(indices, data, H, F[i], floor, lo, hi, p, unused)
        values[i] = _value(data, F[i], sums, lo, hi, p, room)


@kernel
def multiply_range(indptr, indices, data, H, F, sums, l1, ridge, repeats, tol, least, speck, out, values, start, stop):
    """Multiplicative updates of the rows ``[start, stop)`` of `F` into `out`; `values` (or empty): KL before.

    A mass f_t s_t below `speck` times the row's total becomes zero: it would decay into denormal numbers, which are
    very slow.
    """
    k = F.shape[1]
    zero, two, four = F.dtype.type(0), F.dtype.type(2), F.dtype.type(4)
    longest = longest_row(indptr, start, stop)
    p, numerator = np.empty(longest, F.dtype), np.empty(k, F.dtype)
    near, room = np.empty((longest if repeats > 1 else 0, k), F.dtype), np.empty((2, longest))
    order = np.arange(longest).astype(np.int32)
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        f = out[i]
        for t in range(f.shape[0]):
            f[t] = F[i, t]
        total = _total(data, lo, hi)
        floor = _floor(data, total, lo, hi, least)
        for repeat in range(repeats):
            # the first pass reads the h_j where they lie; repeats find them side by side, in cache
            if repeat == 0:
                ratios(indices, data, H, f, floor, lo, hi, p, numerator)
                if values.shape[0] > 0:
                    values[i] = _value(data, f, sums, lo, hi, p, room)
            else:
                if repeat == 1:
                    for j in range(lo, hi):
                        for t in range(k):
                            near[j - lo, t] = H[indices[j], t]
                ratios(order, data[lo:hi], near, f, floor, np.int64(0), hi - lo, p, numerator)
            change, size = zero, zero
            for t in range(k):
                a = f[t] * numerator[t]
                slope = sums[t] + l1
                # positive root of ridge f² + slope f - a = 0
                bottom = slope + math.sqrt(slope * slope + four * ridge * a)
                new = two * a / bottom if bottom > zero else f[t]
                new = new if new * sums[t] > speck * total else zero
                change, size = max(change, abs(new - f[t])), max(size, new)
                f[t] = new
            if change <= tol * size:
                break


@part
def _step(f, slope, ridge, numerator, hessian):
    """Minimiser of a bound on the row's value in one coordinate; second order, and it never overshoots.

    The derivative along f is slope + ridge f - psi(f) with psi(f) = sum_j x_j h_j / p_j(f), convex and falling.
    Upwards, psi is at least numerator / (1 + (hessian / numerator) d) (Jensen's inequality); downwards, it is at most
    numerator - f hessian + hessian f² / f' (a chord). Both agree with psi at f in value and slope, so each root is a
    Newton step to second order that stops short of the minimiser.
    """
    excess = numerator - slope - ridge * f
    if excess > 0:
        c = hessian / numerator
        b = c * (slope + ridge * f) + ridge
        bottom = b + math.sqrt(b * b + 4 * ridge * c * excess)
        return f + 2 * excess / bottom if bottom > 0 else f
    e = slope - numerator + f * hessian
    root = math.sqrt(e * e + 4 * ridge * hessian * f * f)
    if e >= 0:
        return 2 * hessian * f * f / (e + root) if e + root > 0 else f
    return (root - e) / (2 * ridge)


@part
def _sweep(x, near, count, active, f, sums, l1, ridge, floor, small, p):
    """One pass over the active coordinates of a row, p kept up to date; the largest change and the largest f."""
    n = x.shape[0]
    zero, one = f.dtype.type(0), f.dtype.type(1)
    change, size = zero, zero
    for a in range(count):
        t, g = active[a], near[a * n : (a + 1) * n]
        numerator, hessian = zero, zero
        for j in range(n):
            y = g[j] * (one / p[j])
            xy = x[j] * y
            numerator += xy
            hessian += xy * y
        old, new = f[t], f[t]
        slope = np.float64(sums[t]) + l1
        if hessian > zero and hessian < np.inf:
            step = _step(np.float64(old), slope, ridge, np.float64(numerator), np.float64(hessian))
            new = f.dtype.type(step)
            if new < old and new * sums[t] <= small:
                new = zero
        elif numerator == zero and (slope > 0 or ridge > 0):
            new = zero  # no count depends on this coordinate, and it costs
        d = new - old
        if d != zero:
            f[t] = new
            for j in range(n):
                p[j] = max(p[j] + d * g[j], floor)
        change, size = max(change, abs(d)), max(size, new)
    return change, size


@kernel
def coordinate_counts_range(
    indptr, indices, data, H, F, sums, l1, ridge, sweeps, tol, least, speck, out, values, start, stop
):
    """Coordinate sweeps on the rows ``[start, stop)`` of `F` into `out`; `values` (or empty): KL before.

    A first pass over all k coordinates finds those that can move: f_t > 0, or a slope that pulls f_t up from 0. Only
    their columns of the h_j are gathered (transposed, so that the loops over j are SIMD) and swept.
    """
    k = F.shape[1]
    longest = longest_row(indptr, start, stop)
    p, numerators, room = np.empty(longest, F.dtype), np.empty(k, F.dtype), np.empty((2, longest))
    near, active = np.empty(0, F.dtype), np.empty(k, np.int64)
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        n = hi - lo
        f, x = out[i], data[lo:hi]
        for t in range(f.shape[0]):
            f[t] = F[i, t]
        total = _total(data, lo, hi)
        floor = _floor(data, total, lo, hi, least)
        ratios(indices, data, H, f, floor, lo, hi, p, numerators)
        if values.shape[0] > 0:
            values[i] = _value(data, f, sums, lo, hi, p, room)
        count = 0
        for t in range(k):
            if f[t] > 0 or numerators[t] > sums[t] + l1:
                active[count] = t
                count += 1
        if count * n > near.shape[0]:
            near = np.empty(count * n, F.dtype)
        for j in range(n):
            h = H[indices[lo + j]]
            for a in range(count):
                near[a * n + j] = h[active[a]]
        for sweep in range(sweeps):
            if sweep > 0:  # afresh, so that rounding does not pile up
                p[:n] = 0
                for a in range(count):
                    ft, g = f[active[a]], near[a * n : (a + 1) * n]
                    for j in range(n):
                        p[j] += ft * g[j]
                for j in range(n):
                    p[j] = max(p[j], floor)
            change, size = _sweep(x, near, count, active, f, sums, l1, ridge, floor, speck * total, p)
            if change <= tol * size:
                break


_FRACTION, _ONE = np.int64(0x000FFFFFFFFFFFFF), np.int64(0x3FF0000000000000)
_ROOT, _HALF, _LOG2 = 1.4142135623730951, 0.34657359027997264, 0.6931471805599453


@part
def log_ratio_sum(x, p, lo, hi, room):
    """sum of x_j log(x_j / p_j) - x_j for j in lo..hi, p counted from 0, in float64; x_j = 0 adds 0.

    `room` is float64 (2 × the longest row at least). With x / p = 2^e m and s = (m - √2) / (m + √2), |s| < 0.172, the
    logarithm is (e + ½) log 2 + 2 (s + s³/3 + s⁵/5 + …); eight terms leave an error below 1e-14.
    """
    n = hi - lo
    fractions, powers = room[0], room[1]
    bits = fractions.view(np.int64)
    for j in range(n):
        fractions[j] = np.float64(x[lo + j]) / np.float64(p[j])
    for j in range(n):
        powers[j] = np.float64(np.int32(bits[j] >> 52)) - 1023.0
        bits[j] = (bits[j] & _FRACTION) | _ONE
    total = 0.0
    for j in range(n):
        s = (fractions[j] - _ROOT) / (fractions[j] + _ROOT)
        r = s * s
        tail = 1 / 9 + r * (1 / 11 + r * (1 / 13 + r * (1 / 15)))
        series = 1.0 + r * (1 / 3 + r * (1 / 5 + r * (1 / 7 + r * tail)))
        value = np.float64(x[lo + j])
        total += value * (powers[j] * _LOG2 + _HALF + 2.0 * s * series - 1.0)
    return total
