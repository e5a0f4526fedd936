"""Turns a chunk of a delimited file into numbers and words.

polars does the work; what it refuses is looked at again, cell by cell, so that the error can name the line. Very wide
tables of numbers are read as one long column, because frames are slow at a million columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.amounts import is_amount
from unweave.data.readers.csv.chunks import Chunk
from unweave.data.readers.csv.columns import ColumnPlan, not_a_number, ragged
from unweave.data.readers.csv.dialect import MARKERS, TRUTHS, cells, is_missing, is_number
from unweave.data.readers.source import ReadError

WIDE = 2000  # columns from which on cells are read as one long column


class Parsed(NamedTuple):
    """Holds the numbers of a chunk (rows in C order), its columns of words, and whether a number is missing."""

    values: NDArray
    texts: dict[int, Any]
    holes: bool


class Retype(Exception):
    """Raised when a column so far empty holds words, or one of numbers amounts: the file is to be read again."""

    def __init__(self, column: int):
        self.column = column


def parse(chunk: Chunk, plan: ColumnPlan, dtype: str) -> Parsed:
    """Parse the rows of a chunk; ReadError names the line of what cannot be a number or has too many cells."""
    frame = None if plan.dialect.delimiter == " " else _quick(chunk, plan)
    if frame is None:
        frame = _careful(chunk, plan)
    frame = _with_truths(frame, chunk, plan)
    values = np.empty((frame.height, 0))
    if plan.numbers:
        numbers = frame.select([f"{j}" for j in plan.numbers]) if plan.texts else frame
        values = np.ascontiguousarray(numbers.to_numpy(order="c"), dtype=np.float64)
    texts = {j: frame.to_series(j) for j in plan.texts}
    return finish_chunk(values, texts, chunk, plan, dtype)


def finish_chunk(values: NDArray, texts: dict[int, Any], chunk: Chunk, plan: ColumnPlan, dtype: str) -> Parsed:
    """Round to `dtype`, refuse infinities, and look for holes."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = values.astype(dtype, copy=False)
        total = values.sum()
    if np.isfinite(total):
        return Parsed(values, texts, False)
    infinite = np.isinf(values)
    if infinite.any():
        row, column = map(int, np.argwhere(infinite)[0])
        name = plan.columns[plan.numbers[column]]
        words = (
            f"a number in the column {name!r} is infinite or too large; leave the cell empty if the value is missing"
        )
        raise ReadError(plan.source.name, words, line_of(chunk, plan, row))
    return Parsed(values, texts, bool(np.isnan(values).any()))


def line_of(chunk: Chunk, plan: ColumnPlan, row: int) -> int:
    """Return the line on which a row of the chunk begins."""
    return rows_of(chunk, plan)[row][0]


def rows_of(chunk: Chunk, plan: ColumnPlan) -> list[tuple[int, bytes]]:
    """List the records that are rows: a blank line is a missing cell in a table of one column, else nothing."""
    if plan.width == 1:
        return list(chunk.records())
    return [(line, raw) for line, raw in chunk.records() if raw.strip()]


def _quick(chunk: Chunk, plan: ColumnPlan) -> Any:
    """Let polars parse the chunk; None if it refuses or if a row may be short."""
    import polars as pl

    data = _one_byte(chunk, plan)
    types = {"number": pl.Float64, "empty": pl.Float64, "truth": pl.String, "text": pl.String}
    schema = {f"{j}": types[role] for j, role in enumerate(plan.roles)}
    for markers in _marker_attempts(plan):
        frame = read_frame(data, plan, schema, markers)
        if frame is not None:
            if markers:
                _note_markers(plan, data)
            return None if _may_be_short(frame, data, plan) else frame
    return None


def _one_byte(chunk: Chunk, plan: ColumnPlan) -> bytes:
    """Return the chunk with a delimiter of one byte, the only kind that polars takes."""
    data = chunk.data + b"\n" if plan.width == 1 else chunk.data  # or a blank last line would be lost
    delimiter = plan.dialect.delimiter
    if delimiter is None or delimiter == plan.separator:
        return data
    return data.replace(delimiter.encode(), plan.separator.encode())


