"""The last steps that dense readers share: names of rows, what is missing, and frames where words remain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source


def dense_table(
    source: Source,
    options: Options,
    X: NDArray,
    *,
    holes: bool,
    rows: list[str] | None = None,
    columns: list[str] | None = None,
    notes: list[str] | None = None,
    **more: Any,
) -> NamedTable:
    """A table of numbers; decides what `missing` is and says so."""
    notes = list(notes or [])
    if X.shape[0] == 0 or X.shape[1] == 0:
        words = f"holds {X.shape[0]} rows and {X.shape[1]} columns of numbers; there is nothing to work on"
        raise ReadError(source.name, words)
    if holes and options.missing is None:
        row, column = map(int, np.argwhere(np.isnan(X))[0])
        name = columns[column] if columns else f"number {column + 1}"
        words = f"row {row + 1}, column {name!r} is missing, but missing=None says that nothing is; use missing='nan'"
        raise ReadError(source.name, words)
    if options.missing == "zeros":
        zeros = X == 0
        if zeros.any():
            X[zeros] = np.nan
            notes.append(f"{int(zeros.sum()):,} zeros were read as missing, as asked")
            holes = True
    if holes:
        notes.append(f"{int(np.isnan(X).sum()):,} of {X.size:,} values are missing and are NaN")
    missing = "nan" if holes or options.missing in ("nan", "zeros") else None
    return NamedTable(X, rows=rows, columns=columns, missing=missing, notes=notes, source=source.name, **more)


def frame_table(source: Source, options: Options, frame: Any, rows: list[str] | None, notes: list[str]) -> NamedTable:
    """A table with columns of words: X stays a polars frame."""
    import polars as pl

    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    shown = ", ".join(map(repr, words[:3])) + (", …" if len(words) > 3 else "")
    notes = [*notes, f"not numbers: {shown}; give such columns a loss of their own, drop them, or name rows by one"]
    missing = "nan" if options.missing == "nan" or any(frame.null_count().row(0)) else None
    return NamedTable(frame, rows=rows, columns=list(frame.columns), missing=missing, notes=notes, source=source.name)


def row_names(texts: Any, chosen: bool, column: str, notes: list[str]) -> list[str] | None:
    """Names of rows from a column of words; None if they are not unique and were not asked for."""
    texts = texts.str.strip_chars()
    if chosen:
        texts = texts.fill_null("")
        repeated = texts.is_duplicated().any()
        notes.append(f"rows are named by the column {column!r}" + (", where names repeat" if repeated else ""))
        return texts.to_list()
    if texts.null_count() or texts.is_duplicated().any():
        return None
    notes.append(f"rows are named by the first column, {column!r}")
    return texts.to_list()
