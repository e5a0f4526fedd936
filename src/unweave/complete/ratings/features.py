"""Read what is known about users or items besides their ratings: a table of numbers that remembers the ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.recommending.ids import find, numbered, objects, refuse_unknown
from unweave.data.named import NamedTable
from unweave.data.storage import as_dense

MOST = 4096  # columns: the map from features is found by a Cholesky factor of their Gram


@dataclass(frozen=True, repr=False)
class Features:
    """Keep features of users or items by id: what :func:`features` returns and `fit` takes.

    Parameters
    ----------
    X : array (n, p)
    columns : list of str
        A column of text gives one column "name=level" for each of its levels.
    ids : array of objects
        Ids of the rows.
    """

    X: NDArray
    columns: list[str]
    ids: NDArray

    def __repr__(self) -> str:
        return f"Features({self.X.shape[0]} ids × {self.X.shape[1]} columns)"


def features(frame, *, id: str) -> Features:
    """Turn a frame with one user or item per row into numbers.

    Use it for ``fit(ratings, user_features=..., item_features=...)``.

    Columns of numbers and Booleans stay, every other column becomes one column of zeros and ones for each level.

    Parameters
    ----------
    frame : pandas or polars data frame, or dict of columns
    id : str
        The column of ids, those of the ratings.

    Examples
    --------
    >>> table = features({"who": ["ann", "bob"], "age": [30, 40], "job": ["cook", "clerk"]}, id="who")
    >>> table.columns, table.X.tolist()
    (['age', 'job=clerk', 'job=cook'], [[30.0, 0.0, 1.0], [40.0, 1.0, 0.0]])
    """
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas or polars data frame or a dict of columns, got {type(frame).__name__}")
    has = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    if id not in has:
        raise ValueError(f"id={id!r} is not a column of the frame, which has {', '.join(map(repr, has))}")
    ids, places = numbered(frame[id], id)
    if len(ids) < len(places):
        raise ValueError(f"column {id!r} names an id twice; give one row per id")
    names, columns = [], []
    for name in has:
        if name != id:
            more = _encoded(frame[name], str(name), len(ids))
            names += list(more)
            columns += list(more.values())
    if not columns:
        raise ValueError(f"the frame has no column besides {id!r}: there are no features in it")
    return Features(np.column_stack(columns), names, ids)


def _encoded(column, name: str, size: int) -> dict[str, NDArray]:
    values = np.asarray(column)
    if len(values) != size:
        raise ValueError(f"column {name!r} has {len(values)} values for {size} ids")
    if values.dtype.kind in "iufb":
        return {name: values.astype(np.float64)}
    given = np.asarray(column, dtype=object)
    if any(v is None or v != v for v in given):
        raise ValueError(f"column {name!r} has missing values; fill them first, or make them a level of their own")
    texts = np.array([str(v) for v in given])
    return {f"{name}={level}": (texts == level).astype(np.float64) for level in np.unique(texts)}


def table_of(given, size: int, ids: NDArray | None, what: str) -> tuple[NDArray, list[str] | None]:
    """Read (features of the rows of X or its columns, in order; their names) from an array, a frame or Features."""
    if isinstance(given, Features):
        if ids is None:
            raise ValueError(
                f"{what}_features have ids and X has none: fit unweave.ratings(...), or give an array in the order of X"
            )
        found = find(list(ids), given.ids, len(given.ids), what)
        refuse_unknown(ids, found, what, f"add a row for it to {what}_features")
        table: NDArray = given.X[found]
        names: list[str] | None = given.columns
    else:
        names = [str(c) for c in given.columns] if hasattr(given, "columns") else None
        table = _numbers(as_dense(given), what)
    if table.ndim != 2 or table.shape[0] != size:
        raise ValueError(f"{what}_features has shape {table.shape}, but X has {size} {what}s: give one row for each")
    if not table.shape[1] or table.shape[1] > MOST:
        raise ValueError(
            f"{what}_features has {table.shape[1]} columns; give from 1 to {MOST} (TruncatedSVD makes fewer of many)"
        )
    _need_finite(table, what)
    return table, names


def rows_for(given, listed, wanted: NDArray, record: dict, what: str) -> NDArray:
    """Read the features of some of the ids `listed` (those at `wanted`), as :meth:`predict` takes them."""
    if isinstance(given, Features):
        ids = objects(listed[at] for at in wanted)
        return same_width(table_of(given, len(ids), ids, what)[0], record, what)
    if isinstance(given, Mapping) or (isinstance(given, list) and given and isinstance(given[0], Mapping)):
        rows = [given] if isinstance(given, Mapping) else given
        if len(rows) != len(listed):
            raise ValueError(f"{what}_features has {len(rows)} rows for {len(listed)} {what}s: give one for each")
        return np.stack([row_of(rows[at], record, what) for at in wanted])
    given = np.asarray(given)[None, :] if len(listed) == 1 and np.ndim(given) == 1 else given
    return same_width(table_of(given, len(listed), None, what)[0], record, what)[wanted]


def same_width(table: NDArray, record: dict, what: str) -> NDArray:
    """Return the table if it has as many columns as the features of the fit, or raise."""
    if table.shape[1] != len(record["mean"]):
        raise ValueError(f"{what}_features must have {len(record['mean'])} columns as in fit, got {table.shape[1]}")
    return table


def row_of(given, record: dict, what: str) -> NDArray:
    """Read one row of features for a fitted record: as many numbers, or a dict of column → value."""
    names = record["columns"]
    if isinstance(given, Mapping):
        if names is None:
            raise TypeError(f"features of this {what} must be {len(record['mean'])} numbers: fit had no column names")
        return _by_name(given, names, what)
    row = _numbers(as_dense(given), what).reshape(1, -1)
    _need_finite(row, what)
    return same_width(row, record, what)[0]


def _by_name(given: Mapping, names: list[str], what: str) -> NDArray:
    plain = {str(key): value for key, value in given.items()}
    asked = {name if name in plain else name.partition("=")[0] for name in names}
    if lost := sorted(asked - set(plain)):
        raise ValueError(f"features of a {what} lack {', '.join(map(repr, lost[:3]))}; give every column of the fit")
    if strange := sorted(set(plain) - asked):
        raise ValueError(f"the model knows no feature {', '.join(map(repr, strange[:3]))} of a {what}; leave it out")
    row = np.zeros(len(names))
    for j, name in enumerate(names):
        column, _, level = name.partition("=")
        row[j] = _number(plain[name], name) if name in plain else float(str(plain[column]) == level)
    for column in sorted(asked - set(names)):
        if not any(row[j] for j, name in enumerate(names) if name.partition("=")[0] == column):
            raise ValueError(f"the feature {column!r} of a {what} had no level {plain[column]!r} in fit")
    _need_finite(row, what)
    return row


def _number(value, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the feature {name!r} must be a number, got {value!r}") from error


def _numbers(given, what: str) -> NDArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}_features must be numbers ({error}); unweave.features encodes texts") from error


def _need_finite(table: NDArray, what: str) -> None:
    if not np.isfinite(table).all():
        raise ValueError(f"{what}_features hold NaN or infinity; fill these values first")


# -- ids that have features but no rating --------------------------------------------------------------------------


def ids_of(X, what: str) -> NDArray | None:
    """Find the ids of the users (rows) or items (columns) of a table, None when it has none."""
    ids = getattr(X, f"{what}_ids", None)
    if ids is None and isinstance(X, NamedTable):
        names = X.rows if what == "user" else X.columns
        return None if names is None else objects(names)
    return ids


def joined(X, user_features, item_features):
    """Add to a table an empty row (column) for every id of :class:`Features` that it lacks.

    >>> import unweave
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
