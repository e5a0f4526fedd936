"""Sparse codes by orthogonal matching pursuit, all rows at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.pursuit import pursue_range


def pursue(A: NDArray, B: NDArray, s: int) -> NDArray:
    """For every row at most `s` non-zero coordinates of f that fit ½ f·B·fᵀ − f·a well, chosen greedily.

    A (n × k) holds the cross products, B (k × k) the Gram of the components. Correlations are per unit length of a
    component. See Rubinstein, Zibulevsky and Elad (2008).
    """
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B, dtype=A.dtype)
    n, k = A.shape
    out, s = np.empty_like(A), int(min(s, k))
    tolerance = A.dtype.type(100 * np.finfo(A.dtype).eps)
    parallel.run(lambda a, b: pursue_range(A, B, s, tolerance, out, a, b), n, max(16, 4_000_000 // (k * s * s + k)))
    return out
