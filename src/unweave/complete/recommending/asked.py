"""Find whoever is asked for: ids, positions, rows of ratings or new users become codes and what they have seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.recommending.ids import find, lookup, refuse_unknown
from unweave.data.named import NamedTable
from unweave.data.storage import is_matrix, is_sparse_row, nothing_observed, observed_entries
from unweave.data.table import Table, check_table

_REMEDY = (
    "fold_in their ratings, pass the ratings as a table with one row (rows=True takes positions), or let recommend "
    "show them what is popular: unknown='popular'"
)


@dataclass(frozen=True)
class NewUser:
    """Somebody who was not there in ``fit``: what :meth:`Recommends.fold_in` returns and ``recommend`` takes.

    Parameters
    ----------
    code : array (width of codes_,)
    items : array of int
        Positions of the rated items, ascending.
    ratings : array of float
        The ratings given.
    """

    code: NDArray
    items: NDArray
    ratings: NDArray

    def __repr__(self) -> str:
        return f"NewUser({len(self.items)} ratings)"


@dataclass(frozen=True)
class Asked:
    """Users to answer for: their codes, what they have seen, and their positions (-1 for people who are new)."""

    codes: NDArray
    seen: sp.csr_array
    places: NDArray
    one: bool

    def first(self, array: NDArray) -> Any:
        """The only row when one user was asked for, else all rows."""
        return array[0] if self.one else array


def is_table(X) -> bool:
    """Whether X holds rows of ratings, not users.

    >>> is_table(np.zeros((1, 3))), is_table(["ann", "bob"])
    (True, False)
    """
    if isinstance(X, np.ndarray):
        return X.ndim == 2
    return isinstance(X, NamedTable) or is_matrix(X) or (hasattr(X, "columns") and hasattr(X, "shape"))


def is_one(wanted, ids: NDArray | None) -> bool:
    """Whether this is one id. A tuple that is itself an id is one; any other tuple, list or array is many."""
    if isinstance(wanted, str | bytes) or not isinstance(wanted, Iterable) or getattr(wanted, "ndim", 1) == 0:
        return True
    if isinstance(wanted, tuple | frozenset) and ids is not None:
        try:
            return wanted in lookup(ids)
        except TypeError:
            return False
    return False


def as_list(wanted, ids: NDArray | None, what: str) -> tuple[Any, bool]:
    """(the ids as a list or array, whether it was one)."""
    if is_one(wanted, ids):
        return [wanted.item() if isinstance(wanted, np.ndarray) else wanted], True
    if isinstance(wanted, Mapping | Set) and what == "user":
        raise TypeError("give users as a list, in the order of the answers; ratings of a new user go to fold_in")
    listed = wanted if isinstance(wanted, np.ndarray) else list(wanted)
    return (listed.tolist() if isinstance(listed, np.ndarray) and ids is not None else listed), False


def places(wanted, ids: NDArray | None, size: int, what: str, remedy: str) -> tuple[NDArray, bool]:
    """(positions of known ids, whether one was asked for); unknown ids raise."""
    listed, one = as_list(wanted, ids, what)
    found = find(listed, ids, size, what)
    refuse_unknown(listed, found, what, remedy)
    return found, one


def ask(model, user, rows: bool, *, strangers: bool = False) -> Asked:
    """Codes and seen items of whoever `user` means; unknown ids raise, unless `strangers` are welcome."""
    ids = None if rows else model.user_ids_
    if isinstance(user, NewUser):
        return _newcomers(model, [user], True)
    if is_table(user):
        return _from_table(model, user)
    if ids is None and isinstance(user, np.ndarray) and user.ndim == 1 and user.dtype.kind == "f":
        return _from_table(model, user[None, :], one=True)  # positions are whole numbers, so this is a row
    if isinstance(user, list | tuple) and any(isinstance(person, NewUser) for person in user):
        if not all(isinstance(person, NewUser) for person in user):
            raise TypeError("user mixes new users with ids; ask for them in two calls")
        return _newcomers(model, list(user), False)
    listed, one = as_list(user, ids, "user")
    size = model.seen_.shape[0]
    found = find(listed, ids, size, "user")
    if not strangers:
        refuse_unknown(listed, found, "user", _REMEDY)
    everybody = len(found) == size and np.array_equal(found, np.arange(size))  # then nothing is copied
    return Asked(model._codes_or_blank(found), model.seen_ if everybody else _rows_at(model.seen_, found), found, one)


def _rows_at(seen: sp.csr_array, places: NDArray) -> sp.csr_array:
    """Rows of a table, empty ones at -1.

    >>> _rows_at(sp.csr_array(np.eye(2)), np.array([1, -1])).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    known = places >= 0
    if known.all():
        return seen[places]
    found, counts = seen[places[known]], np.zeros(len(places), np.int64)
    counts[known] = np.diff(found.indptr)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((found.data, found.indices, indptr), shape=(len(places), seen.shape[1]))


