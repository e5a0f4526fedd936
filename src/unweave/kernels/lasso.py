"""The lasso row by row from Gram matrices: an active set with the inverse of its own small Gram.

    min_f 1/2 f B f - f.a + l1 |f|_1   (f >= 0 or not)

Correlations c = a - B f are kept for all unknowns. The one that breaks |c_t| <= l1 most enters; the minimiser on the
support is known in closed form, and an unknown that would change its sign on the way leaves. Each change of the support
costs one product of its rows of B, which is all that is read: a row with s nonzeros costs about s^2 k / 2.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

LANES = 16  # numbers compared side by side
_ROUNDS = 8  # changes of the support for each unknown that fits: a bound, so that rounding cannot make it hang


@part
def largest(c, nonnegative, top):
    """The largest of |c| (of c where codes may not be negative)."""
    k = c.shape[0]
    for i in range(LANES):
        top[i] = 0
    whole = k - k % LANES
    if nonnegative:
        for base in range(0, whole, LANES):
            for i in range(LANES):
                v = c[base + i]
                top[i] = v if v > top[i] else top[i]
        for t in range(whole, k):
            top[0] = c[t] if c[t] > top[0] else top[0]
    else:
        for base in range(0, whole, LANES):
            for i in range(LANES):
                v = abs(c[base + i])
                top[i] = v if v > top[i] else top[i]
        for t in range(whole, k):
            top[0] = abs(c[t]) if abs(c[t]) > top[0] else top[0]
    most = top[0]
    for i in range(1, LANES):
        most = top[i] if top[i] > most else most
    return most


@part
def find(c, best):
    """The first t with |c_t| = best; the length of c where there is none."""
    k, t = c.shape[0], 0
    whole = k - k % LANES
    while t < whole:
        hits = 0
        for i in range(LANES):
            hits += abs(c[t + i]) == best
        if hits > 0:
            break
        t += LANES
    while t < k and abs(c[t]) != best:
        t += 1
    return t


@part
def _times(V, size, w, u):
    """u = V w for the first `size` numbers; V is symmetric, so its rows are added up."""
    for j in range(size):
        u[j] = 0
    for i in range(size):
        row, share = V[i], w[i]
        for j in range(size):
            u[j] += share * row[j]


@kernel
def _enter(B, t, support, size, V, w, u, tolerance):
    """Grow V, the inverse of B on the support, by the unknown t: the pivot, or 0 where t depends on the support.

    Leaves in u what of the support t is made of: V times the products of t with it.
    """
    for j in range(size):
        w[j] = B[t, support[j]]
    _times(V, size, w, u)
    pivot = np.float64(B[t, t])
    for j in range(size):
        pivot -= u[j] * w[j]
    # written so that NaN fails too
    if not pivot > tolerance * B[t, t]:
        return 0.0
    for i in range(size):
        row, share = V[i], u[i] / pivot
        for j in range(size):
            row[j] += share * u[j]
        row[size] = -share
    row = V[size]
    for j in range(size):
        row[j] = -u[j] / pivot
    row[size] = 1 / pivot
    support[size] = t
    return pivot


@part
def _leave(i, support, size, V, f, sign, w):
    """Take the i-th unknown out of the support and of V; the last one takes its place."""
    last, gone = size - 1, V[i]
    pivot = gone[i]
    for j in range(size):
        w[j] = gone[j]
    for r in range(size):
        row, share = V[r], w[r] / pivot
        for j in range(size):
            row[j] -= share * w[j]
    if i != last:
        moved = V[last]
        for j in range(size):
            gone[j] = moved[j]
        for r in range(size):
            V[r, i] = V[r, last]
        gone[i] = moved[last]
        support[i], f[i], sign[i] = support[last], f[last], sign[last]


@part
def _towards(size, f, sign, z):
    """Move f to z, or as far as no sign changes; which one is at zero then, -1 where it arrived."""
    share, first = 1.0, -1
    for i in range(size):
        if z[i] * sign[i] <= 0:
            ratio = f[i] / (f[i] - z[i]) if f[i] != z[i] else 0.0
            if first < 0 or ratio < share:
                share, first = ratio, i
    for i in range(size):
        f[i] = z[i] if first < 0 else f[i] + share * (z[i] - f[i])
    return first


@kernel
def _settle(a, l1, support, size, V, f, sign, w, z):
    """Move f, which aims at z, to the minimiser on the support; unknowns that would change sign leave. The new size."""
    first = _towards(size, f, sign, z)
    while first >= 0:
        _leave(first, support, size, V, f, sign, w)
        size -= 1
        for j in range(size):
            w[j] = a[support[j]] - l1 * sign[j]
        _times(V, size, w, z)
        first = _towards(size, f, sign, z)
    return size


@kernel
def _correlate(a, B, support, size, f, c):
    """c = a - B f, four rows of B at a time so that c is seldom loaded and stored."""
    for u in range(c.shape[0]):
        c[u] = a[u]
    i = 0
    while i + 4 <= size:
        r0, r1, r2, r3 = B[support[i]], B[support[i + 1]], B[support[i + 2]], B[support[i + 3]]
        f0, f1, f2, f3 = c.dtype.type(f[i]), c.dtype.type(f[i + 1]), c.dtype.type(f[i + 2]), c.dtype.type(f[i + 3])
        for u in range(c.shape[0]):
            c[u] -= f0 * r0[u] + f1 * r1[u] + f2 * r2[u] + f3 * r3[u]
        i += 4
    while i < size:
        r0, f0 = B[support[i]], c.dtype.type(f[i])
        for u in range(c.shape[0]):
            c[u] -= f0 * r0[u]
        i += 1


@kernel
def lasso_range(A, B, l1, nonnegative, most, dependent, noise, out, start, stop):
    """Rows ``[start, stop)`` of `out` from where they are to the minimiser; returns how many rows gave up.

    These (their support outgrew `most`, or atoms that depend on each other met in it) are left as they came, and their
    first number is NaN, so that the caller finds them.
    """
    k = B.shape[0]
    V, support = np.empty((most, most)), np.empty(most, np.int64)
    f, sign, z, w, u = np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    c, top = np.empty(k, B.dtype), np.empty(LANES, B.dtype)
    failed = 0
    for i in range(start, stop):
        a, slope, size, well = A[i], l1[i], 0, True
        slack = noise * largest(a, False, top)
        for t in range(k):
            if out[i, t] != 0 and well:
                well = size < most and _enter(B, t, support, size, V, w, u, dependent) > 0
                if well:
                    f[size], sign[size] = out[i, t], 1.0 if out[i, t] > 0 else -1.0
                    size += 1
        for j in range(size):
            w[j] = a[support[j]] - slope * sign[j]
        _times(V, size, w, z)
        size = _settle(a, slope, support, size, V, f, sign, w, z)
        turns = 0
        while well:
            _correlate(a, B, support, size, f, c)
            best = largest(c, nonnegative, top)
            if best <= slope + slack:
                break
            t, turns, pivot = find(c, best), turns + 1, 0.0
            well = t < k and size < most and turns <= _ROUNDS * (most + 1)
            for j in range(size):
                well = well and support[j] != t
            if well:
                pivot = _enter(B, t, support, size, V, w, u, dependent)
                well = pivot > 0
            if well:
                way = 1.0 if c[t] > 0 else -1.0
                step = (c[t] - slope * way) / pivot
                for j in range(size):
                    z[j] = f[j] - step * u[j]
                f[size], sign[size], z[size] = 0.0, way, step
                size = _settle(a, slope, support, size + 1, V, f, sign, w, z)
        if well:
            for t in range(k):
                out[i, t] = 0
            for j in range(size):
                out[i, support[j]] = f[j]
        else:
            failed += 1
            out[i, 0] = np.nan
    return failed


@kernel
def sweep_range(A, B, norms, l1, nonnegative, sweeps, tol, out, start, stop):
    """Cyclic coordinate descent on rows ``[start, stop)`` of `out`, with active sets and gap-safe screening (float64).

    Sweeps go over the unknowns that are used or pulled off zero; after ten of them the duality gap is found, which ends
    the row where it is below ``tol * |x|^2 / 2``, and rules out for good every unknown whose product with no residual
    within the gap can reach l1.
    """
    k = B.shape[0]
    c, live = np.empty(k), np.empty(k, np.bool_)
    for i in range(start, stop):
        f, slope = out[i], l1[i]
        for u in range(k):
            c[u] = A[i, u]
            live[u] = B[u, u] > 0
        for t in range(k):
            if f[t] != 0:
                for u in range(k):
                    c[u] -= f[t] * B[t, u]
        done = 0
        while done < sweeps:
            reach, fitted, size, inner = 0.0, 0.0, 0.0, 0.0
            for t in range(k):
                if live[t]:
                    pull = c[t] if nonnegative else abs(c[t])
                    reach = pull if pull > reach else reach
                fitted += f[t] * c[t]
                inner += f[t] * A[i, t]
                size += abs(f[t])
            share = min(1.0, slope / reach) if reach > 0 else 1.0
            left = max(0.0, norms[i] - inner - fitted)
            gap = max(0.0, 0.5 * (1 - share) ** 2 * left + slope * size - share * fitted)
            if gap <= 0.5 * tol * norms[i]:
                break
            radius = np.sqrt(2 * gap)
            for t in range(k):
                pull = share * c[t] if nonnegative else share * abs(c[t])
                if live[t] and pull + radius * np.sqrt(B[t, t]) < slope:
                    live[t] = False
                    if f[t] != 0:
                        old = f[t]
                        f[t] = 0
                        for u in range(k):
                            c[u] += old * B[t, u]
            for _ in range(10):
                done += 1
                for t in range(k):
                    if not live[t] or (f[t] == 0 and (c[t] if nonnegative else abs(c[t])) <= slope):
                        continue
                    old = f[t]
                    v = old * B[t, t] + c[t]
                    new = max(v - slope, 0.0) if nonnegative else max(v - slope, 0.0) + min(v + slope, 0.0)
                    new /= B[t, t]
                    f[t] = new
                    if new != old:
                        for u in range(k):
                            c[u] -= (new - old) * B[t, u]
