"""One interface to recommend with, for every model whose score is codes_[user] @ components_[:, item]."""

from __future__ import annotations

from numbers import Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete.ids import find, refuse_unknown
from unweave.complete.newcomer import read_ratings
from unweave.complete.pairs import pair_scores
from unweave.complete.recommender import RecommenderHooks
from unweave.complete.recommending.influence import Explanation
from unweave.complete.top import top_columns
from unweave.complete.who import NewUser, aligned, as_list, ask, is_table, named, places
from unweave.data.table import refuse_sparse
from unweave.factorization.settings import whole
from unweave.parallel import single_blas


class Recommends(RecommenderHooks):
    """What recommenders can do; a mixin beside :class:`BaseFactorization`.

    Sparse means unobserved here. ``fit`` calls ``_remember``, which keeps what was seen and the ids; what else a model
    may say for itself is in :class:`RecommenderHooks`. Users and items are named by their ids when these are known
    (:func:`unweave.ratings`, :func:`unweave.read`), by position otherwise; ``rows=True`` means positions in every
    argument and every answer. A user may also be a table with the user's own row or everybody's (sparse, dense, or
    :class:`Ratings`), or what :meth:`fold_in` returned.

    Attributes
    ----------
    seen_ : CSR array (n_users, n_items)
        The training entries.
    user_ids_, item_ids_ : arrays of objects, or None
        Ids of the rows and columns; None when positions are the ids.
    """

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
        units = _unit_rows(self._item_vectors())
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
        units = _unit_rows(self._user_vectors(self._codes_at(np.arange(self.seen_.shape[0]))))
        vectors = _unit_rows(self._user_vectors(asked.codes))
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
        user_at, item_at = _paired(user_at, item_at, one_user, one_item)
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


def _unit_rows(vectors):
    """Rows of length one, of an array or a sparse one; rows of zeros stay zeros."""
    if sp.issparse(vectors):
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1).astype(vectors.dtype)) @ vectors)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return vectors / np.where(lengths > 0, lengths, 1).astype(vectors.dtype)


def _themselves(positions: NDArray, size: int) -> sp.csr_array:
    """Each row has stored its own position, and nothing where that is -1."""
    known = positions >= 0
    indptr = np.concatenate([[0], np.cumsum(known)])
    return sp.csr_array((np.ones(indptr[-1]), positions[known], indptr), shape=(len(positions), size))


def _paired(users: NDArray, items: NDArray, one_user: bool, one_item: bool) -> tuple[NDArray, NDArray]:
    if len(users) != len(items) and not (one_user or one_item):
        raise ValueError(f"users and items must be equally many, got {len(users)} and {len(items)}")
    return np.broadcast_arrays(users, items)[0], np.broadcast_arrays(users, items)[1]
