"""Brings columns to one scale: decides whether it is needed, and finds what is subtracted and divided by."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.encode import Part
from unweave.data.named import NamedTable

SCALES = ("auto", "none", "standard", "unit")
_UNLIKE = 10.0  # ratio of the largest to the smallest spread from which columns count as being in unlike units
_DONE = {"standard": "standardised (mean 0, standard deviation 1)", "unit": "divided by its standard deviation"}

ShiftAndScale = tuple[NDArray | None, NDArray | None]


def scale_numbers(table: NamedTable, scale: str, centre: bool, notes: list[str]) -> ShiftAndScale:
    """Find the shift and scale of a table of numbers; None where nothing is done."""
    if scale == "none" or (scale == "auto" and (table.sparse or table.kind != "table")):
        return None, None
    if table.sparse:
        if scale == "standard":
            raise ValueError("scale='standard' would fill a sparse table; use scale='unit' or 'none'")
        squares = np.asarray(table.X.multiply(table.X).mean(axis=0)).ravel()
        return None, np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny))
    means = np.asarray(np.nanmean(table.X, axis=0, dtype=np.float64))
    spreads = np.asarray(np.nanstd(table.X, axis=0, dtype=np.float64))
    if scale == "auto":
        if spreads.max() <= _UNLIKE * spreads.min():
            return None, None
        scale = "standard" if centre else "unit"
        ratio = f"{spreads.max() / spreads.min():,.0f}"
        notes.append(f"columns are in unlike units (spreads differ {ratio}-fold): each was {_DONE[scale]}")
    else:
        notes.append(f"each column was {_DONE[scale]}, as asked")
    return (means if scale == "standard" else None), spreads


def scale_blocks(X: NDArray, parts: list[Part], scale: str, centre: bool, notes: list[str]) -> ShiftAndScale:
    """Find the shift and scale of a table with categories or dates, whose units are unlike by nature.

    The columns of one category are divided by one number, so that their variances add up to 1: a category counts as
    much as a number, however many levels it has.
    """
    if scale == "none":
        return None, None
    asked, scale = scale, ("standard" if centre else "unit") if scale == "auto" else scale
    means = np.nanmean(X, axis=0)
    variances, divisors, start = np.nanvar(X, axis=0), np.empty(X.shape[1]), 0
    for block in (block for part in parts for block in part.blocks):
        here = slice(start, start + len(block))
        spread = np.sqrt(variances[here].sum())
        divisors[here], start = spread if spread > 0 else 1.0, here.stop
    notes.append(
        f"each number was {_DONE[scale]}{', as asked' if asked != 'auto' else ''}, and the columns of a category "
        "together count as much as one number"
    )
    return (means if scale == "standard" else None), divisors


def divide(X, scale: NDArray):
    """Divide the columns of a table, sparse or not."""
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array((1 / scale).astype(X.dtype)))
    return X / scale.astype(X.dtype)
