"""Reading the columns of pandas and polars frames and of arrays, and writing filled cells back in their own types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.complete.imputer_columns import Raw
from unweave.data.named import NamedTable


def kind_of(X: Any) -> str:
    """ "pandas", "polars" or "array"."""
    module = type(X).__module__.partition(".")[0]
    return module if module in ("pandas", "polars") and hasattr(X, "columns") else "array"


def as_frame(X: Any) -> Any:
    """X, or the frame of a table that was read from a file."""
    if isinstance(X, NamedTable):
        return X.frame()
    if type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "collect"):
        raise TypeError("X is a lazy frame: pass X.collect()")
    return X


def check_names(X: Any) -> None:
    """Columns must be told apart by their names, and there must be some, and rows too."""
    names = [str(name) for name in X.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has more than one column of the name {twice[0]!r}: rename them")
    if not names or not len(X):
        raise ValueError(f"X is empty, its shape is {tuple(X.shape)}: at least one row and one column are needed")


def read_columns(X: Any) -> list[Raw]:
    """Every column with its kind."""
    kind = kind_of(X)
    if kind == "array":
        return [Raw(str(j), "number", x, np.isnan(x)) for j, x in enumerate(X.T.astype(np.float64, copy=False))]
    read = _read_pandas if kind == "pandas" else _read_polars
    return [_checked(read(X[name], str(name))) for name in X.columns]


def _read_pandas(series: Any, name: str) -> Raw:
    import pandas
    from pandas.api import types

    holes = series.isna().to_numpy()
    if isinstance(series.dtype, pandas.CategoricalDtype):
        kind = "ordinal" if series.dtype.ordered else "category"
        declared = list(series.dtype.categories)
        return Raw(name, kind, series.astype(object).to_numpy(), holes, declared)
    if types.is_bool_dtype(series.dtype):
        return Raw(name, "bool", series.astype(object).to_numpy(), holes)
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Raw(name, "number", values, holes | np.isnan(values), whole=types.is_integer_dtype(series.dtype))
    if types.is_string_dtype(series.dtype) or types.is_object_dtype(series.dtype):
        return _objects(name, series.astype(object).to_numpy(), holes)
    raise TypeError(_unknown(name, series.dtype))


def _read_polars(series: Any, name: str) -> Raw:
    import polars

    kind = series.dtype
    holes = series.is_null().to_numpy()
    if kind == polars.Boolean:
        return Raw(name, "bool", _listed(series), holes)
    if kind.is_numeric():
        values = series.cast(polars.Float64).fill_null(float("nan")).to_numpy()
        return Raw(name, "number", values, holes | np.isnan(values), whole=kind.is_integer())
    if kind == polars.Enum:
        return Raw(name, "ordinal", _listed(series), holes, series.dtype.categories.to_list())
    if kind in (polars.Categorical, polars.String, polars.Null):
        return Raw(name, "category", _listed(series), holes)
    raise TypeError(_unknown(name, kind))


def _listed(series: Any) -> NDArray:
    out = np.empty(len(series), dtype=object)
    out[:] = series.to_list()
    return out


def _objects(name: str, values: NDArray, holes: NDArray) -> Raw:
    """A column of Python objects: truth values, numbers or anything else that can be told apart."""
    known = values[~holes]
    if known.size and all(isinstance(v, bool | np.bool_) for v in known):
        return Raw(name, "bool", values, holes)
    if known.size and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in known):
        numbers = np.full(len(values), np.nan)
        numbers[~holes] = known.astype(np.float64)
        return Raw(name, "number", numbers, holes, whole=all(isinstance(v, int | np.integer) for v in known))
    return Raw(name, "category", values, holes)


def _checked(raw: Raw) -> Raw:
    if raw.kind == "number" and np.isinf(raw.values).any():
        raise ValueError(f"column {raw.name!r} has infinite values: replace them, or write NaN where unknown")
    return raw


def _unknown(name: str, dtype: Any) -> str:
    return (
        f"column {name!r} has the type {dtype}, which cannot be imputed: numbers, Booleans, categories and text can; "
        "convert it (dates to numbers, say) or leave it out"
    )


def write_columns(X: Any, raws: list[Raw], fills: dict[int, list | NDArray]) -> Any:
    """X with the holes of column j filled by ``fills[j]``, in order; a new table of the same kind and types."""
    kind = kind_of(X)
    if kind == "array":
        out = np.array(X)
        for j, values in fills.items():
            out[raws[j].holes, j] = values
        return out
    names = list(X.columns)
    if kind == "pandas":
        out = X.copy()
        for j, values in fills.items():
            out[names[j]] = _filled_pandas(X[names[j]], raws[j], values)
        return out
    return X.with_columns([_filled_polars(X[names[j]], raws[j], values) for j, values in fills.items()])


def _plain(raw: Raw, values: Any) -> list:
    """Python values, whole numbers as int."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [int(v) for v in listed] if raw.whole else listed


def _filled_pandas(series: Any, raw: Raw, values: Any) -> Any:
    fills = _plain(raw, values)
    if hasattr(series, "cat"):
        # The levels of this table may be fewer than those of the fit.
        new = [v for v in dict.fromkeys(fills) if v not in series.cat.categories]
        series = series.cat.add_categories(new) if new else series
    elif raw.holes.all() and fills and not isinstance(fills[0], float | int):
        series = series.astype(object)  # a column of NaN alone has the type float, whatever it was in fit
    array = series.array.copy()
    array[raw.holes] = fills
    return type(series)(array, index=series.index, name=series.name, dtype=series.dtype)


def _filled_polars(series: Any, raw: Raw, values: Any) -> Any:
    import polars

    full: list = [None] * len(series)
    for i, value in zip(np.flatnonzero(raw.holes), _plain(raw, values)):
        full[i] = value
    kind = None if series.dtype == polars.Null else series.dtype
    fill = polars.Series("fill", full, dtype=kind)
    both = polars.DataFrame({"was": series, "fill": fill, "hole": raw.holes})
    chosen = polars.when(polars.col("hole")).then(polars.col("fill")).otherwise(polars.col("was"))
    return both.select(chosen.alias(series.name))[series.name]


def numbers_like(X: Any, values: NDArray) -> Any:
    """An array of numbers as a table of the kind, names and index of X."""
    kind = kind_of(X)
    if kind == "array":
        return values
    if kind == "pandas":
        return type(X)(values, columns=X.columns, index=X.index)
    import polars

    return polars.DataFrame(values, schema=list(X.columns), orient="row")
