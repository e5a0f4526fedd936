"""Match two frames of ratings whose ids differ: put the entries of one in the places of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable


def ids_of(table, what: str) -> list | None:
    """Take the ids of the users (rows) or items (columns) of a table that knows them."""
    if not isinstance(table, NamedTable):
        return None
    ids = getattr(table, f"{what}_ids", None)
    names = table.rows if what == "user" else table.columns
    return list(ids) if ids is not None else None if names is None else list(names)


@dataclass(frozen=True)
class Matched:
    """Hold a table in the places of another, and how many of its ratings, users and items have no place there."""

    table: object
    ratings: int = 0
    users: int = 0
    items: int = 0

    def said(self, where: str) -> str:
        """Say what was left out, in words; empty if nothing was."""
        if not self.ratings:
            return ""
        return (
            f"{self.ratings} ratings are left out: {where} does not know {self.users} of their users and {self.items} "
            "of their items"
        )


def matched(table, user_ids: list | None, item_ids: list | None) -> Matched:
    """Put the entries of a sparse table in the places that `user_ids` and `item_ids` give its ids.

    None leaves a side as it is, and so does a table that knows no ids. Ratings of ids that have no place are left out.

    >>> import unweave
    >>> test = unweave.ratings({"u": ["bob", "eve"], "i": ["pie", "jam"], "v": [5, 1]}, user="u", item="i", value="v")
    >>> found = matched(test, ["ann", "bob"], ["jam", "pie"])
    >>> found.table.X.toarray().tolist(), found.said("train")
    ([[0.0, 0.0], [0.0, 5.0]], '1 ratings are left out: train does not know 1 of their users and 0 of their items')
    """
    mine = [ids_of(table, what) for what in ("user", "item")]
    wanted = [
        None if theirs is None or ours is None or list(theirs) == ours else list(theirs)
        for ours, theirs in zip(mine, (user_ids, item_ids), strict=True)
    ]
    if all(ids is None for ids in wanted):
        return Matched(table)
    assert isinstance(table, NamedTable)
    if not table.sparse:
        raise ValueError("the table has other users or items than the model, or in another order; split one table")
    coo = sp.coo_array(table.X)
    places = [_places(ours, ids, at) for ours, ids, at in zip(mine, wanted, (coo.row, coo.col), strict=True)]
    kept = (places[0] >= 0) & (places[1] >= 0)
    lost = [len(np.unique(at[place < 0])) for place, at in zip(places, (coo.row, coo.col), strict=True)]
    shape = tuple(n if ids is None else len(ids) for n, ids in zip(table.shape, wanted, strict=True))
    order = np.lexsort((places[1][kept], places[0][kept]))
    at = (places[0][kept][order], places[1][kept][order])
    X = sp.csr_array((coo.data[kept][order], at), shape=shape)
    times = None if table.times is None or len(table.times) != len(kept) else np.asarray(table.times)[kept][order]
    changes: dict = {"X": X, "times": times}
    for what, names, ids in (("user", "rows", wanted[0]), ("item", "columns", wanted[1])):
        if ids is not None:
            changes[names] = [str(name) for name in ids]
            if getattr(table, f"{what}_ids", None) is not None:
                changes[f"{what}_ids"] = _objects(ids)
    return Matched(table.with_(**changes), int((~kept).sum()), *lost)


def _places(ours: list | None, theirs: list | None, at: NDArray) -> NDArray:
    """Find where each entry goes, -1 for nowhere."""
    if theirs is None or ours is None:
        return at.astype(np.int64)
    known = {name: place for place, name in enumerate(theirs)}
    return np.array([known.get(name, -1) for name in ours], np.int64)[at]


def _objects(ids: list) -> NDArray:
    out = np.empty(len(ids), dtype=object)
    for place, name in enumerate(ids):
        out[place] = name
    return out
