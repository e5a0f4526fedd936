"""Measure how good recommended lists are, against the items that turned out to be relevant.

All take lists (users × n, best first) or a fitted model first, then the relevant items as a table whose known entries
are relevant, whatever their values (:func:`relevant_items` picks the liked ones of a table of ratings). Users without a
relevant item are left out of every mean. Lists hold ids when the table knows ids (:func:`unweave.ratings`), otherwise
positions; None or -1 ends a list that is too short. A model is asked for lists without the items it has seen.

Notation: L is a user's list cut after n items, R the set of the user's relevant items.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel
from unweave.data.arguments import whole
from unweave.data.hold_out import KnownEntries, part
from unweave.judge.answers import Answers, blank, is_model
from unweave.judge.matching import ids_of


def precision_at(recommended, relevant, n: int = 10, *, given=None) -> float:
    """Compute |L ∩ R| / n, the share of the list that is relevant; mean over users. More is better.

    A list that is too short is still divided by n. With one relevant item per user (leave-last-out) it is at most 1/n:
    compare it between models, not between data sets.

    Parameters
    ----------
    recommended : array (users, n or more) of ids or positions, or fitted model
    relevant : table (users, items)
        Its known entries are the relevant items.
    n : int, default=10
    given : table, optional
        Known ratings of the users, for a model that was not fitted on them, or that has no ``recommend``.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> relevant = sp.csr_array(np.array([[1, 0, 1, 0], [0, 0, 0, 0]]))
    >>> precision_at([[0, 1], [2, 3]], relevant, 2)  # the second user has no relevant item
    0.5
    """
    return float(hits_of(recommended, relevant, n, given).precision().mean())


def recall_at(recommended, relevant, n: int = 10, *, given=None) -> float:
    """Compute |L ∩ R| / |R|, the share of the relevant items that the list holds; mean over users. More is better.

    A user with more than n relevant items cannot reach 1. Parameters as in :func:`precision_at`.

    >>> import numpy as np
    >>> round(recall_at([[0, 1]], np.array([[5.0, np.nan, 4.0, 3.0]]), 2), 3)
    0.333
    """
    return float(hits_of(recommended, relevant, n, given).recall().mean())


def map_at(recommended, relevant, n: int = 10, *, given=None) -> float:
    """Compute the mean average precision, Σ_{i ≤ n, L_i ∈ R} |L_{1..i} ∩ R| / i over min(n, |R|); mean over users.

    The earlier the hits, the more. The best list has 1. Parameters as in :func:`precision_at`.

    >>> import numpy as np
    >>> round(map_at([[1, 0, 2]], np.array([[5.0, np.nan, 4.0]]), 3), 4)  # (1/2 + 2/3) / 2
    0.5833
    """
    return float(hits_of(recommended, relevant, n, given).average_precision().mean())


def ndcg_at(recommended, relevant, n: int = 10, *, given=None) -> float:
    """Compute Σ_{i ≤ n, L_i ∈ R} 1 / log₂(i + 1) over its largest value Σ_{i ≤ min(n, |R|)} 1 / log₂(i + 1).

    Normalised discounted cumulative gain with gains 0 and 1, mean over users. The best list has 1. Parameters as in
    :func:`precision_at`. Reference: Järvelin and Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques.

    >>> import numpy as np
    >>> round(ndcg_at([[1, 0]], np.array([[5.0, np.nan, np.nan]]), 2), 4)  # 1 / log2(3)
    0.6309
    """
    return float(hits_of(recommended, relevant, n, given).gain().mean())


def coverage(recommended, items, n: int = 10, *, given=None) -> float:
    """Compute the share of all items that occur in somebody's list of n.

    A model that shows everybody the same has little.

    Parameters
    ----------
    recommended : array (users, n or more), or fitted model
        A model is asked for the lists of the users who have an entry in the table `items`.
    items : int or table
        Number of items, for lists of positions; or a table with one column per item.
    n, given
        As in :func:`precision_at`.

    Examples
    --------
    >>> coverage([[0, 1], [1, 2]], 4, 2)
    0.75
    """
    n = whole(n, "n", 1)
    if isinstance(items, int | np.integer) and not is_model(recommended):
        items = whole(items, "items", 1)
        lists = _positions(recommended, None, items, n)
    elif is_model(recommended):
        asked = KnownEntries(items, "items")
        lists, items = Answers(recommended, items, given).lists(np.flatnonzero(asked.counts), n), asked.shape[1]
    else:
        shape = KnownEntries(items, "items").shape
        lists, items = _positions(recommended, ids_of(items, "item"), shape[1], n), shape[1]
    return len(np.unique(lists[lists >= 0])) / items


def relevant_items(ratings, at_least: float):
    """Take the ratings of at least so much, as a table of the same kind: what a user liked.

    >>> import numpy as np
    >>> relevant_items(np.array([[5.0, 2.0], [np.nan, 4.0]]), 4).tolist()
    [[5.0, nan], [nan, 4.0]]
    """
    return part(ratings, KnownEntries(ratings).values >= at_least, f"ratings of at least {at_least:g}")


@dataclass(frozen=True)
class Hits:
    """Hold which places of the lists hold a relevant item (users × n), and how many relevant items each user has."""

    found: NDArray
    counts: NDArray

    @property
    def n(self) -> int:
        return self.found.shape[1]

    def precision(self) -> NDArray:
        return self.found.sum(axis=1) / self.n

    def recall(self) -> NDArray:
        return self.found.sum(axis=1) / self.counts

    def average_precision(self) -> NDArray:
        precisions = np.cumsum(self.found, axis=1) / np.arange(1, self.n + 1)
        return (precisions * self.found).sum(axis=1) / np.minimum(self.n, self.counts)

    def gain(self) -> NDArray:
        discounts = 1 / np.log2(np.arange(2, self.n + 2))
        # The same sum in the same order above and below, so that a perfect list has exactly 1.
        ideal = np.cumsum(discounts)[np.minimum(self.n, self.counts) - 1]
        return np.cumsum(self.found * discounts, axis=1)[:, -1] / ideal


def hits_of(recommended, relevant, n: int, given=None) -> Hits:
    """Find the hits of the users who have a relevant item."""
    n, entries = whole(n, "n", 1), KnownEntries(relevant, "relevant")
    users = np.flatnonzero(entries.counts)
    if not len(users):
        raise ValueError("relevant has no entry: no user has a relevant item")
    if is_model(recommended):
        lists = Answers(recommended, relevant, given).lists(users, n)
    else:
        lists = _positions(recommended, ids_of(relevant, "item"), entries.shape[1], n)
        if len(lists) != entries.shape[0]:
            raise ValueError(f"recommended has {len(lists)} lists, but relevant has {entries.shape[0]} users")
        lists = lists[users]
    return count_hits(lists, entries.csr(), users)


def count_hits(lists: NDArray, relevant: sp.csr_array, users: NDArray) -> Hits:
    """Find the hits of lists of positions, one for each of `users`."""
    m = relevant.shape[1]
    counts = np.diff(relevant.indptr)
    # Rows and columns in one number, ascending because the CSR array is sorted: one search finds them all.
    keys = np.repeat(np.arange(relevant.shape[0], dtype=np.int64), counts) * m + relevant.indices
    wanted = users[:, None] * np.int64(m) + lists
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return Hits((keys[places] == wanted) & (lists >= 0), counts[users])


def _positions(recommended, ids: list | None, m: int, n: int) -> NDArray:
    """Read lists as positions, cut after n; ids are looked up."""
    lists = np.asarray(recommended)
    if lists.ndim != 2 or lists.shape[1] < n:
        raise ValueError(
            f"recommended must have {n} columns or more (n={n}), one list per row, got shape {lists.shape}"
        )
    lists = lists[:, :n]
    if ids is not None:
        lists = _looked_up(lists, ids)
    if lists.dtype.kind not in "iu":
        raise TypeError(f"recommended must hold positions of items (whole numbers, -1 for none), got {lists.dtype}")
    lists = lists.astype(np.int64)
    if lists.size and (lists.min() < -1 or lists.max() >= m):
        raise ValueError(f"recommended must hold positions from 0 to {m - 1}, or -1 for none")
    ordered = np.sort(lists, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any():
        raise ValueError("recommended has an item twice in one list")
    return lists


def _looked_up(lists: NDArray, ids: list) -> NDArray:
    places = {name: place for place, name in enumerate(ids)}
    places[None] = -1
    try:
        found = [places[name] for name in lists.ravel().tolist()]
    except (KeyError, TypeError) as error:
        raise ValueError(f"recommended holds {error}, which is no id of an item of the table") from error
    return np.array(found, np.int64).reshape(lists.shape)


_SORTED_ROWS = 32  # rows of a task


def auc(scores, relevant, *, given=None) -> float:
    """Compute the area under the ROC curve, #{s_r > s_o} + ½·#{s_r = s_o} over |R|·|O|; mean over users.

    R are a user's relevant items, O all others that the user has not seen. 0.5 is chance, 1 is best. It looks at the
    whole order where :func:`ndcg_at` looks at its top. Users without a relevant item, or without any other, do not
    count.

    Parameters
    ----------
    scores : array (users, items), or fitted model
    relevant : table (users, items)
        Its known entries are the relevant items.
    given : table, optional
        What the users have seen: left out of O, and folded in by a model that was not fitted on these users. A
        recommender that was knows what they have seen.

    Examples
    --------
    >>> import numpy as np
    >>> scores, hole = np.array([[0.9, 0.5, 0.7, 0.1]]), np.nan
    >>> relevant, known = np.array([[hole, 1.0, hole, hole]]), np.array([[5.0, hole, hole, hole]])
    >>> round(auc(scores, relevant), 4), auc(scores, relevant, given=known)
    (0.3333, 0.5)

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a ROC curve.
    """
    entries = KnownEntries(relevant, "relevant")
    return float(auc_of_users(scores, relevant, np.flatnonzero(entries.counts), given).mean())


def auc_of_users(scores, relevant, users: NDArray, given=None) -> NDArray:
    """Compute the area of each of these users, those who have none left out."""
    wanted = KnownEntries(relevant, "relevant").csr()
    if is_model(scores):
        answers = Answers(scores, relevant, given)
        blocks, seen = answers.scores(users), answers.seen
    else:
        blocks, seen = (
            _blocks(scores, wanted.shape, users),
            None if given is None else KnownEntries(given, "given").csr(),
        )
        if seen is not None and seen.shape != wanted.shape:
            raise ValueError(f"given has shape {seen.shape}, but relevant {wanted.shape}")
    out = np.full(len(users), np.nan)
    for start, block in blocks:
        if np.isnan(block).any():
            raise ValueError("scores hold NaN: give every item a number")
        _areas(block, wanted, seen, users[start : start + len(block)], out[start : start + len(block)])
    out = out[~np.isnan(out)]
    if not len(out):
        raise ValueError("no user has both a relevant item and another one, so there is nothing to rank")
    return out


def _blocks(scores, shape: tuple, users: NDArray) -> Iterator[tuple[int, NDArray]]:
    table = np.asarray(scores)
    if table.shape != shape or table.dtype.kind not in "fiub":
        raise ValueError(f"scores must be numbers of shape {shape}, one per item and user, got {table.shape}")
    table = table if table.dtype.kind == "f" else table.astype(np.float64)
    for start, stop in parallel.chunks(len(users), 1024):
        yield start, table[users[start:stop]]


def _areas(block: NDArray, wanted, seen, users: NDArray, out: NDArray) -> None:
    """Compute the areas of the users of a block. Each row is sorted once; the relevant ones are then found in it."""
    np.maximum(block, np.finfo(block.dtype).min, out=block)  # -inf is about to mean: does not count
    relevant = [block[i, _row_of(wanted, user)] for i, user in enumerate(users)]
    if seen is not None:
        blank(block, seen, users)
    blank(block, wanted, users)

    def task(start: int, stop: int) -> None:
        others = np.sort(block[start:stop], axis=1)
        for i in range(start, stop):
            out[i] = _area(relevant[i], others[i - start])

    parallel.run(task, len(users), _SORTED_ROWS)


def _row_of(table, user: int) -> NDArray:
    return table.indices[table.indptr[user] : table.indptr[user + 1]]


def _area(relevant: NDArray, others: NDArray) -> float:
    """Compute the area from the scores of the relevant and of the others (ascending, -inf where they do not count)."""
    first = int(np.searchsorted(others, -np.inf, side="right"))
    others = others[first:]
    if not len(relevant) or not len(others):
        return np.nan
    below = np.searchsorted(others, relevant, side="left").sum(dtype=np.int64)
    up_to = np.searchsorted(others, relevant, side="right").sum(dtype=np.int64)
    return float(0.5 * (below + up_to) / (len(relevant) * len(others)))
