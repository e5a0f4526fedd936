"""What one cell of a text file says: a number, nothing, yes or no, or words."""

from __future__ import annotations

import re

MARKERS = ("NA", "NaN", "nan", "null", "NULL", "None", "?")
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity)", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset(("", *MARKERS))


def is_missing(cell: str) -> bool:
    """Whether a cell is empty or one of the usual marks for a missing value.

    >>> is_missing(" "), is_missing("NA"), is_missing("0")
    (True, True, False)
    """
    return cell.strip() in _MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number in plain or scientific notation; infinities count, the reader refuses them later.

    >>> is_number("-1.5e3"), is_number(".5"), is_number("1_000"), is_number("12 kg")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(cell.strip()) is not None


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number with a comma for the decimal point.

    >>> has_decimal_comma("1,5"), has_decimal_comma("1.5")
    (True, False)
    """
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def kind(cell: str) -> str:
    """One of "number", "missing", "truth" and "text".

    >>> [kind(cell) for cell in ("1", "?", "TRUE", "red")]
    ['number', 'missing', 'truth', 'text']
    """
    cell = cell.strip()
    if _NUMBER.fullmatch(cell):
        return "number"
    if cell in _MISSING:
        return "missing"
    return "truth" if cell in TRUTHS else "text"
