"""Codes on the simplex under a shared Gram: accelerated projected gradient, every row on its own."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part


@part
def project(v):
    """Put `v` on the simplex in place: max(v − t, 0), where t is found by leaving out what falls below it (Michelot).

    Numbers are brought below zero first, so that no sum overflows; the largest always stays above t.
    """
    k = len(v)
    top = v[0]
    for j in range(1, k):
        top = max(top, v[j])
    total = 0.0
    for j in range(k):
        v[j] -= top
        total += v[j]
    count = k
    level = (total - 1.0) / count
    while True:
        total, left = 0.0, 0
        for j in range(k):
            if v[j] > level:
                total += v[j]
                left += 1
        if left >= count:  # more than before can only be one that lies on the level, put above it by rounding
            break
        count = left
        level = (total - 1.0) / count
    for j in range(k):
        v[j] = max(v[j] - level, 0.0)


@part
def cost(B, a, f):
    """½ f·B·f − a·f."""
    value = 0.0
    for j in range(len(f)):
        inner = 0.0
        for t in range(len(f)):
            inner += B[j, t] * f[t]
        value += f[j] * (0.5 * inner - a[j])
    return value


@kernel
def shares(A, B, curvature, F, new, sweeps, tol, start, stop):
    """``new[i]`` becomes a code on the simplex with ½ f·B·f − A_i·f no higher than that of ``F[i]``.

    Steps are 1/`curvature`, with FISTA's momentum, dropped where a step points against it. A row is done after `sweeps`
    of them, or when none of its shares moves by more than `tol` times the largest. Sums run in float64.
    """
    k = A.shape[1]
    a, here, ahead, moved_to = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for i in range(start, stop):
        for j in range(k):
            a[j] = A[i, j]
            here[j] = F[i, j]
            ahead[j] = here[j]
        before = cost(B, a, here)
        momentum = 1.0
        for _ in range(sweeps):
            for j in range(k):
                slope = 0.0
                for t in range(k):
                    slope += B[j, t] * ahead[t]
                moved_to[j] = ahead[j] - (slope - a[j]) / curvature
            project(moved_to)
            against, moved, size = 0.0, 0.0, 0.0
            for j in range(k):
                step = moved_to[j] - here[j]
                against += (ahead[j] - moved_to[j]) * step
                moved = max(moved, abs(step))
                size = max(size, moved_to[j])
            former = 1.0 if against > 0 else momentum
            momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * former * former))
            for j in range(k):
                ahead[j] = moved_to[j] + (former - 1.0) / momentum * (moved_to[j] - here[j])
                here[j] = moved_to[j]
            if tol > 0 and moved <= tol * size:
                break
        better = cost(B, a, here) <= before
        for j in range(k):
            new[i, j] = here[j] if better else F[i, j]
