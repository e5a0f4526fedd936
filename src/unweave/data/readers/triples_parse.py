"""Lines of user, item, value and time turned into columns: many at once where possible, else one by one."""

from __future__ import annotations

import csv
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.blocks import Block, decoded
from unweave.data.readers.source import ReadError, Source
from unweave.data.readers.triples_layout import DATE, Layout, is_number, split

_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,17})", re.ASCII)
_PIECE = 1 << 17
_GAP = "gap"
_UNIT_SEPARATOR = b"\x1f"


class Columns(NamedTuple):
    """Fields of some lines; ids are 64-bit integers where they were asked to be, otherwise a list or series of text."""

    user: Any
    item: Any
    value: NDArray | None
    time: NDArray | None


class NotWhole(Exception):
    """Ids that were taken for whole numbers are not all; `side` is 0 for users and 1 for items."""

    def __init__(self, side: int):
        self.side = side


def parse(source: Source, block: Block, layout: Layout, whole: tuple[bool, bool]) -> Columns:
    """The columns of a block; ReadError with the line of the first one that is wrong.

    The quick way hands back nothing when it meets anything unusual, and then the plain one decides.
    """
    quick = _quickly(block, layout, whole)
    return _plainly(source, block, layout, whole) if quick is None else quick


def is_whole(text: str) -> bool:
    """Whether text is a whole number that comes out the same when it is read and written again.

    >>> is_whole("17"), is_whole("-3"), is_whole("007"), is_whole("1.0")
    (True, True, False, False)
    """
    return bool(_WHOLE.fullmatch(text))


def _quickly(block: Block, layout: Layout, whole: tuple[bool, bool]) -> Columns | None:
    """The columns by polars, None if there is anything unusual; NotWhole if text stands where whole numbers should."""
    import polars as pl

    data = block.data
    if not data or data.isspace() or (layout.separator == " " and re.search(rb"[ \t][ \t\n]|\t|\n[ \t]", data)):
        return None
    separator, step = layout.separator.encode(), 1
    if len(separator) == 2 and separator[0] == separator[1]:
        separator, step = separator[:1], 2  # a doubled separator has an empty field inside
    elif len(separator) > 1:
        if _UNIT_SEPARATOR in data:
            return None
        data, separator = data.replace(separator, _UNIT_SEPARATOR), _UNIT_SEPARATOR
    if separator in b'"\r\n':
        return None
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            separator=separator.decode(),
            quote_char='"' if layout.quoted else None,
            schema=_schema(layout, whole, step, integers=not (any(whole) and _odd_numbers(data))),
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    gaps = [name for name in frame.columns if name.startswith(_GAP)]
    if frame.height != block.n_lines or any(frame[name].null_count() < frame.height for name in gaps):
        return None
    return _columns(frame, layout, whole)


def _schema(layout: Layout, whole: tuple[bool, bool], step: int, *, integers: bool) -> dict[str, Any]:
    """Type of each field by its place; with `step` 2 there is a gap between any two."""
    import polars as pl

    types: list[Any] = [pl.String] * layout.width
    for place, number in zip((layout.user, layout.item), whole):
        if number and integers:
            types[place] = pl.Int64
    for number_place in (layout.value, None if layout.dates else layout.time):
        if number_place is not None:
            types[number_place] = pl.Float64
    schema: dict[str, Any] = {}
    for place, kind in enumerate(types):
        if place and step == 2:
            schema[f"{_GAP}{place}"] = pl.String
        schema[str(place)] = kind
    return schema


def _columns(frame, layout: Layout, whole: tuple[bool, bool]) -> Columns | None:
    """The columns of a frame, None if one has holes, empty ids or numbers that are not finite."""
    # A line that is too short leaves its last field empty.
    used = {layout.user, layout.item, layout.value, layout.time, layout.width - 1} - {None}
    if any(frame[str(place)].null_count() for place in used):
        return None
    value = None if layout.value is None else frame[str(layout.value)].to_numpy()
    time = None if layout.time is None else _times(frame[str(layout.time)], layout.dates)
    numbers = [column for column in (value, time) if column is not None]
    if (layout.time is not None and time is None) or not all(np.isfinite(column).all() for column in numbers):
        return None
    user, item = (_ids(frame[str((layout.user, layout.item)[side])], side, whole[side]) for side in (0, 1))
    return None if user is None or item is None else Columns(user, item, value, time)


