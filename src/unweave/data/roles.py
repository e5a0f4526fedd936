"""Tells what each column of a table is for: a measurement, a category, a date, an id, a row number, free text, ….

Not everything that is written in digits is a measurement: a year, a customer number and the number of the row are not,
and a model that takes them for one finds groups of rows that are near each other in the file. The rules, and what they
make of twelve real tables, are in ``docs/columns.md``. Names of columns count as well as their cells, because a
person would look at both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.amounts import read_amounts
from unweave.data.dates import LAYOUTS, find_layout, is_open, layout_of_numbers
from unweave.data.named import NamedTable

KINDS = ("number", "count", "flag", "category", "date", "year", "id", "order", "prose", "constant", "empty")
MEASURED = ("number", "count", "flag", "category", "date")  # what a model takes unasked

_ROWS = 10_000  # rows that are looked at; what leaves a column out is checked on all of them
_FIRST = 100  # rows in which a fraction settles that a column holds numbers
_NUMBERS = "number", "numbers"
_LEAST = 8  # rows from which 1, 2, 3, … is a row number whatever its name
_MOSTLY = 0.5  # share of different words from which they name rows, or are prose
_WORDS, _LETTERS = 5, 25  # per cell, at the median: from both on, words are prose
_CODES = 20  # different values up to which something called a code is a number, and words that repeat are levels
_YES = {"yes": "no", "y": "n", "true": "false", "t": "f", "on": "off", "ja": "nein", "oui": "non", "si": "no", "1": "0"}
_ORDER = re.compile(
    r"(unnamed:? ?\d*|index|idx|rows?|#|n[or]\.?|lfd\.? ?nr\.?|n°|"
    r"(row|sample|obs|observation|record|case|line|serial|sequence|seq|run|entry)[ _.-]*(no|nr|num|number|index|#)?\.?)"
)
_ID = re.compile(r"id|ids|uid|uuid|guid|identifier|pk|oid")
_CODE = re.compile(r"code|zip|zipcode|postcode|plz|phone|telephone|fax|ssn|isbn|ean|upc|sku|iban|barcode")
_TIME = re.compile(r"time|timestamp|date|datetime|ts|epoch|created|updated|modified|when|datum|day")
_YEAR = re.compile(r"year|yr|jahr|année|annee|año|vintage")
_LASTS = re.compile(r"age|old|per|of|in|at|since|experience|exp|duration|tenure|years|seniority|married")
_UUID = r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$|^[0-9a-fA-F]{16,64}$|^\S+@\S+\.\S+$|^https?://\S+$"


@dataclass(frozen=True)
class ColumnRole:
    """Says what a column is for: its name, its kind (one of `KINDS`), and why in words."""

    name: str
    kind: str
    why: str

    @property
    def used(self) -> bool:
        """Tell whether a model takes the column unasked."""
        return self.kind in MEASURED


def column_roles(table: NamedTable, overrides: Mapping[str, str] | None = None) -> list[ColumnRole]:
    """Tell what every column of a table is for.

    Parameters
    ----------
    table : NamedTable
        As read.
    overrides : mapping, optional
        Name of a column → its kind, where you know better: ``{"store": "category"}``.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"id": [7, 3, 9], "town": ["Ulm", "Bern", "Ulm"], "kg": [1.5, 2.0, None]})
    >>> [(role.name, role.kind) for role in column_roles(NamedTable(frame, columns=frame.columns))]
    [('id', 'id'), ('town', 'category'), ('kg', 'number')]
    """
    names = table.columns or [f"column {j + 1}" for j in range(table.shape[1])]
    asked = dict(overrides or {})
    check_kinds(asked, names)
    if table.sparse or table.kind != "table":
        kind, why = ("count", "how often it occurs") if table.kind in ("counts", "text") else ("number", "numbers")
        return [ColumnRole(name, asked.get(name, kind), why) for name in names]
    plain = _plainly_numbers(table)
    return [
        ColumnRole(name, asked[name], "as you said")
        if name in asked
        else ColumnRole(name, *_NUMBERS)
        if plain[j]
        else _role(table, j, name)
        for j, name in enumerate(names)
    ]


def check_kinds(kinds: Mapping[str, str], names: list[str]) -> None:
    """Raise if a column or a kind is not known; the message lists those that are."""
    for name, kind in kinds.items():
        if name not in names:
            raise ValueError(f"there is no column {name!r} to be read as {kind!r}; the columns are {shown(names)}")
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of column (for {name!r}); use one of {', '.join(KINDS)}")


def shown(names: list[str], most: int = 8) -> str:
    """List names for a message."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def column_of(table: NamedTable, j: int) -> Any:
    """Return a column as numbers (an array with NaN) or as texts (a polars series)."""
    if table.numeric:
        return np.asarray(table.X[:, j], dtype=np.float64)
    import polars as pl

    series = table.X.to_series(j)
    if series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return series if series.dtype == pl.String else series.cast(pl.String, strict=False)


