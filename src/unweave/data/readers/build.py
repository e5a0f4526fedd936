"""Builds the table from what a reader found: dense with names and holes, a frame where words remain, or sparse."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from unweave.data.amounts import read_amounts
from unweave.data.named import NamedTable
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.roles import is_prose, prose_note

LARGEST = 2**31 - 1
# A row costs 8 bytes of a CSR array even when it is empty, and a column is one number of every component.
_FREE_SIDE = 10_000_000
_SIDE_PER_ENTRY = 64
_WHOLE = re.compile(r"-?[0-9]+")


def dense_table(
    source: Source,
    options: Options,
    X: NDArray,
    *,
    holes: bool,
    rows: list[str] | None = None,
    columns: list[str] | None = None,
    notes: list[str] | None = None,
    **more: Any,
) -> NamedTable:
    """Make a table of numbers; decide what is missing, and note it."""
    notes = list(notes or [])
    if X.shape[0] == 0 or X.shape[1] == 0:
        words = f"holds {X.shape[0]} rows and {X.shape[1]} columns of numbers; there is nothing to work on"
        raise ReadError(source.name, words)
    if holes and options.missing is None:
        row, column = map(int, np.argwhere(np.isnan(X))[0])
        name = columns[column] if columns else f"number {column + 1}"
        words = f"row {row + 1}, column {name!r} is missing, but missing=None says that nothing is; use missing='nan'"
        raise ReadError(source.name, words)
    if options.missing == "zeros":
        zeros = X == 0
        if zeros.any():
            X[zeros] = np.nan
            notes.append(f"{int(zeros.sum()):,} zeros were read as missing, as asked")
            holes = True
    if holes:
        notes.append(f"{int(np.isnan(X).sum()):,} of {X.size:,} values are missing and are NaN")
    missing = "nan" if holes or options.missing in ("nan", "zeros") else None
    return NamedTable(X, rows=rows, columns=columns, missing=missing, notes=notes, source=source.name, **more)


def frame_table(
    source: Source, options: Options, frame: Any, rows: list[str] | None, notes: list[str], named_by: str = ""
) -> NamedTable:
    """Make a table with columns of words: X stays a polars frame, unless the words turn out to be numbers."""
    import polars as pl

    notes = list(notes)
    frame = _amounts_as_numbers(frame, notes)
    names = list(frame.columns)
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    if not words:
        X = np.ascontiguousarray(frame.fill_null(float("nan")).to_numpy(), dtype=options.dtype)
        holes = bool(np.isnan(X).any())
        return dense_table(
            source, options, X, holes=holes, rows=rows, columns=names, notes=notes, named_by=named_by if rows else ""
        )
    missing = "nan" if options.missing == "nan" or any(frame.null_count().row(0)) else None
    table = NamedTable(frame, rows, names, missing, source=source.name, named_by=named_by if rows else "")
    prose = table.prose
    others = [name for name in words if name != prose]
    if others:
        shown = ", ".join(map(repr, others[:3])) + (", …" if len(others) > 3 else "")
        notes.append(f"not numbers: {shown}")
    if prose is not None:
        notes.append(prose_note(prose))
    return table.with_(notes=notes)


def _amounts_as_numbers(frame: Any, notes: list[str]) -> Any:
    """Read columns of money, percent and the like as numbers, and note it with what could not be read."""
    import polars as pl

    for name in [name for name, kind in frame.schema.items() if kind == pl.String]:
        amounts = read_amounts(frame[name])
        if amounts is None:
            continue
        frame = frame.with_columns(pl.Series(name, amounts.values).fill_nan(None))
        lost = ", ".join(map(repr, amounts.unreadable))
        more = f"; not read, so missing: {lost}" if lost else ""
        notes.append(f"{name!r} was read as numbers: {amounts.words}{more}")
    return frame


def column_asked(source: Source, options: Options, columns: list[str]) -> int | None:
    """Find the column asked for by ``names=``; None if none was asked for, ReadError if there is no such column."""
    wanted = options.names
    if wanted is None or isinstance(wanted, bool) or wanted == "auto":
        return None
    if isinstance(wanted, int):
        if not -len(columns) <= wanted < len(columns):
            raise ReadError(source.name, f"there is no column {wanted}; names= can be 0 to {len(columns) - 1}")
        return wanted % len(columns)
    if wanted not in columns:
        shown = ", ".join(map(repr, columns[:8])) + (", …" if len(columns) > 8 else "")
        raise ReadError(source.name, f"there is no column {wanted!r} for names=; the columns are {shown}")
    return columns.index(wanted)


def row_names(texts: Any, chosen: bool, column: str, notes: list[str]) -> list[str] | None:
    """Take the names of rows from a column of words; None if they are not unique and were not asked for."""
    texts = texts.str.strip_chars()
    if chosen:
        texts = texts.fill_null("")
        repeated = texts.is_duplicated().any()
        notes.append(f"rows are named by the column {column!r}" + (", where names repeat" if repeated else ""))
        return texts.to_list()
    if texts.null_count() or texts.is_duplicated().any() or is_prose(texts) or _signed_numbers(texts):
        return None
    notes.append(f"rows are named by the first column, {column!r}")
    return texts.to_list()


def _signed_numbers(texts: Any) -> bool:
    """Tell whether texts are amounts such as "$12"; plain numbers were asked to name rows."""
    import polars as pl

    return bool(texts.cast(pl.Float64, strict=False).null_count()) and read_amounts(texts) is not None


# -- sparse tables from entries ----------------------------------------------------------------------------------------


class Built(NamedTuple):
    """Holds a canonical CSR array, the times of its stored entries, and how many entries were merged into others."""

    X: sp.csr_array
    times: NDArray | None
    merged: int


def check_shape(source: Source, shape: tuple[int, int], entries: int, line: int | None = None) -> None:
    """Raise ReadError if a table of this shape is not plausible for its number of stored entries.

    Index types end at 2³¹-1, and a file of three entries that asks for a billion rows is damaged or hostile: rows and
    columns may be ten millions each, or 64 for each entry, whichever is more.
    """
    most = min(LARGEST, max(_FREE_SIDE, _SIDE_PER_ENTRY * entries))
    for count, what in zip(shape, ("rows", "columns")):
        if count < 1:
            raise ReadError(source.name, f"there are no {what}; a table needs at least one", line)
        if count > most:
            raise ReadError(
                source.name,
                f"{count} {what} for {entries} entries is more than the {most} that are believed; correct the size or "
                "number the ids from 1",
                line,
            )


def check_bytes(source: Source, needed: int, what: str, line: int | None = None) -> None:
    """Raise ReadError unless the file, unpacked, has at least `needed` bytes; unpack no more than that."""
    left = needed
    if not source.compressed:
        left -= source.size()
    elif needed > 0:
        with source.open() as file:
            while left > 0 and (block := file.read(1 << 20)):
                left -= len(block)
    if left > 0:
        raise ReadError(
            source.name, f"the header promises {what}, but the file is too short to hold them; it is cut or wrong", line
        )


def grouped(codes: NDArray, n: int) -> NDArray:
    """Sort `codes` (whole numbers below `n`): return their positions in ascending order, equal codes as they came.

    A counting sort: a matrix with one entry per row, turned from rows to columns.

    >>> grouped(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    count = len(codes)
    pointers = np.arange(count + 1, dtype=np.int32 if count < LARGEST else np.int64)
    marks = sp.csr_array((np.ones(count, np.int8), _narrow(codes), pointers), shape=(count, n))
    return marks.tocsc().indices


def from_entries(
    rows: NDArray,
    columns: NDArray,
    values: NDArray,
    shape: tuple[int, int],
    *,
    merge: str,
    times: NDArray | None = None,
    dtype: DTypeLike = np.float64,
) -> Built:
    """Make a canonical CSR array of entries in any order; explicit zeros stay stored.

    Parameters
    ----------
    rows, columns : array of int
        Indices from 0, below `shape`.
    merge : "mean", "sum" or "last"
        What becomes of entries at the same place; "last" is the last of them in the file.
    times : array, optional
        One of each entry; merged entries keep the latest.

    >>> built = from_entries(np.array([1, 0, 1]), np.array([0, 1, 0]), np.array([2.0, 0.0, 4.0]), (2, 2), merge="mean")
    >>> built.X.toarray().tolist(), built.X.nnz, built.merged
    ([[0.0, 0.0], [3.0, 0.0]], 2, 1)
    """
    if _ascending(rows, columns):
        pointers = _pointers(rows, shape[0])
    else:
        order, columns, pointers = _row_by_row(rows, columns, shape)
        values, times = values[order], None if times is None else times[order]
    first = np.concatenate(([True], columns[1:] != columns[:-1])) if len(columns) else np.zeros(0, bool)
    first[pointers[:-1][pointers[:-1] < len(first)]] = True
    merged = len(first) - int(np.count_nonzero(first))
    if merged:
        starts = np.flatnonzero(first)
        values, columns = _merged_values(values, starts, merge), columns[starts]
        times = None if times is None else np.maximum.reduceat(times, starts)
        pointers = np.concatenate(([0], np.cumsum(first)))[pointers]
    with np.errstate(over="ignore"):
        values = values.astype(dtype, copy=False)
    X = sp.csr_array((values, _narrow(columns), _narrow(pointers)), shape=shape)
    return Built(checked(X), times, merged)


def _ascending(rows: NDArray, columns: NDArray) -> bool:
    """Tell whether entries are already in the order of a CSR array, none twice."""
    same = rows[1:] == rows[:-1]
    return bool(((rows[1:] > rows[:-1]) | (same & (columns[1:] > columns[:-1]))).all())


def _pointers(codes: NDArray, n: int) -> NDArray:
    return _narrow(np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=n)))))


