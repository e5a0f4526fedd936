"""Draws of the rows of a factor from their Gaussian posterior, given the other factor."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.entries import gram_scratch, mirror, row_gram


@kernel
def draw_range(indptr, indices, data, H, precision, shift, noise_precision, normal, out, start, stop):
    """Rows ``f_i ~ N(A_i^-1 y_i, A_i^-1)``, ``A_i = precision + alpha sum h h'`` and ``y_i = shift + alpha sum x h``.

    `alpha` is `noise_precision`. `normal` holds one standard normal number for each entry of `out`; zeros give the
    means instead of draws.
    """
    k = H.shape[1]
    weights = np.empty(0, H.dtype)
    scratch, A, a = np.empty(gram_scratch(k), H.dtype), np.empty((k, k), H.dtype), np.empty(k, H.dtype)
    y = np.empty(k, H.dtype)
    for i in range(start, stop):
        row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, A, a)
        mirror(A)
        for t in range(k):
            y[t] = shift[t] + noise_precision * a[t]
            for u in range(k):
                A[t, u] = precision[t, u] + noise_precision * A[t, u]
        L = np.linalg.cholesky(A)
        for t in range(k):  # L w = y, then L' f = w + normal
            total = y[t]
            for u in range(t):
                total -= L[t, u] * y[u]
            y[t] = total / L[t, t]
        for t in range(k):
            y[t] += normal[i, t]
        for t in range(k - 1, -1, -1):
            total = y[t]
            for u in range(t + 1, k):
                total -= L[u, t] * out[i, u]
            out[i, t] = total / L[t, t]
