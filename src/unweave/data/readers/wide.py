"""Chunks of very wide tables of numbers: cells are read as one long column, since frames are slow at 10⁶ columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.data.readers.cells import Parsed, finish, rows_of
from unweave.data.readers.chunks import Chunk
from unweave.data.readers.dialect import cells
from unweave.data.readers.layout import Layout, not_a_number, ragged
from unweave.data.readers.source import ReadError
from unweave.data.readers.words import MARKERS, is_missing, is_number

WIDE = 2000


def fits(layout: Layout) -> bool:
    """Whether a table is wide and holds numbers alone, but for names of rows at the left."""
    return layout.width >= WIDE and layout.texts in ([], [0]) and "truth" not in layout.roles


def parse_wide(chunk: Chunk, layout: Layout, dtype: str) -> Parsed:
    """As :func:`~unweave.data.readers.cells.parse`, with the same errors."""
    import polars as pl

    separator = (layout.dialect.delimiter or "\x1f").encode()
    pieces, names = [], []
    rows = rows_of(chunk, layout)
    for line, raw in rows:
        if b'"' in raw or separator == b" ":
            raw = _requote(line, raw, layout, separator)
        found = raw.count(separator) + 1
        if found != layout.width:
            raise ragged(layout.source, line, found, layout.width)
        if layout.texts:
            name, raw = raw.split(separator, 1)
            names.append(_decode(line, name, layout))
        pieces.append(raw)
    values = _values(separator.join(pieces), separator, layout)
    width = len(layout.numbers)
    if values is None or len(values) != width * len(rows):
        values = np.concatenate([_slow(line, piece, layout, separator) for (line, _), piece in zip(rows, pieces)])
    texts: dict[int, Any] = {0: pl.Series("0", names, dtype=pl.String)} if layout.texts else {}
    return finish(values.reshape(len(rows), width), texts, chunk, layout, dtype)


def _values(data: bytes, separator: bytes, layout: Layout) -> Any:
    import polars as pl

    data = data.replace(separator, b"\n") + b"\n"
    if layout.dialect.decimal_comma:
        data = data.replace(b",", b".")
    for markers in [list(MARKERS)] if layout.has_markers else [None, list(MARKERS)]:
        try:
            column = pl.read_csv(
                data, has_header=False, schema={"0": pl.Float64}, separator="\x1f", quote_char=None, null_values=markers
            )
        except (pl.exceptions.PolarsError, RuntimeError):
            continue
        if markers:
            layout.has_markers = True
            layout.seen.update(marker for marker in MARKERS if marker.encode() in data)
        return column.to_series().to_numpy()
    return None


def _requote(line: int, raw: bytes, layout: Layout, separator: bytes) -> bytes:
    """The record without quotes; a delimiter inside a quoted cell cannot be part of a number and is refused."""
    row = cells(_decode(line, raw, layout), layout.dialect.delimiter)
    mark = separator.decode()
    if len(row) == layout.width and layout.texts:
        row[0] = row[0].replace(mark, " ")
    for j, cell in enumerate(row):
        if mark in cell and len(row) == layout.width:
            raise not_a_number(layout.source, line, layout.columns[j], cell)
    return separator.join(cell.encode() for cell in row)


def _decode(line: int, raw: bytes, layout: Layout) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        words = "is not UTF-8 text; say which it is, for instance encoding='latin-1'"
        raise ReadError(layout.source.name, words, line) from None


def _slow(line: int, raw: bytes, layout: Layout, separator: bytes) -> Any:
    """One row cell by cell, to name the first that is no number."""
    row = _decode(line, raw, layout).split(separator.decode())
    values = np.full(len(row), np.nan)
    for j, cell in enumerate(row):
        cell = cell.strip().replace(",", ".") if layout.dialect.decimal_comma else cell.strip()
        if is_number(cell):
            values[j] = float(cell)
        elif is_missing(cell):
            layout.seen.update({cell} - {""})
        else:
            raise not_a_number(layout.source, line, layout.columns[layout.numbers[j]], cell)
    return values
