"""Loops of the non-negative family: mixtures of rows (convex NMF) and symmetric factors."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

NEWTON = 60  # far more than a cubic needs from above; a bound, so that nothing can hang


@kernel
def mix_sweep(K, s, w, q, curvature):
    """One sweep of coordinate descent on ½·curvature·wᵀKw − w·s over w ≥ 0; `w` and `q` = K·w change in place.

    Returns the largest move, each in units of its row (|change|·√K_ii). A weight that is zero and wants to stay there
    costs one comparison, so sweeps over few rows are cheap however many there are.
    """
    zero = w.dtype.type(0)
    most = zero
    for i in range(len(w)):
        size = K[i, i]
        slope = curvature * q[i] - s[i]
        if not size > zero or (w[i] == zero and slope >= zero):
            continue
        new = max(zero, w[i] - slope / (curvature * size))
        change = new - w[i]
        if change == zero:
            continue
        w[i] = new
        for j in range(len(w)):
            q[j] += change * K[i, j]
        most = max(most, abs(change) * np.sqrt(size))
    return most


@part
def quartic(a, c):
    """The u ≥ 0 that minimises u⁴/4 + a·u²/2 − c·u.

    Its slope u³ + a·u − c is convex for u ≥ 0, so Newton's method from a point above the largest root falls to it
    without overshooting; where c ≤ 0 that root may still cost more than zero.
    """
    u = np.cbrt(max(c, 0.0)) + np.sqrt(max(-a, 0.0))
    if a > 0.0 and c > 0.0:
        u = min(u, c / a)
    for _ in range(NEWTON):
        steep = 3.0 * u * u + a
        if not steep > 0.0:
            break
        new = u - (u * u * u + a * u - c) / steep
        if not new < u:
            break
        u = new
    return u if u > 0.0 and 0.25 * u**4 + 0.5 * a * u * u - c * u < 0.0 else 0.0


@kernel
def improve_row(U, G, i, towards, own):
    """Row i of U by coordinate descent on ½‖A − U·Uᵀ‖², in place; G = UᵀU follows.

    `towards` is Σ_{j≠i} a_ij u_j and `own` is a_ii. In one entry the objective is a quartic, solved exactly.
    """
    k = U.shape[1]
    square = 0.0
    for t in range(k):
        square += np.float64(U[i, t]) * U[i, t]
        for l in range(k):
            G[t, l] -= np.float64(U[i, t]) * U[i, l]
    for t in range(k):
        old = np.float64(U[i, t])
        c = towards[t]
        for l in range(k):
            c -= G[t, l] * U[i, l]
        c += G[t, t] * old
        rest = square - old * old
        U[i, t] = quartic(rest - own + G[t, t], c)
        square = rest + np.float64(U[i, t]) * U[i, t]
    for t in range(k):
        for l in range(k):
            G[t, l] += np.float64(U[i, t]) * U[i, l]


@kernel
def symmetric_dense_range(A, U, G, start, stop):
    """Improve rows ``[start, stop)`` of U, one after the other: each sees those before it changed."""
    n, k = U.shape
    towards = np.empty(k)
    for i in range(start, stop):
        towards[:] = 0.0
        for j in range(n):
            a = np.float64(A[i, j])
            for t in range(k):
                towards[t] += a * U[j, t]
        own = np.float64(A[i, i])
        for t in range(k):
            towards[t] -= own * U[i, t]
        improve_row(U, G, i, towards, own)


@kernel
def symmetric_sparse_range(indptr, indices, data, U, G, start, stop):
    """As `symmetric_dense_range`, for the stored entries of A."""
    k = U.shape[1]
    towards = np.empty(k)
    for i in range(start, stop):
        towards[:] = 0.0
        own = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j, a = indices[e], np.float64(data[e])
            if j == i:
                own += a
                continue
            for t in range(k):
                towards[t] += a * U[j, t]
        improve_row(U, G, i, towards, own)
