"""Data frames whose columns have losses of their own: text and categories become level numbers, and come back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def column_specs(loss, X) -> list | None:
    """One loss a column from ``loss={"name": …}`` or a list; None when the whole table has one loss."""
    if isinstance(loss, Mapping):
        names = [str(c) for c in getattr(X, "columns", [])]
        if not names:
            raise ValueError("loss as a dict needs a data frame with column names; pass a list with one loss a column")
        unknown = [str(c) for c in loss if str(c) not in names]
        if unknown:
            raise ValueError(f"loss names columns that X does not have: {', '.join(unknown)}")
        return [loss.get(c, "squared") for c in names]
    return list(loss) if isinstance(loss, list | tuple) else None


def encode_frame(X, levels: dict[int, list] | None) -> tuple[object, dict[int, list]]:
    """X as numbers: columns of text, categories or Booleans become positions among their sorted levels.

    Returns X itself and no levels when it is not a frame or all its columns are numbers. With `levels` (from the fit)
    a value that was not there raises.
    """
    if not hasattr(X, "columns"):
        return X, levels or {}
    found: dict[int, list] = {}
    columns: list[NDArray] = []
    for j, name in enumerate(X.columns):
        values = np.asarray(X[name], dtype=object)
        known = None if levels is None else levels.get(j)
        if known is None and (levels is not None or not _is_text(X[name])):
            columns.append(_numbers(X[name], name))
            continue
        holes = np.array([v is None or v != v for v in values])
        if known is None:
            known = sorted({v for v, hole in zip(values, holes, strict=True) if not hole}, key=str)
        found[j] = known
        columns.append(_positions(values, holes, known, name))
    return (np.column_stack(columns), found) if found or levels else (X, {})


def _is_text(column) -> bool:
    kind = str(column.dtype).lower()
    return kind in ("object", "str", "string", "utf8", "category", "bool", "boolean") or "cat" in kind or "enum" in kind


def _numbers(column, name) -> NDArray:
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} is not numeric: give it loss 'categorical', or encode it") from error


def _positions(values, holes, known: list, name) -> NDArray:
    place = {level: i for i, level in enumerate(known)}
    unknown = {v for v, hole in zip(values, holes, strict=True) if not hole and v not in place}
    if unknown:
        raise ValueError(f"column {name!r} has levels that were not there in fit: {sorted(map(str, unknown))[:5]}")
    return np.array([np.nan if hole else place[v] for v, hole in zip(values, holes, strict=True)], dtype=np.float64)


def decode_frame(values: NDArray, levels: dict[int, list], names: list[str], like: str):
    """Predictions as a frame of the kind that was fitted (`like` is "pandas" or "polars"), levels written out."""
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

    return pandas.DataFrame(columns)