def _row_by_row(rows: NDArray, columns: NDArray, shape: tuple[int, int]) -> tuple[NDArray, NDArray, NDArray]:
    """Sort entries by row and column; return where each was, the columns and the row pointers.

    Two counting sorts: by column, and then by row, which leaves the columns of each row in order.
    """
    order = grouped(columns, shape[1])
    places = sp.csc_array((order, _narrow(rows[order]), _pointers(columns, shape[1])), shape=shape)
    # Going from columns to rows moves the numbers and adds nothing up.
    by_row = places.tocsr()
    return by_row.data, by_row.indices, by_row.indptr


def _merged_values(values: NDArray, starts: NDArray, merge: str) -> NDArray:
    ends = np.append(starts[1:], len(values))
    if merge == "last":
        return values[ends - 1]
    with np.errstate(over="ignore"):  # the caller refuses infinity
        total = np.add.reduceat(values, starts)
    return total if merge == "sum" else total / (ends - starts)


def _narrow(indices: NDArray) -> NDArray:
    """Return 32-bit indices wherever they are enough."""
    return indices.astype(np.int32, copy=False) if not len(indices) or indices.max() <= LARGEST else indices


def canonical(X, dtype: DTypeLike) -> sp.csr_array:
    """Turn any sparse matrix into a checked CSR array with sorted indices, duplicates added up."""
    X = sp.csr_array(X)
    X.sum_duplicates()
    return checked(X.astype(dtype, copy=False))


