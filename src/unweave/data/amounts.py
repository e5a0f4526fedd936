"""Reads numbers as people write them in cells: money, percent, thousands separators and decimal commas."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.dates import FEW

_SIGN = r"^[(\s]*(?P<minus>[-+−]?)\s*"
_MONEY = r"[$€£¥₹₽₩]|USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|INR|CNY|BRL|ZAR|Rs\.?|kr\.?|zł"
_BEFORE = rf"(?P<before>{_MONEY})?\s*(?P<later>[-−]?)\s*"
_AFTER = rf"\s*(?P<after>{_MONEY}|%)?[)\s]*$"
_BLANKS = "\u00a0\u202f\u2009' ’"
# No group begins with 0 and another digit: 030 123 456 is a telephone number.
_POINT = rf"(?P<number>(?:[1-9]\d{{0,2}}(?:[,{_BLANKS}]\d{{3}})+|\d+)(?:\.\d+)?|\.\d+)"
_COMMA = rf"(?P<number>(?:[1-9]\d{{0,2}}(?:[.{_BLANKS}]\d{{3}})+|\d+)(?:,\d+)?|,\d+)"
_WAYS = {"point": _SIGN + _BEFORE + _POINT + _AFTER, "comma": _SIGN + _BEFORE + _COMMA + _AFTER}
_THOUSANDS = r"[,]\d{3}(?:\D|$)"
_SAMPLE = 500


class Amounts(NamedTuple):
    """Holds the numbers of a column of texts, NaN where there is none, and in words how they were written."""

    values: NDArray
    words: str
    unreadable: list[str]  # a few examples


def read_amounts(texts: Any) -> Amounts | None:
    """Read a polars column of texts as numbers, if nearly all known cells are; None if they are not.

    A column with two currencies is not read: dollars and euros are not one number. Percent stay percent: "12 %" is 12.

    >>> import polars
    >>> read_amounts(polars.Series(["$1,234.50", "$8"])).values.tolist()
    [1234.5, 8.0]
    >>> read_amounts(polars.Series(["1.234,50 €", "12 €"])).values.tolist(), read_amounts(polars.Series(["red"]))
    ([1234.5, 12.0], None)
    """
    known = texts.drop_nulls()
    if not len(known) or _share(known.head(_SAMPLE)) < 1 - FEW:
        return None
    way = _way(known)
    cells = texts.str.extract_groups(_WAYS[way]).struct.unnest()
    values = _values(cells, texts, comma=way == "comma")
    unread = np.isnan(values) & ~texts.is_null().to_numpy()
    if unread.sum() > FEW * len(known):
        return None
    signs = sorted({str(sign).upper() for side in ("before", "after") for sign in cells[side].drop_nulls().unique()})
    if len(signs) > 1:
        return None
    odd = list(dict.fromkeys(texts.filter(unread).to_list()))[:3]
    return Amounts(values, _words(signs, way, known), odd)


def is_amount(cell: str, *, comma: bool) -> bool:
    """Tell whether one cell is a number with a currency, a percent sign or thousands separators.

    `comma` says that the decimal sign is a comma.

    >>> is_amount("$1,234", comma=False), is_amount("12 %", comma=True), is_amount("12 kg", comma=False)
    (True, True, False)
    """
    return re.match(_WAYS["comma" if comma else "point"], cell.strip()) is not None


def _share(known: Any) -> float:
    """Return the share of cells that are numbers one way or the other."""
    fits = [known.str.contains(pattern).to_numpy() for pattern in _WAYS.values()]
    return float(np.mean(np.logical_or(*fits)))


def _way(known: Any) -> str:
    """Decide what a comma means: by the cells that fit one way alone, else thousands where three digits follow."""
    fits = {way: known.str.contains(pattern) for way, pattern in _WAYS.items()}
    alone = {"point": int((fits["point"] & ~fits["comma"]).sum()), "comma": int((fits["comma"] & ~fits["point"]).sum())}
    if alone["point"] != alone["comma"]:
        return max(alone, key=lambda way: alone[way])
    with_comma = known.filter(known.str.contains(",", literal=True))
    if len(with_comma):
        return "point" if with_comma.str.contains(_THOUSANDS).all() else "comma"
    euros = known.str.contains("€", literal=True).any() and known.str.contains(r"\d\.\d{3}(?:\D|$)").any()
    return "comma" if euros else "point"


def _values(cells: Any, texts: Any, *, comma: bool) -> NDArray:
    import polars as pl

    digits = cells["number"].str.replace_all(rf"[{_BLANKS}]", "")
    digits = digits.str.replace_all("." if comma else ",", "", literal=True)
    if comma:
        digits = digits.str.replace(",", ".", literal=True)
    values = digits.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    minus = (cells["minus"].is_in(["-", "−"]) | cells["later"].is_in(["-", "−"])).fill_null(False)
    minus |= texts.str.contains(r"^\s*\(.*\)\s*$").fill_null(False)  # as accountants write it
    return np.where(minus.to_numpy(), -values, values)


def _words(signs: list[str], way: str, known: Any) -> str:
    if signs == ["%"]:
        return "percent signs were taken off"
    if signs:
        return f"amounts in {signs[0]}"
    if way == "comma" and known.str.contains(",", literal=True).any():
        return "decimal commas"
    return "thousands separators were taken out"
