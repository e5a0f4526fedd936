"""Add more ratings to a fitted recommender: of users it knows and of new ones, for items it knows and new ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ratings.drift import Calendar, entry_times
from unweave.complete.ratings.features import ids_of, same_width, table_of
from unweave.complete.ratings.side_information import FeatureMap, SideInformation, SideRecords, with_constant
from unweave.complete.recommending.ids import find, objects
from unweave.objectives.opening import reopen_table


class Grown(NamedTuple):
    """Hold all entries so far, and the ids of rows and columns (None when positions are the ids)."""

    seen: sp.csr_array
    user_ids: NDArray | None
    item_ids: NDArray | None


def grow(seen: sp.csr_array, user_ids, item_ids, new: sp.csr_array, new_users, new_items) -> Grown:
    """Add new entries to those seen before; a new rating of a known pair takes the place of the old one.

    With ids on both sides rows and columns are matched by id. Without ids the rows of `new` are new users, and its
    columns are the known items.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> old = sp.csr_array(np.array([[5.0, 0.0]]))
    >>> grown = grow(old, objects(["ann"]), objects(["tea", "jam"]), old, objects(["bob"]), objects(["jam", "pie"]))
    >>> grown.seen.toarray().tolist(), grown.user_ids.tolist(), grown.item_ids.tolist()
    ([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]], ['ann', 'bob'], ['tea', 'jam', 'pie'])
    """
    rows, users = _matched(user_ids, new_users, seen.shape[0], new.shape[0], "user", appended=True)
    columns, items = _matched(item_ids, new_items, seen.shape[1], new.shape[1], "item", appended=False)
    shape = (max(seen.shape[0], int(rows.max(initial=-1)) + 1), max(seen.shape[1], int(columns.max(initial=-1)) + 1))
    coo, more = seen.tocoo(), new.tocoo()
    i, j = np.concatenate([coo.row, rows[more.row]]), np.concatenate([coo.col, columns[more.col]])
    values = np.concatenate([coo.data, more.data.astype(coo.data.dtype)])
    order = np.lexsort((np.arange(len(i)), j, i))  # of equal pairs the newest is last
    i, j, values = i[order], j[order], values[order]
    last = np.append((np.diff(i) != 0) | (np.diff(j) != 0), True) if len(i) else np.zeros(0, dtype=bool)
    return Grown(sp.csr_array((values[last], (i[last], j[last])), shape=shape), users, items)


def _matched(known, given, n_known: int, n_given: int, what: str, *, appended: bool) -> tuple[NDArray, NDArray | None]:
    """Find where each given row (or column) goes, and all ids afterwards."""
    if (known is None) != (given is None):
        has, lacks = ("the model", "the new ratings") if given is None else ("the new ratings", "the model")
        raise ValueError(f"{has} have {what} ids and {lacks} have none: give ids both times, or never")
    if known is None:
        if not appended and n_given != n_known:
            raise ValueError(f"X has {n_given} columns, but the model knows {n_known} items")
        return np.arange(n_given) + (n_known if appended else 0), None
    at = find(list(given), known, n_known, what)
    fresh = np.flatnonzero(at < 0)
    at[fresh] = n_known + np.arange(len(fresh))
    return at, objects([*known, *(given[k] for k in fresh)])


def more_ratings(model, X, records: SideRecords, timestamps, features: tuple) -> tuple[Grown, SideInformation]:
    """Add the entries of a table X to those that a model has seen, with their times and the features of X.

    The side information that is returned is of all users and items.
    """
    if (timestamps is not None) != (records.drift is not None):
        had = "with" if timestamps is None else "without"
        raise ValueError(f"the model was fitted {had} timestamps: give them both times, or never")
    seen, ids = model.seen_, (getattr(X, "user_ids", None), getattr(X, "item_ids", None))
    if model.item_ids_ is not None and ids[1] is not None:
        new = sp.csr_array(X.X)
    else:
        new = reopen_table(model, X, model.missing, model._learned).entries()
        ids = (None, model.item_ids_) if model.user_ids_ is None else ids
    grown = grow(_numbered(seen, 0), model.user_ids_, model.item_ids_, _numbered(new, seen.nnz), *ids)
    which = grown.seen.data
    values = np.concatenate([seen.data, new.data.astype(seen.dtype)])[which]
    seen = sp.csr_array((values, grown.seen.indices, grown.seen.indptr), shape=grown.seen.shape)
    known = (records.users, records.items)
    tables = [
        _all_features(what, record, given, X, grown, new.shape)
        for what, record, given in zip(("user", "item"), known, features, strict=True)
    ]
    maps: list[Any] = [None if t is None or r is None else FeatureMap.again(r, t) for r, t in zip(known, tables)]
    columns = tuple(None if record is None else record["columns"] for record in known)
    side = SideInformation(maps[0], maps[1], columns=(columns[0], columns[1]))
    if timestamps is not None:
        drift = records.timed()
        times = np.concatenate([drift["times"], entry_times(X, timestamps, new)[0]])[which]
        calendar = Calendar.again(drift)
        side = SideInformation(
            maps[0], maps[1], times, calendar.n_bins, drift["ridge"], calendar, drift["scale"], side.columns,
            drift["dates"],
        )  # fmt: skip
    return grown._replace(seen=seen), side


def _all_features(what: str, record: dict | None, given, X, grown: Grown, shape: tuple[int, int]) -> NDArray | None:
    """Gather the features of all users (items), in the units of the fit; those of the average where none are known."""
    if record is None and given is not None:
        raise ValueError(f"the model was fitted without {what}_features: leave them out, or fit again with all")
    if record is None:
        return None
    axis = 0 if what == "user" else 1
    table = np.zeros((grown.seen.shape[axis], record["table"].shape[1]))
    table[:, -1] = 1
    table[: len(record["table"])] = record["table"]
    if given is not None:
        names = ids_of(X, what)
        rows, _ = table_of(given, shape[axis], names, what)
        all_ids = grown.user_ids if what == "user" else grown.item_ids
        at = np.arange(shape[axis]) + (len(record["table"]) if what == "user" else 0)
        if all_ids is not None and names is not None:
            at = find(list(names), all_ids, len(all_ids), what)
        table[at] = with_constant((same_width(rows, record, what) - record["mean"]) / record["scale"])
    return table


def _numbered(X: sp.csr_array, first: int) -> sp.csr_array:
    """Number the entries: their positions are the values."""
    return sp.csr_array((np.arange(first, first + X.nnz), X.indices, X.indptr), shape=X.shape)
