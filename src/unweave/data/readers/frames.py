"""Typed columns (Parquet, NDJSON) into one array: a few columns at a time, so that they are never all there twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.finish import dense_table, frame_table, row_names
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source

_LEAST_BYTES = 64 << 20
_SHOWN = 8


def role(dtype: Any) -> str | None:
    """ "number", "text", or None for columns that are neither (lists, objects, bytes)."""
    import polars as pl

    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return "number"
    if dtype.is_temporal() or dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return None


def columns_table(
    source: Source, options: Options, schema: dict[str, Any], n: int, take: Callable[[list[str]], Any]
) -> NamedTable:
    """A table of `n` rows from typed columns; ``take(names)`` hands out a frame with some of them."""
    roles = {name: role(dtype) for name, dtype in schema.items()}
    for name, found in roles.items():
        if found is None:
            words = f"the column {name!r} holds {schema[name]}, not numbers or words; flatten it or leave it out"
            raise ReadError(source.name, words)
    notes: list[str] = []
    names, asked = _names(source, options, roles)
    rows = None
    if names is not None:
        rows = row_names(_words(take([names])[names]), asked, names, notes)
    kept = [name for name in roles if rows is None or name != names]
    if any(roles[name] == "text" for name in kept):
        return frame_table(source, options, _frame(source, take, kept, roles), rows, notes)
    X = _fill(source, options, kept, n, take)
    holes = bool(np.isnan(X.sum())) and bool(np.isnan(X).any())
    return dense_table(source, options, X, holes=holes, rows=rows, columns=kept, notes=notes)


def _names(source: Source, options: Options, roles: dict[str, str | None]) -> tuple[str | None, bool]:
    """The column that names rows, and whether it was asked for."""
    wanted, names = options.names, list(roles)
    if wanted is None or isinstance(wanted, bool):
        return None, False
    if wanted == "auto":
        return (names[0] if len(names) > 1 and roles[names[0]] == "text" else None), False
    if isinstance(wanted, int):
        if not -len(names) <= wanted < len(names):
            raise ReadError(source.name, f"there is no column {wanted}; names= can be 0 to {len(names) - 1}")
        return names[wanted], True
    if wanted not in roles:
        shown = ", ".join(map(repr, names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")
        raise ReadError(source.name, f"there is no column {wanted!r} for names=; the columns are {shown}")
    return wanted, True


def _words(column: Any) -> Any:
    import polars as pl

    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.cast(column.dtype).equals(column) else column
    return column.cast(pl.String)


def _frame(source: Source, take: Callable[[list[str]], Any], kept: list[str], roles: dict[str, str | None]) -> Any:
    import polars as pl

    frame = take(kept)
    types = {name: pl.String if roles[name] == "text" else pl.Float64 for name in kept}
    frame = frame.with_columns([frame[name].cast(types[name], strict=False) for name in kept])
    numbers = [name for name in kept if roles[name] == "number"]
    for name in numbers:
        _refuse_infinite(source, frame[name].to_numpy(), name)
    return frame.with_columns([frame[name].fill_nan(None) for name in numbers])


def _fill(source: Source, options: Options, kept: list[str], n: int, take: Callable[[list[str]], Any]) -> Any:
    import polars as pl

    width, size = len(kept), np.dtype(options.dtype).itemsize
    if n * width * size > source.memory_limit:
        words = f"{n:,} rows of {width:,} numbers need {n * width * size:,} bytes; if that is meant, raise limit="
        raise ReadError(source.name, words)
    X = np.empty((n, width), dtype=options.dtype)
    step = max(1, max(_LEAST_BYTES, X.nbytes // 8) // max(1, n * 8))
    for start in range(0, width, step):
        names = kept[start : start + step]
        frame = take(names)
        if frame.height != n:
            raise ReadError(source.name, f"announces {n:,} rows but holds {frame.height:,}; get the file again")
        with np.errstate(over="ignore"):
            for j, name in enumerate(names, start):
                X[:, j] = frame[name].cast(pl.Float64).to_numpy()
                _refuse_infinite(source, X[:, j], name)
    return X


def _refuse_infinite(source: Source, values: Any, name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        words = f"row {int(infinite.argmax()) + 1} of the column {name!r} is infinite or too large"
        raise ReadError(source.name, f"{words}; leave the value out if it is missing")
