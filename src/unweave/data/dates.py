"""Reads dates and times as people write them: finds the layout of a column, and turns its texts into days.

:func:`find_layout` looks at a column and returns the name of a layout in `LAYOUTS`, or None; :func:`days_of` reads a
column in a layout. Both are kept apart so that a file of three rows is read as the file was that a model was fitted to.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FEW = 0.05  # the share of cells that may be unreadable in a column of dates (or of amounts)
_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:\.\d+)?))?\s*(?P<half>[AaPp])?\.?(?:[Mm]\.?)?"
_TIME = r"(?:[T ,]+" + _CLOCK + r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_MONTH = r"(?P<word>[A-Za-zäéûÄ]{3,9})\.?"
_NUMERIC = r"^(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})[./-]" + _YEAR + _TIME + "$"
_DAY_FIRST = _NUMERIC.replace("<a>", "<d>").replace("<b>", "<m>")
_MONTH_FIRST = _NUMERIC.replace("<a>", "<m>").replace("<b>", "<d>")


class Layout(NamedTuple):
    """Describes a way to write dates: an example, and a pattern with named groups for year, month, day and time."""

    example: str
    pattern: str


LAYOUTS = {
    "year first": Layout("2026-01-31", r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?" + _TIME + "$"),
    "day first": Layout("31.01.2026", _DAY_FIRST),
    "month first": Layout("01/31/2026", _MONTH_FIRST),
    "day and word": Layout("31 Jan 2026", r"^(?P<d>\d{1,2})\.?[- ]*" + _MONTH + r"[-, ]+" + _YEAR + _TIME + "$"),
    "word and day": Layout(
        "Jan 31, 2026", "^" + _MONTH + r"[- ]+(?P<d>\d{1,2})(?:st|nd|rd|th)?[-, ]+(?P<y>\d{4})" + _TIME + "$"
    ),
    "word and year": Layout("Jan 2026", "^" + _MONTH + r"[- ]+(?P<y>\d{4})$"),
    "quarter": Layout("2026Q1", r"^(?P<y>\d{4})[- ]?[Qq](?P<q>[1-4])$"),
    "digits": Layout("20260131", r"^(?P<y>1[6-9]\d\d|20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>[0-2]\d|3[01])$"),
    "time of day": Layout(
        "14:30", r"^(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}(?:\.\d+)?))?\s*(?P<half>[AaPp])?[Mm]?$"
    ),
    "seconds": Layout("1769860800", ""),  # since 1970; numbers, not texts
    "milliseconds": Layout("1769860800000", ""),
}
NUMERIC = ("digits", "seconds", "milliseconds")  # layouts that a column of numbers can have
_WRITTEN = [name for name, layout in LAYOUTS.items() if layout.pattern]
_UNIX = {"seconds": 86400.0, "milliseconds": 86400e3}
_SECONDS = (1e8, 4.2e9)  # from 1973 to 2103: smaller numbers are rather something else
_OTHER_MONTHS = {"mär": 3, "mae": 3, "fév": 2, "avr": 4, "mai": 5, "jui": 6, "aoû": 8, "okt": 10, "déc": 12, "dez": 12}
_SAMPLE = 500


def find_layout(texts: Any) -> str | None:
    """Find the layout in which nearly all known texts of a polars column are dates; None if they are not dates.

    Where day and month cannot be told apart because neither is ever above 12, dots and dashes mean that the day is
    first and slashes that the month is.

    >>> import polars
    >>> find_layout(polars.Series(["1/31/2026", "2/1/2026"])), find_layout(polars.Series(["31.1.26"]))
    ('month first', 'day first')
    """
    known = texts.drop_nulls()
    if not len(known):
        return None
    sample = known.head(_SAMPLE).str.strip_chars()
    for name in _WRITTEN:
        fits = np.asarray(sample.str.contains(LAYOUTS[name].pattern).to_numpy(), dtype=bool)
        if fits.mean() < 1 - FEW:
            continue
        if name in ("day first", "month first"):
            return _which_first(known)
        return name if _readable(known, name) else None
    return None


def is_open(texts: Any, layout: str) -> bool:
    """Tell whether the texts could be read with day and month the other way round just as well."""
    other = {"day first": "month first", "month first": "day first"}.get(layout)
    return other is not None and _readable(texts.drop_nulls(), other)


def _which_first(known: Any) -> str | None:
    order = ["month first", "day first"] if "/" in str(known[0]) else ["day first", "month first"]
    return next((layout for layout in order if _readable(known, layout)), None)


def _readable(known: Any, layout: str) -> bool:
    return bool(np.isnan(days_of(known, layout)).mean() <= FEW)


def layout_of_numbers(values: NDArray, named_as_time: bool) -> str | None:
    """Find the layout of numbers that stand for times, in a column whose name says that it holds times."""
    known = values[~np.isnan(values)]
    if not named_as_time or not known.size or (known != np.round(known)).any():
        return None
    low, high = known.min(), known.max()
    for name, unit in (("seconds", 1.0), ("milliseconds", 1e3)):
        if _SECONDS[0] * unit <= low and high <= _SECONDS[1] * unit:
            return name
    if low >= 16000101 and high <= 20991231:
        return "digits" if not np.isnan(_days_of_digits(known)).any() else None
    return None


# -- texts into days ---------------------------------------------------------------------------------------------------


def days_of(column: Any, layout: str) -> NDArray:
    """Read a column (polars texts, or an array of numbers) as days since 1970; NaN where it cannot be read.

    A time of day comes in days too: 0.5 is noon.

    >>> import polars
    >>> days_of(polars.Series(["1970-01-02 12:00", "soon", None]), "year first").tolist()
    [1.5, nan, nan]
    """
    if layout in _UNIX:
        return np.asarray(column, dtype=np.float64) / _UNIX[layout]
    if isinstance(column, np.ndarray):
        return _days_of_digits(column)
    groups = column.str.strip_chars().str.extract_groups(LAYOUTS[layout].pattern).struct.unnest()
    fields = {name: groups[name] for name in groups.columns}
    days = np.zeros(len(column)) if layout == "time of day" else _days(fields, len(column))
    return days + _share_of_day(fields, len(column), needed=layout == "time of day")


def _days_of_digits(values: NDArray) -> NDArray:
    with np.errstate(invalid="ignore"):
        y, m, d = values // 10000, values // 100 % 100, values % 100
    return _from_calendar(y, m, d)


def _days(fields: dict[str, Any], n: int) -> NDArray:
    year = _numbers(fields["y"])
    with np.errstate(invalid="ignore"):
        year = np.where(year < 69, year + 2000, np.where(year < 100, year + 1900, year))
    if "word" in fields:
        month = _months(fields["word"])
    elif "q" in fields:
        month = 3 * _numbers(fields["q"]) - 2
    else:
        month = _numbers(fields["m"])
    day = _numbers(fields["d"]) if "d" in fields else np.ones(n)
    if "d" in fields:
        day = np.where(np.isnan(day) & ~np.isnan(year), 1.0, day)  # "2026-01" is the first of January
    return _from_calendar(year, month, day)


def _from_calendar(year: NDArray, month: NDArray, day: NDArray) -> NDArray:
    """Return days since 1970, NaN where there is no such day."""
    with np.errstate(invalid="ignore"):
        good = (year >= 1) & (year <= 9999) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    y, m, d = (np.where(good, x, 1).astype(np.int64) for x in (year, month, day))
    months = (y - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (m - 1)
    dates = months.astype("datetime64[D]") + (d - 1)
    good &= dates.astype("datetime64[M]") == months
    return np.where(good, dates.astype(np.int64).astype(np.float64), np.nan)


def _share_of_day(fields: dict[str, Any], n: int, needed: bool) -> NDArray:
    if "H" not in fields:
        return np.zeros(n)
    hour, minute, second = (_numbers(fields[name]) for name in "HMS")
    half = fields["half"].str.to_lowercase().to_numpy()
    hour = np.where(half == "p", hour % 12 + 12, np.where(half == "a", hour % 12, hour))
    share = (hour + np.nan_to_num(minute) / 60 + np.nan_to_num(second) / 3600) / 24
    with np.errstate(invalid="ignore"):
        share = np.where((hour > 24) | (minute > 59), np.nan, share) if needed else np.nan_to_num(share)
    return share - _zone(fields["zone"]) if "zone" in fields else share


def _zone(zone: Any) -> NDArray:
    """Return offsets from Greenwich as shares of a day; 0 where none is written."""
    if zone.null_count() == len(zone):
        return np.zeros(len(zone))
    digits = zone.str.replace(":", "", literal=True)
    sign = np.where(digits.str.starts_with("-").fill_null(False).to_numpy(), -1.0, 1.0)
    number = np.nan_to_num(_numbers(digits.str.extract(r"(\d{4})", 1)))
    return sign * (number // 100 + number % 100 / 60) / 24


def _months(words: Any) -> NDArray:
    """Return the numbers of months by the first three letters of their names, English, German or French."""
    places = {name.lower()[:3]: i + 1 for i, name in enumerate(CYCLES["month"])} | _OTHER_MONTHS
    found = [np.nan if word is None else float(places.get(word.lower()[:3], np.nan)) for word in words.to_list()]
    return np.array(found, dtype=np.float64)


def _numbers(texts: Any) -> NDArray:
    import polars as pl

    return texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


# -- what people ask of a date -----------------------------------------------------------------------------------------

CYCLES = {
    "month": [
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ],
    "weekday": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "hour": [f"{hour}:00" for hour in range(24)],
}
ROUND = {"month": 365.25, "weekday": 7.0, "hour": 1.0}  # days until a cycle begins again


def place_in_cycle(days: NDArray, cycle: str) -> NDArray[np.int64]:
    """Return the month (from 0), the weekday (Monday is 0) or the hour of every day; -1 where it is NaN.

    >>> place_in_cycle(np.array([0.75, np.nan]), "weekday").tolist(), place_in_cycle(np.array([0.75]), "hour").tolist()
    ([3, -1], [18])
    """
    known = ~np.isnan(days)
    filled = np.where(known, days, 0.0)
    if cycle == "hour":
        place = np.floor((filled % 1) * 24 + 1e-6).astype(np.int64) % 24
    else:
        whole = np.floor(filled).astype(np.int64)
        month = whole.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
        place = (whole + 3) % 7 if cycle == "weekday" else month
    return np.where(known, place, -1)


def written(day: float) -> str:
    """Write a day as a date, with the time where it is not midnight.

    >>> written(0.0), written(0.5)
    ('1970-01-01', '1970-01-01 12:00')
    """
    moment = np.datetime64(round(day * 86400), "s")
    text = str(moment).replace("T", " ")
    return re.sub(r":00$", "", text).removesuffix(" 00:00")
