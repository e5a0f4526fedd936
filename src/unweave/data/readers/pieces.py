"""Reads a file that is larger than memory piece by piece, each piece as the table that `unweave.read` makes of it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.arrays import array_table
from unweave.data.readers.detect import detect_format
from unweave.data.readers.several import joined
from unweave.data.readers.source import Options, ReadError, Source

_UNPACKS = 5  # times the size of a packed text, roughly


class Pieces(ABC):
    """The rows of one file in pieces, in order; what is made of a piece does not depend on the others.

    Attributes
    ----------
    source : Source
    bytes : int
        What the numbers of the whole table take in memory, roughly.
    """

    source: Source
    bytes: int
    size: int = 4 << 20  # bytes of the numbers of a piece

    def cut(self, size: int) -> None:
        """From now on pieces have numbers of about so many bytes."""
        self.size = size

    @abstractmethod
    def __iter__(self) -> Iterator[NamedTable]: ...


class Sliced(Pieces):
    """A file of which any rows can be read: Parquet and npy.

    Parameters
    ----------
    source, options : Source, Options
    n_rows, n_columns : int
    read : callable
        ``(path, options, first row, row after the last) -> NamedTable``; it travels to workers.
    """

    def __init__(self, source: Source, options: Options, n_rows: int, n_columns: int, read: Callable):
        self.source, self.options, self.read, self.n_rows, self.n_columns = source, options, read, n_rows, n_columns
        self.bytes = n_rows * n_columns * np.dtype(options.dtype).itemsize

    @property
    def rows(self) -> int:
        """How many rows a piece has."""
        return max(1, self.size // (8 * max(1, self.n_columns)))

    def __len__(self) -> int:
        return -(-self.n_rows // self.rows)

    def fetch(self, i: int) -> Callable[[], NamedTable]:
        """A small function that reads piece i wherever it is called."""
        start = i * self.rows
        return partial(self.read, self.source.name, self.options, start, min(start + self.rows, self.n_rows))

    def __iter__(self) -> Iterator[NamedTable]:
        for i in range(len(self)):
            yield self.fetch(i)()

    def some(self, rows: int) -> NamedTable:
        """About so many rows from all over the file."""
        places = np.unique(np.linspace(0, max(self.n_rows - 1, 0), _STRETCHES).astype(int))
        each = -(-rows // len(places))
        starts = places[np.concatenate([[True], np.diff(places) >= each])] if self.n_rows > rows else [0]
        stop = each if self.n_rows > rows else self.n_rows
        parts = [self.read(self.source.name, self.options, int(a), min(int(a) + stop, self.n_rows)) for a in starts]
        return joined(parts)


_STRETCHES = 40  # that a sample is made of


class Streamed(Pieces):
    """A CSV file, which is read from its beginning to its end, a few megabytes at a time."""

    def __init__(self, source: Source, options: Options):
        from unweave.data.readers.csv.columns import plan_columns
        from unweave.data.readers.csv.dialect import find_dialect

        self.source, self.options = source, options
        self.plan = plan_columns(source, find_dialect(source, options), options)
        self.bytes = source.size() * (_UNPACKS if source.compressed else 1)

    def __iter__(self) -> Iterator[NamedTable]:
        from unweave.data.readers.csv.read import tables

        return tables(self.source, self.options, self.plan, self.size)

    def looked_at(self, look: Callable[[NamedTable], None], again: Callable[[], None]) -> None:
        """Show every piece to `look`; where words turn up among numbers, call `again` and begin anew with words."""
        from unweave.data.readers.csv.parse import Retype

        while True:
            try:
                for table in self:
                    look(table)
                return
            except Retype as found:
                again()
                roles = ["text" if j == found.column else role for j, role in enumerate(self.plan.roles)]
                self.plan = replace(self.plan, roles=roles)


def pieces_of(path: str | os.PathLike, format: str, options: Options) -> Pieces | None:
    """The pieces of a file; None for formats that are read whole."""
    source = Source(path, limit=options.limit, encoding=options.encoding)
    if source.is_folder:
        return None
    name = detect_format(source) if format == "auto" else format
    made = _MAKERS.get(name)
    return None if made is None else made(source, options)


def _parquet(source: Source, options: Options) -> Pieces | None:
    if source.compressed:
        return None
    from unweave.data.readers.frames import parquet_layout

    schema, n = parquet_layout(source, source.path)
    return Sliced(source, options, n, len(schema), _parquet_rows)


def _parquet_rows(path: str, options: Options, start: int, stop: int) -> NamedTable:
    from unweave.data.readers.frames import read_parquet_rows

    return _told(path, start, stop, lambda: read_parquet_rows(Source(path), options, start, stop))


def _npy(source: Source, options: Options) -> Pieces | None:
    if source.compressed:
        return None
    n, m = _mapped(source).shape
    return Sliced(source, options, n, m, _npy_rows)


def _npy_rows(path: str, options: Options, start: int, stop: int) -> NamedTable:
    def read() -> NamedTable:
        source = Source(path)
        return array_table(source, options, np.array(_mapped(source)[start:stop]))

    return _told(path, start, stop, read)


def _mapped(source: Source) -> Any:
    try:
        X = np.load(source.path, mmap_mode="r")
    except (ValueError, OSError) as error:
        raise ReadError(source.name, f"the array cannot be read ({str(error)[:100]}); get the file again") from None
    if X.ndim != 2:
        raise ReadError(source.name, f"the array has {X.ndim} dimensions, not two; reshape it to (rows, columns) first")
    return X


def _told(path: str, start: int, stop: int, read: Callable[[], NamedTable]) -> NamedTable:
    """Read rows; what is wrong with them is told with where they are."""
    try:
        return read()
    except ReadError as error:
        raise ReadError(path, f"rows {start + 1:,} to {stop:,}: {error.message}") from None


_MAKERS: dict[str, Callable[[Source, Options], Pieces | None]] = {
    "parquet": _parquet,
    "npy": _npy,
    "csv": Streamed,
    "tsv": lambda source, options: Streamed(source, replace(options, delimiter=options.delimiter or "\t")),
}


def some_of(table: NamedTable, rows: Sequence[int] | np.ndarray) -> NamedTable:
    """Some rows of a table, with their names."""
    names = None if table.rows is None else [table.rows[i] for i in rows]
    return table.with_(X=table.X[np.asarray(rows)], rows=names)
