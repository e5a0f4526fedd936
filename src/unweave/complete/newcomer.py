"""The ratings of one new user, however they are written down, as positions and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from unweave.complete.ids import find, refuse_unknown
from unweave.complete.who import is_table, rows_of


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
        raise ValueError("ratings name an item twice; give one rating an item")
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
