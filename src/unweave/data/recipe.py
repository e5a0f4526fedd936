"""Prepares a table between its file and the model: chooses columns by what they are for, and brings them to one scale.

Learned from one table by :func:`prepare`, applied to others of the same columns by :meth:`Recipe.apply`, and undone by
:meth:`Recipe.restore`; saved with the model, so that new files are treated alike. `roles` tells what columns are for,
`encode` turns categories and dates into numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.choosing import are_numbers, choose_roles, learn_parts, names_of, positions_asked
from unweave.data.encode import Part, as_numbers
from unweave.data.named import NamedTable
from unweave.data.roles import column_of
from unweave.data.scaling import SCALES, divide, scale_blocks, scale_numbers


@dataclass(frozen=True)
class Recipe:
    """Computes ``(x - shift) / scale`` on the columns that are kept, after categories and dates were made numbers.

    Parameters
    ----------
    columns : list of str
        Names of the columns that come out, in order; a category gives one for each level ("colour=red").
    keep : list of int
        The position in the table of the column that each of them comes from.
    n_columns : int
        How many columns the table had.
    shift, scale : arrays, optional
        Of the columns that come out; None where nothing is done.
    notes : list of str
        What was decided, in words.
    parts : list of Part, optional
        How each column of the file becomes numbers; None where all that are kept are numbers already.
    """

    columns: list[str] | None
    keep: list[int]
    n_columns: int
    shift: NDArray | None = None
    scale: NDArray | None = None
    notes: list[str] = field(default_factory=list)
    parts: list[Part] | None = None

    def __post_init__(self):
        if self.parts is not None:  # each is a dict as it was saved
            object.__setattr__(self, "parts", [p if isinstance(p, Part) else Part(**p) for p in self.parts])

    def apply(self, table: NamedTable) -> NamedTable:
        """Turn a table into what the model wants; columns are found by name where there are names."""
        if self.parts is None:
            chosen = self._choose(table)
        else:
            chosen = _encoded(table, self._found(table, self.parts), self.parts, self.columns)
        return self._scaled(chosen)

    def _scaled(self, table: NamedTable) -> NamedTable:
        X = table.X
        if self.shift is not None:
            X = X - self.shift.astype(X.dtype)
        if self.scale is not None:
            X = divide(X, self.scale)
        return table.with_(X=X)

    def restore(self, X: NDArray) -> NDArray:
        """Return predictions of the model in the units of the file; the columns of a level hold its share."""
        X = X if self.scale is None else X * self.scale.astype(X.dtype)
        if self.shift is None:
            return X
        shift = self.shift.astype(X.dtype)
        back = X + shift
        # What cancels to the last digits is zero: a share of -1e-16 would puzzle whoever reads it.
        return np.where(np.abs(back) <= 8 * np.finfo(back.dtype).eps * np.abs(shift), 0, back)

    def frame(self, X: NDArray) -> Any:
        """Return predictions of the model as a frame like the file: the likeliest level of a category, dates as dates.

        >>> import polars
        >>> data = polars.DataFrame({"kg": [1.0, 2.0, 9.0, 8.0], "sort": ["a", "a", "b", "b"]})
        >>> ready, recipe = prepare(NamedTable(data, columns=data.columns))
        >>> recipe.frame(ready.X)["sort"].to_list()
        ['a', 'a', 'b', 'b']
        """
        import polars

        X = self.restore(X)
        if self.parts is None:
            return polars.DataFrame(X, schema=self.columns or [f"column {j + 1}" for j in self.keep])
        out, start = {}, 0
        for part in self.parts:
            out[part.name] = part.words(X[:, start : start + len(part.blocks[0])])
            start += len(part.columns)
        return polars.DataFrame(out)

    def _choose(self, table: NamedTable) -> NamedTable:
        if self.columns is not None and table.columns is not None:
            where = _places(table, self.columns)
            return take(table, [where[name] for name in self.columns])
        self._need_width(table)
        return take(table, self.keep)

    def _found(self, table: NamedTable, parts: list[Part]) -> list[Any]:
        """Return the columns of a table that the parts are made of, numbers or texts."""
        if table.columns is None:
            self._need_width(table)
            return [column_of(table, part.position) for part in parts]
        # Words that repeat are a category, but in a file of three rows the same column may have named the rows.
        names = {} if table.rows is None or table.named_by in table.columns else {table.named_by: table.rows}
        where = _places(table, [part.name for part in parts if part.name not in names])
        return [_texts(names[p.name]) if p.name in names else column_of(table, where[p.name]) for p in parts]

    def _need_width(self, table: NamedTable) -> None:
        if table.shape[1] != self.n_columns:
            raise ValueError(
                f"{table.source or 'the table'} has {table.shape[1]} columns, but the model was fitted to a table of "
                f"{self.n_columns}; give a file with the same columns"
            )


def _places(table: NamedTable, names: list[str]) -> dict[str, int]:
    where = {name: j for j, name in enumerate(table.columns or [])}
    lost = [name for name in names if name not in where]
    if lost:
        listed = ", ".join(map(repr, lost[:5])) + (", …" if len(lost) > 5 else "")
        raise ValueError(f"{table.source or 'the table'} lacks columns that the model was fitted to: {listed}")
    return where


def _texts(names: list[str]) -> Any:
    import polars

    return polars.Series(names, dtype=polars.String)


def _encoded(table: NamedTable, columns: list[Any], parts: list[Part], names: list[str] | None) -> NamedTable:
    """Turn columns into numbers by their parts, as a table with the rows of `table`."""
    X = np.hstack([part.numbers(column) for part, column in zip(parts, columns, strict=True)])
    holes = bool(np.isnan(X).any())
    return table.with_(X=np.ascontiguousarray(X), columns=names, missing="nan" if holes else None)


def prepare(
    table: NamedTable,
    *,
    scale: str = "auto",
    centre: bool = True,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> tuple[NamedTable, Recipe]:
    """Make a table ready for a model: measurements as numbers, unlike units brought together.

    Ids, row numbers, years, free text and constant columns are left out, each with a sentence in ``recipe.notes``.
    Categories become one column for each level, dates become time. ``docs/columns.md`` has the rules.

    Parameters
    ----------
    table : NamedTable
        As read.
    scale : "auto", "none", "standard" or "unit"
        Divide columns by their standard deviation, after subtracting the mean ("standard") or not ("unit", which
        keeps non-negative data non-negative). "auto" does it for dense tables whose spreads differ more than tenfold,
        or which have categories or dates. The columns of one category together count as much as one number.
    centre : bool
        What "auto" means by scaling: "standard" if true, else "unit".
    columns : sequence of str, optional
        The only columns to use, also those that would be left out.
    ignore : sequence of str, optional
        Columns to leave out.
    kinds : mapping of str to str, optional
        Name of a column → its kind, such as ``{"store": "category"}``; see :mod:`unweave.data.roles`.

    Examples
    --------
    >>> import numpy as np
    >>> table = NamedTable(np.array([[1.0, 500.0, 7.0], [2.0, 900.0, 7.0], [4.0, 100.0, 7.0]]), columns=list("abc"))
    >>> ready, recipe = prepare(table)
    >>> ready.columns, ready.X.std(axis=0).round(6).tolist()
    (['a', 'b'], [1.0, 1.0])
    >>> bool(np.allclose(recipe.restore(ready.X), table.X[:, :2]))
    True
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is not known; use one of {', '.join(SCALES)}")
    table.need_two_sides()
    notes: list[str] = []
    if table.sparse or table.kind != "table":
        return _plain(table, positions_asked(table, columns, ignore), scale, centre, notes)
    roles = choose_roles(table, columns, ignore, kinds, notes)
    if are_numbers(table, roles):
        names = names_of(table)
        used = {role.name for role in roles}
        return _plain(table, [j for j, name in enumerate(names) if name in used], scale, centre, notes)
    parts = learn_parts(table, roles, notes)
    names = [name for part in parts for name in part.columns]
    raw = _encoded(table, [column_of(table, part.position) for part in parts], parts, names)
    shift, divisor = scale_blocks(raw.X, parts, scale, centre, notes)
    keep = [part.position for part in parts for _ in part.columns]
    recipe = Recipe(names, keep, table.shape[1], shift, divisor, notes, parts)
    return recipe._scaled(raw), recipe


