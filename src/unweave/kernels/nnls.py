"""Exact least squares under sign constraints and ℓ1, row by row: an active set with a growing Cholesky factor."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.entries import gram_scratch, mirror, row_gram

_NOISE = 1e-14  # a slope or a gain this small against the numbers it was summed from is rounding
_ROUNDS = 10  # changes of the support for each unknown: a bound, so that rounding cannot make it hang


@kernel
def _append(B, support, size, L, t, tolerance):
    """Row `size` of the factor L of B on the support, for the unknown t; False where it depends on those before."""
    row, pivot = L[size], B[t, t]
    for i in range(size):
        above, s = L[i], B[t, support[i]]
        for j in range(i):
            s -= above[j] * row[j]
        row[i] = s / above[i]
        pivot -= row[i] * row[i]
    # written so that NaN fails too
    if not pivot > tolerance * B[t, t]:
        return False
    row[size] = np.sqrt(pivot)
    support[size] = t
    return True


@part
def _aim(a, l1, support, size, sign, z):
    """The right-hand side on the support, where the signs are known and ℓ1 is a slope."""
    for i in range(size):
        z[i] = a[support[i]] - l1 * sign[support[i]]


@kernel
def _solve(L, size, z):
    """Overwrite z with the solution of ``L Lᵀ y = z``."""
    for i in range(size):
        row, s = L[i], z[i]
        for j in range(i):
            s -= row[j] * z[j]
        z[i] = s / row[i]
    for i in range(size - 1, -1, -1):
        row = L[i]
        z[i] /= row[i]
        for j in range(i):
            z[j] -= row[j] * z[i]


@kernel
def _without_zeros(B, support, size, L, f, sign, tolerance):
    """Drop from the support what is zero in f, and factor anew from there on; the new size."""
    kept = 0
    while kept < size and f[support[kept]] != 0:
        kept += 1
    for i in range(kept, size):
        t = support[i]
        if f[t] != 0 and _append(B, support, kept, L, t, tolerance):
            kept += 1
        else:
            f[t] = 0
            sign[t] = 0
    return kept


@kernel
def _towards(support, size, z, f, sign):
    """Move f towards z on the support until an entry would change its sign, which stays at zero; whether it arrived."""
    share, first = 1.0, -1
    for i in range(size):
        t = support[i]
        if z[i] * sign[t] <= 0:
            ratio = f[t] / (f[t] - z[i]) if f[t] != z[i] else 0.0
            if first < 0 or ratio < share:
                share, first = ratio, t
    for i in range(size):
        t = support[i]
        f[t] = z[i] if first < 0 else f[t] + share * (z[i] - f[t])
        if f[t] * sign[t] <= 0:
            f[t] = 0
    if first >= 0:
        f[first] = 0
    return first < 0


@part
def _slide(B, support, size, L, t, way, z, f, sign):
    """Let t in, though it depends on the support: f moves so that the fit stays and ‖f‖₁ falls, until an entry is zero.

    Returns whether one was met; then t has its value and sign, and the caller takes what is zero off the support.
    """
    for i in range(size):
        z[i] = -B[support[i], t] * way
    _solve(L, size, z)
    share, first = 0.0, -1
    for i in range(size):
        if z[i] * f[support[i]] < 0:
            ratio = -f[support[i]] / z[i]
            if first < 0 or ratio < share:
                share, first = ratio, i
    if first < 0:
        return False
    for i in range(size):
        moved = f[support[i]] + share * z[i]
        f[support[i]] = moved if moved * sign[support[i]] > 0 else 0.0
    f[support[first]] = 0
    f[t], sign[t] = share * way, way
    return True


@kernel
def _entering(B, a, l1, nonnegative, support, size, f, sign, barred):
    """The unknown at zero that gains most in its own scale, with its sign; (-1, 0) where none gains."""
    best, found, way = 0.0, -1, 0.0
    for t in range(len(a)):
        if sign[t] != 0 or barred[t] or not B[t, t] > 0:
            continue
        slope, scale = a[t], abs(a[t]) + l1
        row = B[t]
        for i in range(size):
            part = row[support[i]] * f[support[i]]
            slope -= part
            scale += abs(part)
        pull = slope - l1 if nonnegative else abs(slope) - l1
        if pull > _NOISE * scale and pull * pull > best * B[t, t]:
            best, found, way = pull * pull / B[t, t], t, 1.0 if slope > 0 else -1.0
    return found, way


@kernel
def _value(B, a, l1, f):
    """½fBf − f·a + l1·|f|₁, and how far it may be off: both matter where the answers nearly tie."""
    value, scale = 0.0, 0.0
    for t in range(len(a)):
        if f[t] == 0:
            continue
        s = 0.0
        for r in range(len(a)):
            s += B[t, r] * f[r]
        value += f[t] * (0.5 * s - a[t]) + l1 * abs(f[t])
        scale += abs(f[t] * a[t])
    return value, scale


@part
def solve_row(B, a, l1, nonnegative, tolerance, f, L, support, z, sign, barred):
    """Minimise ½fBf − f·a + l1·|f|₁ (f ≥ 0) from the support of `f`, in place.

    The Lawson–Hanson method: exact on a support, which loses an unknown that would change its sign and gains the one
    with the steepest slope, until none has one. An unknown that depends on the support takes the place of another where
    that lowers ‖f‖₁, else it is left at zero; returns whether there were any, so that other answers may be as good.
    """
    k = len(a)
    size, ties = 0, False
    for t in range(k):
        barred[t] = False
        sign[t] = 0
        if f[t] == 0:
            continue
        if _append(B, support, size, L, t, tolerance):
            sign[t] = 1.0 if f[t] > 0 else -1.0
            size += 1
        else:
            f[t] = 0
            ties = True
    arrived = False
    for _ in range(_ROUNDS * (k + 1)):
        while not arrived and size > 0:
            _aim(a, l1, support, size, sign, z)
            _solve(L, size, z)
            arrived = _towards(support, size, z, f, sign)
            size = size if arrived else _without_zeros(B, support, size, L, f, sign, tolerance)
        t, way = _entering(B, a, l1, nonnegative, support, size, f, sign, barred)
        slid = False
        while t >= 0:
            # one that rounding would send the wrong way, or that depends on the others, waits until another has gone in
            barred[t] = True
            if _append(B, support, size, L, t, tolerance):
                _aim(a, l1, support, size, sign, z)
                z[size] = a[t] - l1 * way
                _solve(L, size + 1, z)
                if z[size] * way > 0:
                    break
            else:
                ties = True
                slid = l1 > 0 and _slide(B, support, size, L, t, way, z, f, sign)
                if slid:
                    break
            t, way = _entering(B, a, l1, nonnegative, support, size, f, sign, barred)
        if t < 0:
            break
        for r in range(k):
            barred[r] = False
        if slid:
            size = _without_zeros(B, support, size, L, f, sign, tolerance)
            if _append(B, support, size, L, t, tolerance):
                size += 1
            else:
                f[t] = sign[t] = 0
            arrived = False
            continue
        sign[t] = way
        size += 1
        arrived = _towards(support, size, z, f, sign)
        size = size if arrived else _without_zeros(B, support, size, L, f, sign, tolerance)
    return ties


@kernel
def _better(B, a, l1, nonnegative, tolerance, out, old, f, L, support, z, sign, barred):
    """Replace the row `out` by the exact one, unless that is worse, or no better where others are as good."""
    k = len(a)
    for t in range(k):
        old[t] = f[t] = out[t]
    ties = solve_row(B, a, l1, nonnegative, tolerance, f, L, support, z, sign, barred)
    before, scale = _value(B, a, l1, old)
    after, other = _value(B, a, l1, f)
    noise = _NOISE * max(scale, other)
    if before - after > (noise if ties else -noise):
        for t in range(k):
            out[t] = f[t]


@kernel
def shared_range(A, B, l1, nonnegative, tolerance, out, start, stop):
    """Rows ``[start, stop)`` of `out`, allowed ones, replaced by the exact ones; all share the Gram B (float64)."""
    k = B.shape[0]
    L, z, f, old, a = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    support, sign, barred = np.empty(k, np.int64), np.empty(k), np.empty(k, np.bool_)
    for i in range(start, stop):
        for t in range(k):
            a[t] = A[i, t]
        _better(B, a, l1, nonnegative, tolerance, out[i], old, f, L, support, z, sign, barred)


@kernel
def entries_range(indptr, indices, data, weights, H, l1, ridge, nonnegative, tolerance, out, start, stop):
    """As `shared_range`, each row with the Gram of its own entries (and a ridge)."""
    k = H.shape[1]
    B, a = np.empty((k, k)), np.empty(k)
    gram, cross, scratch = np.empty((k, k), H.dtype), np.empty(k, H.dtype), np.empty(gram_scratch(k), H.dtype)
    L, z, f, old = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k)
    support, sign, barred = np.empty(k, np.int64), np.empty(k), np.empty(k, np.bool_)
    for i in range(start, stop):
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, gram, cross)
        mirror(gram)
        for t in range(k):
            a[t] = cross[t]
            for r in range(k):
                B[t, r] = gram[t, r]
            B[t, t] += ridge
        _better(B, a, l1, nonnegative, tolerance, out[i], old, f, L, support, z, sign, barred)
