"""Find the best entries of a product U·Z, or given ones, block by block: the product as a whole never exists."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.top import push_range, sort_range

_ROWS = 256  # rows of a block; a block is one task of the pool
_COLUMNS = 4096  # columns of a tile: rows * columns scores are the scratch of a thread (4 MB in float32)

_PAIRS = 1 << 14  # pairs of a task


def top_columns(
    U, Z, n: int, *, seen: sp.csr_array | None = None, columns: NDArray | None = None
) -> tuple[NDArray, NDArray]:
    """For each row i of U the n columns j with the largest u_i·z_j, best first, and these scores.

    Use it for top-N lists of any size: a block of rows is multiplied by a tile of columns at a time, so the scratch is
    4 MB a thread in float32 whatever the table. Of equal scores the leftmost column wins. Blocks are fixed by the shape
    of the data, so the number of threads does not change a bit.

    Parameters
    ----------
    U : array (n_rows, k), dense or CSR
    Z : array (k, n_columns)
        Dense, or sparse too where U is.
    n : int
        Length of the lists.
    seen : CSR array (n_rows, n_columns), optional
        What a row has stored here is left out of its list.
    columns : array of int, optional
        Only these columns take part.

    Returns
    -------
    columns, scores : arrays (n_rows, n)
        A list that is too short ends in column -1 with the score -inf.

    Examples
    --------
    >>> import numpy as np
    >>> columns, scores = top_columns(np.array([[1.0], [-1.0]]), np.array([[3.0, 5.0, 5.0]]), 2)
    >>> columns.tolist(), scores.tolist()
    ([[1, 2], [0, 1]], [[5.0, 5.0], [-3.0, -5.0]])
    """
    blocked: NDArray = np.empty(0, np.int32)
    if columns is not None:
        chosen = np.zeros(Z.shape[1], bool)
        chosen[columns] = True
        columns = np.flatnonzero(chosen)
        if 2 * len(columns) > Z.shape[1]:  # striking the others out is cheaper than gathering these
            blocked, columns = np.flatnonzero(~chosen), None
        else:
            Z, seen = Z[:, columns], None if seen is None else _kept(seen, columns)
    dtype = np.result_type(U.dtype, Z.dtype)
    if not sp.issparse(U):
        U, Z = np.ascontiguousarray(U, dtype=dtype), np.asarray(Z, dtype=dtype)
    values = np.full((U.shape[0], n), -np.inf, dtype)
    places = np.full((U.shape[0], n), -1, np.int64)
    fill = _fill_sparse if sp.issparse(U) else _fill
    fill(U, Z, (*_entries(seen), np.asarray(blocked, np.int32)), values, places)
    if columns is not None and len(columns):
        places = np.where(places >= 0, columns[places], -1)
    return places, values


def _kept(seen: sp.csr_array, columns: NDArray) -> sp.csr_array:
    """The entries in some columns, renumbered: the same as ``seen[:, columns]`` for ascending columns, in one pass."""
    place = np.full(seen.shape[1], -1, np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    moved = place[seen.indices]
    stays = moved >= 0
    indptr = np.concatenate([[0], np.cumsum(stays)])[seen.indptr]
    return sp.csr_array((np.ones(int(indptr[-1]), np.bool_), moved[stays], indptr), shape=(seen.shape[0], len(columns)))


def _entries(seen: sp.csr_array | None) -> tuple[NDArray, NDArray]:
    """Where the entries are, in the layout of the kernels: int64, int32, ascending in each row."""
    if seen is None:
        return np.empty(0, np.int64), np.empty(0, np.int32)
    if not seen.has_sorted_indices:
        seen = seen.sorted_indices()
    return np.asarray(seen.indptr, np.int64), np.asarray(seen.indices, np.int32)


def _fill(U: NDArray, Z: NDArray, out: tuple[NDArray, NDArray, NDArray], values: NDArray, places: NDArray) -> None:
    """Fill the lists; `out` are the entries to leave out (indptr, indices) and the columns to leave out everywhere."""
    width = Z.shape[1]

    def block(start: int, stop: int) -> None:
        scratch = np.empty((stop - start, min(width, _COLUMNS)), values.dtype)
        for left in range(0, width, _COLUMNS):
            tile = scratch[:, : min(_COLUMNS, width - left)]
            np.matmul(U[start:stop], Z[:, left : left + tile.shape[1]], out=tile)
            push_range(scratch, left, tile.shape[1], *out, start, values, places, 0, stop - start)
        sort_range(values, places, start, stop)

    with parallel.single_blas():
        parallel.run(block, len(U), _ROWS)


def _fill_sparse(U: sp.csr_array, Z, out: tuple[NDArray, NDArray, NDArray], values: NDArray, places: NDArray) -> None:
    """The same for rows of few entries: a block of rows costs these times the width, and is one tile."""

    def block(start: int, stop: int) -> None:
        scores = U[start:stop] @ Z
        scores = np.ascontiguousarray(scores.toarray() if sp.issparse(scores) else scores, values.dtype)
        push_range(scores, 0, scores.shape[1], *out, start, values, places, 0, stop - start)
        sort_range(values, places, start, stop)

    parallel.run(block, U.shape[0], _ROWS)


def best_columns(scores: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """Find for each row of a table of scores the n columns with the highest, best first; the leftmost of equals wins.

    Entries of -inf take no part: a list that is too short ends in column -1 with the score -inf.

    >>> import numpy as np
    >>> columns, scores = best_columns(np.array([[1.0, 3.0, 3.0], [-np.inf, 2.0, -np.inf]]), 2)
    >>> columns.tolist(), scores.tolist()
    ([[1, 2], [1, -1]], [[3.0, 3.0], [2.0, -inf]])
    """
    dtype = scores.dtype if scores.dtype in (np.float32, np.float64) else np.float64
    scores = np.require(scores, dtype, ["C", "W"])
    values, places = np.full((len(scores), n), -np.inf, dtype), np.full((len(scores), n), -1, np.int64)
    nothing = *_entries(None), np.empty(0, np.int32)

    def block(start: int, stop: int) -> None:
        push_range(scores, 0, scores.shape[1], *nothing, 0, values, places, start, stop)
        sort_range(values, places, start, stop)

    parallel.run(block, len(scores), _ROWS)
    return places, values


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
        asked, items = np.unique(items, return_inverse=True)
        H = np.where((asked < 0)[:, None], blank, Z[:, asked].T)
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


def unit_rows(vectors):
    """Scale every row to length one, of an array or a sparse one; rows of zeros stay zeros.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if sp.issparse(vectors):
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1).astype(vectors.dtype)) @ vectors)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors / np.where(lengths > 0, lengths, 1).astype(vectors.dtype)
