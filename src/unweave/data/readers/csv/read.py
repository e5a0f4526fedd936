"""Reads CSV and its relatives: cells between commas, tabs, semicolons, bars or spaces, streamed into one array."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import dense_table, frame_table, row_names
from unweave.data.readers.csv import compiled
from unweave.data.readers.csv.chunks import Chunk, chunks
from unweave.data.readers.csv.columns import ColumnPlan, plan_columns
from unweave.data.readers.csv.dialect import (
    MARKERS,
    count_delimiters,
    find_delimiter,
    find_dialect,
    is_missing,
    is_number,
)
from unweave.data.readers.csv.parse import Parsed, Retype, is_wide, parse, parse_wide
from unweave.data.readers.source import Options, Source

_AHEAD = 2


def read_csv(source: Source, options: Options) -> NamedTable:
    """Read a table of cells; the delimiter and the header are found out unless `options` says."""
    plan = plan_columns(source, find_dialect(source, options), options)
    while True:
        try:
            return _assemble(source, options, plan)
        except Retype as found:
            roles = ["text" if j == found.column else role for j, role in enumerate(plan.roles)]
            plan = replace(plan, roles=roles)


def read_tsv(source: Source, options: Options) -> NamedTable:
    """Read a table of cells with tabs between them."""
    return read_csv(source, options if options.delimiter else replace(options, delimiter="\t"))


FORMATS = {"csv": read_csv, "tsv": read_tsv}


def looks_like(head: bytes, name: str) -> str | None:
    """Tell whether the first lines are cells, equally many on each; prose is not, unless the name says so.

    >>> looks_like(b"x,y\\n1,2\\n", "a.csv"), looks_like(b"It was, they said, a night.\\nDark.\\n", "a.txt")
    ('csv', None)
    """
    suffix = name.rpartition(".")[2].lower()
    if suffix in ("csv", "tsv"):
        return "tsv" if suffix == "tsv" and b"\t" in head else "csv"
    text = head.decode("utf-8", "replace").lstrip("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    lines = [line for line in (lines[:-1] if len(lines) > 1 and len(head) >= 4096 else lines) if line.strip()]
    if not lines or "\0" in text:
        return None
    delimiter = find_delimiter(lines)
    if delimiter is None:
        return "csv" if all(is_number(line) or is_missing(line) for line in lines[1:] or lines) else None
    widths = [count_delimiters(line, delimiter) for line in lines[:100]]
    steady = min(widths) > 0 and len(set(widths[1:])) <= 1 and widths[-1] - widths[0] in (0, 1)
    sentences = delimiter == "," and sum(", " in line for line in lines) * 2 > len(lines)
    if not steady or (sentences and not any(map(is_number, lines[-1].split(",")))):
        return None
    return "tsv" if delimiter == "\t" else "csv"


def tables(source: Source, options: Options, plan: ColumnPlan, size: int) -> Iterator[NamedTable]:
    """Yield the rows of a file in tables that take about `size` bytes each; raises Retype as parsers do."""
    work, pieces, threads = _choose_parser(source, plan)
    held: list[tuple[Chunk, Parsed]] = []
    for chunk, parsed in _in_order(pieces, lambda c: work(c, plan, options.dtype), threads):
        held.append((chunk, parsed))
        if sum(max(8 * one.values.size, len(read.data)) for read, one in held) >= size:
            yield _joined(source, options, plan, held)
            held = []
    if held:
        yield _joined(source, options, plan, held)


def _assemble(source: Source, options: Options, plan: ColumnPlan) -> NamedTable:
    work, pieces, threads = _choose_parser(source, plan)
    found = _in_order(pieces, lambda c: work(c, plan, options.dtype), threads)
    return _joined(source, options, plan, found, 0 if source.compressed else source.size())


def _joined(
    source: Source, options: Options, plan: ColumnPlan, found: Iterable[tuple[Chunk, Parsed]], size: int = 0
) -> NamedTable:
    """Make one table of chunks that were parsed; `size` is how many bytes they have together, if that is known."""
    rows = GrowingArray(len(plan.numbers), options.dtype)
    texts: dict[int, list[Any]] = {j: [] for j in plan.texts}
    holes, read = False, 0
    for chunk, parsed in found:
        read += len(chunk.data) + 1
        if len(rows) == 0 and size > read:
            rows.expect(int(len(parsed.values) * size / read * 1.02) + 1)
        rows.append(parsed.values)
        holes = holes or parsed.holes
        for j, words in parsed.texts.items():
            texts[j].append(words)
    return _table(source, options, plan, rows, texts, holes)


def _choose_parser(source: Source, plan: ColumnPlan) -> tuple[compiled.ParseChunk, Iterator[Chunk], int]:
    """Choose how chunks are parsed, the chunks themselves, and how many are parsed at once."""
    work = parser_for(plan)
    if isinstance(work, compiled.CompiledParser):
        return work, compiled.pieces(plan), compiled.threads()
    return work, chunks(source, plan.dialect.skip), _AHEAD


def parser_for(plan: ColumnPlan) -> compiled.ParseChunk:
    """Choose how chunks are parsed."""
    work = parse_wide if is_wide(plan) else parse
    return compiled.CompiledParser(work) if compiled.is_for_compiled_loop(plan) else work


def _in_order(pieces: Iterable[Chunk], work: Callable[[Chunk], Parsed], threads: int) -> Iterator[tuple[Chunk, Parsed]]:
    """Yield chunks with their results, in order; the next are parsed while the caller stores this one."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque = deque()
        try:
            for piece in pieces:
                waiting.append((piece, pool.submit(work, piece)))
                if len(waiting) > threads:
                    done, result = waiting.popleft()
                    yield done, result.result()
            while waiting:
                done, result = waiting.popleft()
                yield done, result.result()
        finally:
            for _, result in waiting:
                result.cancel()


