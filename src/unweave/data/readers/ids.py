"""Ids of rows and columns turned into numbers from 0."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"-?[0-9]+")


def whole_number_codes(ids: NDArray) -> tuple[NDArray, NDArray]:
    """(the distinct ids in ascending order, the place among them of every id).

    A table of flags when ids are dense, which needs no sorting; otherwise a sort.

    >>> names, codes = whole_number_codes(np.array([30, 7, 30]))
    >>> names.tolist(), codes.tolist()
    ([7, 30], [1, 0, 1])
    """
    if not len(ids):
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    low, high = int(ids.min()), int(ids.max())
    if high - low > 4 * len(ids) + 1_000_000:
        names, codes = np.unique(ids, return_inverse=True)
        return names, codes.reshape(-1).astype(np.int32)
    shifted = ids if low == 0 else ids - low
    seen = np.zeros(high - low + 1, bool)
    seen[shifted] = True
    places = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(seen) + low, places[shifted]


class TextIds:
    """Text ids numbered as they appear; whole numbers written as text are put in the order of their values at the end.

    >>> ids = TextIds()
    >>> ids.add(["b", "a", "b"]).tolist(), ids.add(["c", "a"]).tolist()
    ([0, 1, 0], [2, 1])
    >>> ids.finish(np.array([0, 1, 0, 2, 1]))[0]
    ['b', 'a', 'c']
    """

    def __init__(self):
        self._places: dict[str, int] = {}

    def add(self, ids) -> NDArray:
        """The numbers of some ids: a list of str or a polars series."""
        distinct, codes = _distinct(ids)
        places = self._places
        known = np.fromiter((places.setdefault(name, len(places)) for name in distinct), np.int32, len(distinct))
        return known[codes]

    def finish(self, codes: NDArray) -> tuple[list[str], NDArray]:
        """(names, codes): all names, and the numbers given so far renumbered if the names are whole numbers."""
        names = list(self._places)
        if not all(_WHOLE.fullmatch(name) for name in names) or any(len(name) > 4000 for name in names):
            return names, codes
        order = sorted(range(len(names)), key=lambda i: (int(names[i]), i))
        places = np.empty(len(names), np.int32)
        places[order] = np.arange(len(names), dtype=np.int32)
        return [names[i] for i in order], places[codes]


def _distinct(ids) -> tuple[list[str], NDArray]:
    if isinstance(ids, list):
        places: dict[str, int] = {}
        codes = [places.setdefault(name, len(places)) for name in ids]
        return list(places), np.array(codes, np.int32)
    import polars as pl

    distinct = ids.unique(maintain_order=True)
    return distinct.to_list(), ids.cast(pl.Enum(distinct)).to_physical().to_numpy()
