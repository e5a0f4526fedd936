"""Turn a frame of (user, item, value) triples into a sparse table that remembers the ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.recommending.ids import numbered
from unweave.data.named import NamedTable

DUPLICATES = ("mean", "last", "sum", "error")


@dataclass(frozen=True, repr=False)
class Ratings(NamedTable):
    """Keep ratings with the ids of users and items as they were given: what :func:`ratings` returns.

    A :class:`unweave.NamedTable` of kind "ratings": `X` is a CSR array whose stored entries are the ratings and whose
    other entries are unknown, `rows` and `columns` are the ids as text, `times` belong to the stored entries in order.

    Parameters
    ----------
    user_ids, item_ids : array of objects
        The ids of the rows and columns of X, in order of first appearance.
    """

    user_ids: NDArray | None = None
    item_ids: NDArray | None = None

    def __post_init__(self):
        super().__post_init__()
        for name, ids, size in (("user_ids", self.user_ids, self.shape[0]), ("item_ids", self.item_ids, self.shape[1])):
            if ids is not None and len(ids) != size:
                raise ValueError(f"{name} has {len(ids)} ids, but X has shape {self.shape}")

    def __repr__(self) -> str:
        return f"Ratings({self.shape[0]} users × {self.shape[1]} items, {self.X.nnz} ratings)"


def ratings(frame, *, user: str, item: str, value: str | None = None, time: str | None = None, duplicates="mean"):
    """Turn a frame with one rating per row into a table, users × items, for every recommender's ``fit``.

    Columns are named, never guessed. Sparse means unobserved: pairs that do not occur are unknown, and a rating of 0 is
    a rating (it is stored).

    Parameters
    ----------
    frame : pandas or polars data frame, or dict of columns
    user, item : str
        Columns with the ids: any hashable values; they come back as they went in.
    value : str, optional
        Column with the ratings or counts; without it every pair counts 1 (bought, clicked).
    time : str, optional
        Column with timestamps (numbers or dates), in any order.
    duplicates : {"mean", "last", "sum", "error"}
        What a pair that occurs several times is worth. "last" is the latest by `time`, or the lowest row of the frame
        when there is no `time` or it is equal. The time of a pair is its latest.

    Returns
    -------
    Ratings

    Examples
    --------
    >>> table = ratings({"who": ["ann", "bob", "ann"], "what": [7, 7, 3], "stars": [5, 3, 1]}, user="who", item="what",
    ...                 value="stars")
    >>> table
    Ratings(2 users × 2 items, 3 ratings)
    >>> table.item_ids.tolist(), table.X.toarray().tolist()
    ([7, 3], [[5.0, 1.0], [3.0, 0.0]])
    """
    if duplicates not in DUPLICATES:
        raise ValueError(f"duplicates={duplicates!r} is not known; use one of {', '.join(map(repr, DUPLICATES))}")
    columns = _columns(frame, {"user": user, "item": item, "value": value, "time": time})
    user_ids, users = numbered(columns["user"], user)
    item_ids, items = numbered(columns["item"], item)
    values = _values(columns["value"], value) if value is not None else np.ones(len(users))
    times = _times(columns["time"], time) if time is not None else None
    X, when, repeated = _table(users, items, values, times, (len(user_ids), len(item_ids)), duplicates)
    notes = [f"{repeated} ratings of pairs that occur several times: {duplicates}"] if repeated else []
    return Ratings(
        X, [str(u) for u in user_ids], [str(i) for i in item_ids], missing="zeros", kind="ratings", times=when,
        notes=notes, source="ratings", user_ids=user_ids, item_ids=item_ids,
    )  # fmt: skip


def refuse_triples(X) -> None:
    """Raise if a frame holds one rating per row, where a table of users × items is wanted.

    Such a frame has two columns of ids (texts or whole numbers) that repeat, in pairs that do not, and no holes.
    """
    if isinstance(X, Mapping) and not sp.issparse(X):  # a sparse table may be a dict of its entries
        kind = "a dict of columns"
    elif _holds_triples(X):
        kind = "a frame that seems to hold one rating per row"
    else:
        return
    raise ValueError(
        f"X is {kind}, but fit takes a table of users × items: make it one by unweave.ratings(frame, user=..., "
        "item=..., value=...); if it is a table already, give its numbers alone (frame.to_numpy())"
    )


def _holds_triples(X) -> bool:
    if isinstance(X, NamedTable) or not hasattr(X, "columns") or not hasattr(X, "__getitem__"):
        return False
    columns = [np.asarray(X[name]) for name in X.columns] if 3 <= len(X.columns) <= 6 else []
    if not columns or len(columns[0]) < 2:
        return False
    ids = [column for column in columns[:-1] if column.dtype.kind in "iuOUT"]
    numbers = [column for column in columns if column.dtype.kind in "iuf"]
    if len(ids) < 2 or not numbers or any(np.isnan(column).any() for column in numbers if column.dtype.kind == "f"):
        return False
    pairs = set(zip(ids[0].tolist(), ids[1].tolist(), strict=True))
    return len(pairs) == len(columns[0]) and all(len(set(column.tolist())) < len(pairs) for column in ids[:2])


def _columns(frame, names: dict) -> dict:
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    if not isinstance(frame, Mapping) and not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a pandas or polars data frame or a dict of columns, got {type(frame).__name__}")
    has = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    columns = {}
    for argument, name in names.items():
        if name is None:
            continue
        if name not in has:
            raise ValueError(f"{argument}={name!r} is not a column of the frame, which has {', '.join(map(repr, has))}")
        columns[argument] = frame[name]
    sizes = {names[argument]: len(column) for argument, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the columns have different lengths: {sizes}")
    if not len(columns["user"]):
        raise ValueError("the frame is empty: there is no rating in it")
    return columns


def _values(column, name: str) -> NDArray:
    try:
        given = np.asarray(column)
        values = given if given.dtype in (np.float32, np.float64) else np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"value={name!r} must be a column of numbers ({error})") from error
    bad = ~np.isfinite(values)
    if bad.any():
        raise ValueError(
            f"column {name!r} has {int(bad.sum())} ratings that are NaN or infinite, the first in row "
            f"{int(bad.argmax())}: drop these rows (a pair that is not there is unknown already)"
        )
    return values


def _times(column, name: str) -> NDArray:
    times = np.asarray(column)
    if times.dtype == object:
        try:
            times = times.astype("datetime64[ns]")
        except (TypeError, ValueError):
            times = _numbers(times, name)
    if times.dtype.kind not in "iufM":
        raise ValueError(f"time={name!r} must be a column of numbers or dates, got {times.dtype}; parse it first")
    bad = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if bad.any():
        raise ValueError(
            f"column {name!r} has {int(bad.sum())} times that are missing or infinite, the first in row "
            f"{int(bad.argmax())}: drop these rows, or leave out time="
        )
    return times


def _numbers(times: NDArray, name: str) -> NDArray:
    try:
        return times.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"time={name!r} must be a column of numbers or dates ({error}); parse it first") from error


def _table(users, items, values, times, shape, duplicates):
    """Build (the CSR array, times of its entries, number of ratings whose pair had occurred before)."""
    by_item = _stable(items, shape[1])
    order = by_item[_stable(users[by_item], shape[0])]  # what is equal stays in the order of the frame
    users, items = users[order], items[order]
    last = np.ones(len(users), bool)
    np.logical_or(users[1:] != users[:-1], items[1:] != items[:-1], out=last[:-1])
    repeated = int(len(last) - last.sum())
    if repeated and duplicates == "error":
        raise ValueError(
            f"{repeated} ratings repeat a pair of user and item; say duplicates='mean', 'last' or 'sum' to merge them"
        )
    if repeated and times is not None:
        _sort_repeated(order, last, times)
    values, times = values[order], None if times is None else times[order]
    if repeated:
        values = _merged(values, last, duplicates)
        users, items, times = users[last], items[last], None if times is None else times[last]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=shape[0]))])
    index = np.int32 if max(len(users), *shape) < 2**31 else np.int64
    return sp.csr_array((values, items.astype(index), indptr.astype(index)), shape=shape), times, repeated


def _sort_repeated(order: NDArray, last: NDArray, times: NDArray) -> None:
    """Put the ratings of each pair that occurs several times in the order of their times, in place."""
    group = np.cumsum(last) - last
    first = np.concatenate([[True], last[:-1]])
    several = np.flatnonzero(~(first & last))
    rows = order[several]
    order[several] = rows[np.lexsort((times[rows], group[several]))]


def _stable(keys: NDArray, size: int) -> NDArray:
    """Sort as ``argsort(keys, kind="stable")`` does, by counting: row t of the transpose lists key t in order."""
    n = len(keys)
    index = np.int32 if max(n, size) < 2**31 else np.int64
    once = sp.csr_array((np.ones(n, np.bool_), keys.astype(index), np.arange(n + 1, dtype=index)), shape=(n, size))
    return once.tocsc().indices


def _merged(values: NDArray, last: NDArray, duplicates: str) -> NDArray:
    if duplicates == "last":
        return values[last]
    first = np.flatnonzero(np.concatenate([[True], last[:-1]]))
    sums = np.add.reduceat(values.astype(np.float64), first)
    if duplicates == "mean":
        sums /= np.diff(np.append(first, len(values)))
    return sums.astype(values.dtype)
