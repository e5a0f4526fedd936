"""CSV and its relatives: cells between commas, tabs, semicolons, bars or spaces, streamed into one array."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from unweave.data.named import NamedTable
from unweave.data.readers import numbers, wide
from unweave.data.readers.cells import Parsed, Retype, parse
from unweave.data.readers.chunks import Chunk, chunks
from unweave.data.readers.dialect import count, find_delimiter, learn
from unweave.data.readers.fill import Rows
from unweave.data.readers.finish import dense_table, frame_table, row_names
from unweave.data.readers.layout import Layout, plan_columns
from unweave.data.readers.options import Options
from unweave.data.readers.source import Source
from unweave.data.readers.words import MARKERS, is_missing, is_number

_AHEAD = 2


def read_csv(source: Source, options: Options) -> NamedTable:
    """A table of cells; the delimiter and the header are found out unless `options` says."""
    layout = plan_columns(source, learn(source, options), options)
    while True:
        try:
            return _assemble(source, options, layout)
        except Retype as found:
            roles = ["text" if j == found.column else role for j, role in enumerate(layout.roles)]
            layout = replace(layout, roles=roles)


def read_tsv(source: Source, options: Options) -> NamedTable:
    """The same with tabs between cells."""
    return read_csv(source, options if options.delimiter else replace(options, delimiter="\t"))


FORMATS = {"csv": read_csv, "tsv": read_tsv}


def looks_like(head: bytes, name: str) -> str | None:
    """Whether the first lines are cells, equally many on each; prose is not, unless the name says so.

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
    widths = [count(line, delimiter) for line in lines[:100]]
    steady = min(widths) > 0 and len(set(widths[1:])) <= 1 and widths[-1] - widths[0] in (0, 1)
    sentences = delimiter == "," and sum(", " in line for line in lines) * 2 > len(lines)
    if not steady or (sentences and not any(map(is_number, lines[-1].split(",")))):
        return None
    return "tsv" if delimiter == "\t" else "csv"


def _assemble(source: Source, options: Options, layout: Layout) -> NamedTable:
    rows = Rows(len(layout.numbers), options.dtype)
    texts: dict[int, list[Any]] = {j: [] for j in layout.texts}
    holes = False
    work, pieces, threads = _way(source, layout)
    read, size = 0, 0 if source.compressed else source.size()
    for chunk, parsed in _in_order(pieces, lambda c: work(c, layout, options.dtype), threads):
        read += len(chunk.data) + 1
        if len(rows) == 0 and size > read:
            rows.expect(int(len(parsed.values) * size / read * 1.02) + 1)
        rows.append(parsed.values)
        holes = holes or parsed.holes
        for j, words in parsed.texts.items():
            texts[j].append(words)
    return _table(source, options, layout, rows, texts, holes)


def _way(source: Source, layout: Layout) -> tuple[numbers.Work, Iterator[Chunk], int]:
    """How chunks are parsed, the chunks, and how many at once."""
    work = wide.parse_wide if wide.fits(layout) else parse
    if numbers.fits(layout):
        return numbers.Quick(work), numbers.pieces(layout), numbers.threads()
    return work, chunks(source, layout.dialect.skip), _AHEAD


def _in_order(pieces: Iterable[Chunk], work: Callable[[Chunk], Parsed], threads: int) -> Iterator[tuple[Chunk, Parsed]]:
    """Chunks with their results; the next are parsed while the caller stores this one."""
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
    source: Source, options: Options, layout: Layout, rows: Rows, texts: dict[int, list[Any]], holes: bool
) -> NamedTable:
    import polars as pl

    notes, X = list(layout.notes), rows.array()
    if layout.seen:
        notes.append("read as missing, as an empty cell is: " + ", ".join(map(repr, sorted(layout.seen))))
    words = {j: pl.concat(found) if found else pl.Series([], dtype=pl.String) for j, found in texts.items()}
    names = None
    if layout.named is not None:
        names = row_names(words[layout.named], layout.chosen, layout.columns[layout.named], notes)
        if names is not None:
            del words[layout.named]
    if not words:
        columns = [layout.columns[j] for j in layout.numbers] if layout.dialect.names else None
        return dense_table(source, options, X, holes=holes, rows=names, columns=columns, notes=notes)
    numbers = {j: pl.Series(layout.columns[j], X[:, i]).fill_nan(None) for i, j in enumerate(layout.numbers)}
    parts = {**numbers, **{j: _blank_to_null(part) for j, part in words.items()}}
    frame = pl.DataFrame({layout.columns[j]: parts[j] for j in sorted(parts)})
    return frame_table(source, options, frame, names, notes)


def _blank_to_null(words: Any) -> Any:
    import polars as pl

    missing = words.str.strip_chars().is_in(["", *MARKERS])
    return pl.select(pl.when(missing).then(None).otherwise(words)).to_series()
