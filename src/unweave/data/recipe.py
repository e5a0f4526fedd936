"""Prepares a table between its file and the model: leaves columns out, and shifts and scales those that are kept.

Learned from one table by :func:`prepare`, applied to others of the same columns by :meth:`Recipe.apply`, and undone by
:meth:`Recipe.restore`; saved with the model, so that new files are treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable

SCALES = ("auto", "none", "standard", "unit")
_UNLIKE = 10.0  # ratio of the largest to the smallest spread from which columns count as being in unlike units


@dataclass(frozen=True)
class Recipe:
    """Computes ``(x - shift) / scale`` on the columns that are kept.

    Parameters
    ----------
    columns : list of str
        Names of the columns kept, in order.
    keep : list of int
        Their positions in the table, for tables without names.
    n_columns : int
        How many columns the table had.
    shift, scale : arrays, optional
        Of the columns kept; None where nothing is done.
    notes : list of str
        What was decided, in words.
    """

    columns: list[str] | None
    keep: list[int]
    n_columns: int
    shift: NDArray | None = None
    scale: NDArray | None = None
    notes: list[str] = field(default_factory=list)

    def apply(self, table: NamedTable) -> NamedTable:
        """Turn a table into what the model wants; columns are found by name where there are names."""
        chosen = self._choose(table)
        X = chosen.X
        if self.shift is not None:
            X = X - self.shift.astype(X.dtype)
        if self.scale is not None:
            X = _divide(X, self.scale)
        return chosen.with_(X=X)

    def restore(self, X: NDArray) -> NDArray:
        """Return predictions of the model in the units of the file."""
        X = X if self.scale is None else X * self.scale.astype(X.dtype)
        return X if self.shift is None else X + self.shift.astype(X.dtype)

    def _choose(self, table: NamedTable) -> NamedTable:
        if self.columns is not None and table.columns is not None:
            where = {name: j for j, name in enumerate(table.columns)}
            lost = [name for name in self.columns if name not in where]
            if lost:
                shown = ", ".join(map(repr, lost[:5])) + (", …" if len(lost) > 5 else "")
                raise ValueError(f"{table.source or 'the table'} lacks columns that the model was fitted to: {shown}")
            return take(table, [where[name] for name in self.columns])
        if table.shape[1] != self.n_columns:
            raise ValueError(
                f"{table.source or 'the table'} has {table.shape[1]} columns, but the model was fitted to a table of "
                f"{self.n_columns}; give a file with the same columns"
            )
        return take(table, self.keep)


def prepare(table: NamedTable, *, scale: str = "auto", centre: bool = True) -> tuple[NamedTable, Recipe]:
    """Make a table ready for a model: numbers only, no constant column, unlike units brought together.

    Parameters
    ----------
    table : NamedTable
        As read.
    scale : "auto", "none", "standard" or "unit"
        Divide columns by their standard deviation, after subtracting the mean ("standard") or not ("unit", which
        keeps non-negative data non-negative). "auto" does it for dense tables whose spreads differ more than tenfold.
    centre : bool
        What "auto" means by scaling: "standard" if true, else "unit".

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
    notes: list[str] = []
    keep = _number_columns(table, notes)
    chosen = take(table, keep)
    varying = _varying(chosen)
    if not varying.any():
        raise ValueError(f"{table.source or 'the table'} has no column that varies: there is no structure to find")
    if not varying.all():
        notes.append(f"left out constant columns: {_names(chosen, np.flatnonzero(~varying))}")
        keep = [keep[j] for j in np.flatnonzero(varying)]
        chosen = take(table, keep)
    shift, divisor = _scaling(chosen, scale, centre, notes)
    recipe = Recipe(chosen.columns, keep, table.shape[1], shift, divisor, notes)
    return recipe.apply(table), recipe


def take(table: NamedTable, keep: list[int]) -> NamedTable:
    """Return some columns of a table, as numbers."""
    names = None if table.columns is None else [table.columns[j] for j in keep]
    if not table.numeric:
        X = table.X[:, keep].to_numpy().astype(np.float64)
        holes = bool(np.isnan(X).any())
        return table.with_(X=np.ascontiguousarray(X), columns=names, missing="nan" if holes else None)
    if len(keep) == table.shape[1] and keep == list(range(len(keep))):
        return table
    X = table.X[:, keep]
    X = sp.csr_array(X) if table.sparse else np.ascontiguousarray(X)
    return table.with_(X=X, columns=names, image=None)


def _number_columns(table: NamedTable, notes: list[str]) -> list[int]:
    if table.numeric:
        return list(range(table.shape[1]))
    keep = [j for j, kind in enumerate(table.X.dtypes) if kind.is_numeric() or str(kind) == "Boolean"]
    if not keep:
        raise ValueError(f"{table.source or 'the table'} has no column of numbers; name the format if it is no table")
    text = [j for j in range(table.shape[1]) if j not in set(keep)]
    notes.append(f"left out columns that are not numbers: {_names(table, text)}")
    return keep


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


def _scaling(table: NamedTable, scale: str, centre: bool, notes: list[str]) -> tuple[NDArray | None, NDArray | None]:
    if scale == "none" or (scale == "auto" and (table.sparse or table.kind != "table")):
        return None, None
    if table.sparse:
        if scale == "standard":
            raise ValueError("scale='standard' would fill a sparse table; use scale='unit' or 'none'")
        squares = np.asarray(table.X.multiply(table.X).mean(axis=0)).ravel()
        return None, np.sqrt(np.maximum(squares, np.finfo(np.float64).tiny))
    means = np.asarray(np.nanmean(table.X, axis=0, dtype=np.float64))
    spreads = np.asarray(np.nanstd(table.X, axis=0, dtype=np.float64))
    if scale == "auto":
        if spreads.max() <= _UNLIKE * spreads.min():
            return None, None
        scale = "standard" if centre else "unit"
        ratio = f"{spreads.max() / spreads.min():.0f}"
        notes.append(f"columns are in unlike units (spreads differ {ratio}-fold): each was {_DONE[scale]}")
    else:
        notes.append(f"each column was {_DONE[scale]}, as asked")
    return (means if scale == "standard" else None), spreads


_DONE = {"standard": "standardised (mean 0, standard deviation 1)", "unit": "divided by its standard deviation"}


def _divide(X, scale: NDArray):
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array((1 / scale).astype(X.dtype)))
    return X / scale.astype(X.dtype)
