"""Chunks of a delimited file into numbers and words, by polars; what it refuses is looked at again with care."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.chunks import Chunk
from unweave.data.readers.dialect import cells
from unweave.data.readers.layout import Layout, not_a_number, ragged
from unweave.data.readers.source import ReadError
from unweave.data.readers.words import MARKERS, TRUTHS


class Parsed(NamedTuple):
    """Numbers of a chunk (rows in C order), its columns of words, and whether a number is missing."""

    values: NDArray
    texts: dict[int, Any]
    holes: bool


class Retype(Exception):
    """A column that was empty so far holds words: the file is to be read again with this known."""

    def __init__(self, column: int):
        self.column = column


def parse(chunk: Chunk, layout: Layout, dtype: str) -> Parsed:
    """The rows of a chunk; ReadError names the line of what cannot be a number or has too many cells."""
    frame = None if layout.dialect.delimiter == " " else _quick(chunk, layout)
    if frame is None:
        frame = _careful(chunk, layout)
    frame = _with_truths(frame, chunk, layout)
    values = np.empty((frame.height, 0))
    if layout.numbers:
        numbers = frame.select([f"{j}" for j in layout.numbers]) if layout.texts else frame
        values = np.ascontiguousarray(numbers.to_numpy(order="c"), dtype=np.float64)
    texts = {j: frame.to_series(j) for j in layout.texts}
    return finish(values, texts, chunk, layout, dtype)


def finish(values: NDArray, texts: dict[int, Any], chunk: Chunk, layout: Layout, dtype: str) -> Parsed:
    """Round to `dtype`, refuse infinities, and look for holes."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = values.astype(dtype, copy=False)
        total = values.sum()
    if np.isfinite(total):
        return Parsed(values, texts, False)
    infinite = np.isinf(values)
    if infinite.any():
        row, column = map(int, np.argwhere(infinite)[0])
        name = layout.columns[layout.numbers[column]]
        words = (
            f"a number in the column {name!r} is infinite or too large; leave the cell empty if the value is missing"
        )
        raise ReadError(layout.source.name, words, line_of(chunk, layout, row))
    return Parsed(values, texts, bool(np.isnan(values).any()))


def line_of(chunk: Chunk, layout: Layout, row: int) -> int:
    """The line on which a row of the chunk begins."""
    return rows_of(chunk, layout)[row][0]


def rows_of(chunk: Chunk, layout: Layout) -> list[tuple[int, bytes]]:
    """The records that are rows: a blank line is a missing cell in a table of one column, and nothing in others."""
    if layout.width == 1:
        return list(chunk.records())
    return [(line, raw) for line, raw in chunk.records() if raw.strip()]


def _quick(chunk: Chunk, layout: Layout) -> Any:
    """What polars makes of the chunk, or None if it refuses or if a row may be short."""
    import polars as pl

    data = _one_byte(chunk, layout)
    types = {"number": pl.Float64, "empty": pl.Float64, "truth": pl.String, "text": pl.String}
    schema = {f"{j}": types[role] for j, role in enumerate(layout.roles)}
    for markers in _marker_attempts(layout):
        frame = read_frame(data, layout, schema, markers)
        if frame is not None:
            if markers:
                _note_markers(layout, data)
            return None if _may_be_short(frame, data, layout) else frame
    return None


def _one_byte(chunk: Chunk, layout: Layout) -> bytes:
    """The chunk with a delimiter of one byte, the only kind that polars takes."""
    data = chunk.data + b"\n" if layout.width == 1 else chunk.data  # or a blank last line would be lost
    delimiter = layout.dialect.delimiter
    if delimiter is None or delimiter == layout.separator:
        return data
    return data.replace(delimiter.encode(), layout.separator.encode())


def _marker_attempts(layout: Layout) -> list[list[str] | None]:
    # Comparing every cell with markers costs time, and a row may be called NA: both only when it is needed and safe.
    if "text" in layout.roles or "truth" in layout.roles:
        return [None]
    return [list(MARKERS)] if layout.has_markers else [None, list(MARKERS)]


