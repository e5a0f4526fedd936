"""Decides what each column of a delimited file holds (numbers, yes and no, or words) and which one names the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.data.amounts import is_amount
from unweave.data.readers.build import column_asked
from unweave.data.readers.csv.dialect import Dialect, is_number, kind_of
from unweave.data.readers.source import Options, ReadError, Source

_KINDS = ("number", "missing", "truth", "text")
_MANY = 1000
_MEANT, _MEANT_SHARE = 5, 0.01  # words among numbers: from so many on, and this share of the first rows, they are meant
_NOTHING = {"n.a.", "n. a.", "unknown", "missing", "not available", "#value!", "#div/0!", "#ref!", "#name?", "#num!"}


@dataclass
class ColumnPlan:
    """Says what each column holds: its role is "number", "empty" (nothing seen yet), "truth" or "text".

    `named` is the column with the names of rows, and `chosen` says whether the caller asked for it.
    """

    source: Source
    dialect: Dialect
    columns: list[str]
    roles: list[str]
    named: int | None
    chosen: bool = False
    has_markers: bool = False
    seen: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def width(self) -> int:
        return len(self.roles)

    @cached_property
    def texts(self) -> list[int]:
        """List the columns of words, the one that names rows among them."""
        return [j for j, role in enumerate(self.roles) if role == "text"]

    @cached_property
    def numbers(self) -> list[int]:
        """List the columns that become numbers."""
        return [j for j, role in enumerate(self.roles) if role != "text"]

    @property
    def separator(self) -> str:
        """Return the delimiter as one byte, for parsers that know no other."""
        delimiter = self.dialect.delimiter
        return "\x1f" if delimiter is None or len(delimiter.encode()) > 1 else delimiter


def plan_columns(source: Source, dialect: Dialect, options: Options) -> ColumnPlan:
    """Decide the role of every column from the sample; ReadError where numbers and words mix."""
    notes = list(dialect.notes)
    columns = unique_names(dialect.names or [f"column {j + 1}" for j in range(dialect.width)], notes)
    named = column_asked(source, options, columns)
    counts = np.zeros((len(_KINDS), dialect.width), dtype=np.int64)
    for number, row in zip(dialect.numbers, dialect.rows):
        if len(row) != dialect.width:
            raise ragged(source, number, len(row), dialect.width)
        counts[_codes(row), np.arange(dialect.width)] += 1
    roles = _roles(counts)
    for j, role in enumerate(roles):
        if role == "mixed" and j not in (0, named) and not _amounts(dialect, j) and not _words_too(dialect, j):
            raise _mixed(source, dialect, columns[j], j)
    roles = ["text" if role == "mixed" or j == named else role for j, role in enumerate(roles)]
    chosen = named is not None
    if named is None and options.names == "auto" and dialect.width > 1:
        named = _first_names_rows(dialect, roles)
        roles = ["text" if j == named else role for j, role in enumerate(roles)]
    return ColumnPlan(source, dialect, columns, roles, named, chosen, notes=notes)


def ragged(source: Source, line: int, found: int, width: int) -> ReadError:
    """Return the error for a line with too many or too few cells."""
    cells = "1 cell" if found == 1 else f"{found} cells"
    words = f"{cells} where the table has {width} columns; add or remove cells, or quote a cell with a delimiter"
    return ReadError(source.name, words, line)


def not_a_number(source: Source, line: int, column: str, cell: str) -> ReadError:
    """Return the error for words in a column of numbers."""
    shown = cell if len(cell) <= 40 else cell[:39] + "…"
    words = (
        f"{shown!r} in the column {column!r} of numbers; correct the cell, or leave it empty if the value is missing"
    )
    return ReadError(source.name, words, line)


def unique_names(names: list[str], notes: list[str]) -> list[str]:
    """Make the names of columns unique and fill empty ones; note it when something had to change.

    >>> notes = []
    >>> unique_names(["a", "a", ""], notes), notes
    (['a', 'a (2)', 'column 3'], ["column names that occur twice were numbered: 'a'"])
    """
    taken, seen, result = set(names), set(), []
    twice: dict[str, int] = {}
    for j, name in enumerate(names):
        base = fresh = name or f"column {j + 1}"
        while fresh in seen or (fresh != name and fresh in taken):
            twice[base] = twice.get(base, 1) + 1
            fresh = f"{base} ({twice[base]})"
        seen.add(fresh)
        result.append(fresh)
    if twice:
        shown = ", ".join(map(repr, list(twice)[:3])) + (", …" if len(twice) > 3 else "")
        notes.append(f"column names that occur twice were numbered: {shown}")
    return result


def _codes(row: list[str]) -> NDArray:
    """Return the kind of every cell, as an index into `_KINDS`."""
    if len(row) > _MANY:
        # Numbers alone, but for a name at the left, is what wide tables hold, and NumPy sees it at once.
        try:
            np.array(row[1:], dtype=np.float64)
        except ValueError:
            pass
        else:
            codes = np.zeros(len(row), dtype=np.int64)
            codes[0] = _KINDS.index(kind_of(row[0]))
            return codes
    return np.array([_KINDS.index(kind_of(cell)) for cell in row])


def _roles(counts: NDArray) -> list[str]:
    number, _, truth, text = counts
    roles = np.full(counts.shape[1], "empty", dtype="<U6")
    roles[number > 0] = "number"
    roles[(truth > 0) & (number == 0)] = "truth"
    roles[text > 0] = "text"
    roles[(text + truth > 0) & (number > 0)] = "text"
    roles[(text + truth > 0) & (number > text + truth)] = "mixed"
    return roles.tolist()


def _mixed(source: Source, dialect: Dialect, column: str, j: int) -> ReadError:
    odd = ((n, row[j]) for n, row in zip(dialect.numbers, dialect.rows) if kind_of(row[j]) in ("text", "truth"))
    number, cell = next(odd)
    return not_a_number(source, number, column, cell)


def _amounts(dialect: Dialect, j: int) -> bool:
    """Tell whether what is no plain number in a column is money, percent or has thousands separators."""
    cells = [row[j] for row in dialect.rows]
    points = dialect.delimiter == "," and any("." in cell for cell in cells if is_number(cell))
    odd = [cell for cell in cells if kind_of(cell) in ("text", "truth")]
    return any(all(is_amount(cell, comma=comma) for cell in odd) for comma in ((False,) if points else (False, True)))


def _words_too(dialect: Dialect, j: int) -> bool:
    """Tell whether words in a column of numbers are meant: "5more" doors of many cars is, one "abc" is a slip."""
    cells = [row[j].strip() for row in dialect.rows]
    odd = [cell for cell in cells if kind_of(cell) in ("text", "truth")]
    stands_for_nothing = all(cell.lower() in _NOTHING or not any(map(str.isalnum, cell)) for cell in odd)
    return len(odd) >= _MEANT and len(odd) >= _MEANT_SHARE * len(cells) and not stands_for_nothing


def _first_names_rows(dialect: Dialect, roles: list[str]) -> int | None:
    """Return the first column if it holds words, or numbers under an empty name, as frames write their index."""
    first = [row[0].strip() for row in dialect.rows]
    if len(set(first)) < len(first) or not first or any(not cell for cell in first):
        return None
    unnamed = dialect.names is not None and dialect.names[0] == "" and len([n for n in dialect.names if not n]) == 1
    whole = all(is_number(cell) and cell.lstrip("+-").isdigit() for cell in first)
    return 0 if roles[0] == "text" or (unnamed and whole) else None
