"""Read a table of words and numbers column by column: amounts as numbers, kinds as numbers of their level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

UNSEEN = -1  # the code of a level that the fit did not see


@dataclass(frozen=True)
class TreeColumns:
    """What a fit learned of the columns.

    Attributes
    ----------
    names : list of str
    levels : list
        For each column None if it holds amounts, otherwise the levels of its kinds, as texts, in order. The code of a
        level is its place; that of a hole is the number of levels.
    """

    names: list[str]
    levels: list[list[str] | None]

    def is_kinds(self, column: int) -> bool:
        return self.levels[column] is not None

    def branches(self, column: int) -> int:
        """How many branches a split by this column may have: one a level, or two, and one for holes."""
        levels = self.levels[column]
        return 3 if levels is None else len(levels) + 1


def names_of(X) -> list[str]:
    """The names of the columns of a table; x0, x1, … where it has none."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return [f"x{j}" for j in range(np.shape(X)[1])]


def columns_of(X) -> list[NDArray]:
    """Take a data frame or a two-dimensional array apart."""
    if hasattr(X, "columns"):
        return [np.asarray(X[name]) for name in X.columns]
    return list(np.asarray(X).T)


def learn_layout(names: list[str], columns: list[NDArray], categorical) -> TreeColumns:
    """Tell kinds from amounts, and list the levels of kinds.

    >>> layout = learn_layout(["a", "b"], [np.array(["x", "y", "x"]), np.array([1.0, 2.0, 3.0])], "auto")
    >>> layout.levels
    [['x', 'y'], None]
    """
    asked = _asked(categorical, names)
    levels: list[list[str] | None] = []
    for j, column in enumerate(columns):
        if j in asked or not _is_numbers(column):
            levels.append(sorted({text for text in _texts(column) if text is not None}))
        else:
            levels.append(None)
    return TreeColumns(names, levels)


def encode(layout: TreeColumns, columns: Sequence[NDArray]) -> NDArray[np.float64]:
    """One table of numbers: amounts with NaN for holes, and the codes of kinds, by columns."""
    table = np.empty((len(columns[0]) if len(columns) else 0, len(columns)), order="F")
    for j, column in enumerate(columns):
        levels = layout.levels[j]
        table[:, j] = _amounts(column, layout.names[j]) if levels is None else _codes(column, levels)
    return table


def _asked(categorical, names: list[str]) -> set[int]:
    """The numbers of the columns that the user calls kinds."""
    if isinstance(categorical, str):
        if categorical == "auto":
            return set()
        if categorical == "all":
            return set(range(len(names)))
        raise ValueError(f"categorical must be 'auto', 'all' or a list of columns, got {categorical!r}")
    try:
        return {names.index(one) if isinstance(one, str) else range(len(names))[int(one)] for one in categorical}
    except (ValueError, TypeError, IndexError):
        raise ValueError(
            f"categorical={categorical!r:.60} must name columns of X ({', '.join(names[:5])}, …) or their numbers"
        ) from None


def _is_numbers(column: NDArray) -> bool:
    """Whether a column holds amounts; truth values and words are kinds, and mixed columns what they hold."""
    if column.dtype.kind in "iuf":
        return True
    if column.dtype.kind != "O":
        return False
    return all(_is_hole(value) or _is_number(value) for value in column) and any(not _is_hole(v) for v in column)


def _is_number(value) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _is_hole(value) -> bool:
    """Whether a cell is empty: None, NaN, or what pandas writes for them."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (_is_number(value) and value != value)


def _texts(column: NDArray) -> list[str | None]:
    """Every cell as a text, None where it is empty; whole numbers are written alike, whatever their type."""
    if column.dtype.kind in "USb":
        return [str(value) for value in column.tolist()]
    texts: list[str | None] = []
    for value in column.tolist():
        if _is_hole(value):
            texts.append(None)
        elif _is_number(value):
            texts.append(str(int(value)) if float(value).is_integer() else str(float(value)))
        elif isinstance(value, str | bytes | bool) or hasattr(value, "isoformat"):
            texts.append(str(value))
        else:
            raise TypeError(f"argument must be a string or a real number, not {type(value).__name__!r}")
    return texts


def _codes(column: NDArray, levels: list[str]) -> list[int]:
    place: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    place[None] = len(levels)
    return [place.get(text, UNSEEN) for text in _texts(column)]


def _amounts(column: NDArray, name: str) -> NDArray[np.float64]:
    """A column of amounts, NaN where it is empty."""
    if column.dtype.kind == "O":
        column = np.array([np.nan if _is_hole(value) else value for value in column], dtype=object)
    try:
        amounts = column.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} was a column of numbers in fit, and holds something else now") from None
    if np.isinf(amounts).any():
        raise ValueError(f"column {name!r} of X contains infinity: only finite numbers and holes (NaN) can be split")
    return amounts
