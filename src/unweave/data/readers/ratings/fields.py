"""Finds out which field of a line is the user, the item, the value and the time, and what separates fields."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field

from unweave.data.readers.lines import head_lines
from unweave.data.readers.source import Options, ReadError, Source

SEPARATORS = ("::", "\t", ";", ",", "|", " ")
QUOTED = (",", ";", "|")
ROLES = ("user", "item", "value", "time")
_SYNONYMS = {
    "user": "user uid customer client reviewer reader member visitor listener viewer person account employee buyer",
    "item": "item iid movie film product book isbn song track artist album business restaurant game joke anime asin "
    "sku article video course place permission resource",
    "value": "value rating score stars star count plays playcount weight rate bookrating movierating userrating grade "
    "overall quantity preference",
    "time": "time timestamp date datetime unixtime unixreviewtime reviewtime reviewdate ratingdate ts created",
}
_ROLE = {word: role for role, words in _SYNONYMS.items() for word in words.split()}
_NUMBER = re.compile(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*", re.ASCII)
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?)?$"
_UNIX_TIMES = (10**8, 10**10)


@dataclass(frozen=True)
class FieldPlan:
    """Says how a line is read: places of the fields (None if there is no such field), separator, lines to pass over."""

    separator: str
    width: int
    skip: int
    user: int
    item: int
    value: int | None
    time: int | None
    dates: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def quoted(self) -> bool:
        return self.separator in QUOTED


def role_of(name: str) -> str | None:
    """Return the role that a header gives its column, None if it is not known.

    >>> [role_of(name) for name in ("userId", "Book-Rating", "movie_id", "x")]
    ['user', 'value', 'item', None]
    """
    plain = "".join(c for c in name.lower() if c.isalnum())
    return _ROLE.get(plain) or _ROLE.get(plain.removesuffix("id").removesuffix("name"))


def is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def split(line: str, separator: str) -> list[str]:
    """Cut a line into fields; quotes count between commas, semicolons or bars. csv.Error if they do not match."""
    if separator == " ":
        return line.split()
    if separator in QUOTED and '"' in line:
        return [part.strip() for part in next(csv.reader([line], delimiter=separator, strict=True), [])]
    return [part.strip() for part in line.split(separator)]


def find_fields(source: Source, options: Options, least: int) -> FieldPlan:
    """Find out how to read a file with at least `least` fields: three with a value, two without."""
    with source.open_utf8() as file:
        lines = head_lines(file.read(1 << 16))
    comments = 0
    while comments < len(lines) and lines[comments].startswith(("#", "%")):
        comments += 1
    sample = [line for line in lines[comments:] if line.strip()]
    if not sample:
        raise ReadError(source.name, "there is no line with an entry; is this a file of entries?")
    separator = options.delimiter or find_separator(sample, least)
    first = _fields(source, sample[0], separator, comments + 1)
    roles = [role_of(name) for name in first]
    header = _has_header(first, roles, options, least)
    places = _places_by_name(roles, least) if header else None
    if places is None:
        places = _places_by_order(source, first, least, comments + 1)
    blank = next(i for i, line in enumerate(lines[comments:]) if line.strip())
    body = sample[1:] if header else sample
    skip = comments + (blank + 1 if header else 0)
    return _with_time(FieldPlan(separator, len(first), skip, *places), body, first if header else None)


def find_separator(sample: list[str], least: int) -> str:
    """Find the separator that cuts all lines into the same number of fields, or at least the first into enough."""
    cut = {separator: [_width(line, separator) for line in sample[:100]] for separator in SEPARATORS}
    even = [s for s, widths in cut.items() if min(widths) == max(widths) >= least]
    enough = [s for s, widths in cut.items() if widths[0] >= least]
    return next(iter(even + enough), " ")


def _width(line: str, separator: str) -> int:
    try:
        return len(split(line, separator))
    except csv.Error:
        return 0


def _fields(source: Source, line: str, separator: str, number: int) -> list[str]:
    try:
        return split(line, separator)
    except csv.Error as error:
        raise ReadError(source.name, f"the quotes do not match ({error}); close them", number) from None


def _has_header(first: list[str], roles: list[str | None], options: Options, least: int) -> bool:
    if options.header != "auto":
        return bool(options.header)
    if {"user", "item"} <= set(roles):
        return True
    return least == 3 and len(first) >= 3 and not is_number(first[2])


def _places_by_name(roles: list[str | None], least: int) -> tuple[int, int, int | None, int | None] | None:
    place = {role: roles.index(role) for role in ROLES if role in roles}
    if not {"user", "item"} <= place.keys() or (least == 3 and "value" not in place):
        return None
    value = place["value"] if least == 3 else None
    return place["user"], place["item"], value, place.get("time")


def _places_by_order(source: Source, first: list[str], least: int, line: int):
    if least <= len(first) <= (4 if least == 3 else 2):
        return 0, 1, (2 if least == 3 else None), (3 if len(first) == 4 else None)
    expected = "user, item, value and perhaps time" if least == 3 else "user and item"
    raise ReadError(
        source.name,
        f"{len(first)} fields where {expected} are expected; set delimiter= or name the columns in a header",
        line,
    )


def _with_time(plan: FieldPlan, body: list[str], header: list[str] | None) -> FieldPlan:
    """Complete a plan with its notes, and with whether times are numbers or dates, as the first lines tell."""
    used = [plan.user, plan.item, plan.value, plan.time]
    notes = []
    if header is not None:
        named = [f"{header[place]!r} is the {role}" for role, place in zip(ROLES, used) if place is not None]
        notes.append(f"columns by the header: {', '.join(named)}")
        spare = [name for place, name in enumerate(header) if place not in used]
        notes += [f"columns left out: {', '.join(map(repr, spare))}"] if spare else []
    time, dates = plan.time, False
    if time is not None:
        rows = [row for line in body[:100] if len(row := _safe_split(line, plan.separator)) == plan.width]
        shown = [row[time] for row in rows if row[time]]
        dates = bool(shown) and all(re.search(DATE, text) for text in shown)
        if not dates and not all(map(is_number, shown)):
            notes.append("times were left out: they are neither numbers nor dates such as 2026-01-31 12:00:00")
            time = None
    return FieldPlan(plan.separator, plan.width, plan.skip, plan.user, plan.item, plan.value, time, dates, notes)


def _safe_split(line: str, separator: str) -> list[str]:
    try:
        return split(line, separator)
    except csv.Error:
        return []


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "triples" or "pairs" where the first lines leave no doubt; three columns of numbers are a table.

    Triples: separated by ``::``; or a header that names a user, an item and a value, and nothing but a time besides;
    or, as in MovieLens' ``u.data``, four columns of whole numbers between tabs, of which the third takes at most 20
    values and the last looks like seconds since 1970. Pairs: a header that names a user and an item alone; or two
    words per line between blanks or tabs, no numbers, with fewer different words than lines in one column, in a file
    that is not called a table of cells; or a file called ``*.pairs``. A time beside a pair is kept.

    >>> looks_like(b"1::2::5\\n1::3::4\\n", "ratings.dat"), looks_like(b"x,y,z\\n1,2,3\\n", "points.csv")
    ('triples', None)
    >>> looks_like(b"ann read\\nann write\\nbob read\\n", "rights.txt")
    'pairs'
    """
    lines = [line for line in head_lines(head)[:200] if line.strip() and not line.startswith(("#", "%"))]
    if not lines:
        return None
    if ".pairs" in name.lower():
        return "pairs"
    cells = name.lower().endswith((".csv", ".tsv", ".tab"))
    for separator in SEPARATORS:
        rows = [_safe_split(line, separator) for line in lines]
        if len(rows[0]) >= 2 and all(len(row) == len(rows[0]) for row in rows):
            found = _kind(separator, rows)
            return None if found == "pairs" and cells and role_of(rows[0][0]) is None else found
    return None


def _kind(separator: str, rows: list[list[str]]) -> str | None:
    roles, width = [role_of(name) for name in rows[0]], len(rows[0])
    if {"user", "item"} <= set(roles) and None not in roles and len(set(roles)) == width and len(rows) > 1:
        return "triples" if "value" in roles else "pairs"
    if separator == "::":
        return "triples" if width in (3, 4) and all(is_number(row[2]) for row in rows) else None
    if separator == "\t" and width == 4 and _like_u_data(rows):
        return "triples"
    return "pairs" if separator in "\t " and width == 2 and _like_pairs(rows) else None


def _like_u_data(rows: list[list[str]]) -> bool:
    if not all(re.fullmatch("[0-9]{1,18}", part) for row in rows for part in (row[0], row[1], row[3])):
        return False
    low, high = _UNIX_TIMES
    values = {row[2] for row in rows}
    return len(values) <= 20 and all(map(is_number, values)) and all(low < int(row[3]) < high for row in rows)


def _like_pairs(rows: list[list[str]]) -> bool:
    words = not any(is_number(part) for row in rows for part in row)
    fewest = min(len({row[side] for row in rows}) for side in (0, 1))
    return words and len(rows) >= 3 and fewest < len(rows)
