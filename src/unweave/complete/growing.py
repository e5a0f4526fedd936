"""More ratings for a fitted recommender: of users it knows and of new ones, for items it knows and new ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ids import find, objects


class Grown(NamedTuple):
    """All entries so far, and the ids of rows and columns (None when positions are the ids)."""

    seen: sp.csr_array
    user_ids: NDArray | None
    item_ids: NDArray | None


def grow(seen: sp.csr_array, user_ids, item_ids, new: sp.csr_array, new_users, new_items) -> Grown:
    """Entries seen before with new ones added; a new rating of a known pair takes the place of the old one.

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
    """Where each given row (or column) goes, and all ids afterwards."""
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
