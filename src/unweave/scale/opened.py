"""Files that were opened to be read in row blocks: what their columns are, and how their rows are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.arrays import npy_header
from unweave.data.readers.csv.columns import ColumnPlan, plan_columns
from unweave.data.readers.csv.dialect import find_dialect
from unweave.data.readers.csv.ranges import Range, can_be_cut, light, read_range, record_ranges
from unweave.data.readers.detect import detect_format
from unweave.data.readers.frames import parquet_layout, parquet_names, parquet_rows, role_of_type
from unweave.data.readers.read_file import open_source, read
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.storage import typed
from unweave.scale.arrays import Mapped, MappedRows, need_numbers, row_ranges
from unweave.scale.block_source import Reader, Stamp, told_where


def open_file(path: str, format: str, options: Options, first: OpenedFile | None) -> OpenedFile:
    """Open a file as what it is; `first` is the first of several."""
    source, options = open_source(path, options)
    kind = detect_format(source) if format == "auto" else format
    if kind == "parquet" and not source.compressed:
        return _Parquet(source, options)
    if kind == "npy" and not source.compressed:
        return _Npy(source)
    if kind in ("csv", "tsv"):
        return _Csv(source, replace(options, delimiter="\t") if kind == "tsv" and not options.delimiter else options)
    return _Whole(source, kind, options, first)


class OpenedFile(ABC):
    """A file that was opened: what its columns are, and how its rows are read.

    Attributes
    ----------
    names : list of str or None
        Of all its columns.
    words : dict
        What the columns hold that are not numbers, by place.
    named : int or None
        The column that names the rows.
    """

    names: list[str] | None = None
    width: int = 0
    named: int | None = None

    def __init__(self, source: Source):
        source.path = source.path.absolute()  # workers have folders of their own
        self.source, self.name = source, source.name
        self.stamp = None if source.is_folder else Stamp.of(source.path)
        self.words: dict[int, str] = {}

    def label(self, j: int) -> str | int:
        """What a column is called: its name, or its number."""
        return j if self.names is None else self.names[j]

    def single(self, places: list[int]) -> bool:
        """Tell whether these columns hold float32."""
        return False

    @abstractmethod
    def cut(self, places: list[int], dtype: str, rows: int) -> list[tuple[Reader, int | None]]:
        """What reads each block, and its number of rows, None where that is not known."""


class _Parquet(OpenedFile):
    def __init__(self, source: Source, options: Options):
        super().__init__(source)
        self.schema, self.n = parquet_layout(source, source.path)
        self.names, self.width = list(self.schema), len(self.schema)
        for j, dtype in enumerate(self.schema.values()):
            if role_of_type(dtype) != "number":
                self.words[j] = "words" if str(dtype) == "String" else str(dtype)
        self.named = parquet_names(source, options, self.schema)

    def single(self, places):
        return all(str(self.schema[str(self.label(j))]) == "Float32" for j in places)

    def cut(self, places, dtype, rows):
        names = [str(self.label(j)) for j in places]
        read = partial(parquet_rows, self.source, names, dtype=dtype)
        return [(_Rows(self.name, self.stamp, a, b, partial(read, a, b)), b - a) for a, b in row_ranges(self.n, rows)]


class _Csv(OpenedFile):
    def __init__(self, source: Source, options: Options):
        super().__init__(source)
        self.plan: ColumnPlan = plan_columns(source, find_dialect(source, options), options)
        self.names = self.plan.columns if self.plan.dialect.names else None
        self.width, self.named = self.plan.width, self.plan.named
        self.words = {j: "words" for j in self.plan.texts}

    def cut(self, places, dtype, rows):
        plan = light(self.plan, places)
        order = [plan.numbers.index(j) for j in places]
        order = [] if order == list(range(len(plan.numbers))) else order
        parts: list[Range | None] = list(record_ranges(plan, rows)) if can_be_cut(self.source) else [None]
        found: list[tuple[Reader, int | None]] = []
        start = 0
        for part in parts:
            stop = None if part is None else start + part.rows
            read = partial(_csv_rows, plan, part, order, dtype)
            found.append((_Rows(self.name, self.stamp, start, stop, read), None if part is None else part.rows))
            start = stop or 0
        return found


def _csv_rows(plan: ColumnPlan, part: Range | None, order: list[int], dtype: str) -> NDArray:
    found = read_range(plan, part, dtype)
    return np.ascontiguousarray(found[:, order]) if order else found


class _Npy(OpenedFile):
    def __init__(self, source: Source):
        super().__init__(source)
        with source.open() as file:
            shape, fortran, kind, start = npy_header(source, file)
        need_numbers(kind, shape, source.name)
        n, m = shape
        if start + n * m * kind.itemsize > source.size():
            raise ReadError(source.name, "is cut off: its header announces more than it holds; get the file again")
        strides = (kind.itemsize, n * kind.itemsize) if fortran else (m * kind.itemsize, kind.itemsize)
        self.place = Mapped(str(source.path), start, kind.str, strides, (n, m), self.stamp)
        self.width = m

    def single(self, places):
        return np.dtype(self.place.dtype) == np.float32

    def cut(self, places, dtype, rows):
        picked = None if places == list(range(self.width)) else places
        ranges = row_ranges(self.place.shape[0], rows)
        return [(MappedRows(self.place, picked, dtype, a, b), b - a) for a, b in ranges]


class _Whole(OpenedFile):
    """A file that is read at once. The first tells its columns by being read; the others are compared when they are."""

    def __init__(self, source: Source, kind: str, options: Options, first: OpenedFile | None):
        super().__init__(source)
        self.path = str(source.path) if options.member is None else f"{source.path}:{options.member}"
        self.how: dict[str, Any] = {"format": kind, "names": options.names, "encoding": options.encoding}
        self.how |= {"delimiter": options.delimiter, "header": options.header}
        if isinstance(first, _Whole):
            self.names, self.width, self.words = first.names, first.width, first.words
            return
        table = read(self.path, **self.how)
        self.names, self.width = table.columns, table.shape[1]
        if not table.numeric:
            self.words = {j: "words" for j, dtype in enumerate(table.X.dtypes) if not dtype.is_numeric()}

    def cut(self, places, dtype, rows):
        wanted = None if places == list(range(self.width)) else places
        read = partial(_whole_file, self.path, self.how, self.names, self.width, wanted, dtype)
        return [(_Rows(self.name, self.stamp, 0, None, read), None)]


def _whole_file(path: str, how: dict, names: list[str] | None, width: int, places: list[int] | None, dtype: str) -> Any:
    table = read(path, **how, dtype=dtype)
    X, own = table.X, table.columns
    if table.shape[1] != width or (names is None) != (own is None) or sorted(names or []) != sorted(own or []):
        raise ReadError(path, f"has {table.shape[1]:,} columns, not the {width:,} of the first file or not those names")
    if names is not None and own != names:
        assert own is not None
        order = [own.index(name) for name in names]
        places = order if places is None else [order[j] for j in places]
    if not table.numeric:
        X = X[:, list(range(width)) if places is None else places]
        if not all(dtype.is_numeric() for dtype in X.dtypes):
            raise ReadError(path, "has columns of words among those to be read; choose others, columns=[...]")
        return np.ascontiguousarray(X.to_numpy(), dtype=dtype)
    X = X if places is None else X[:, places]
    return typed(X, dtype)


@dataclass(frozen=True)
class _Rows:
    """Read some rows of a file wherever this is called; what goes wrong is told with the file and the rows."""

    name: str
    stamp: Stamp | None
    start: int
    stop: int | None
    read: Reader

    def __call__(self) -> Any:
        with told_where(self.name, self.start, self.stop):
            if self.stamp is not None:
                self.stamp.check()
            return self.read()