def _newcomers(model, people: list[NewUser], one: bool) -> Asked:
    indptr = np.concatenate([[0], np.cumsum([len(person.items) for person in people])])
    items = np.concatenate([person.items for person in people]).astype(np.int32)
    values = np.concatenate([person.ratings for person in people])
    seen = sp.csr_array((values, items, indptr), shape=(len(people), model.components_.shape[1]))
    return Asked(np.stack([person.code for person in people]), seen, np.full(len(people), -1), one)


def _from_table(model, X, one: bool = False) -> Asked:
    one = one or is_sparse_row(X)
    X, seen = rows_of(model, X)
    return Asked(model._codes_of_rows(X, seen), seen, np.full(seen.shape[0], -1), one)


def rows_of(model, X) -> tuple[Any, sp.csr_array]:
    """(X as ``transform`` takes it, in the order of the model's own items; its entries)."""
    m = model.components_.shape[1]
    X = named(model, aligned(model, X))
    plain = X.X if isinstance(X, NamedTable) else X
    if plain.shape[1] != m:
        raise ValueError(f"X has {plain.shape[1]} columns, but the model knows {m} items: give one column per item")
    if nothing_observed(plain):
        return X, sp.csr_array(plain.shape)
    return X, entries(check_table(model, X, getattr(model, "missing", "zeros"), reset=False))


def aligned(model, X):
    """A table that brings the ids of its items, with its columns in the order of the model's items."""
    if is_sparse_row(X):
        return sp.csr_array(X.reshape((1, -1)))
    if not isinstance(X, NamedTable) or model.item_ids_ is None:
        return X
    ids = getattr(X, "item_ids", None)
    ids = X.columns if ids is None else ids
    if ids is None or (
        len(ids) == len(model.item_ids_) and all(a == b for a, b in zip(ids, model.item_ids_, strict=True))
    ):
        return X.X
    if not X.sparse:
        raise ValueError("X has other items than the model, or in another order; give the same columns")
    found = find(ids, model.item_ids_, len(model.item_ids_), "item")
    refuse_unknown(ids, found, "item", "leave it out of the table")
    moved = sp.csr_array((X.X.data, found[X.X.indices], X.X.indptr), shape=(X.shape[0], len(model.item_ids_)))
    return moved.sorted_indices()


def named(model, X):
    """A plain table under the names that the model was fitted to, which scikit-learn would miss otherwise."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not is_matrix(X) or X.shape[1] != len(names):
        return X
    return NamedTable(X, columns=list(names), missing=getattr(model, "missing", "zeros"))


def entries(table) -> sp.csr_array:
    """The observed entries of a checked table, an objective, a sparse or a dense array (NaN: unobserved), as CSR."""
    values = getattr(table, "values", getattr(table, "X", table))
    return observed_entries(values, table.seen if isinstance(table, Table) else getattr(table, "weights", None))


# -- the ratings of one new user ----------------------------------------------------------------------------------


def read_ratings(model, ratings, rows: bool, unknown: str) -> tuple[NDArray, NDArray]:
    """(positions of the items, ascending; ratings in float64) from a dict, pairs or a row."""
    if unknown not in ("error", "ignore"):
        raise ValueError(f"unknown={unknown!r} must be 'error' or 'ignore'")
    if isinstance(ratings, np.ndarray) and ratings.ndim == 1 and ratings.dtype.kind in "fiu" and len(ratings):
        ratings = ratings[None, :]
    if is_table(ratings):
        return _row(model, ratings)
    names, values = _pairs(ratings)
    ids = None if rows else model.item_ids_
    found = find(names, ids, model.components_.shape[1], "item")
    if unknown == "error":
        refuse_unknown(names, found, "item", "leave it out, or say unknown='ignore'")
    positions, values = found[found >= 0], values[found >= 0]
    if len(np.unique(positions)) < len(positions):
        raise ValueError("ratings name an item twice; give one rating per item")
    order = np.argsort(positions)
    return positions[order], values[order]


def _row(model, table) -> tuple[NDArray, NDArray]:
    _, seen = rows_of(model, table)
    if seen.shape[0] != 1:
        raise ValueError(f"fold_in takes one user, got a table with {seen.shape[0]} rows; recommend takes tables")
    return seen.indices.astype(np.int64), seen.data.astype(np.float64)


def _pairs(ratings) -> tuple[list, NDArray]:
    wanted = "ratings must be a dict of item → rating, a list of (item, rating) pairs, or a row"
    if isinstance(ratings, str | bytes) or not isinstance(ratings, Iterable):
        raise TypeError(f"{wanted}, got {ratings!r}")
    pairs = list(ratings.items()) if isinstance(ratings, Mapping) else list(ratings)
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise TypeError(f"{wanted}; for items alone use dict.fromkeys(items, 1.0)")
    for item, rating in pairs:
        if isinstance(rating, str | bytes):
            raise TypeError(f"{wanted}; the rating of item {item!r} is the text {rating!r}, not a number")
    try:
        values = np.array([rating for _, rating in pairs], dtype=np.float64).reshape(len(pairs))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{wanted}; a rating is not a number ({error})") from error
    if not np.isfinite(values).all():
        name = pairs[int(np.argmin(np.isfinite(values)))][0]
        raise ValueError(f"the rating of item {name!r} is NaN or infinite; leave it out")
    return [item for item, _ in pairs], values