def _marker_attempts(plan: ColumnPlan) -> list[list[str] | None]:
    # Comparing every cell with markers costs time, and a row may be called NA: both only when it is needed and safe.
    if "text" in plan.roles or "truth" in plan.roles:
        return [None]
    return [list(MARKERS)] if plan.has_markers else [None, list(MARKERS)]


def read_frame(data: bytes, plan: ColumnPlan, schema: dict, markers: list[str] | None) -> Any:
    """Call polars once; None where it refuses."""
    import polars as pl

    try:
        return pl.read_csv(
            data,
            has_header=False,
            schema=schema,
            separator=plan.separator,
            null_values=markers,
            decimal_comma=plan.dialect.decimal_comma,
        )
    except (pl.exceptions.PolarsError, ValueError, OSError, RuntimeError):
        return None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def _note_markers(plan: ColumnPlan, data: bytes) -> None:
    plan.has_markers = True
    missing = [marker for marker in MARKERS if marker not in plan.seen and marker.encode() in data]
    plan.seen.update(missing)


def _may_be_short(frame: Any, data: bytes, plan: ColumnPlan) -> bool:
    """Tell whether some row lacks cells: polars fills them up, so the last column is missing there.

    No row has too many cells (polars refuses those), so the number of delimiters tells.
    """
    if plan.width == 1 or frame.to_series(plan.width - 1).null_count() == 0:
        return False
    if b'"' in data:
        return True
    found = np.count_nonzero(np.frombuffer(data, np.uint8) == ord(plan.separator))
    return found != frame.height * (plan.width - 1)


def _careful(chunk: Chunk, plan: ColumnPlan) -> Any:
    """Read the chunk as words, then turn columns into numbers, so that the first wrong cell can be named."""
    import polars as pl

    frame = _all_words(chunk, plan)
    changed = [_numbers(frame.to_series(j), j, chunk, plan) for j in plan.numbers if plan.roles[j] != "truth"]
    return frame.with_columns(changed) if frame.width else pl.DataFrame()


def _all_words(chunk: Chunk, plan: ColumnPlan) -> Any:
    """Read every column as words, by polars, or record by record where it refuses or would hide a short row."""
    import polars as pl

    data = _one_byte(chunk, plan)
    schema = {f"{j}": pl.String for j in range(plan.width)}
    frame = None if plan.dialect.delimiter == " " else read_frame(data, plan, schema, None)
    if frame is not None and not _may_be_short(frame, data, plan):
        return frame
    table = [_record(line, raw, plan) for line, raw in rows_of(chunk, plan)]
    return pl.DataFrame({name: [row[j] for row in table] for j, name in enumerate(schema)}, schema=schema)


def _record(line: int, raw: bytes, plan: ColumnPlan) -> list[str]:
    row = cells(_decode(line, raw, plan), plan.dialect.delimiter)
    if len(row) != plan.width:
        raise ragged(plan.source, line, len(row), plan.width)
    return row


def _numbers(words: Any, j: int, chunk: Chunk, plan: ColumnPlan) -> Any:
    import polars as pl

    words = cells_as_written = words.fill_null("").str.strip_chars()
    if plan.dialect.decimal_comma:
        words = words.str.replace(",", ".", literal=True)
    missing = words.is_in(["", *MARKERS])
    plan.seen.update(set(words.filter(missing).unique()) - {""})
    values = words.cast(pl.Float64, strict=False)
    wrong = values.is_null() & ~missing
    if wrong.any():
        row = wrong.arg_max()
        if plan.roles[j] == "empty" or _amounts(cells_as_written.filter(wrong), plan):
            raise Retype(j)
        raise not_a_number(plan.source, line_of(chunk, plan, row), plan.columns[j], words[row])
    return pl.select(pl.when(missing).then(None).otherwise(values).alias(f"{j}")).to_series()


def _amounts(cells: Any, plan: ColumnPlan) -> bool:
    """Tell whether cells that are no plain numbers are money, percent or have thousands separators."""
    return all(is_amount(cell, comma=plan.dialect.decimal_comma) for cell in cells.to_list())


