"""Turns one column of a file into columns of numbers: a number stays one, a category becomes one column for each level.

A :class:`Part` is what was learned of one column: :func:`learn_part` learns it, :meth:`Part.numbers` applies it to this
and other tables, and :meth:`Part.words` says what numbers mean in the words of the file. It is plain data, so that it
can be saved with a model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.amounts import read_amounts
from unweave.data.dates import CYCLES, FEW, NUMERIC, days_of, find_layout, layout_of_numbers, place_in_cycle, written
from unweave.data.roles import positive_of

OTHER = "other"
MOST_LEVELS = 20  # further levels are put together as "other"
RARE = 0.01  # the share of rows below which a level is put together with others; it needs two rows in any case


@dataclass(frozen=True)
class Part:
    """Says how one column of a file becomes numbers.

    Parameters
    ----------
    name, position : str, int
        Of the column in the file.
    kind : "number", "flag", "category" or "date"
    levels : list of str
        Of a category, the most frequent first, and "other" last if rare ones were put together; for a flag written in
        words the one that means yes, then the other.
    layout, origin : str, float
        How dates are written, and the day (since 1970) from which time is counted.
    cycles : list of str
        What else is made of a date: "month", "weekday", "hour".
    """

    name: str
    position: int
    kind: str = "number"
    levels: list[str] = field(default_factory=list)
    layout: str = ""
    origin: float = 0.0
    cycles: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """Name the columns of numbers: "colour=red" for a level, "when (days)" and "when: month=May" for a date."""
        return [name for block in self.blocks for name in block]

    @property
    def blocks(self) -> list[list[str]]:
        """Name the columns that belong together: each block is to count as much as one number."""
        if self.kind == "category":
            return [[f"{self.name}={level}" for level in self.levels]]
        if self.kind == "date":
            unit = "hours" if self.layout == "time of day" else "days"
            turns = [[f"{self.name}: {cycle}={word}" for word in CYCLES[cycle]] for cycle in self.cycles]
            return [[f"{self.name} ({unit})"], *turns]
        return [[self.name]]

    def numbers(self, column: Any) -> NDArray:
        """Turn a column (numbers or texts) into rows × columns of numbers; NaN where nothing is known.

        A level that was not there when the part was learned counts as "other", and as no level if there is no other.
        """
        if self.kind == "category":
            return self._one_hot(column)
        if self.kind == "flag" and self.levels and not isinstance(column, np.ndarray):
            found = column.str.strip_chars().str.to_lowercase() == self.levels[0].strip().lower()
            return np.where(column.is_null().to_numpy(), np.nan, found.fill_null(False).to_numpy())[:, None]
        if self.kind == "date":
            days = self._days(column)
            time = (days - self.origin) * (24 if self.layout == "time of day" else 1)
            turns = [_indicators(place_in_cycle(days, cycle), len(CYCLES[cycle])) for cycle in self.cycles]
            return np.hstack([time[:, None], *turns])
        return as_numbers(column, self.name)[:, None]

    def _days(self, column: Any) -> NDArray:
        """Read dates as those of the fit were written, or else as these are; ValueError if they are none."""
        in_digits = isinstance(column, np.ndarray)
        known = ~np.isnan(column) if in_digits else column.is_not_null().to_numpy()
        if not known.any():
            return np.full(len(known), np.nan)
        if in_digits == (self.layout in NUMERIC):
            days = days_of(column, self.layout)
            if np.isnan(days[known]).mean() <= FEW:
                return days
        layout = layout_of_numbers(column, named_as_time=True) if in_digits else find_layout(column)
        if layout is None or (layout == "time of day") != (self.layout == "time of day"):
            raise ValueError(_no_dates(self.name))
        return days_of(column, layout)

    def _one_hot(self, column: Any) -> NDArray:
        place = {level: j for j, level in enumerate(self.levels)}
        unknown = place.get(OTHER, len(self.levels))  # a column beyond the last, which is cut off
        texts = level_texts(column)
        found = np.fromiter((-1 if t is None else place.get(t, unknown) for t in texts), np.int64, len(texts))
        return _indicators(found, len(self.levels) + 1)[:, :-1]

    def words(self, numbers: NDArray) -> list:
        """Say in the words of the file what numbers mean: a number, the likeliest level, or a date; None if unknown."""
        first, holes = numbers[:, 0], np.isnan(numbers).any(axis=1)
        if self.kind == "category":
            best = np.where(np.isnan(numbers), -np.inf, numbers).argmax(axis=1)
            found: list = [self.levels[j] for j in best]
        elif self.kind == "flag" and self.levels:
            found = [self.levels[0] if x > 0.5 else self.levels[-1] for x in first]
        elif self.kind == "date" and self.layout != "time of day":
            found = [None if np.isnan(x) else written(x + self.origin) for x in first]
        else:
            found = first.tolist()
        return [None if hole else value for value, hole in zip(found, holes, strict=True)]


def as_numbers(column: Any, name: str) -> NDArray:
    """Return a column as numbers; NaN for the few texts that are none, ValueError if they are not few."""
    if isinstance(column, np.ndarray):
        return column
    amounts = read_amounts(column)
    if amounts is not None:
        return amounts.values
    if not len(column) or column.null_count() == len(column):
        return np.full(len(column), np.nan)
    import polars as pl

    odd = column.filter(column.cast(pl.Float64, strict=False).is_null() & column.is_not_null())
    shown = repr(odd[0][:40]) if len(odd) else "several currencies"
    raise ValueError(
        f"the column {name!r} holds {shown} where numbers are expected; correct it, or read it as a category"
    )


def level_texts(column: Any) -> list[str | None]:
    """Return the texts of the levels of a column, None where nothing is known; whole numbers without a point."""
    if isinstance(column, np.ndarray):
        return [None if np.isnan(x) else f"{x:.15g}" for x in column]
    return column.str.strip_chars().to_list()


def _indicators(places: NDArray, n: int) -> NDArray:
    """Return a row of zeros with a one at its place; NaN in rows whose place is -1."""
    out = np.zeros((len(places), n))
    known = places >= 0
    out[np.flatnonzero(known), places[known]] = 1.0
    out[~known] = np.nan
    return out


# -- learning ----------------------------------------------------------------------------------------------------------


def learn_part(name: str, position: int, kind: str, column: Any) -> Part:
    """Learn how a column of a kind that is used becomes numbers."""
    if kind == "category":
        return Part(name, position, "category", learn_levels(column))
    if kind == "flag" and not isinstance(column, np.ndarray):
        yes = positive_of(column)
        if yes is None:
            raise ValueError(f"the column {name!r} does not say yes or no (or 0 and 1); read it as a category")
        return Part(name, position, "flag", [yes, *(x for x in column.drop_nulls().unique().to_list() if x != yes)])
    if kind == "date":
        return _learn_date(name, position, column)
    return Part(name, position, "flag" if kind == "flag" else "number")


def learn_levels(column: Any, *, rare: float = RARE, most: int = MOST_LEVELS) -> list[str]:
    """List the levels of a category, the most frequent first; rare ones are put together as "other".

    A level is rare in fewer than 1 % (`rare`) of the rows or in one row alone, or if there are 20 (`most`) that are
    more frequent. One rare level alone keeps its name.

    >>> import polars
    >>> learn_levels(polars.Series(["red"] * 3 + ["blue"] * 2 + ["grey", "pink", None]))
    ['red', 'blue', 'other']
    """
    if isinstance(column, np.ndarray):
        values, times = np.unique(column[~np.isnan(column)], return_counts=True)
        counts = {f"{value:.15g}": int(n) for value, n in zip(values, times, strict=True)}
    else:
        counts = dict(column.str.strip_chars().drop_nulls().value_counts().rows())
    levels = sorted(counts, key=lambda level: (-counts[level], level))
    least = max(2.0, rare * len(column))
    kept = [level for level in levels if counts[level] >= least][:most]
    left = [level for level in levels if level not in set(kept)]
    if len(left) == 1 and len(kept) < most:
        return [*kept, *left]
    return [level for level in kept if level != OTHER] + ([OTHER] if left or OTHER in kept else [])


def _no_dates(name: str) -> str:
    return f"the column {name!r} cannot be read as dates; write them like 2026-01-31, or read it as another kind"


def _learn_date(name: str, position: int, column: Any) -> Part:
    if isinstance(column, np.ndarray):
        layout = layout_of_numbers(column, named_as_time=True)
    else:
        layout = find_layout(column)
    if layout is None:
        raise ValueError(_no_dates(name))
    days = days_of(column, layout)
    known = days[~np.isnan(days)]
    origin = float(np.floor(known.min())) if known.size and layout != "time of day" else 0.0
    return Part(name, position, "date", layout=layout, origin=origin)
