"""Reads files with one entry per line: ratings (user, item, value, maybe a time) and pairs of a 0/1 relation."""

from __future__ import annotations

import csv
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import TextIds, check_shape, from_entries, missing_of, whole_number_codes
from unweave.data.readers.lines import Block, blocks, decoded, head_lines
from unweave.data.readers.ratings.fields import DATE, FieldPlan, find_fields, is_number, looks_like, split
from unweave.data.readers.source import Options, ReadError, Source

# Large enough that polars spreads a block over its threads.
_BLOCK = 1 << 25
_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,17})", re.ASCII)
_PIECE = 1 << 17
_GAP = "gap"
_UNIT_SEPARATOR = b"\x1f"

__all__ = ["FORMATS", "looks_like", "read_pairs", "read_triples"]


class IndexedEntries(NamedTuple):
    """Holds all entries of a file: names of both sides, and for each entry its places, value and time."""

    users: list[str]
    items: list[str]
    user: NDArray
    item: NDArray
    value: NDArray | None
    time: NDArray | None


def read_triples(source: Source, options: Options) -> NamedTable:
    """Read a table of users × items from lines of ``user, item, value[, time]``, with any usual separator.

    Separators are commas, tabs, ``::``, semicolons, bars or blanks. Only what is listed is stored, a value of 0 too;
    the rest is unknown (``missing="zeros"``). Ids are kept as text: in the order of their values if all are whole
    numbers, otherwise as they first appear. Several values of the same user and item become one by
    ``options.duplicates``, and the latest of their times is kept. Columns are found by their names in a header,
    otherwise by their order.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ratings.dat")
    ...     _ = path.write_text("7::10::5::978300760\\n7::9::0::978302109\\n")
    ...     table = read_triples(Source(path), Options())
    >>> table, table.X.nnz, table.times.tolist()
    (NamedTable(1×2 ratings, columns '9', '10'), 2, [978302109, 978300760])
    """
    plan = find_fields(source, options, 3)
    entries = _read_entries(source, plan)
    merge = "last" if options.duplicates == "error" else options.duplicates
    table = _table(source, options, plan, entries, merge)
    notes = [*table.notes, "an entry that is not listed is unknown" + ("" if table.missing else ": taken as 0")]
    if table.times is not None:
        notes.append("times are kept beside the ratings; only a fit that is handed them uses them, for drift")
    return table.with_(kind="ratings", notes=notes)


