"""Hold entries of a table out of a fit, so that it can be judged by them.

One hold-out for every room: recommenders choose ridges and ranks on it, `select` and `judge` compare models on it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

LEAST = 20  # entries below which none can be spared


def draw_out(n_entries: int, rng: np.random.Generator, share: float, least: int = LEAST) -> NDArray | None:
    """Draw which entries are held out, as a mask; None when there are too few to spare any.

    >>> import numpy as np
    >>> draw_out(100, np.random.default_rng(0), 0.1).sum() < 20, draw_out(5, np.random.default_rng(0), 0.1)
    (np.True_, None)
    """
    if n_entries < least:
        return None
    out = rng.random(n_entries) < share
    return out if out.any() and not out.all() else None


def spare_last(out: NDArray, rows: NDArray, columns: NDArray, shape: tuple[int, int]) -> NDArray:
    """Take back what would empty a row or a column: the mask of entries held out, where each keeps some.

    >>> import numpy as np
    >>> spare_last(np.array([True, True, False]), np.array([0, 1, 1]), np.array([0, 0, 0]), (2, 1)).tolist()
    [False, True, False]
    """
    left_rows = np.bincount(rows[~out], minlength=shape[0])
    out = out & (left_rows[rows] > 0)
    left_columns = np.bincount(columns[~out], minlength=shape[1])
    return out & (left_columns[columns] > 0)


def part(X: sp.csr_array, pick: NDArray) -> sp.csr_array:
    """Keep the stored entries in a mask, in the same shape.

    >>> import numpy as np, scipy.sparse as sp
    >>> part(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([True, False, True])).toarray().tolist()
    [[1.0, 0.0], [0.0, 3.0]]
    """
    indptr = np.concatenate([[0], np.cumsum(pick)])[X.indptr].astype(X.indptr.dtype)
    return sp.csr_array((X.data[pick], X.indices[pick], indptr), shape=X.shape)


def hold_out(X: sp.csr_array, rng: np.random.Generator, share: float) -> tuple[sp.csr_array, sp.csr_array] | None:
    """Split entries at random into those to learn from and those held out; None when there are too few."""
    out = draw_out(X.nnz, rng, share)
    return None if out is None else (part(X, ~out), part(X, out))
