"""Timestamps as they are given, as one float64 a rating: numbers as they are, dates as seconds."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable


def numbers_of(timestamps) -> tuple[NDArray, bool]:
    """(float64 in any shape, whether they were dates); missing ones stay NaN.

    >>> import numpy as np
    >>> numbers_of(np.array(["1970-01-01T00:01"], "datetime64[m]")), numbers_of([5])
    ((array([60.]), True), (array([5.]), False))
    """
    given = np.asarray(timestamps)
    if given.dtype == object:
        given = _parsed(given)
    if given.dtype.kind == "M":
        whole = given.astype("datetime64[us]")
        return np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / 1e6), True
    if given.dtype.kind not in "iuf":
        raise TypeError(f"timestamps must be numbers or dates (datetime64), got {given.dtype}; parse them first")
    return given.astype(np.float64), False


def _parsed(given: NDArray) -> NDArray:
    for kind in ("datetime64[us]", np.float64):
        try:
            return given.astype(kind)
        except (TypeError, ValueError):
            continue
    raise TypeError("timestamps must be numbers or dates (datetime64), got objects; parse them first")


def entry_times(X, timestamps, seen: sp.csr_array) -> tuple[NDArray, bool]:
    """(the time of every entry of `seen`, in its order; whether these were dates).

    `X` is the table as it was given, `seen` its observed entries. Timestamps are one for each stored entry of a sparse
    X in the order of ``X.data``, one for each observed entry of a dense X row by row, or an array of X's shape.
    """
    plain = X.X if isinstance(X, NamedTable) else X
    given, dates = numbers_of(timestamps)
    if given.shape == tuple(seen.shape):
        times = given[np.repeat(np.arange(seen.shape[0]), np.diff(seen.indptr)), seen.indices]
    elif sp.issparse(plain):
        times = given[_order(plain, given.shape)]
    elif given.shape == (seen.nnz,):
        times = given
    else:
        raise ValueError(
            f"timestamps has shape {given.shape}, but X has shape {tuple(seen.shape)} and {seen.nnz} observed "
            "entries: give an array of X's shape, or one time for each observed entry, row by row"
        )
    refuse_holes(times)
    return times, dates


def _order(X, shape: tuple[int, ...]) -> NDArray:
    """Where in ``X.data`` each observed entry is, row by row."""
    if X.format not in ("csr", "csc", "coo"):
        raise TypeError(f"timestamps need X as a CSR, CSC or COO array, got {X.format}; call X.tocsr() first")
    if shape != (X.nnz,):
        raise ValueError(f"timestamps has shape {shape}, but X stores {X.nnz} entries: give one time for each of them")
    numbered = X.copy()
    numbered.data = np.arange(1, X.nnz + 1, dtype=np.int64)
    table = sp.csr_array(numbered)
    table.sum_duplicates()
    if table.nnz != X.nnz:
        raise ValueError("X stores a pair of user and item twice; merge it with unweave.ratings before giving times")
    order = table.data - 1
    return order[~np.isnan(X.data[order])]


def pair_times(timestamps, n_pairs: int, dates: bool) -> NDArray:
    """One time for each pair; one time goes with all of them."""
    given, are_dates = numbers_of(timestamps)
    if are_dates != dates:
        kinds = ("dates", "numbers") if dates else ("numbers", "dates")
        raise TypeError(f"timestamps were {kinds[0]} in fit and are {kinds[1]} here; give {kinds[0]}")
    if given.shape not in ((), (1,), (n_pairs,)):
        raise ValueError(f"timestamps has shape {given.shape}, but there are {n_pairs} pairs: give one time for each")
    times = np.broadcast_to(given, (n_pairs,))
    refuse_holes(times)
    return times


def refuse_holes(times: NDArray) -> None:
    """Raise if a time is missing or infinite."""
    bad = ~np.isfinite(times)
    if bad.any():
        raise ValueError(
            f"timestamps has {int(bad.sum())} values that are missing (NaN, NaT) or infinite, the first at rating "
            f"{int(bad.argmax())}: drop these ratings, or leave out timestamps"
        )