def _plainly_numbers(table: NamedTable) -> NDArray:
    """Tell at once which columns of an array have fractions that differ in the first rows: wide tables have many."""
    if not table.numeric:
        return np.zeros(table.shape[1], dtype=bool)
    head = np.asarray(table.X[:_FIRST], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        fractions = (head != np.round(head)) & ~np.isnan(head)
        return fractions.any(axis=0) & (np.fmin.reduce(head, axis=0) < np.fmax.reduce(head, axis=0))


def _role(table: NamedTable, j: int, name: str) -> ColumnRole:
    if not table.numeric and table.X.dtypes[j].is_nested():
        return ColumnRole(name, "empty", f"holds {table.X.dtypes[j]}, which is neither a number nor a word")
    column = column_of(table, j)
    if not isinstance(column, np.ndarray):
        return ColumnRole(name, *_of_words(name, column))
    role = ColumnRole(name, *_of_numbers(name, column[:_ROWS]))
    measured = role.kind in ("number", "count", "flag")
    return role if measured or len(column) <= _ROWS else ColumnRole(name, *_of_numbers(name, column))


# -- numbers -----------------------------------------------------------------------------------------------------------


def _of_numbers(name: str, values: NDArray) -> tuple[str, str]:
    """Tell the kind of a column of numbers, and why."""
    known = values[~np.isnan(values)]
    if not known.size:
        return "empty", "there is no value"
    if (known == known[0]).all():
        return "constant", f"every value is {known[0]:g}"
    if (known != np.round(known)).any():
        return _NUMBERS
    return _named_whole(name, known, len(values)) or _plain_whole(known)


def _named_whole(name: str, known: NDArray, n: int) -> tuple[str, str] | None:
    """Tell whole numbers that are no measurements by their name and their values."""
    tokens = tokens_of(name)
    if known.size == n >= _LEAST and known[0] in (0, 1) and (np.diff(known) == 1).all():
        return "order", f"it counts the rows from {known[0]:g}"
    if (layout := layout_of_numbers(known, any(map(_TIME.fullmatch, tokens)))) is not None:
        return "date", f"times as {layout}" + (" since 1970" if layout != "digits" else "")
    if any(map(_YEAR.fullmatch, tokens)) and _like_years(known, tokens):
        return "year", "a year says when, and measures nothing"
    if _ORDER.fullmatch(name.strip().lower()) and np.unique(known).size == known.size:
        return "order", "it numbers the rows"
    if any(map(_ID.fullmatch, tokens)):
        return "id", "it says which one, and measures nothing"
    if any(map(_CODE.fullmatch, tokens)) and np.unique(known).size > _CODES:
        return "id", "a code says which one, and measures nothing"
    return None


def _plain_whole(known: NDArray) -> tuple[str, str]:
    low, high = known.min(), known.max()
    if low == 0 and high == 1:
        return "flag", "0 or 1"
    if low >= 0 and low <= 0.1 * high:
        return "count", "whole numbers from near 0"
    return "number", "whole numbers"


def _like_years(known: NDArray, tokens: list[str]) -> bool:
    """Tell years from durations: 1950 is a year; 70 is one only if nothing in the name says how long."""
    low, high = known.min(), known.max()
    if low >= 1000 and high <= 2200:
        return True
    return bool(low >= 40 and high <= 99 and not any(map(_LASTS.fullmatch, tokens)))


def tokens_of(name: str) -> list[str]:
    """Cut the name of a column into words in lower case, at blanks, marks and capitals.

    >>> tokens_of("customerID"), tokens_of("Sample number"), tokens_of("model_year2")
    (['customer', 'id'], ['sample', 'number'], ['model', 'year'])
    """
    parted = re.sub(r"([a-zà-ÿ])([A-Z])", r"\1 \2", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", parted)]


# -- words -------------------------------------------------------------------------------------------------------------


def _of_words(name: str, texts: Any) -> tuple[str, str]:
    """Tell the kind of a column of texts, and why; a hole is never a level."""
    every = texts.drop_nulls()
    known = every.head(_ROWS)
    if not len(known):
        return "empty", "there is no value"
    levels = known.n_unique()
    if levels == 1 and every.n_unique() == 1:
        return "constant", f"every value is {str(known[0])[:40]!r}"
    if levels == 2 and (yes := positive_of(every)) is not None:
        return "flag", f"{yes!r} or not"
    if (layout := find_layout(every)) is not None:
        doubt = "; day and month could be the other way round" if is_open(every, layout) else ""
        return "date", f"written like {LAYOUTS[layout].example}{doubt}"
    if (amounts := read_amounts(every)) is not None:
        return "number", f"numbers written as text: {amounts.words}"
    share = levels / len(known)
    if is_prose(known, share):
        return "prose", f"{levels:,} different texts of several words"
    if known.str.contains(_UUID).mean() > 1 - 0.05:
        return "id", "it says which one (an address, an e-mail or a long code)"
    if share == 1 or (share > _MOSTLY and levels > _CODES):
        return "id", f"{levels:,} different of {len(known):,}: it names rows"
    if any(map(_ID.fullmatch, tokens_of(name))) and levels > _CODES:
        return "id", "it says which one, and measures nothing"
    return "category", f"{levels:,} different words"


def is_prose(known: Any, share: float | None = None) -> bool:
    """Tell free text: cells that hardly repeat, of several words and some length at the median."""
    if not len(known):
        return False
    share = known.n_unique() / len(known) if share is None else share
    if share <= _MOSTLY:
        return False
    known = known.head(1000)
    words = known.str.count_matches(r"\S+").median()
    return words >= _WORDS and known.str.len_chars().median() >= _LETTERS


def positive_of(texts: Any) -> str | None:
    """Return the level that means yes where a column says yes or no, else None."""
    found = {str(level).strip().lower(): str(level) for level in texts.drop_nulls().unique().to_list()}
    for yes, no in _YES.items():
        if found.keys() <= {yes, no} and yes in found:
            return found[yes]
    return None


def prose_of(table: NamedTable) -> str | None:
    """Return the name of the column of free text; the one with the longest texts where there are several."""
    if table.numeric:
        return None
    import polars as pl

    texts = [name for name, dtype in table.X.schema.items() if dtype == pl.String]
    found = [name for name in texts if is_prose(table.X[name].drop_nulls().head(_ROWS))]
    return max(found, key=lambda name: table.X[name].str.len_chars().mean(), default=None)
