"""One block of BFR: rows that are near enough to their nearest set are added to its statistics."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def admit(X, means, scales, limit, origin, labels, counts, sums, squares, start, stop):
    """Add each row to set ``a = labels[i]`` if ``sum_t scales[a, t] (x_it - means[a, t])^2 <= limit``.

    Its N, SUM and SUMSQ (`counts`, `sums`, `squares`) are taken about `origin`, in float64. A row that is too far, or
    whose label is negative, gets the label -1 and changes nothing.
    """
    d = X.shape[1]
    for i in range(start, stop):
        a = labels[i]
        if a < 0:
            continue
        far = 0.0
        for t in range(d):
            gap = np.float64(X[i, t]) - means[a, t]
            far += scales[a, t] * (gap * gap)
        if not far <= limit:
            labels[i] = -1
            continue
        counts[a] += 1.0
        for t in range(d):
            value = np.float64(X[i, t]) - origin[t]
            sums[a, t] += value
            squares[a, t] += value * value