def read_frame(data: bytes, layout: Layout, schema: dict, markers: list[str] | None) -> Any:
    """One call of polars; None where it refuses."""
    import polars as pl

    try:
        return pl.read_csv(
            data,
            has_header=False,
            schema=schema,
            separator=layout.separator,
            null_values=markers,
            decimal_comma=layout.dialect.decimal_comma,
        )
    except (pl.exceptions.PolarsError, ValueError, OSError, RuntimeError):
        return None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def _note_markers(layout: Layout, data: bytes) -> None:
    layout.has_markers = True
    missing = [marker for marker in MARKERS if marker not in layout.seen and marker.encode() in data]
    layout.seen.update(missing)


def _may_be_short(frame: Any, data: bytes, layout: Layout) -> bool:
    """Whether some row lacks cells: polars fills them up, so the last column is missing there.

    No row has too many cells (polars refuses those), so the number of delimiters tells.
    """
    if layout.width == 1 or frame.to_series(layout.width - 1).null_count() == 0:
        return False
    if b'"' in data:
        return True
    found = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(layout.separator))
    return found != frame.height * (layout.width - 1)


def _careful(chunk: Chunk, layout: Layout) -> Any:
    """The chunk as words, turned into numbers column by column, so that the first wrong cell can be named."""
    import polars as pl

    frame = _all_words(chunk, layout)
    changed = [_numbers(frame.to_series(j), j, chunk, layout) for j in layout.numbers if layout.roles[j] != "truth"]
    return frame.with_columns(changed) if frame.width else pl.DataFrame()


def _all_words(chunk: Chunk, layout: Layout) -> Any:
    """Every column as words, by polars, or record by record where it refuses or would hide a short row."""
    import polars as pl

    data = _one_byte(chunk, layout)
    schema = {f"{j}": pl.String for j in range(layout.width)}
    frame = None if layout.dialect.delimiter == " " else read_frame(data, layout, schema, None)
    if frame is not None and not _may_be_short(frame, data, layout):
        return frame
    table = [_record(line, raw, layout) for line, raw in rows_of(chunk, layout)]
    return pl.DataFrame({name: [row[j] for row in table] for j, name in enumerate(schema)}, schema=schema)


def _record(line: int, raw: bytes, layout: Layout) -> list[str]:
    try:
        row = cells(raw.decode(), layout.dialect.delimiter)
    except UnicodeDecodeError:
        words = "is not UTF-8 text; say which it is, for instance encoding='latin-1'"
        raise ReadError(layout.source.name, words, line) from None
    if len(row) != layout.width:
        raise ragged(layout.source, line, len(row), layout.width)
    return row


def _numbers(words: Any, j: int, chunk: Chunk, layout: Layout) -> Any:
    import polars as pl

    words = words.fill_null("").str.strip_chars()
    if layout.dialect.decimal_comma:
        words = words.str.replace(",", ".", literal=True)
    missing = words.is_in(["", *MARKERS])
    layout.seen.update(set(words.filter(missing).unique()) - {""})
    values = words.cast(pl.Float64, strict=False)
    wrong = values.is_null() & ~missing
    if wrong.any():
        if layout.roles[j] == "empty":
            raise Retype(j)
        row = wrong.arg_max()
        raise not_a_number(layout.source, line_of(chunk, layout, row), layout.columns[j], words[row])
    return pl.select(pl.when(missing).then(None).otherwise(values).alias(f"{j}")).to_series()


def _with_truths(frame: Any, chunk: Chunk, layout: Layout) -> Any:
    """Columns of yes and no as ones and zeros."""
    import polars as pl

    for j in (j for j, role in enumerate(layout.roles) if role == "truth"):
        words = frame.to_series(j).fill_null("").str.strip_chars()
        wrong = ~words.is_in([*TRUTHS, "", *MARKERS])
        if wrong.any():
            row = wrong.arg_max()
            raise not_a_number(layout.source, line_of(chunk, layout, row), layout.columns[j], words[row])
        yes = words.is_in([word for word, value in TRUTHS.items() if value])
        no = words.is_in([word for word, value in TRUTHS.items() if not value])
        values = pl.select(pl.when(yes).then(1.0).when(no).then(0.0).otherwise(None).alias(f"{j}"))
        frame = frame.with_columns(values.to_series())
    return frame