def _with_truths(frame: Any, chunk: Chunk, plan: ColumnPlan) -> Any:
    """Turn columns of yes and no into ones and zeros."""
    import polars as pl

    for j in (j for j, role in enumerate(plan.roles) if role == "truth"):
        words = frame.to_series(j).fill_null("").str.strip_chars()
        wrong = ~words.is_in([*TRUTHS, "", *MARKERS])
        if wrong.any():
            row = wrong.arg_max()
            raise not_a_number(plan.source, line_of(chunk, plan, row), plan.columns[j], words[row])
        yes = words.is_in([word for word, value in TRUTHS.items() if value])
        no = words.is_in([word for word, value in TRUTHS.items() if not value])
        values = pl.select(pl.when(yes).then(1.0).when(no).then(0.0).otherwise(None).alias(f"{j}"))
        frame = frame.with_columns(values.to_series())
    return frame


# -- very wide tables of numbers ---------------------------------------------------------------------------------------


def is_wide(plan: ColumnPlan) -> bool:
    """Tell whether a table is wide and holds numbers alone, but for names of rows at the left."""
    return plan.width >= WIDE and plan.texts in ([], [0]) and "truth" not in plan.roles


def parse_wide(chunk: Chunk, plan: ColumnPlan, dtype: str) -> Parsed:
    """Parse the rows of a chunk of a very wide table; the errors are those of :func:`parse`."""
    import polars as pl

    separator = (plan.dialect.delimiter or "\x1f").encode()
    pieces, names = [], []
    rows = rows_of(chunk, plan)
    for line, raw in rows:
        if b'"' in raw or separator == b" ":
            raw = _requote(line, raw, plan, separator)
        found = raw.count(separator) + 1
        if found != plan.width:
            raise ragged(plan.source, line, found, plan.width)
        if plan.texts:
            name, raw = raw.split(separator, 1)
            names.append(_decode(line, name, plan))
        pieces.append(raw)
    values = _wide_values(separator.join(pieces), separator, plan)
    width = len(plan.numbers)
    if values is None or len(values) != width * len(rows):
        values = np.concatenate([_cell_by_cell(line, piece, plan, separator) for (line, _), piece in zip(rows, pieces)])
    texts: dict[int, Any] = {0: pl.Series("0", names, dtype=pl.String)} if plan.texts else {}
    return finish_chunk(values.reshape(len(rows), width), texts, chunk, plan, dtype)


def _wide_values(data: bytes, separator: bytes, plan: ColumnPlan) -> Any:
    import polars as pl

    data = data.replace(separator, b"\n") + b"\n"
    if plan.dialect.decimal_comma:
        data = data.replace(b",", b".")
    for markers in [list(MARKERS)] if plan.has_markers else [None, list(MARKERS)]:
        try:
            column = pl.read_csv(
                data, has_header=False, schema={"0": pl.Float64}, separator="\x1f", quote_char=None, null_values=markers
            )
        except (pl.exceptions.PolarsError, RuntimeError):
            continue
        if markers:
            plan.has_markers = True
            plan.seen.update(marker for marker in MARKERS if marker.encode() in data)
        return column.to_series().to_numpy()
    return None


def _requote(line: int, raw: bytes, plan: ColumnPlan, separator: bytes) -> bytes:
    """Take the quotes out of a record; a delimiter inside a quoted cell cannot be part of a number and is refused."""
    row = cells(_decode(line, raw, plan), plan.dialect.delimiter)
    mark = separator.decode()
    if len(row) == plan.width and plan.texts:
        row[0] = row[0].replace(mark, " ")
    for j, cell in enumerate(row):
        if mark in cell and len(row) == plan.width:
            raise not_a_number(plan.source, line, plan.columns[j], cell)
    return separator.join(cell.encode() for cell in row)


def _decode(line: int, raw: bytes, plan: ColumnPlan) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise plan.source.not_utf8(line) from None


def _cell_by_cell(line: int, raw: bytes, plan: ColumnPlan, separator: bytes) -> Any:
    """Read one row cell by cell, to name the first that is no number."""
    row = _decode(line, raw, plan).split(separator.decode())
    values = np.full(len(row), np.nan)
    for j, cell in enumerate(row):
        cell = cell.strip().replace(",", ".") if plan.dialect.decimal_comma else cell.strip()
        if is_number(cell):
            values[j] = float(cell)
        elif is_missing(cell):
            plan.seen.update({cell} - {""})
        else:
            raise not_a_number(plan.source, line, plan.columns[plan.numbers[j]], cell)
    return values