def _table(
    source: Source, options: Options, plan: ColumnPlan, rows: GrowingArray, texts: dict[int, list[Any]], holes: bool
) -> NamedTable:
    import polars as pl

    notes, X = list(plan.notes), rows.array()
    if plan.seen:
        notes.append("read as missing, as an empty cell is: " + ", ".join(map(repr, sorted(plan.seen))))
    words = {j: pl.concat(found) if found else pl.Series([], dtype=pl.String) for j, found in texts.items()}
    names = None
    if plan.named is not None:
        names = row_names(words[plan.named], plan.chosen, plan.columns[plan.named], notes)
        if names is not None:
            del words[plan.named]
    if not words:
        columns = [plan.columns[j] for j in plan.numbers] if plan.dialect.names else None
        by = plan.columns[plan.named] if plan.named is not None and names is not None else ""
        return dense_table(source, options, X, holes=holes, rows=names, columns=columns, notes=notes, named_by=by)
    numbers = {j: pl.Series(plan.columns[j], X[:, i]).fill_nan(None) for i, j in enumerate(plan.numbers)}
    parts = {**numbers, **{j: _blank_to_null(part) for j, part in words.items()}}
    frame = pl.DataFrame({plan.columns[j]: parts[j] for j in sorted(parts)})
    return frame_table(source, options, frame, names, notes, "" if plan.named is None else plan.columns[plan.named])


def _blank_to_null(words: Any) -> Any:
    import polars as pl

    missing = words.str.strip_chars().is_in(["", *MARKERS])
    return pl.select(pl.when(missing).then(None).otherwise(words)).to_series()


# -- the array that rows are appended to -------------------------------------------------------------------------------


class GrowingArray:
    """Collects rows, block by block, in one array that grows in place, so that no row is held twice.

    Parameters
    ----------
    width : int
        Number of columns.
    dtype : str
        Of the array.
    expected : int
        How many rows will probably come. Too many cost nothing: memory that is never written is never used.

    Examples
    --------
    >>> rows = GrowingArray(2, "float64", expected=1)
    >>> rows.append(np.ones((3, 2)))
    >>> rows.append(np.zeros((1, 2)))
    >>> rows.array().shape
    (4, 2)
    """

    def __init__(self, width: int, dtype: str, expected: int = 0):
        self._data: NDArray = np.empty((max(0, expected), width), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, block: NDArray) -> None:
        end = self._count + len(block)
        if end > len(self._data):
            self._resize(end + end // 8)
        self._data[self._count : end] = block
        self._count = end

    def expect(self, n: int) -> None:
        """Make room for `n` rows in all."""
        if n > len(self._data) and self._count == 0:
            # resize would write zeros everywhere
            self._data = np.empty((n, self._data.shape[1]), dtype=self._data.dtype)
        elif n > len(self._data):
            self._resize(n)

    def _resize(self, n: int) -> None:
        # realloc moves pages instead of copying them; nothing else refers to the array yet.
        self._data.resize((n, self._data.shape[1]), refcheck=False)

    def array(self) -> NDArray:
        """Return the rows so far; the object is not to be used any more."""
        if len(self._data) != self._count:
            self._resize(self._count)
        return self._data
