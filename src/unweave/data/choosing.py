"""Chooses the columns that a model takes, by what they are for and by what was asked, and says what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.data.dates import CYCLES, ROUND, days_of, place_in_cycle, written
from unweave.data.encode import MOST_LEVELS, OTHER, Part, as_numbers, learn_part
from unweave.data.named import NamedTable
from unweave.data.roles import ColumnRole, column_of, column_roles, shown

_HELPS = 0.1  # share of the variance of some number that a month, weekday or hour must explain to be a column
_ROUNDS = 2  # times that a cycle must come round before anybody can tell whether it matters
_ONE = {"id": "an id", "order": "a row number", "year": "a year", "prose": "free text", "empty": "empty"}
_MANY = {
    "id": "ids",
    "order": "row numbers",
    "year": "years",
    "prose": "columns of free text",
    "empty": "empty columns",
}

Names = Sequence[str] | None


def names_of(table: NamedTable) -> list[str]:
    """Name the columns of a table, by number if they have no names."""
    return table.columns or [f"column {j + 1}" for j in range(table.shape[1])]


def choose_roles(table: NamedTable, columns: Names, ignore: Names, kinds: Mapping[str, str] | None, notes: list[str]):
    """Return the roles of the columns that are used, and note which are left out; ValueError if none remains."""
    check_names(table, columns, ignore)
    spared = set(ignore or ())
    roles = [role for role in column_roles(table, kinds) if role.name not in spared]
    if columns is None:
        used, left = [role for role in roles if role.used], [role for role in roles if not role.used]
    else:
        wanted = [role for role in roles if role.name in set(columns)]
        left = [role for role in wanted if role.kind in ("constant", "empty")]
        used = [_as_measured(table, role) for role in wanted if role not in left]
    notes += _left_out(left)
    if not used:
        raise ValueError(_nothing_left(table, left))
    return used


def positions_asked(table: NamedTable, columns: Names, ignore: Names) -> list[int]:
    """Return the positions of the columns that were asked for and not to be ignored."""
    check_names(table, columns, ignore)
    names = names_of(table)
    wanted = (set(names) if columns is None else set(columns)) - set(ignore or ())
    return [j for j, name in enumerate(names) if name in wanted]


def check_names(table: NamedTable, columns: Names, ignore: Names) -> None:
    """Raise if a column that was asked for, or is to be ignored, is not there."""
    names = names_of(table)
    known = set(names)
    for argument, asked in (("columns", columns), ("ignore", ignore)):
        if isinstance(asked, str):
            raise TypeError(f"{argument} must be a list of names of columns, such as [{asked!r}]")
        lost = [name for name in asked or () if name not in known]
        if lost:
            raise ValueError(f"{argument}: there is no column {shown(lost)}; the columns are {shown(names)}")


def _as_measured(table: NamedTable, role: ColumnRole) -> ColumnRole:
    """Return the role of a column that was asked for by name: what would be left out counts as number or category."""
    if role.used:
        return role
    numbers = isinstance(column_of(table, names_of(table).index(role.name)), np.ndarray)
    return ColumnRole(role.name, "number" if numbers else "category", "asked for by name")


def _left_out(left: list[ColumnRole]) -> list[str]:
    """Say what was left out: a sentence for each column, or one for a kind where there are many."""
    notes: list[str] = []
    kinds: dict[str, list[ColumnRole]] = {}
    for role in left:
        kinds.setdefault(role.kind, []).append(role)
    for kind, roles in kinds.items():
        if kind == "constant":
            notes.append(f"left out constant columns: {shown([role.name for role in roles], 5)}")
        elif len(roles) > 3:
            notes.append(f"left out {len(roles)} {_MANY[kind]}: {shown([role.name for role in roles], 5)}")
        else:
            notes += [f"left out {role.name!r} ({_ONE[kind]}): {role.why}" for role in roles]
    return notes


def _nothing_left(table: NamedTable, left: list[ColumnRole]) -> str:
    source = table.source or "the table"
    if left and all(role.kind in ("constant", "empty") for role in left):
        return f"{source} has no column that varies: there is no structure to find"
    found = ", ".join(f"{role.name!r} ({_ONE.get(role.kind, role.kind)})" for role in left[:5])
    return f"{source} has no column of numbers, categories or dates, only {found or 'columns to ignore'}"


# -- columns that must be turned into numbers --------------------------------------------------------------------------


def are_numbers(table: NamedTable, roles: Iterable[ColumnRole]) -> bool:
    """Tell whether columns hold numbers that stay as they are, so that nothing is to be encoded."""
    if not all(role.kind in ("number", "count", "flag") for role in roles):
        return False
    if table.numeric:
        return True
    types = table.X.schema
    return all(types[role.name].is_numeric() or str(types[role.name]) == "Boolean" for role in roles)


def learn_parts(table: NamedTable, roles: list[ColumnRole], notes: list[str]) -> list[Part]:
    """Learn how each column becomes numbers, and note what becomes of categories and dates."""
    where = {name: j for j, name in enumerate(names_of(table))}
    parts = [learn_part(r.name, where[r.name], r.kind, column_of(table, where[r.name])) for r in roles]
    bare = [part for part in parts if part.kind == "category" and len(part.levels) < 2]
    if len(bare) == len(parts):
        raise ValueError(f"no word of {shown([part.name for part in bare])} comes twice: there is no structure to find")
    notes += [f"left out {part.name!r} (a category): hardly any of its words comes twice" for part in bare]
    parts = [part for part in parts if part not in bare]
    numbers = [as_numbers(column_of(table, p.position), p.name) for p in parts if p.kind == "number"]
    parts = [part if part.kind != "date" else _with_cycles(part, numbers, table, notes) for part in parts]
    _say_categories([part for part in parts if part.kind == "category"], notes)
    return parts


def _say_categories(parts: list[Part], notes: list[str]) -> None:
    if parts:
        listed = [f"{part.name!r} ({len(part.levels)})" for part in parts[:5]]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        notes.append(f"categories became a column for each level: {', '.join(listed)}{more}")
    merged = [part.name for part in parts if part.levels[-1] == OTHER]
    if merged:
        notes.append(
            f"levels in one row or under 1 % of the rows, or beyond the {MOST_LEVELS} most frequent, are {OTHER!r} in "
            f"{shown(merged, 5)}"
        )


def _with_cycles(part: Part, numbers: list[NDArray], table: NamedTable, notes: list[str]) -> Part:
    """Add month, weekday and hour to a date where they come round twice and some number goes with them."""
    if part.layout == "time of day":
        notes.append(f"the times of day in {part.name!r} became hours")
        return part
    days = days_of(column_of(table, part.position), part.layout)
    lasts = np.ptp(days[~np.isnan(days)])
    found = []
    for cycle in CYCLES:
        places = place_in_cycle(days, cycle)
        moments = np.floor(days * (24 if cycle == "hour" else 1))
        seen = len(np.unique(places[places >= 0]))
        if lasts < _ROUNDS * ROUND[cycle] or not 2 <= seen <= len(np.unique(moments[places >= 0])) / _ROUNDS:
            continue
        if any(_goes_with(x, places, moments) for x in numbers):
            found.append(cycle)
    more = f", and its {' and '.join(found)}, with which the numbers go" if found else ""
    notes.append(f"the date {part.name!r} became time in days from {written(part.origin)}{more}")
    return replace(part, cycles=found)


def _goes_with(x: NDArray, places: NDArray, moments: NDArray) -> bool:
    """Tell whether a number goes with a month, weekday or hour, row by row and also day by day.

    Rows of one day are not so many witnesses: five days cannot show that Mondays are special, however many the rows.
    """
    if explained(x, places) < _HELPS:
        return False
    known = ~np.isnan(x) & (places >= 0)
    _, first, group = np.unique(moments[known], return_index=True, return_inverse=True)
    means = np.bincount(group, weights=x[known]) / np.bincount(group)
    return explained(means, places[known][first]) >= _HELPS


def explained(x: NDArray, places: NDArray) -> float:
    """Return the share of the variance of x that groups explain, less what as many groups explain by chance."""
    known = ~np.isnan(x) & (places >= 0)
    x, places = x[known], places[known]
    n = len(x)
    sizes = np.bincount(places) if n else np.zeros(0, np.int64)
    groups = int((sizes > 0).sum())
    total = float(np.square(x - x.mean()).sum()) if n else 0.0
    if n <= groups + 1 or not np.isfinite(total) or total <= 0:
        return 0.0
    means = np.bincount(places, weights=x) / np.maximum(sizes, 1)
    within = float(np.square(x - means[places]).sum())
    return 1 - (within / (n - groups)) / (total / (n - 1))