def checked(X: sp.csr_array) -> sp.csr_array:
    """Run SciPy's full check of X: an index out of range would crash a kernel."""
    X.check_format(full_check=True)
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return X


def missing_of(options: Options, usual: str | None) -> str | None:
    """Say what an entry that is not stored means: `usual` unless the caller says "zeros" (unknown) or None (zero).

    "nan" also means zero: these formats write no NaN.
    """
    if options.missing == "auto":
        return usual
    return "zeros" if options.missing == "zeros" else None


# -- ids turned into numbers from 0 ------------------------------------------------------------------------------------


def whole_number_codes(ids: NDArray) -> tuple[NDArray, NDArray]:
    """Number whole-number ids: return the distinct ids in ascending order, and the place of every id among them.

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
    """Numbers text ids as they appear; whole numbers written as text are put in the order of their values at the end.

    >>> ids = TextIds()
    >>> ids.add(["b", "a", "b"]).tolist(), ids.add(["c", "a"]).tolist()
    ([0, 1, 0], [2, 1])
    >>> ids.finish(np.array([0, 1, 0, 2, 1]))[0]
    ['b', 'a', 'c']
    """

    def __init__(self):
        self._places: dict[str, int] = {}

    def add(self, ids) -> NDArray:
        """Return the numbers of some ids, given as a list of str or a polars series."""
        distinct, codes = _distinct(ids)
        places = self._places
        known = np.fromiter((places.setdefault(name, len(places)) for name in distinct), np.int32, len(distinct))
        return known[codes]

    def finish(self, codes: NDArray) -> tuple[list[str], NDArray]:
        """Return all names, and the numbers given so far, renumbered if the names are whole numbers."""
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
