"""Answer questions of recommenders: every model whose score is codes_[user] @ components_[:, item]."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete.recommending.asked import (
    NewUser,
    aligned,
    as_list,
    ask,
    entries,
    is_table,
    named,
    places,
    read_ratings,
)
from unweave.complete.recommending.ids import find, objects, refuse_unknown
from unweave.complete.recommending.ridge import Explanation, ridge_code, ridge_influence
from unweave.data.arguments import whole
from unweave.data.named import NamedTable
from unweave.data.table import refuse_sparse
from unweave.linalg.scores import pair_scores, top_columns, unit_rows
from unweave.parallel import single_blas


class Recommends:
    """Give a factorisation the questions of recommenders; a mixin beside :class:`BaseFactorization`.

    Sparse means unobserved here. Users and items are named by their ids when these are known (:func:`unweave.ratings`,
    :func:`unweave.read`), by position otherwise; ``rows=True`` means positions in every argument and every answer. A
    user may also be a table with the user's own row or everybody's (sparse, dense, or :class:`Ratings`), or what
    :meth:`fold_in` returned.

    A model calls ``_remember`` in ``fit``. What it may say for itself, with answers that suit ratings under a ridge:

    - ``_blank_code()``, ``_blank_item()``: the code of a user, the components of an item, of whom nothing is known;
    - ``_codes_at(positions)``, ``_codes_or_blank(positions)``: codes of users of the training table, -1 is a stranger;
    - ``_codes_of_rows(X, seen)``: codes of the rows of a new table;
    - ``_row_code(items, values)``: the code of one user from the user's own entries; where ``_ridge_rows`` is True it
      is ridge least squares with ``_row_ridge(n)``, the entries in ``_held()`` being one;
    - ``_influence(items, values, item)``: what each entry of a user adds to a score (``_influence_of`` knows the user);
    - ``_item_vectors()``, ``_user_vectors(codes)``: vectors for similarity;
    - ``_predicted(scores)``: scores in units of the data.

    Attributes
    ----------
    seen_ : CSR array (n_users, n_items)
        The training entries.
    user_ids_, item_ids_ : arrays of objects, or None
        Ids of the rows and columns; None when positions are the ids.
    """

    # Set by the estimator that this is mixed into.
    codes_: NDArray | None
    components_: NDArray
    n_components_: int
    seen_: sp.csr_array
    user_ids_: NDArray | None
    item_ids_: NDArray | None
    transform: Any
    inverse_transform: Any

    # Whether a row's code is ridge least squares over its observed entries (with _row_ridge): then one row is solved
    # without touching the other items.
    _ridge_rows = False

    # -- what users call -----------------------------------------------------------------------------------------

    def recommend(
        self,
        user,
        n: int = 10,
        *,
        exclude_seen: bool = True,
        items=None,
        exclude=None,
        rows: bool = False,
        unknown: str = "error",
    ) -> tuple[NDArray, NDArray]:
        """The n items with the highest score for one or many users.

        Parameters
        ----------
        user : id, list of ids, table of ratings, or NewUser
            A tuple that is itself an id is one user, any other tuple, list or array is many.
        n : int
            Length of the lists.
        exclude_seen : bool
            Leave out what the user has rated: in ``fit``, or in the table or new user given here.
        items : list of ids, optional
            Rank only these.
        exclude : list of ids, optional
            Never recommend these; ids that the model does not know are no concern.
        rows : bool
            Users and items are positions, here and in the answer.
        unknown : {"error", "popular"}
            What a user who was not there in ``fit`` gets: an error, or the list of somebody of whom nothing is known
            (what is popular, or rated highest by everybody).

        Returns
        -------
        ids, scores : arrays (n_users, n), or (n,) for one user
            Best first; of equal scores the item that comes first in the table. A list that is too short ends in the id
            None (the position -1) with the score -inf: it is never filled with what was seen or excluded.
        """
        check_is_fitted(self)
        n = whole(n, "n", 1)
        if unknown not in ("error", "popular"):
            raise ValueError(f"unknown={unknown!r} must be 'error' or 'popular'")
        asked = ask(self, user, rows, strangers=unknown == "popular")
        columns = self._candidates(items, exclude, rows)
        seen = asked.seen if exclude_seen else None
        best, scores = top_columns(asked.codes, self.components_, n, seen=seen, columns=columns)
        return asked.first(_named_items(best, None if rows else self.item_ids_)), asked.first(scores)

    def similar(self, item, n: int = 10, *, items=None, exclude=None, rows: bool = False) -> tuple[NDArray, NDArray]:
        """The n items nearest to one or many items by the cosine of their vectors, themselves left out.

        Only `items` take part (all if it is not given), never those in `exclude`. Returns ids and cosines as
        :meth:`recommend` does.
        """
        check_is_fitted(self)
        n, ids = whole(n, "n", 1), None if rows else self.item_ids_
        found, one = places(item, ids, self.components_.shape[1], "item", "rows=True takes positions")
        units = unit_rows(self._item_vectors())
        columns = self._candidates(items, exclude, rows)
        best, cosines = top_columns(units[found], units.T, n, seen=_themselves(found, len(units)), columns=columns)
        names = _named_items(best, ids)
        return (names[0], cosines[0]) if one else (names, cosines)

    def similar_users(self, user, n: int = 10, *, rows: bool = False) -> tuple[NDArray, NDArray]:
        """The n users nearest to one or many users (known or new) by the cosine of their vectors, themselves left out.

        Returns ids and cosines as :meth:`recommend` does.
        """
        check_is_fitted(self)
        n, asked = whole(n, "n", 1), ask(self, user, rows)
        units = unit_rows(self._user_vectors(self._codes_at(np.arange(self.seen_.shape[0]))))
        vectors = unit_rows(self._user_vectors(asked.codes))
        best, cosines = top_columns(vectors, units.T, n, seen=_themselves(asked.places, units.shape[0]))
        return asked.first(_named_items(best, None if rows else self.user_ids_)), asked.first(cosines)

    def complete(self, X) -> NDArray:
        """The whole table: the prediction for every entry, the known ones included, each row from its own entries.

        Parameters
        ----------
        X : table of ratings, dense or sparse, or :class:`Ratings`

        Returns
        -------
        array (n_rows, n_items), dense
        """
        check_is_fitted(self)
        X = named(self, aligned(self, X)) if is_table(X) else X
        return self._predicted(self.inverse_transform(self.transform(X)))

    def predict(self, users, items=None, *, rows: bool = False, unknown: str = "error"):
        """Ratings of pairs, ``predict(users, items)``; of a dense table all, as :meth:`complete` gives them.

        Parameters
        ----------
        users : id or list of ids (or NewUser), or a dense table when `items` is not given
        items : id or list of ids, as many as users; one of either goes with all of the other
        rows : bool
            Users and items are positions.
        unknown : {"error", "mean"}
            What an id that was not there in ``fit`` means: an error, or the prediction for somebody (something) of
            whom nothing is known: the mean plus the bias of the other side.

        Returns
        -------
        array (n_pairs,), or a float for one pair; array (n_rows, n_items) for a table.
        """
        check_is_fitted(self)
        if items is None:
            if isinstance(users, str | bytes | Real | NewUser):
                raise TypeError("predict needs items as well: predict(users, items), or one table: complete(X)")
            refuse_sparse(users)
            return self.complete(users)
        if unknown not in ("error", "mean"):
            raise ValueError(f"unknown={unknown!r} must be 'error' or 'mean'")
        codes, user_at, one_user = self._pair_users(users, rows, unknown)
        ids = None if rows else self.item_ids_
        listed, one_item = as_list(items, ids, "item")
        item_at = find(listed, ids, self.components_.shape[1], "item")
        if unknown == "error":
            refuse_unknown(listed, item_at, "item", "unknown='mean' predicts it from the mean and the user's bias")
        user_at, item_at = paired(user_at, item_at, one_user, one_item)
        scores = self._predicted(pair_scores(codes, self.components_, user_at, item_at, self._blank_item()))
        return float(scores[0]) if one_user and one_item else scores

    def fold_in(self, ratings, *, rows: bool = False, unknown: str = "error") -> NewUser:
        """A new user, from ratings alone and without a refit; `recommend`, `predict` and `explain` take it at once.

        Parameters
        ----------
        ratings : dict of item id → rating, list of (item id, rating) pairs, or a row (sparse, dense, Ratings)
            No ratings at all are allowed: then the biases decide.
        rows : bool
            Items are positions.
        unknown : {"error", "ignore"}
            What to do with items that the model does not know.
        """
        check_is_fitted(self)
        positions, values = read_ratings(self, ratings, rows, unknown)
        with single_blas():
            code = self._row_code(positions, values) if len(positions) else self._blank_code()
        return NewUser(code, positions, values)

    def explain(self, user, item, n: int = 10, *, rows: bool = False) -> Explanation:
        """Which of the user's own ratings drove the score of an item: the n that moved it most."""
        check_is_fitted(self)
        n, asked, ids = whole(n, "n", 1), ask(self, user, rows), None if rows else self.item_ids_
        found, _ = places(item, ids, self.components_.shape[1], "item", "rows=True takes positions")
        if asked.codes.shape[0] != 1 or len(found) != 1:
            raise ValueError(f"explain takes one user and one item, got {asked.codes.shape[0]} and {len(found)}")
        positions, values = asked.seen.indices.astype(np.int64), asked.seen.data.astype(np.float64)
        with single_blas():
            parts, baseline = self._influence_of(asked, positions, values, int(found[0]))
        score = (asked.codes.astype(np.float64) @ self.components_[:, found]).item()
        first = np.argsort(-np.abs(parts), kind="stable")[:n]
        rest = score - baseline - float(parts[first].sum())
        named_items = _named_items(positions[first], ids)
        return Explanation(score, baseline, named_items, values[first], parts[first], rest)

    # -- what a model may say for itself -------------------------------------------------------------------------------

    def _remember(self, X, table) -> None:
        """Keep what was seen and the ids; `fit` calls this.

        `X` is what the user passed. `table` holds its observed entries: a checked table, an objective or a CSR array.
        Names that are not distinct are no ids.
        """
        self.seen_ = entries(table)
        self.user_ids_, self.item_ids_ = getattr(X, "user_ids", None), getattr(X, "item_ids", None)
        if isinstance(X, NamedTable):
            self.user_ids_ = _distinct(X.rows) if self.user_ids_ is None else self.user_ids_
            self.item_ids_ = _distinct(X.columns) if self.item_ids_ is None else self.item_ids_

    def _item_vectors(self) -> NDArray:
        """Vectors of the items for similarity (items × k): the components without biases."""
        return self.components_[: self.n_components_].T

    def _user_vectors(self, codes: NDArray) -> NDArray:
        """Vectors of users for similarity (users × k), from codes: without biases."""
        return codes[:, : self.n_components_]

    def _held(self) -> list[int]:
        """Entries of a code that are held at one."""
        return list(getattr(getattr(self, "_sentence", None), "held_codes", []))

    def _blank_code(self) -> NDArray:
        """The code of a user of whom nothing is known."""
        code = np.zeros(len(self.components_), self.components_.dtype)
        code[self._held()] = 1
        return code

    def _blank_item(self) -> NDArray:
        """The components of an item of which nothing is known: with biases, they predict mean + user bias."""
        item = np.zeros(len(self.components_), self.components_.dtype)
        problem = getattr(self, "_sentence", None)
        if problem is not None and problem.biases:
            item[problem.held_components] = 1
            item[problem.held_codes] = getattr(self, "mean_", 0.0)
        return item

    def _codes_at(self, positions: NDArray) -> NDArray:
        """Codes of users of the training table."""
        if self.codes_ is None:
            raise ValueError("the model kept no codes (it was fitted in blocks): pass the users' ratings as a table")
        if len(positions) == len(self.codes_) and np.array_equal(positions, np.arange(len(self.codes_))):
            return self.codes_  # everybody: nothing is copied
        return self.codes_[positions]

    def _codes_or_blank(self, positions: NDArray) -> NDArray:
        """Codes of users of the training table, and at -1 that of a user of whom nothing is known."""
        known = positions >= 0
        if known.all():
            return self._codes_at(positions)
        codes = np.tile(self._blank_code(), (len(positions), 1))
        codes[known] = self._codes_at(positions[known])
        return codes

    def _codes_of_rows(self, X, seen: sp.csr_array) -> NDArray:
        """Codes of the rows of a table with these entries; of rows without any, the blank one."""
        codes = np.tile(self._blank_code(), (seen.shape[0], 1))
        if len(codes) == 1 and seen.nnz:
            codes[0] = self._row_code(seen.indices.astype(np.int64), seen.data.astype(np.float64))
        elif seen.nnz:
            codes = np.where(np.diff(seen.indptr)[:, None] > 0, self.transform(X), codes)
        return codes

    def _row_ridge(self, n_ratings: int) -> float | NDArray:
        """The ridge of a row with so many entries: one, or one for each free entry of its code."""
        return float(getattr(self, "ridge_", 0.0))

    def _row_code(self, items: NDArray, values: NDArray) -> NDArray:
        """The code of one row with these entries (at least one)."""
        if self._ridge_rows:
            code = ridge_code(self.components_[:, items], values, self._row_ridge(len(items)), self._held())
            return code.astype(self.components_.dtype)
        row = sp.csr_array((values, items, np.array([0, len(items)])), shape=(1, self.components_.shape[1]))
        return self.transform(named(self, row.astype(self.components_.dtype)))[0]

    def _influence(self, items: NDArray, values: NDArray, item: int) -> tuple[NDArray, float]:
        """What each of a user's ratings adds to the score of `item`, and the score without any."""
        if not self._ridge_rows:
            raise NotImplementedError(f"{type(self).__name__} cannot tell which ratings drove a score")
        Z = self.components_
        return ridge_influence(Z[:, items], values, Z[:, item], self._row_ridge(len(items)), self._held())

    def _influence_of(self, asked, items: NDArray, values: NDArray, item: int) -> tuple[NDArray, float]:
        """The same, where it matters who was asked for."""
        return self._influence(items, values, item)

    def _predicted(self, scores: NDArray) -> NDArray:
        """Scores in the units of the data, for `predict`."""
        return scores

    # -- details -------------------------------------------------------------------------------------------------

    def _candidates(self, items, exclude, rows: bool) -> NDArray | None:
        """Positions of the items that take part; None for all of them."""
        if items is None and exclude is None:
            return None
        ids, m = None if rows else self.item_ids_, self.components_.shape[1]
        chosen = np.full(m, items is None)
        if items is not None:
            chosen[places(items, ids, m, "item", "leave it out of items=")[0]] = True
        if exclude is not None:
            found = find(as_list(exclude, ids, "item")[0], ids, m, "item")
            chosen[found[found >= 0]] = False
        return np.flatnonzero(chosen)

    def _pair_users(self, users, rows: bool, unknown: str) -> tuple[NDArray, NDArray, bool]:
        """(codes, which of them each user has, whether one user was given)."""
        people = users if isinstance(users, list | tuple) else [users]
        if is_table(users) or any(isinstance(person, NewUser) for person in people):
            asked = ask(self, users, rows)
            return asked.codes, np.arange(asked.codes.shape[0]), asked.one
        ids = None if rows else self.user_ids_
        listed, one = as_list(users, ids, "user")
        found = find(listed, ids, self.seen_.shape[0], "user")
        if unknown == "error":
            refuse_unknown(listed, found, "user", "fold_in their ratings, or unknown='mean' predicts from item biases")
        distinct, at = np.unique(found, return_inverse=True)
        return self._codes_or_blank(distinct), at, one


def _named_items(positions: NDArray, ids: NDArray | None) -> NDArray:
    """Ids at positions, None at -1; the positions themselves when there are no ids."""
    if ids is None:
        return positions
    names = ids[positions]
    names[positions < 0] = None
    return names


def _themselves(positions: NDArray, size: int) -> sp.csr_array:
    """Each row has stored its own position, and nothing where that is -1."""
    known = positions >= 0
    indptr = np.concatenate([[0], np.cumsum(known)])
    return sp.csr_array((np.ones(indptr[-1]), positions[known], indptr), shape=(len(positions), size))


def paired(users: NDArray, items: NDArray, one_user: bool, one_item: bool) -> tuple[NDArray, NDArray]:
    """Bring users and items to one length: one of either goes with all of the other."""
    if len(users) != len(items) and not (one_user or one_item):
        raise ValueError(f"users and items must be equally many, got {len(users)} and {len(items)}")
    return np.broadcast_arrays(users, items)[0], np.broadcast_arrays(users, items)[1]


def _distinct(names: list[str] | None) -> NDArray | None:
    return objects(names) if names is not None and len(set(names)) == len(names) else None
