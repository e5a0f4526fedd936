"""Atoms of a dictionary one after the other, each the best with all others fixed and pulled back into its ball."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def sweep_range(gram, cross, Z, least, radius, nonnegative, start, stop):
    """Improve the rows ``[start, stop)`` of Z in their order, those with ``gram[t, t] > least``, all float64.

    With A = gram = UᵀU and B = cross = UᵀX: z_t ← z_t + (b_t − a_t·Z)/a_tt, cut at zero or shortened to `radius`.
    """
    k, m = Z.shape
    best = np.empty(m)
    for t in range(start, stop):
        bend = gram[t, t]
        if not bend > least:
            continue
        for j in range(m):
            best[j] = cross[t, j] + bend * Z[t, j]
        s = 0
        while s + 4 <= k:  # four rows at a time, so that `best` is seldom loaded and stored
            g0, g1, g2, g3 = gram[t, s], gram[t, s + 1], gram[t, s + 2], gram[t, s + 3]
            if g0 != 0 or g1 != 0 or g2 != 0 or g3 != 0:
                r0, r1, r2, r3 = Z[s], Z[s + 1], Z[s + 2], Z[s + 3]
                for j in range(m):
                    best[j] -= g0 * r0[j] + g1 * r1[j] + g2 * r2[j] + g3 * r3[j]
            s += 4
        while s < k:
            for j in range(m):
                best[j] -= gram[t, s] * Z[s, j]
            s += 1
        length = 0.0
        for j in range(m):
            v = best[j] / bend
            best[j] = 0.0 if nonnegative and v < 0 else v
            length += best[j] * best[j]
        length = np.sqrt(length)
        shrink = radius / length if length > radius else 1.0
        for j in range(m):
            Z[t, j] = best[j] * shrink
