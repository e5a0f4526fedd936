"""Number the ids of users and items: any hashable value becomes a position and comes back as it went in."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

Lookup = dict

# id of an array of ids → (the array, position of every id). On the estimator itself it would be saved with the model.
_LOOKUPS: dict[int, tuple[weakref.ref, Lookup]] = {}


def numbered(column, name: str) -> tuple[NDArray, NDArray]:
    """(the distinct ids in order of first appearance, as objects; the position among them of every entry).

    Whole numbers are counted or sorted, frames number their own texts, everything else goes through a dict.

    >>> ids, places = numbered(["b", "a", "b", ("x", 1)], "user")
    >>> ids.tolist(), places.tolist()
    (['b', 'a', ('x', 1)], [0, 1, 0, 2])
    """
    kind = type(column).__module__.partition(".")[0]
    if kind == "polars":
        return _polars_numbered(column, name)
    if kind == "pandas":
        return _pandas_numbered(column, name)
    values = column if isinstance(column, np.ndarray) else _as_array(column)
    if values.ndim != 1:
        raise ValueError(f"column {name!r} must have one dimension, got {values.ndim}")
    if values.dtype.kind in "iub":
        return _in_order(*_sorted_codes(values))
    if values.dtype.kind == "f":
        _refuse(np.isnan(values), name)
    return _hashed(values.tolist(), name)


def objects(ids: Iterable) -> NDArray:
    """A one-dimensional array of objects, tuples left whole.

    >>> objects([("a", 1), 2]).tolist()
    [('a', 1), 2]
    """
    items = list(ids)
    out = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        out[i] = item
    return out


def lookup(ids: NDArray) -> Lookup:
    """Position of every id in an array of ids; built once for an array, and forgotten with it.

    >>> lookup(objects(["b", 7]))[7]
    1
    """
    known = _LOOKUPS.get(id(ids))
    if known is not None and known[0]() is ids:
        return known[1]
    places = {name: i for i, name in enumerate(ids.tolist())}
    key = id(ids)
    _LOOKUPS[key] = (weakref.ref(ids, lambda _: _LOOKUPS.pop(key, None)), places)
    return places


def find(wanted: Iterable, ids: NDArray | None, size: int, what: str) -> NDArray:
    """Positions of the ids wanted, -1 for the unknown ones; with ``ids=None`` positions are the ids.

    >>> find(["c", "b"], objects(["a", "b"]), 2, "user").tolist(), find([1, 9], None, 2, "user").tolist()
    ([-1, 1], [1, -1])
    """
    if ids is None:
        return _positions(wanted, size, what)
    places = lookup(ids)
    listed = wanted.tolist() if isinstance(wanted, np.ndarray) else list(wanted)
    try:
        return np.fromiter(map(places.get, listed, repeat(-1)), np.int64, len(listed))
    except TypeError as error:
        raise TypeError(
            f"an id of a {what} must be hashable ({error}); give the ids that the model was fitted to"
        ) from error


def refuse_unknown(wanted: Iterable, places: NDArray, what: str, remedy: str) -> None:
    """Raise if a position is -1, naming the first few ids."""
    if (places >= 0).all():
        return
    listed = wanted.tolist() if isinstance(wanted, np.ndarray) else list(wanted)
    lost = [repr(listed[i]) for i in np.flatnonzero(places < 0)[:3]]
    count = int((places < 0).sum())
    more = f" and {count - 3} more" if count > 3 else ""
    raise ValueError(f"the model does not know the {what}{'s' if count > 1 else ''} {', '.join(lost)}{more}; {remedy}")


def _positions(wanted: Iterable, size: int, what: str) -> NDArray:
    places = np.asarray(wanted if isinstance(wanted, np.ndarray) else list(wanted))
    if not places.size:
        return np.empty(0, np.int64)
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise TypeError(f"positions of {what}s must be whole numbers from 0, got {_shown(places)}")
    if places.dtype.kind == "i" and (places < 0).any():
        raise ValueError(f"positions of {what}s must be whole numbers from 0, got {int(places.min())}")
    return np.where(places < size, places, -1).astype(np.int64)


def _shown(places: NDArray) -> str:
    return repr(places.ravel()[:3].tolist()) if places.dtype == object else f"an array of {places.dtype}"


# -- numbering -----------------------------------------------------------------------------------------------------


def _as_array(column) -> NDArray:
    """A list of plain whole numbers as an array; anything else as objects, so that 1 and "1" stay two ids."""
    items = list(column)
    whole = set(map(type, items)) == {int} and max(map(abs, items)) < 1 << 62
    return np.array(items, np.int64) if whole else objects(items)


def _sorted_codes(values: NDArray) -> tuple[NDArray, NDArray]:
    """Distinct whole numbers in ascending order and the place of each entry."""
    if values.dtype.kind == "b":
        names, codes = np.unique(values, return_inverse=True)
        return names, codes.reshape(-1)
    from unweave.data.readers.build import whole_number_codes

    return whole_number_codes(values.astype(np.int64) if values.dtype.itemsize < 8 else values)


def _in_order(names: NDArray, codes: NDArray) -> tuple[NDArray, NDArray]:
    """Renumbered by first appearance."""
    first = np.full(len(names), len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several writes to one place the last one stays
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    return names[order].astype(object), rank[codes]


def _hashed(items: list, name: str) -> tuple[NDArray, NDArray]:
    places: dict = {}
    try:
        codes = np.fromiter((places.setdefault(item, len(places)) for item in items), np.int64, len(items))
    except TypeError as error:
        raise TypeError(f"column {name!r} holds ids that are not hashable ({error})") from error
    ids = objects(places)
    _refuse(np.array([item is None or item != item for item in ids], bool)[codes], name)
    return ids, codes


def _refuse(holes: NDArray, name: str) -> None:
    if holes.any():
        raise ValueError(
            f"column {name!r} has {int(holes.sum())} missing ids, the first in row {int(holes.argmax())}: "
            "drop these rows"
        )


def _pandas_numbered(column, name: str) -> tuple[NDArray, NDArray]:
    import pandas

    codes, distinct = pandas.factorize(column)
    _refuse(codes < 0, name)
    return objects(distinct.tolist()), codes


def _polars_numbered(column, name: str) -> tuple[NDArray, NDArray]:
    import polars as pl

    if column.null_count():
        _refuse(column.is_null().to_numpy(), name)
    if column.dtype.is_integer():
        return numbered(column.to_numpy(), name)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return _hashed(column.to_list(), name)
    texts = column.cast(pl.String)
    distinct = texts.unique(maintain_order=True)
    return objects(distinct.to_list()), texts.cast(pl.Enum(distinct)).to_physical().to_numpy()
