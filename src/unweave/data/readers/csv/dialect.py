"""Finds out how a delimited file is written: the delimiter, the decimal sign and the header.

`kind_of` says what one cell holds; `find_dialect` looks at the first lines of a file and returns its `Dialect`.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from unweave.data.readers.source import Options, ReadError, Source

_CANDIDATES = (",", "\t", ";", "|", " ")
_SAMPLE_LINES, _SAMPLE_CELLS, _SAMPLE_BYTES = 1000, 200_000, 1 << 28
_QUOTED = re.compile(r'"[^"]*"')
_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "spaces"}
MARKERS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity)", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset(("", *MARKERS))


@dataclass
class Sample:
    """Holds the first records of a file and the numbers of their lines."""

    lines: list[str]
    numbers: list[int]


@dataclass
class Dialect:
    """Says how a file is written: `delimiter` is None for a single column, `skip` lines stand before the first row."""

    delimiter: str | None
    decimal_comma: bool = False
    names: list[str] | None = None
    skip: int = 0
    width: int = 1
    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def take_sample(source: Source) -> Sample:
    """Read the first records: as many as a decision needs, at least three if the file has them."""
    size = 1 << 16
    while True:
        with source.open_utf8() as file:
            data = file.read(size)
            whole = len(data) < size
        if whole or data.count(b"\n") > 20 or size >= _SAMPLE_BYTES:
            break
        size *= 4
    return sample_of(source, data, whole)


def sample_of(source: Source, data: bytes, whole: bool) -> Sample:
    """Take the records of a piece of a file, without the last one unless the piece is the whole file."""
    from unweave.data.readers.csv.chunks import Chunk

    if b"\n" not in data and b"\r" in data:
        raise ReadError(
            source.name, "lines end in carriage returns alone; save the file with Unix or Windows line ends"
        )
    found = list(Chunk(data, 1).records())
    found = found if whole or len(found) < 2 else found[:-1]
    lines: list[str] = []
    numbers: list[int] = []
    for number, raw in found[:_SAMPLE_LINES]:
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            raise source.not_utf8(number) from None
        if text.strip() and not (text.startswith("#") and not lines):
            lines.append(text)
            numbers.append(number)
    if not lines:
        raise ReadError(source.name, "holds no cells, only blank lines; there is nothing to read")
    return Sample(lines, numbers)


def cells(line: str, delimiter: str | None) -> list[str]:
    """Cut one record into its cells.

    >>> cells('a,"b,c",', ","), cells("1  2", " ")
    (['a', 'b,c', ''], ['1', '2'])
    """
    if delimiter is None:
        delimiter = "\x1f"
    if delimiter == " ":
        line = " ".join(line.split())
    if len(delimiter) > 1:
        line, delimiter = line.replace(delimiter, "\x1f"), "\x1f"
    if '"' not in line:
        return line.split(delimiter)
    former = csv.field_size_limit(1 << 30)
    try:
        return next(csv.reader([line], delimiter=delimiter), [""])
    except csv.Error:
        return line.split(delimiter)
    finally:
        csv.field_size_limit(former)


def count_delimiters(line: str, delimiter: str) -> int:
    """Count how often a delimiter occurs outside quotes; a run of spaces is one."""
    line = _QUOTED.sub("", line) if '"' in line else line
    return len(line.split()) - 1 if delimiter == " " else line.count(delimiter)


def find_delimiter(lines: list[str]) -> str | None:
    """Find the delimiter that cuts lines into equally many cells, numbers if possible; None for a single column.

    >>> find_delimiter(["a;b", "1,5;2,5"]), find_delimiter(["1", "2"])
    (';', None)
    """
    lines = lines[:100]
    best, best_score = None, (0.0, 0.0)
    for delimiter in _CANDIDATES:
        counts = Counter(count_delimiters(line, delimiter) for line in lines)
        common, times = counts.most_common(1)[0]
        if common == 0 and times == len(lines):
            continue
        # R writes no name above its row names, so the first line may have one cell less.
        short_first = times == len(lines) - 1 and count_delimiters(lines[0], delimiter) == common - 1
        steady = times == len(lines) or short_first
        body = [cell for line in (lines[1:] or lines)[:20] for cell in cells(line, delimiter)[:1000]]
        plain = sum(is_number(cell) or is_missing(cell) or has_decimal_comma(cell) for cell in body) / len(body)
        if delimiter == " " and (plain < 0.5 or not steady):
            continue
        share = times / len(lines) if common else 0.0
        score = (1.0, plain) if steady and common else (0.5 * share, plain)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def find_dialect(source: Source, options: Options) -> Dialect:
    """Find out the delimiter, the names of columns and a sample of rows."""
    sample = take_sample(source)
    delimiter = options.delimiter if options.delimiter is not None else find_delimiter(sample.lines)
    if options.delimiter is not None:
        _check_delimiter(source, options.delimiter, sample.lines)
    first = cells(sample.lines[0], delimiter)
    most = max(3, _SAMPLE_CELLS // max(1, len(first)))
    rows = [cells(line, delimiter) for line in sample.lines[:most]]
    found = Dialect(delimiter, rows=rows, numbers=sample.numbers[: len(rows)], skip=sample.numbers[0] - 1)
    if sample.numbers[0] > 1:
        found.notes.append(f"the table begins on line {sample.numbers[0]}; what stands before it was left out")
    if delimiter not in (None, ",", "\t", options.delimiter):
        found.notes.append(f"cells are separated by {_NAMES.get(delimiter or '', repr(delimiter))}")
    found.decimal_comma = _comma_is_point(rows, delimiter)
    if found.decimal_comma:
        found.notes.append("numbers are written with a decimal comma")
        found.rows = rows = [rows[0], *([_with_point(cell) for cell in row] for row in rows[1:])]
    _take_header(found, options, first, sample)
    return found


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if has_decimal_comma(cell) else cell


def _check_delimiter(source: Source, delimiter: str, lines: list[str]) -> None:
    other = find_delimiter(lines)
    if other not in (None, delimiter, " ") and not any(count_delimiters(line, delimiter) for line in lines):
        words = f"no line holds the delimiter {delimiter!r}, but {other!r} separates cells; use delimiter={other!r}"
        raise ReadError(source.name, words)


def _comma_is_point(rows: list[list[str]], delimiter: str | None) -> bool:
    if delimiter == ",":
        return False
    body = [cell for row in rows[1:] or rows for cell in row]
    commas = sum(map(has_decimal_comma, body))
    return commas > 0 and not any("." in cell and is_number(cell) for cell in body)


def _take_header(found: Dialect, options: Options, first: list[str], sample: Sample) -> None:
    """Decide whether the first record names the columns, and drop it from the rows if so."""
    rows = found.rows
    body = rows[1:]
    found.width = len(body[0]) if body and options.header is not False else len(first)
    header = is_header(first, body) if options.header == "auto" else bool(options.header)
    if header and len(first) == found.width - 1 and all(len(row) == found.width for row in body):
        first = ["", *first]
    elif len(first) != found.width:
        found.width = len(first)
    if header:
        found.names = [name.strip() for name in first]
        found.rows, found.numbers = body, found.numbers[1:]
        lines = sample.lines[0].count("\n") + 1
        found.skip = sample.numbers[0] - 1 + lines


def is_header(first: list[str], body: list[list[str]]) -> bool:
    """Tell whether the first record names the columns of the others.

    >>> is_header(["x", "y"], [["1", "2"]]), is_header(["1", "2"], [["3", "4"]])
    (True, False)
    """
    kinds = [kind_of(cell) for cell in first]
    if not body:
        return all(word == "text" for word in kinds)
    if all(word in ("number", "missing") for word in kinds):
        return _counts_up(first)
    body = body[:50]
    shift = 1 if len(body[0]) == len(first) + 1 else 0
    for j, word in enumerate(kinds):
        column = [kind_of(row[j + shift]) for row in body if j + shift < len(row)]
        if word == "text" and column and "text" not in column and set(column) != {"missing"}:
            return True
    if any(word == "number" for word in kinds):
        return _ends_in_a_run(first, body)
    seen = [{row[j] for row in body if j < len(row)} for j in range(min(len(first), 100))]
    return len(set(first)) == len(first) and not any(cell in values for cell, values in zip(first, seen) if cell)


def _ends_in_a_run(first: list[str], body: list[list[str]]) -> bool:
    """Tell whether words and then numbers one after the other, as years are, name columns that hold neither.

    >>> _ends_in_a_run(["country", "1960", "1961", "1962"], [["Aruba", "4.8", "4.6", "4.4"]])
    True
    """
    words = [cell for cell in first if kind_of(cell) == "text"]
    run = [cell.strip() for cell in first[len(words) :]]
    if len(run) < 3 or not all(cell.isdigit() for cell in run) or not words:
        return False
    counts = all(int(b) - int(a) == 1 for a, b in pairwise(run))
    seen = {cell for row in body for cell in row}
    return counts and not any(word in seen for word in words)


def _counts_up(first: list[str]) -> bool:
    """Tell whether cells are 0, 1, 2, … as frames without names write them, maybe with an empty corner."""
    start = 1 if first[0].strip() == "" else 0
    whole = [cell.strip() for cell in first[start:]]
    return len(whole) > 2 - start and whole == [str(j) for j in range(len(whole))]


# -- what one cell says ------------------------------------------------------------------------------------------------


def is_missing(cell: str) -> bool:
    """Tell whether a cell is empty or one of the usual marks for a missing value.

    >>> is_missing(" "), is_missing("NA"), is_missing("0")
    (True, True, False)
    """
    return cell.strip() in _MISSING


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number in plain or scientific notation; infinities count, and are refused later.

    >>> is_number("-1.5e3"), is_number(".5"), is_number("1_000"), is_number("12 kg")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(cell.strip()) is not None


def has_decimal_comma(cell: str) -> bool:
    """Tell whether a cell is a number with a comma for the decimal point.

    >>> has_decimal_comma("1,5"), has_decimal_comma("1.5")
    (True, False)
    """
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def kind_of(cell: str) -> str:
    """Tell what a cell holds: "number", "missing", "truth" or "text".

    >>> [kind_of(cell) for cell in ("1", "?", "TRUE", "red")]
    ['number', 'missing', 'truth', 'text']
    """
    cell = cell.strip()
    if _NUMBER.fullmatch(cell):
        return "number"
    if cell in _MISSING:
        return "missing"
    return "truth" if cell in TRUTHS else "text"
