"""Ask a fitted model for ratings, for lists of the best items, or for the scores of everything.

A model is known by what it can do, not by its class: it has ``predict(users, items, rows=True)`` and ``recommend``, or
``transform`` and ``inverse_transform`` (every factorisation), or it is a baseline of this room.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel
from unweave.data.hold_out import KnownEntries
from unweave.data.named import NamedTable
from unweave.data.storage import take_rows
from unweave.judge.matching import ids_of
from unweave.linalg.scores import best_columns

_SCORES = 8_000_000  # scores in memory at a time


def is_model(thing) -> bool:
    """Tell whether this is a model that can be asked, rather than an array of answers."""
    return hasattr(thing, "fit") or hasattr(thing, "recommend")


class Answers:
    """Ask one model about the users of one table.

    Parameters
    ----------
    model : fitted estimator
    asked : table
        The test part: whose users and items, by position.
    given : table, optional
        What is known of these users, for models that were not fitted on them, or that keep no users; the model folds it
        in (``transform``). Without it the users are those of the fit.
    """

    def __init__(self, model, asked, given=None):
        self.model, self.given = model, given
        self.shape = KnownEntries(asked, "test").shape
        known = None if given is None else KnownEntries(given, "given")
        if known is not None and known.shape != self.shape:
            raise ValueError(f"given has shape {known.shape}, the test part {self.shape}: give parts of one table")
        self.seen: sp.csr_array | None = getattr(model, "seen_", None) if known is None else known.csr()
        self._check_items(asked)
        self._codes: Any = None

    def _check_items(self, asked) -> None:
        mine, theirs = getattr(self.model, "item_ids_", None), ids_of(asked, "item")
        if mine is not None and theirs is not None and list(mine) != theirs:
            raise ValueError("the test part has other items than the model, or in another order: split one table")
        width = getattr(self.model, "n_features_in_", self.shape[1])
        if width != self.shape[1]:
            raise ValueError(f"the model knows {width} items, the test part has {self.shape[1]}: split one table")

    def entries(self, rows: NDArray, columns: NDArray) -> NDArray:
        """Predict the entries at pairs of positions, in data units."""
        if hasattr(self.model, "predict_entries"):
            return self.model.predict_entries(rows, columns, given=self.given)
        if self.given is None and _predicts_pairs(self.model):
            return np.asarray(self.model.predict(rows, columns, rows=True))
        order = np.argsort(rows, kind="stable")
        out = np.empty(len(rows))
        users, first = np.unique(rows[order], return_index=True)
        ends = np.append(first, len(rows))
        for start, block in self.scores(users):
            part = order[ends[start] : ends[start + len(block)]]
            out[part] = block[np.searchsorted(users, rows[part]) - start, columns[part]]
        return out

    def lists(self, users: NDArray, n: int) -> NDArray:
        """List the positions of the n items that each user is recommended, best first; -1 ends a short list."""
        if hasattr(self.model, "predict_entries"):
            return self.model.recommend(users, n, given=self.given)[0]
        if hasattr(self.model, "recommend"):
            asked = users if self.given is None else _rows_of(self.given, users)
            return np.asarray(self.model.recommend(asked, n, rows=True)[0], dtype=np.int64)
        out = np.empty((len(users), n), np.int64)
        for start, block in self.scores(users):
            blank(block, self.seen, users[start : start + len(block)])
            out[start : start + len(block)] = best_columns(block, n)[0]
        return out

    def scores(self, users: NDArray) -> Iterator[tuple[int, NDArray]]:
        """Give (place of the first user, scores of every item) for some users at a time, theirs to overwrite."""
        codes = self.codes()
        size = max(1, _SCORES // max(1, self.shape[1]))
        for start, stop in parallel.chunks(len(users), size):
            with parallel.single_blas():
                block = np.asarray(self.model.inverse_transform(codes[users[start:stop]]))
            if block.shape != (stop - start, self.shape[1]) or block.dtype.kind != "f":
                raise TypeError("the model's inverse_transform does not give one number for each item")
            yield start, block if block.flags.writeable else block.copy()

    def codes(self):
        """Return codes of all users of the table."""
        if self._codes is None:
            self._codes = self.model.codes_for(self.given) if hasattr(self.model, "codes_for") else self._transformed()
        return self._codes

    def _transformed(self):
        if self.given is not None:
            return self.model.transform(self.given)
        codes = getattr(self.model, "codes_", None)
        if codes is None or codes.shape[0] != self.shape[0]:
            raise ValueError(
                "the model keeps no codes for the users of the test part: pass given=, their known ratings"
            )
        return codes


def _rows_of(given, users: NDArray):
    """Return some rows of a table of any kind, without its names."""
    return take_rows(given.X if isinstance(given, NamedTable) else given, users)


def _predicts_pairs(model) -> bool:
    predict = getattr(model, "predict", None)
    return predict is not None and "rows" in inspect.signature(predict).parameters


def in_one_order(values: NDArray, seen: sp.csr_array | None, users: NDArray, n: int) -> NDArray:
    """Find for each user the n columns with the highest values not seen yet, when all users share the values.

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
