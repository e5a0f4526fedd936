"""Orthogonal matching pursuit over many rows: the codes with at most s nonzeros.

    min_f 1/2 |x - H f|^2   with at most s nonzero entries in f

is solved greedily: take the atom (column of H) that lowers the residual most on its own, solve least squares on all
atoms taken so far, and repeat. The residual is never formed, the Gram is enough.

References: R. Rubinstein, M. Zibulevsky, M. Elad (2008), Efficient implementation of the K-SVD algorithm using batch
orthogonal matching pursuit; L. Rebollo-Neira, D. Lowe (2002), Optimized orthogonal matching pursuit approach.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels.pursuit import pursue_entries_range, pursue_range
from unweave.linalg.observed import normalise, spread

# residuals whose squared norm is below this many eps of |x|^2 count as zero: a Gram knows them no better
_SLACK = 8


def pursuit_gram(
    A: np.ndarray, B: np.ndarray, norms: np.ndarray, s: int, joint: bool = False, floor: float = 0.0
) -> np.ndarray:
    """Codes (n x k) with at most `s` nonzeros from ``A = X H`` (n x k), ``B = H'H`` and the squared norms of rows of X.

    Atoms need not have unit length. With `joint` the next atom is the one that lowers the residual most together with
    those taken (order-recursive pursuit), which leaves a smaller residual. A row stops early when its residual is zero
    to the precision of the dtype, or its square is at most `floor`.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8]])
    >>> X = np.array([[3.0, 0.0], [1.2, 1.6]])
    >>> pursuit_gram(X @ H, H.T @ H, (X**2).sum(axis=1), 2).round(6) + 0.0
    array([[3., 0., 0.],
           [0., 0., 2.]])
    """
    dtype = B.dtype if B.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    A, B = np.ascontiguousarray(A, dtype=dtype), np.ascontiguousarray(B, dtype=dtype)
    norms = np.ascontiguousarray(norms, dtype=np.float64)
    n, k = A.shape
    most, tolerance = int(np.clip(s, 0, k)), float(_SLACK * np.finfo(dtype).eps)
    out = np.empty((n, k), dtype)
    spread(
        lambda start, stop: pursue_range(A, B, norms, most, bool(joint), tolerance, float(floor), out, start, stop),
        np.zeros(n + 1, dtype=np.int64),
        0,
        4 * k * (most + 1) ** 2 + 1000,
    )
    return out


def greedy_rows(indptr, indices, data, weights, H, s: int, joint: bool = False, floor: float = 0.0) -> np.ndarray:
    """Codes with at most `s` nonzeros for rows that observe or weigh only some entries, each on its own Gram.

    Entries, weights and `H` as in :mod:`unweave.linalg.entries`; `floor` is for each entry of a row.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> greedy_rows(np.array([0, 2]), np.array([0, 1]), np.array([3.0, 1.0]), None, H, 1)
    array([[3., 0.]])
    """
    entries = normalise(indptr, indices, data, weights, H)
    n, k = entries.n_rows, entries.H.shape[1]
    most, tolerance = int(np.clip(s, 0, k)), float(_SLACK * np.finfo(entries.H.dtype).eps)
    out = np.empty((n, k), entries.H.dtype)
    spread(
        lambda start, stop: pursue_entries_range(
            *entries, most, bool(joint), tolerance, float(floor), out, start, stop
        ),
        entries.indptr,
        k * (k + 8),
        4 * k * (most + 1) ** 2 + k * k + 1000,
    )
    return out
