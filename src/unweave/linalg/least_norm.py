"""The least-squares solution of least norm for one row of observed entries: slow, exact, for the rows that need it."""

from __future__ import annotations

import numpy as np

from unweave.linalg.observed import Observed

_TILE = 4096


def least_norm(entries: Observed, i: int, ridge: float) -> np.ndarray:
    """Minimise ``1/2 sum_j w (x - f . h_j)^2 + ridge/2 |f|^2`` over row i, and ``|f|`` among the minimisers.

    In float64. The entries are folded tile by tile into one triangular factor of ``[S | s]`` (S the rows
    ``sqrt(w) h_j``), so memory does not grow with the row, and S itself is decomposed, not its square. Singular values
    below ``k eps`` of the dtype of H (relative to the largest) count as zero. A row with NaN or infinity comes back as
    NaN. Reference: G. Golub, C. Van Loan, Matrix Computations, 5.5.
    """
    k = entries.H.shape[1]
    triangle = np.zeros((k, k + 1))
    triangle[:, :k] = np.sqrt(max(ridge, 0.0)) * np.eye(k)
    for begin in range(entries.indptr[i], entries.indptr[i + 1], _TILE):
        span = slice(begin, min(begin + _TILE, entries.indptr[i + 1]))
        tile = np.column_stack([entries.H[entries.indices[span]], entries.data[span]]).astype(np.float64)
        if entries.weights.shape[0]:
            tile *= np.sqrt(entries.weights[span].astype(np.float64))[:, None]
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, tile]), mode="r"))
    if not np.isfinite(triangle).all():
        return np.full(k, np.nan)
    cut = k * np.finfo(entries.H.dtype).eps
    return np.linalg.lstsq(triangle[:, :k], triangle[:, k], rcond=cut)[0]
