"""Cuts a delimited file into ranges of whole records, each of which is read without the others."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.csv.chunks import CHUNK, Chunk, chunks, cut_records
from unweave.data.readers.csv.columns import ColumnPlan
from unweave.data.readers.csv.parse import Retype
from unweave.data.readers.csv.read import GrowingArray, parser_for
from unweave.data.readers.source import ReadError, Source

_QUOTE, _RETURN, _FEED = 34, 13, 10


class Range(NamedTuple):
    """Bytes of a file that are whole records: the number of rows in it, and of the line on which it begins."""

    begin: int
    end: int
    line: int
    rows: int


def can_be_cut(source: Source) -> bool:
    """Tell whether records can be read from the middle of a file: it is not packed, and in UTF-8."""
    if source.compressed:
        return False
    with source.open_utf8() as file:
        return isinstance(getattr(file, "raw", None), io.FileIO)


def record_ranges(plan: ColumnPlan, rows: int) -> list[Range]:
    """Find ranges of so many rows in one pass through the file, which holds a few megabytes of it at a time.

    A line end in quotes ends no record; blank lines are no rows but in tables of one column, where they are missing
    cells (there no range ends with one, so ranges may have a few rows more).
    """
    found: list[Range] = []
    with plan.source.open_utf8() as file:
        for _ in range(plan.dialect.skip):
            file.readline()
        at = file.tell()
        begin, line, counted = at, plan.dialect.skip + 1, 0
        lines = plan.dialect.skip + 1
        last, count, odd = at - 1, 0, 0  # the last line end, rows before it, and whether a quote is open
        whole = 0  # rows up to the last that is not blank
        while data := file.read(CHUNK):
            piece = np.frombuffer(data, np.uint8)
            feeds = np.flatnonzero(piece == _FEED)
            ends = feeds
            if odd or b'"' in data:
                quotes = np.cumsum(piece == _QUOTE) + odd
                ends, odd = feeds[quotes[feeds] % 2 == 0], int(quotes[-1] % 2)
            if len(ends):
                filled = _filled(piece, ends, last - at)
                counts = count + (np.arange(1, len(ends) + 1) if plan.width == 1 else np.cumsum(filled))
                before = np.concatenate([[count], counts[:-1]])
                for k in np.flatnonzero(filled & (counts // rows > before // rows)):
                    stop = at + int(ends[k]) + 1
                    found.append(Range(begin, stop, line, int(counts[k]) - counted))
                    line = lines + int(np.searchsorted(feeds, ends[k])) + 1
                    begin, counted = stop, int(counts[k])
                last, count = at + int(ends[-1]), int(counts[-1])
                whole = int(counts[filled][-1]) if filled.any() else whole
            at, lines = at + len(data), lines + len(feeds)
    whole = count + 1 if at > last + 1 else whole
    if whole > counted:
        found.append(Range(begin, at, line, whole - counted))
    return found


def _filled(piece: NDArray, ends: NDArray, last: int) -> NDArray:
    """Tell which records are not blank; `last` is the end of the one before, counted from the piece."""
    lengths = np.diff(np.concatenate([[last], ends]))
    # A lone carriage return before the line end; at the very start of a piece it is not worth a look.
    returned = (lengths == 2) & (piece[np.maximum(ends - 1, 0)] == _RETURN)
    return (lengths > 1) & ~returned


def read_range(plan: ColumnPlan, part: Range | None, dtype: str) -> NDArray:
    """Read the columns of numbers of a range, or of the whole file."""
    found = GrowingArray(len(plan.numbers), dtype, 0 if part is None else part.rows)
    work = parser_for(plan)
    try:
        for chunk in _chunks(plan, part):
            found.append(work(chunk, plan, dtype).values)
    except Retype as odd:
        name = plan.columns[odd.column]
        words = (
            f"the column {name!r} holds words here, not in the first rows; choose the columns to read, columns=[...]"
        )
        raise ReadError(plan.source.name, words) from None
    return found.array()


def _chunks(plan: ColumnPlan, part: Range | None) -> Iterator[Chunk]:
    if part is None:
        yield from chunks(plan.source, plan.dialect.skip)
        return
    with plan.source.open() as file:
        file.seek(part.begin)
        yield from cut_records(io.BufferedReader(_Window(file, part.end - part.begin)), plan.source.name, part.line)


class _Window(io.RawIOBase):
    """The next bytes of a file, as a file that ends there."""

    def __init__(self, file, size: int):
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self._file.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)


def light(plan: ColumnPlan, numbers: list[int]) -> ColumnPlan:
    """The plan without the rows that it was made from, in which only these columns are numbers: small to send."""
    roles = [role if j in set(numbers) or role == "text" else "text" for j, role in enumerate(plan.roles)]
    dialect = replace(plan.dialect, rows=[], numbers=[], notes=[])
    return replace(plan, dialect=dialect, roles=roles, notes=[], seen=set())
