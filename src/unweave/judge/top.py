"""The n best columns of each row: of a table of scores, or of values that all rows share."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel

_ROWS = 32  # rows of a task
_GROUP = 64  # columns that share a maximum


def best_columns(scores: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """For each row the n columns with the highest scores, best first, and these scores; the leftmost of equals wins.

    Entries of -inf take no part: a list that is too short ends in column -1 with the score -inf.

    >>> import numpy as np
    >>> columns, scores = best_columns(np.array([[1.0, 3.0, 3.0], [-np.inf, 2.0, -np.inf]]), 2)
    >>> columns.tolist(), scores.tolist()
    ([[1, 2], [1, -1]], [[3.0, 3.0], [2.0, -inf]])
    """
    columns = np.full((len(scores), n), -1, np.int64)
    values = np.full((len(scores), n), -np.inf, scores.dtype)

    def task(start: int, stop: int) -> None:
        rows, found = _candidates(scores[start:stop], min(n, scores.shape[1]))
        found_scores = scores[start + rows, found]
        order = np.lexsort((found, -found_scores, rows))
        rows, found, found_scores = rows[order], found[order], found_scores[order]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        kept = place < n
        columns[start + rows[kept], place[kept]] = found[kept]
        values[start + rows[kept], place[kept]] = found_scores[kept]

    if scores.shape[1]:
        parallel.run(task, len(scores), _ROWS)
    return columns, values


def _candidates(scores: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """Places that hold one of the n highest scores of their row, and a few more, ties among them.

    The columns are cut into many groups. The n-th highest of their maxima is a bound that n scores reach, and few
    others: finding it takes one pass over the scores, a seventh of the time that partitioning them takes.
    """
    rows, m = scores.shape
    groups = min(m, max(4 * n, m // _GROUP))
    whole = m - m % groups
    maxima = scores[:, :whole].reshape(rows, whole // groups, groups).max(axis=1)
    if whole < m:
        np.maximum(maxima[:, : m - whole], scores[:, whole:], out=maxima[:, : m - whole])
    least = np.partition(maxima, groups - n, axis=1)[:, groups - n, None]
    found = np.flatnonzero((scores >= least) & (scores > -np.inf))
    return found // m, found % m


def in_one_order(values: NDArray, seen: sp.csr_array | None, users: NDArray, n: int) -> NDArray:
    """For each user the n columns with the highest values that the user has not seen, when all users share the values.

    If s_0 < s_1 < … are the ranks of what a user has seen, place j of the list has rank j + #{t: s_t − t ≤ j}: nobody's
    scores are made. A list that is too short ends in -1, and of equal values the leftmost column comes first.

    >>> import numpy as np, scipy.sparse as sp
    >>> in_one_order(np.array([1.0, 3.0, 2.0]), sp.csr_array(np.array([[0, 1, 0]])), np.array([0]), 3).tolist()
    [[2, 0, -1]]
    """
    m = len(values)
    order = np.argsort(-values, kind="stable")
    places = np.broadcast_to(np.arange(n), (len(users), n))
    if seen is not None:
        rank = np.empty(m, np.int64)
        rank[order] = np.arange(m)
        ranks = sp.csr_array((np.ones(seen.nnz, bool), rank[seen.indices], seen.indptr), shape=seen.shape)[users]
        ranks.sort_indices()
        first = ranks.indptr[:-1].astype(np.int64)
        rows = np.repeat(np.arange(len(users)), np.diff(ranks.indptr))
        # s_t − t of all users in one ascending array, each user's in a range of its own.
        gaps = rows * (m + 1) + ranks.indices - (np.arange(ranks.nnz) - first[rows])
        asked = np.arange(len(users))[:, None] * (m + 1) + np.minimum(places, m)
        places = places + np.searchsorted(gaps, asked, side="right") - first[:, None]
    return np.where(places < m, order[np.minimum(places, m - 1)], -1)


def blank(scores: NDArray, seen: sp.csr_array | None, users: NDArray) -> None:
    """Put -inf where `seen` has stored something, in place; row i of the scores belongs to row ``users[i]`` of seen."""
    if seen is None:
        return
    starts, counts = seen.indptr[users], seen.indptr[users + 1] - seen.indptr[users]
    rows = np.repeat(np.arange(len(users)), counts)
    first = np.cumsum(counts) - counts
    entries = np.arange(len(rows)) - np.repeat(first, counts) + np.repeat(starts, counts)
    scores[rows, seen.indices[entries]] = -np.inf
