"""Read data frames of mixed columns, number their levels, and write answers back as the kind of frame that went in.

Every model of mixed columns reads them here: :func:`read_columns` tells numbers, truth values, ordered and unordered
categories apart and finds the holes; :func:`levels_of` and :func:`positions_of` number the levels of a column. The way
back is :func:`write_columns` (fill the holes of a table, every column in its own type) or :func:`decode_frame` (a table
of predictions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable


@dataclass
class ReadColumn:
    """Hold a column as it was read: numbers with NaN, or objects with a mask of holes."""

    name: str
    kind: str  # number, bool, ordinal, category, or other (dates, lists): what cannot be numbered
    values: Any
    holes: NDArray
    declared: list | None = None  # levels in the order that the type states
    whole: bool = False  # the type holds whole numbers only
    dtype: str = ""  # the type that a frame gives to a column of kind "other"


# -- reading -----------------------------------------------------------------------------------------------------------


def kind_of(X: Any) -> str:
    """Tell "pandas", "polars" and "array" apart."""
    module = type(X).__module__.partition(".")[0]
    return module if module in ("pandas", "polars") and hasattr(X, "columns") else "array"


def as_frame(X: Any) -> Any:
    """Return X, or the frame of a table that was read from a file."""
    if isinstance(X, NamedTable):
        return X.frame()
    if type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "collect"):
        raise TypeError("X is a lazy frame: pass X.collect()")
    return X


def check_names(X: Any) -> None:
    """Raise unless there are rows and columns, and the names of columns tell them apart."""
    names = [str(name) for name in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has more than one column of the name {twice[0]!r}: rename them")
    if not names or not len(X):
        raise ValueError(f"X is empty, its shape is {tuple(X.shape)}: at least one row and one column are needed")


def read_columns(X: Any) -> list[ReadColumn]:
    """Read every column of a frame or an array of numbers, with its kind.

    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [30, 41], "town": ["Bern", None]})
    >>> [(column.name, column.kind, column.holes.tolist()) for column in read_columns(frame)]
    [('age', 'number', [False, False]), ('town', 'category', [False, True])]
    """
    kind = kind_of(X)
    if kind == "array":
        return [ReadColumn(str(j), "number", x, np.isnan(x)) for j, x in enumerate(X.T.astype(np.float64, copy=False))]
    read = _read_pandas if kind == "pandas" else _read_polars
    columns = [read(X[name], str(name)) for name in X.columns]
    for column in columns:
        if column.kind == "number" and np.isinf(column.values).any():
            raise ValueError(f"column {column.name!r} has infinite values: replace them, or write NaN where unknown")
    return columns


def _read_pandas(series: Any, name: str) -> ReadColumn:
    import pandas
    from pandas.api import types

    holes = series.isna().to_numpy()
    if isinstance(series.dtype, pandas.CategoricalDtype):
        kind = "ordinal" if series.dtype.ordered else "category"
        declared = list(series.dtype.categories)
        return ReadColumn(name, kind, series.astype(object).to_numpy(), holes, declared)
    if types.is_bool_dtype(series.dtype):
        return ReadColumn(name, "bool", series.astype(object).to_numpy(), holes)
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return ReadColumn(name, "number", values, holes | np.isnan(values), whole=types.is_integer_dtype(series.dtype))
    if types.is_string_dtype(series.dtype) or types.is_object_dtype(series.dtype):
        return _read_objects(name, series.astype(object).to_numpy(), holes)
    return ReadColumn(name, "other", series, holes, dtype=str(series.dtype))


def _read_polars(series: Any, name: str) -> ReadColumn:
    import polars

    kind = series.dtype
    holes = series.is_null().to_numpy()
    if kind == polars.Boolean:
        return ReadColumn(name, "bool", _listed(series), holes)
    if kind.is_numeric():
        values = series.cast(polars.Float64).fill_null(float("nan")).to_numpy()
        return ReadColumn(name, "number", values, holes | np.isnan(values), whole=kind.is_integer())
    if kind == polars.Enum:
        return ReadColumn(name, "ordinal", _listed(series), holes, series.dtype.categories.to_list())
    if kind in (polars.Categorical, polars.String, polars.Null):
        return ReadColumn(name, "category", _listed(series), holes)
    return ReadColumn(name, "other", series, holes, dtype=str(kind))


def _listed(series: Any) -> NDArray:
    out = np.empty(len(series), dtype=object)
    out[:] = series.to_list()
    return out


def _read_objects(name: str, values: NDArray, holes: NDArray) -> ReadColumn:
    """Read a column of Python objects: truth values, numbers or anything else that can be told apart."""
    known = values[~holes]
    if known.size and all(isinstance(v, bool | np.bool_) for v in known):
        return ReadColumn(name, "bool", values, holes)
    if known.size and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in known):
        numbers = np.full(len(values), np.nan)
        numbers[~holes] = known.astype(np.float64)
        return ReadColumn(name, "number", numbers, holes, whole=all(isinstance(v, int | np.integer) for v in known))
    return ReadColumn(name, "category", values, holes)


# -- levels ------------------------------------------------------------------------------------------------------------


def levels_of(column: ReadColumn, most: int | None = None) -> list:
    """List the distinct values of a column in the order its type declares, else sorted; at most the `most` frequent.

    >>> levels_of(ReadColumn("size", "category", np.array(["M", "S", "M"], dtype=object), np.zeros(3, bool)))
    ['M', 'S']
    """
    if column.kind == "bool":
        return [False, True]
    counts: dict = {}
    try:
        for v, hole in zip(column.values, column.holes, strict=True):
            if not hole:
                counts[v] = counts.get(v, 0) + 1
    except TypeError as error:
        raise TypeError(_unhashable(column)) from error
    if not counts:
        return list(column.declared or [])[:most]
    kept = sorted(counts, key=lambda v: (-counts[v], str(v)))[:most]
    if column.declared is not None:
        frequent = set(kept)
        return [v for v in column.declared if v in frequent]
    return sorted(kept) if column.kind == "number" else sorted(kept, key=str)


def positions_of(column: ReadColumn, levels: list) -> NDArray:
    """Find the position of every entry among the levels; -1 for holes and for values that are none of them."""
    place = {level: i for i, level in enumerate(levels)}
    try:
        found = (-1 if hole else place.get(v, -1) for v, hole in zip(column.values, column.holes, strict=True))
        return np.fromiter(found, np.int64, len(column.holes))
    except TypeError as error:
        raise TypeError(_unhashable(column)) from error


def _unhashable(column: ReadColumn) -> str:
    return f"column {column.name!r} has values that cannot be hashed: write them as text"


# -- a loss for each column --------------------------------------------------------------------------------------------


def column_losses(loss: Mapping, names: list[str], default) -> list:
    """List the loss of each column from a dict of names; `default` where it names none."""
    asked = {str(name): one for name, one in loss.items()}
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise ValueError(f"loss names columns that X does not have: {', '.join(unknown)}")
    return [asked.get(name, default) for name in names]


def column_specs(loss, X) -> list | None:
    """List one loss per column from ``loss={"name": …}`` or a list; None when the whole table has one loss."""
    if not isinstance(loss, Mapping):
        return list(loss) if isinstance(loss, list | tuple) else None
    names = [str(c) for c in getattr(X, "columns", [])]
    if not names:
        raise ValueError("loss as a dict needs a data frame with column names; pass a list with one loss per column")
    return column_losses(loss, names, "squared")


# -- numbers in the place of levels, and back --------------------------------------------------------------------------


def encode_frame(X, levels: dict[int, list] | None) -> tuple[Any, dict[int, list]]:
    """Write X as numbers: columns of text, categories or truth values become positions among their levels.

    Returns X itself and no levels when it is not a frame or all its columns are numbers. With `levels` (from the fit)
    a value that was not there raises.
    """
    if kind_of(X) == "array":
        return X, levels or {}
    check_names(X)
    columns = read_columns(X)
    if levels is None:
        levels = {j: levels_of(c) for j, c in enumerate(columns) if c.kind in ("bool", "ordinal", "category")}
    if not levels:
        return X, {}
    numbers = [_numbered(c, levels[j]) if j in levels else _as_numbers(c) for j, c in enumerate(columns)]
    return numbers_like(X, np.column_stack(numbers)), levels


def _numbered(column: ReadColumn, levels: list) -> NDArray:
    found = positions_of(column, levels)
    new = (found < 0) & ~column.holes
    if new.any():
        unknown = sorted({str(v) for v in np.asarray(column.values, dtype=object)[new]})[:5]
        raise ValueError(f"column {column.name!r} has levels that were not there in fit: {unknown}")
    return np.where(found < 0, np.nan, found)


def _as_numbers(column: ReadColumn) -> NDArray:
    if column.kind == "number":
        return column.values
    try:
        if column.kind == "other":
            return np.asarray(column.values, dtype=np.float64)
        return np.where(column.holes, np.nan, column.values).astype(np.float64)
    except (TypeError, ValueError) as error:
        message = f"column {column.name!r} is not numeric: give it loss 'categorical', or encode it"
        raise ValueError(message) from error


def decode_frame(values: NDArray, levels: dict[int, list], names: list[str], like: str):
    """Write predictions as a frame of the kind that was fitted (`like` is "pandas" or "polars"), levels in words."""
    columns: dict[str, object] = {}
    for j, name in enumerate(names):
        if j in levels:
            position = np.clip(np.rint(values[:, j]), 0, len(levels[j]) - 1).astype(int)
            columns[name] = [levels[j][i] for i in position]
        else:
            columns[name] = values[:, j]
    if like == "polars":
        import polars

        return polars.DataFrame(columns)
    import pandas

    frame = pandas.DataFrame(dict(enumerate(columns.values())))
    try:
        frame.columns = pandas.Index(list(columns))
    except UnicodeEncodeError:  # half a character, which pandas cannot hold as text of its own with pyarrow
        frame.columns = pandas.Index(list(columns), dtype=object)
    return frame


def numbers_like(X: Any, values: NDArray) -> Any:
    """Write an array of numbers as a table of the kind, names and index of X."""
    kind = kind_of(X)
    if kind == "array":
        return values
    if kind == "pandas":
        return type(X)(values, columns=X.columns, index=X.index)
    import polars

    return polars.DataFrame(values, schema=list(X.columns), orient="row")


# -- holes -------------------------------------------------------------------------------------------------------------


def write_columns(X: Any, columns: list[ReadColumn], fills: dict[int, list | NDArray]) -> Any:
    """Fill the holes of column j by ``fills[j]``, in order; a new table of the same kind and types."""
    kind = kind_of(X)
    if kind == "array":
        out = np.array(X)
        for j, values in fills.items():
            out[columns[j].holes, j] = values
        return out
    names = list(X.columns)
    if kind == "pandas":
        out = X.copy()
        for j, values in fills.items():
            out[names[j]] = _filled_pandas(X[names[j]], columns[j], values)
        return out
    return X.with_columns([_filled_polars(X[names[j]], columns[j], values) for j, values in fills.items()])


def _python_values(column: ReadColumn, values: Any) -> list:
    """Turn values into Python objects, whole numbers into int."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [int(v) for v in listed] if column.whole else listed


def _filled_pandas(series: Any, column: ReadColumn, values: Any) -> Any:
    fills = _python_values(column, values)
    if hasattr(series, "cat"):
        # The levels of this table may be fewer than those of the fit.
        new = [v for v in dict.fromkeys(fills) if v not in series.cat.categories]
        series = series.cat.add_categories(new) if new else series
    elif column.holes.all() and fills and not isinstance(fills[0], float | int):
        series = series.astype(object)  # a column of NaN alone has the type float, whatever it was in fit
    array = series.array.copy()
    array[column.holes] = fills
    return type(series)(array, index=series.index, name=series.name, dtype=series.dtype)


def _filled_polars(series: Any, column: ReadColumn, values: Any) -> Any:
    import polars

    full: list = [None] * len(series)
    for i, value in zip(np.flatnonzero(column.holes), _python_values(column, values), strict=True):
        full[i] = value
    kind = None if series.dtype == polars.Null else series.dtype
    fill = polars.Series("fill", full, dtype=kind)
    both = polars.DataFrame({"was": series, "fill": fill, "hole": column.holes})
    chosen = polars.when(polars.col("hole")).then(polars.col("fill")).otherwise(polars.col("was"))
    return both.select(chosen.alias(series.name))[series.name]