def _ids(series, side: int, whole: bool):
    """Whole numbers as an array, text as a series without blanks around; None if one is empty."""
    import polars as pl

    if series.dtype == pl.Int64:
        return series.to_numpy()
    series = series.str.strip_chars()
    if not whole:
        return None if (series == "").any() else series
    if not series.str.contains(f"^{_WHOLE.pattern}$").all():
        raise NotWhole(side)
    return series.cast(pl.Int64).to_numpy()


def _times(series, dates: bool) -> NDArray | None:
    if not dates:
        return series.to_numpy()
    if not series.str.contains(DATE).all():
        return None
    try:
        return np.array(series.to_list(), "datetime64[s]")
    except ValueError:
        return None


def _odd_numbers(data: bytes) -> bool:
    """Whether some field may be a number that is written oddly (007, +7), so that an id would change when read."""
    if b"+" in data:
        return True
    whole = np.frombuffer(data, np.uint8)
    if len(whole) > 1 and whole[0] == 48 and 48 <= whole[1] < 58:
        return True
    for start in range(0, len(whole), _PIECE):
        piece = whole[start : start + _PIECE + 2]
        digit = (piece - np.uint8(48)) < 10
        zero = (piece[1:-1] == 48) & digit[2:]
        zero &= ~(digit | (piece == 46))[:-2]
        if zero.any():
            return True
    return False


def _plainly(source: Source, block: Block, layout: Layout, whole: tuple[bool, bool]) -> Columns:
    users, items, values, times = [], [], [], []
    for number, line in enumerate(decoded(source, block), block.line):
        if not line.strip():
            continue
        fields = _fields(source, line, number, layout)
        users.append(fields[layout.user])
        items.append(fields[layout.item])
        if layout.value is not None:
            values.append(_finite(source, fields[layout.value], number, "value"))
        if layout.time is not None:
            times.append(_time(source, fields[layout.time], number, layout))
    return Columns(
        _whole(users, 0) if whole[0] else users,
        _whole(items, 1) if whole[1] else items,
        None if layout.value is None else np.array(values, float),
        None if layout.time is None else np.array(times, "datetime64[s]" if layout.dates else float),
    )


def _fields(source: Source, line: str, number: int, layout: Layout) -> list[str]:
    try:
        fields = split(line, layout.separator)
    except csv.Error as error:
        raise ReadError(source.name, f"the quotes do not match ({error}); close them", number) from None
    if len(fields) != layout.width:
        message = f"{len(fields)} fields where the others have {layout.width}; add or remove some, or set delimiter="
        raise ReadError(source.name, message, number)
    for place, what in ((layout.user, "user"), (layout.item, "item")):
        if not fields[place]:
            raise ReadError(source.name, f"the {what} is empty; give it a name or leave the line out", number)
    return fields


def _finite(source: Source, text: str, line: int, what: str) -> float:
    if not is_number(text):
        remedy = "leave the line out if it is unknown" if not text else "correct it, or set header= or delimiter="
        raise ReadError(source.name, f"the {what} {text[:40]!r} is not a finite number; {remedy}", line)
    value = float(text)
    if not np.isfinite(value):
        raise ReadError(source.name, f"the {what} {text[:40]!r} is too large for a number; correct it", line)
    return value


def _time(source: Source, text: str, line: int, layout: Layout) -> float | np.datetime64:
    if not layout.dates:
        return _finite(source, text, line, "time")
    try:
        if re.search(DATE, text):
            return np.datetime64(text, "s")
    except ValueError:
        pass
    raise ReadError(source.name, f"the time {text[:40]!r} is not a date such as 2026-01-31; correct it", line)


def _whole(ids: list[str], side: int) -> NDArray:
    if not all(is_whole(text) for text in ids):
        raise NotWhole(side)
    return np.array([int(text) for text in ids], np.int64)
