"""Read the raw columns of a table for a predictor: what each is for, and how it becomes numbers.

What a column is for is told once, by `unweave.data.roles`, without a look at the target. Whatever is learned of its
values (levels, the origin of dates, which columns have holes, means and spreads) is learned anew from the rows of each
fold, so that nothing of the rows that judge is known to what they judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.choosing import check_names, names_of
from unweave.data.encode import OTHER, Part, learn_levels, learn_part, level_texts
from unweave.data.mixed import kind_of, read_columns
from unweave.data.named import NamedTable
from unweave.data.roles import MEASURED, ColumnRole, column_of, column_roles, shown
from unweave.data.storage import take_rows
from unweave.solve.progress import warn_user

_USED = (*MEASURED, "year")  # a year measures nothing, but tells what is to be predicted
_LEVELS = 50  # further levels of a category are put together; one needs two rows, and no share of them
_WHY = {
    "id": "an id",
    "order": "a row number",
    "prose": "free text",
    "empty": "empty",
    "constant": "the same in all rows",
}


def as_table(X: Any) -> NamedTable:
    """Make a named table of a data frame, or of an array that was checked."""
    if isinstance(X, NamedTable):
        return X
    if kind_of(X) == "array":
        return NamedTable(X)
    import polars as pl

    made: dict[str, Any] = {}
    for column in read_columns(X):
        if column.kind == "number":
            made[column.name] = pl.Series(column.name, column.values)
        elif column.kind == "bool":
            values = [None if hole else bool(v) for v, hole in zip(column.values, column.holes, strict=True)]
            made[column.name] = pl.Series(column.name, values, dtype=pl.Boolean)
        else:
            texts = [None if hole else str(v) for v, hole in zip(column.values, column.holes, strict=True)]
            made[column.name] = pl.Series(column.name, texts, dtype=pl.String)
    return NamedTable(pl.DataFrame(made), columns=list(made))


def rows_of(X: Any, rows: NDArray) -> Any:
    """Take some rows of a table of any kind, by number."""
    if isinstance(X, NamedTable):
        names = None if X.rows is None else [X.rows[i] for i in rows]
        return replace(X, X=rows_of(X.X, rows), rows=names, labels=None, times=None, excerpts=None)
    kind = kind_of(X)
    if kind == "pandas":
        return X.iloc[rows]
    return X[rows] if kind == "polars" else take_rows(X, rows)


@dataclass
class Columns:
    """Say which columns of a table are used, and what for.

    Attributes
    ----------
    names : list of str
        Of all columns of the table.
    used : list of int
        Positions of those that are used.
    kinds : list of str
        What each of them is; None where the table is numbers alone, taken as they are.
    notes : list of str
        What was left out, in words.
    """

    names: list[str]
    used: list[int]
    kinds: list[str] | None
    notes: list[str] = field(default_factory=list)

    @property
    def used_names(self) -> list[str]:
        return [self.names[j] for j in self.used]


def choose_columns(table: NamedTable, kinds: Mapping[str, str] | None, ignore: Sequence[str] | None) -> Columns:
    """Tell which columns can tell of a target, by what they are for; ValueError if none can."""
    names = names_of(table)
    check_names(table, None, ignore)
    spared = set(ignore or ())
    if table.columns is None or table.sparse or table.kind != "table":
        if kinds:
            raise ValueError("kinds names columns, and X has no names: give a data frame, or leave kinds out")
        return Columns(names, [j for j, name in enumerate(names) if name not in spared], None)
    roles = [role for role in column_roles(table, kinds) if role.name not in spared]
    used = [role for role in roles if role.kind in _USED]
    notes = _left_out([role for role in roles if role.kind not in _USED])
    if not used:
        source, what = table.source or "X", ", ".join(f"{r.name!r} ({_WHY.get(r.kind, r.kind)})" for r in roles[:5])
        raise ValueError(f"{source} has no column to predict from, only {what or 'columns to ignore'}")
    where = {name: j for j, name in enumerate(names)}
    return Columns(names, [where[role.name] for role in used], [_kind(role) for role in used], notes)


def _kind(role: ColumnRole) -> str:
    return "number" if role.kind in ("year", "count") else role.kind


def _left_out(roles: list[ColumnRole]) -> list[str]:
    few = [f"left out {role.name!r} ({_WHY.get(role.kind, role.kind)}): {role.why}" for role in roles[:3]]
    return few + (
        [f"left out {len(roles) - 3} more: {shown([r.name for r in roles[3:]], 5)}"] if len(roles) > 3 else []
    )


@dataclass
class Reader:
    """Turn the columns of a table into numbers, as was learned from the rows of a fit; NaN where nothing is known."""

    columns: Columns
    parts: list[Part] | None

    @property
    def owner(self) -> NDArray:
        """Name the used column that each number comes from, by its place among those that are used."""
        if self.parts is None:
            return np.arange(len(self.columns.used))
        return np.repeat(np.arange(len(self.parts)), [len(part.columns) for part in self.parts])

    @property
    def blocks(self) -> list[int]:
        """Count the numbers of each block of columns that belong together, such as the levels of a category."""
        if self.parts is None:
            return [1] * len(self.columns.used)
        return [len(block) for part in self.parts for block in part.blocks]

    def numbers(self, table: NamedTable) -> Any:
        """Turn a table of the columns of the fit into numbers."""
        table = self._found(table)
        if self.parts is None:
            used = self.columns.used
            X = table.X if used == list(range(table.shape[1])) else table.X[:, used]
            return X if table.sparse else np.asarray(X, dtype=np.float64)
        return np.hstack([part.numbers(column_of(table, part.position)) for part in self.parts])

    def _found(self, table: NamedTable) -> NamedTable:
        """Return the table with its columns in the order of the fit; further ones are passed over."""
        names = self.columns.names
        if table.columns is None or table.columns == names or self.columns.kinds is None:
            if table.shape[1] != len(names):
                raise ValueError(f"X has {table.shape[1]} features, but it is expected to have {len(names)} as in fit")
            return table
        where = {name: j for j, name in enumerate(table.columns)}
        lost = [name for name in self.columns.used_names if name not in where]
        rows = {} if table.rows is None or not table.named_by else {table.named_by: table.rows}
        if [name for name in lost if name not in rows]:
            raise ValueError(f"{table.source or 'X'} lacks columns that the model was fitted to: {shown(lost, 5)}")
        import polars as pl

        frame = table.frame()
        own = {name: pl.Series(name, rows[name]) if name in rows and name not in where else frame[name]
               for name in self.columns.used_names}  # fmt: skip
        nothing = pl.Series("", [None] * table.shape[0], dtype=pl.Float64)
        made = pl.DataFrame({name: own.get(name, nothing) for name in names})
        return table.with_(X=made, columns=names, rows=None)

    def strangers(self, table: NamedTable) -> list[str]:
        """Say in words which categories hold levels that were not there in the fit."""
        said, table = [], self._found(table)
        for part in self.parts or []:
            if part.kind == "category" and OTHER not in part.levels:
                known = set(part.levels)
                new = sorted({t for t in level_texts(column_of(table, part.position)) if t is not None} - known)
                if new:
                    said.append(f"column {part.name!r} holds {shown(new, 3)}, which was not there in fit: it counts "
                                "as no level")  # fmt: skip
        return said

    def warn_of_strangers(self, table: NamedTable) -> None:
        """Warn of levels that were not there in the fit."""
        for words in self.strangers(table):
            warn_user(words)


def learn_reader(columns: Columns, table: NamedTable) -> Reader:
    """Learn from some rows how the columns become numbers."""
    if columns.kinds is None:
        return Reader(columns, None)
    parts = []
    for j, kind in zip(columns.used, columns.kinds, strict=True):
        column, name = column_of(table, j), columns.names[j]
        if kind == "category":
            parts.append(Part(name, j, "category", learn_levels(column, rare=0.0, most=_LEVELS) or [OTHER]))
            continue
        try:
            parts.append(learn_part(name, j, kind, column))
        except ValueError:  # these few rows do not show what all rows do
            parts.append(Part(name, j, "category", learn_levels(column, rare=0.0, most=_LEVELS) or [OTHER]))
    return Reader(columns, parts)


@dataclass
class Standard:
    """Bring numbers to one scale, fill their holes with the mean, and say in further columns where these were."""

    middle: NDArray
    scale: NDArray
    holes: NDArray  # places of the columns that had holes

    def __call__(self, X: Any) -> Any:
        """Return the numbers, then a column for each that had holes."""
        if not isinstance(X, np.ndarray):
            return X @ _diagonal(1 / self.scale)
        unknown = np.isnan(X)
        out = (np.where(unknown, self.middle, X) - self.middle) / self.scale
        return np.hstack([out, unknown[:, self.holes].astype(np.float64)]) if len(self.holes) else out


def _diagonal(values: NDArray):
    import scipy.sparse as sp

    return sp.diags_array(values)


def learn_standard(X: Any, blocks: list[int]) -> Standard:
    """Learn means, spreads and holes; the columns of one category are divided by one number, so that they count as one.

    A sparse table keeps its zeros: its columns are divided by their largest entry alone, because the spread of a column
    that is hardly ever there is small, and would make much of the few rows where it is.
    """
    if not isinstance(X, np.ndarray):
        largest = np.asarray(abs(X).max(axis=0).todense()).ravel()
        return Standard(np.zeros(X.shape[1]), np.where(largest > 0, largest, 1.0), np.zeros(0, np.int64))
    unknown = np.isnan(X)
    seen = np.maximum((~unknown).sum(axis=0), 1)
    filled = np.where(unknown, 0.0, X)
    middle = filled.sum(axis=0) / seen
    variance = np.where(unknown, 0.0, (filled - middle) ** 2).sum(axis=0) / seen
    starts = np.cumsum([0, *blocks])[:-1]
    whole = np.repeat(np.add.reduceat(variance, starts), blocks)
    some: NDArray = np.any(unknown, axis=0)
    first = np.zeros(X.shape[1], dtype=bool)
    first[starts] = True  # the levels of a category are unknown together: one column says so
    flat = whole <= (1e-12 * np.maximum(np.abs(middle), 1e-300)) ** 2
    return Standard(middle, np.where(flat, 1.0, np.sqrt(whole)), np.flatnonzero(some & first))