# -- numbers alone -----------------------------------------------------------------------------------------------------


def _plain(table: NamedTable, keep: list[int], scale: str, centre: bool, notes: list[str]):
    """Prepare columns that are numbers already."""
    chosen = take(table, keep)
    varying = _varying(chosen)
    if not varying.any():
        raise ValueError(f"{table.source or 'the table'} has no column that varies: there is no structure to find")
    if not varying.all():
        notes.append(f"left out constant columns: {_names(chosen, np.flatnonzero(~varying))}")
        keep = [keep[j] for j in np.flatnonzero(varying)]
        chosen = take(table, keep)
    shift, divisor = scale_numbers(chosen, scale, centre, notes)
    recipe = Recipe(chosen.columns, keep, table.shape[1], shift, divisor, notes)
    return recipe._scaled(chosen), recipe


def take(table: NamedTable, keep: list[int]) -> NamedTable:
    """Return some columns of a table, as numbers."""
    names = None if table.columns is None else [table.columns[j] for j in keep]
    if not table.numeric:
        found = table.X.columns
        X = np.column_stack([as_numbers(column_of(table, j), found[j]) for j in keep])
        holes = bool(np.isnan(X).any())
        return table.with_(X=np.ascontiguousarray(X), columns=names, missing="nan" if holes else None)
    if len(keep) == table.shape[1] and keep == list(range(len(keep))):
        return table
    X = table.X[:, keep]
    X = sp.csr_array(X) if table.sparse else np.ascontiguousarray(X)
    return table.with_(X=X, columns=names, image=None)


def _names(table: NamedTable, positions) -> str:
    names = [repr(table.columns[j]) if table.columns else f"number {j + 1}" for j in positions]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _varying(table: NamedTable) -> NDArray:
    """Tell which columns hold two different known values."""
    X = table.X
    if table.sparse:
        if table.missing == "zeros":
            return np.ones(X.shape[1], dtype=bool)  # what is not stored is unknown, not constant
        low, high = (np.asarray(f(axis=0).todense()).ravel() for f in (X.min, X.max))
        return low != high
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return (low != high) & ~np.isnan(low)
