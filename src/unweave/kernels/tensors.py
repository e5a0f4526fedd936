"""A tensor of coordinates times the other factors, a range of its slices at a time."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def slices_times_factors(indptr, lead, rest, values, factors, scratch, out, start, stop):
    """``out[i, r] = Σ_p values[p] · Π_e factors[c_e(p), r]`` over the entries p of each slice i of ``[start, stop)``.

    The coordinates of an entry are ``lead[p]`` and ``rest[p, :]``, rows of `factors`, where the factors of all modes
    stand below each other. Entries of a slice that share their lead stand together: that row is multiplied in once for
    all of them. `scratch` holds two rows, far apart.
    """
    width = factors.shape[1]
    more = rest.shape[1]
    run, product = scratch[0], scratch[1]
    for i in range(start, stop):
        row = out[i]
        for c in range(width):
            row[c] = 0
        p = indptr[i]
        end = indptr[i + 1]
        while p < end:
            first = lead[p]
            last = p + 1
            while last < end and lead[last] == first:
                last += 1
            for c in range(width):
                run[c] = 0
            if more == 1:
                while p + 4 <= last:
                    a, b = factors[np.uint32(rest[p, 0])], factors[np.uint32(rest[p + 1, 0])]
                    d, e = factors[np.uint32(rest[p + 2, 0])], factors[np.uint32(rest[p + 3, 0])]
                    x0, x1, x2, x3 = values[p], values[p + 1], values[p + 2], values[p + 3]
                    for c in range(width):
                        run[c] += (x0 * a[c] + x1 * b[c]) + (x2 * d[c] + x3 * e[c])
                    p += 4
                while p < last:
                    a = factors[np.uint32(rest[p, 0])]
                    x0 = values[p]
                    for c in range(width):
                        run[c] += x0 * a[c]
                    p += 1
            else:
                while p < last:
                    x0 = values[p]
                    for c in range(width):
                        product[c] = x0
                    for e in range(more):
                        a = factors[np.uint32(rest[p, e])]
                        for c in range(width):
                            product[c] *= a[c]
                    for c in range(width):
                        run[c] += product[c]
                    p += 1
            a = factors[np.uint32(first)]
            for c in range(width):
                row[c] += run[c] * a[c]
