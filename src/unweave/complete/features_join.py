"""Ids that have features but no rating: they join a table as empty rows and columns."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.features import Features
from unweave.complete.recommending.ids import find, objects
from unweave.data.named import NamedTable


def ids_of(X, what: str) -> NDArray | None:
    """Ids of the users (rows) or items (columns) of a table, None when it has none."""
    ids = getattr(X, f"{what}_ids", None)
    if ids is None and isinstance(X, NamedTable):
        names = X.rows if what == "user" else X.columns
        return None if names is None else objects(names)
    return ids


def joined(X, user_features, item_features):
    """`X` with a row (column) without ratings for every id of :class:`Features` that it lacks.

    >>> import unweave
    >>> from unweave.complete.features import features
    >>> table = unweave.ratings({"u": ["ann"], "i": ["tea"]}, user="u", item="i")
    >>> both = joined(table, features({"u": ["bob", "ann"], "age": [1, 2]}, id="u"), None)
    >>> both.user_ids.tolist(), both.shape
    (['ann', 'bob'], (2, 1))
    """
    if not (isinstance(X, NamedTable) and X.sparse):
        return X
    rows, columns = _lacking(X, user_features, "user"), _lacking(X, item_features, "item")
    if not len(rows) and not len(columns):
        return X
    shape = (X.shape[0] + len(rows), X.shape[1] + len(columns))
    csr = sp.csr_array(X.X)
    indptr = np.concatenate([csr.indptr, np.full(len(rows), csr.indptr[-1], csr.indptr.dtype)])
    changes: dict = {"X": sp.csr_array((csr.data, csr.indices, indptr), shape=shape)}
    for more, what, names in ((rows, "user", "rows"), (columns, "item", "columns")):
        ids, texts = getattr(X, f"{what}_ids", None), getattr(X, names)
        if ids is not None:
            changes[f"{what}_ids"] = objects([*ids, *more])
        if texts is not None:
            changes[names] = [*texts, *map(str, more)]
    return X.with_(**changes)


def _lacking(X, given, what: str) -> list:
    ids = ids_of(X, what)
    if not isinstance(given, Features) or ids is None:
        return []
    found = find(list(given.ids), ids, len(ids), what)
    return [given.ids[at] for at in np.flatnonzero(found < 0)]
