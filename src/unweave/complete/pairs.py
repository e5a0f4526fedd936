"""Scores of given pairs of users and items."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel

_PAIRS = 1 << 14  # pairs of a task


def pair_scores(U, Z: NDArray, users: NDArray, items: NDArray, blank: NDArray) -> NDArray:
    """u_i·z_j for pairs of positions (U may be sparse), with the vector `blank` for items at -1.

    >>> import numpy as np
    >>> U, Z, blank = np.array([[1.0], [2.0]]), np.array([[3.0, 4.0]]), np.array([9.0])
    >>> pair_scores(U, Z, np.array([1, 0]), np.array([0, -1]), blank)
    array([6., 9.])
    """
    if sp.issparse(U):
        return _sparse_scores(U, Z, users, items, blank)
    if len(items) > Z.shape[1]:
        H = np.vstack([Z.T, blank])  # the last row, which is where -1 leads
    else:
        few, items = np.unique(items, return_inverse=True)
        H = np.where((few < 0)[:, None], blank, Z[:, few].T)
    out = np.empty(len(users), np.result_type(U, Z))

    def score(start: int, stop: int) -> None:
        out[start:stop] = np.einsum("ij,ij->i", U[users[start:stop]], H[items[start:stop]])

    parallel.run(score, len(users), _PAIRS)
    return out


def _sparse_scores(U: sp.csr_array, Z: NDArray, users: NDArray, items: NDArray, blank: NDArray) -> NDArray:
    """The same from the stored entries of U alone."""
    out = np.empty(len(users), np.result_type(U, Z))

    def score(start: int, stop: int) -> None:
        codes, at = U[users[start:stop]], items[start:stop]
        pair = np.repeat(np.arange(stop - start), np.diff(codes.indptr))
        parts = np.where(at[pair] < 0, blank[codes.indices], Z[codes.indices, at[pair]]) * codes.data
        out[start:stop] = np.bincount(pair, parts, stop - start)

    parallel.run(score, len(users), _PAIRS)
    return out