def read_pairs(source: Source, options: Options) -> NamedTable:
    """Read a table of users × items from lines of ``user item``: 1 for each pair that is listed, 0 for all others.

    Repeated pairs count once. Separators, headers and ids are as in :func:`read_triples`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rights.txt")
    ...     _ = path.write_text("ann read\\nann write\\nbob read\\n")
    ...     read_pairs(Source(path), Options()).X.toarray().tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    plan = find_fields(source, options, 2)
    table = _table(source, options, plan, _read_entries(source, plan), "last")
    notes = [*table.notes, "pairs of a user and an item, without a value: a pair that is not listed is 0"]
    if table.times is not None:
        notes.append("times are kept beside the pairs, to tell earlier from later; no model of pairs uses them")
    return table.with_(kind="pairs", notes=notes)


def _table(source: Source, options: Options, plan: FieldPlan, entries: IndexedEntries, merge: str) -> NamedTable:
    rated = plan.value is not None
    shape = len(entries.users), len(entries.items)
    check_shape(source, shape, len(entries.user))
    values = np.ones(len(entries.user)) if entries.value is None else entries.value
    built = from_entries(
        entries.user, entries.item, values, shape, merge=merge, times=entries.time, dtype=options.dtype
    )
    if built.merged and rated and options.duplicates == "error":
        raise _duplicate(source, entries)
    if not np.isfinite(built.X.data).all():
        raise ReadError(source.name, f"a value is too large for {options.dtype}; use dtype='float64' or rescale")
    notes = list(plan.notes)
    if built.merged:
        how = f"duplicates={options.duplicates!r}" if rated else "each counts once"
        notes.append(f"{built.merged} lines repeat a user and item of another line: {how}")
    return NamedTable(
        built.X,
        rows=entries.users,
        columns=entries.items,
        missing=missing_of(options, "zeros" if rated else None),
        times=_whole_times(built.times),
        notes=notes,
        source=source.name,
    )


def _whole_times(times: NDArray | None) -> NDArray | None:
    """Turn times into integers where nothing is lost by it."""
    if times is None or times.dtype.kind != "f" or np.abs(times).max(initial=0) > 2**53:
        return times
    whole = times.astype(np.int64)
    return whole if (whole == times).all() else times


def _duplicate(source: Source, entries: IndexedEntries) -> ReadError:
    keys = entries.user.astype(np.int64) * len(entries.items) + entries.item
    order = np.argsort(keys, kind="stable")
    again = int(order[1:][keys[order[1:]] == keys[order[:-1]]].min())
    user, item = entries.users[entries.user[again]], entries.items[entries.item[again]]
    return ReadError(
        source.name,
        f"user {user!r} and item {item!r} come more than once (entry {again + 1}); "
        "remove one, or say duplicates='mean', 'last' or 'sum'",
    )


def _read_entries(source: Source, plan: FieldPlan) -> IndexedEntries:
    """Read all entries; start again with ids as text when some turn out not to be whole numbers."""
    whole = _whole_at_first(source, plan)
    while True:
        try:
            return _read_once(source, plan, whole)
        except NotWhole as found:
            whole = (whole[0] and found.side != 0, whole[1] and found.side != 1)


def _read_once(source: Source, plan: FieldPlan, whole: tuple[bool, bool]) -> IndexedEntries:
    texts = TextIds(), TextIds()
    parts: list[list[NDArray]] = [[], [], [], []]
    skip = plan.skip
    for block in blocks(source, _BLOCK):
        block, skip = _without_first_lines(block, skip)
        columns = parse(source, block, plan, whole)
        for side in (0, 1):
            ids = (columns.user, columns.item)[side]
            parts[side].append(_narrow(ids) if whole[side] else texts[side].add(ids))
        for kept, column in zip(parts[2:], columns[2:]):
            if column is not None:
                kept.append(column)
    sides = []
    for side in (0, 1):
        codes = np.concatenate(parts[side])
        parts[side].clear()
        if not len(codes):
            raise ReadError(source.name, "there is no line with an entry; is this a file of entries?")
        sides.append(_named(codes) if whole[side] else texts[side].finish(codes))
    value, time = (np.concatenate(kept) if kept else None for kept in parts[2:])
    return IndexedEntries(sides[0][0], sides[1][0], sides[0][1], sides[1][1], value, time)


def _without_first_lines(block: Block, skip: int) -> tuple[Block, int]:
    """Return the block without its first lines, and how many lines are still to be passed over."""
    if not skip:
        return block, 0
    lines = block.data.split(b"\n", skip)
    passed = len(lines) - 1
    return Block(block.line + passed, lines[-1], block.n_lines - passed), skip - passed


def _named(ids: NDArray) -> tuple[list[str], NDArray]:
    names, codes = whole_number_codes(ids)
    return [str(name) for name in names.tolist()], codes


def _narrow(ids: NDArray) -> NDArray:
    fits = not len(ids) or (ids.min() >= -(2**31) and ids.max() < 2**31)
    return ids.astype(np.int32) if fits else ids


def _whole_at_first(source: Source, plan: FieldPlan) -> tuple[bool, bool]:
    """Tell whether the ids of users and of items are whole numbers in the first lines."""
    with source.open_utf8() as file:
        lines = head_lines(file.read(1 << 14))[plan.skip :]
    rows = [line.split(plan.separator) for line in lines] if plan.separator != " " else [s.split() for s in lines]
    rows = [[part.strip().strip('"') for part in row] for row in rows if len(row) == plan.width]
    return all(is_whole(row[plan.user]) for row in rows), all(is_whole(row[plan.item]) for row in rows)


# -- lines into columns ------------------------------------------------------------------------------------------------


class Columns(NamedTuple):
    """Holds the fields of some lines; ids are 64-bit integers where asked, otherwise a list or series of text."""

    user: Any
    item: Any
    value: NDArray | None
    time: NDArray | None


class NotWhole(Exception):
    """Raised when ids that were taken for whole numbers are not; `side` is 0 for users and 1 for items."""

    def __init__(self, side: int):
        self.side = side


def parse(source: Source, block: Block, plan: FieldPlan, whole: tuple[bool, bool]) -> Columns:
    """Parse the columns of a block; ReadError names the first line that is wrong.

    The quick way hands back nothing when it meets anything unusual, and then the plain one decides.
    """
    quick = _quickly(block, plan, whole)
    return _plainly(source, block, plan, whole) if quick is None else quick


def is_whole(text: str) -> bool:
    """Tell whether text is a whole number that comes out the same when it is read and written again.

    >>> is_whole("17"), is_whole("-3"), is_whole("007"), is_whole("1.0")
    (True, True, False, False)
    """
    return bool(_WHOLE.fullmatch(text))


def _quickly(block: Block, plan: FieldPlan, whole: tuple[bool, bool]) -> Columns | None:
    """Parse the columns by polars; None if anything is unusual, NotWhole if text stands where whole numbers should."""
    import polars as pl

    data = block.data
    if not data or data.isspace() or (plan.separator == " " and re.search(rb"[ \t][ \t\n]|\t|\n[ \t]", data)):
        return None
    separator, step = plan.separator.encode(), 1
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
            quote_char='"' if plan.quoted else None,
            schema=_schema(plan, whole, step, integers=not (any(whole) and _odd_numbers(data))),
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    gaps = [name for name in frame.columns if name.startswith(_GAP)]
    if frame.height != block.n_lines or any(frame[name].null_count() < frame.height for name in gaps):
        return None
    return _columns(frame, plan, whole)


def _schema(plan: FieldPlan, whole: tuple[bool, bool], step: int, *, integers: bool) -> dict[str, Any]:
    """Return the type of each field by its place; with `step` 2 there is a gap between any two."""
    import polars as pl

    types: list[Any] = [pl.String] * plan.width
    for place, number in zip((plan.user, plan.item), whole):
        if number and integers:
            types[place] = pl.Int64
    for number_place in (plan.value, None if plan.dates else plan.time):
        if number_place is not None:
            types[number_place] = pl.Float64
    schema: dict[str, Any] = {}
    for place, kind in enumerate(types):
        if place and step == 2:
            schema[f"{_GAP}{place}"] = pl.String
        schema[str(place)] = kind
    return schema


def _columns(frame, plan: FieldPlan, whole: tuple[bool, bool]) -> Columns | None:
    """Take the columns of a frame; None if one has holes, empty ids or numbers that are not finite."""
    # A line that is too short leaves its last field empty.
    used = {plan.user, plan.item, plan.value, plan.time, plan.width - 1} - {None}
    if any(frame[str(place)].null_count() for place in used):
        return None
    value = None if plan.value is None else frame[str(plan.value)].to_numpy()
    time = None if plan.time is None else _times(frame[str(plan.time)], plan.dates)
    numbers = [column for column in (value, time) if column is not None]
    if (plan.time is not None and time is None) or not all(np.isfinite(column).all() for column in numbers):
        return None
    user, item = (_ids(frame[str((plan.user, plan.item)[side])], side, whole[side]) for side in (0, 1))
    return None if user is None or item is None else Columns(user, item, value, time)


def _ids(series, side: int, whole: bool):
    """Return ids: whole numbers as an array, text as a series without blanks around; None if one is empty."""
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
    """Tell whether some field may be a number that is written oddly (007, +7), so that an id would change when read."""
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


def _plainly(source: Source, block: Block, plan: FieldPlan, whole: tuple[bool, bool]) -> Columns:
    users, items, values, times = [], [], [], []
    for number, line in enumerate(decoded(source, block), block.line):
        if not line.strip():
            continue
        fields = _fields(source, line, number, plan)
        users.append(fields[plan.user])
        items.append(fields[plan.item])
        if plan.value is not None:
            values.append(_finite(source, fields[plan.value], number, "value"))
        if plan.time is not None:
            times.append(_time(source, fields[plan.time], number, plan))
    return Columns(
        _whole(users, 0) if whole[0] else users,
        _whole(items, 1) if whole[1] else items,
        None if plan.value is None else np.array(values, float),
        None if plan.time is None else np.array(times, "datetime64[s]" if plan.dates else float),
    )


def _fields(source: Source, line: str, number: int, plan: FieldPlan) -> list[str]:
    try:
        fields = split(line, plan.separator)
    except csv.Error as error:
        raise ReadError(source.name, f"the quotes do not match ({error}); close them", number) from None
    if len(fields) != plan.width:
        message = f"{len(fields)} fields where the others have {plan.width}; add or remove some, or set delimiter="
        raise ReadError(source.name, message, number)
    for place, what in ((plan.user, "user"), (plan.item, "item")):
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


def _time(source: Source, text: str, line: int, plan: FieldPlan) -> float | np.datetime64:
    if not plan.dates:
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


FORMATS = {"triples": read_triples, "pairs": read_pairs}
