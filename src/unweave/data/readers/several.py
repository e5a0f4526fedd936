"""Reads several files of the same columns as one table, one below the other."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.source import ReadError

_PATTERN = "*?["


def every_path(path: Any) -> list[Any]:
    """Return the paths that a list or a pattern such as ``"sales-*.csv"`` names, those of a pattern sorted."""
    if isinstance(path, Sequence) and not isinstance(path, str | bytes):
        if not path:
            raise ValueError("the list of files is empty; name at least one")
        return list(path)
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else ""
    if not isinstance(text, str) or os.path.exists(text) or not any(sign in text for sign in _PATTERN):
        return [path]
    found = sorted(glob.glob(os.path.expanduser(text), recursive=True))
    if not found:
        raise ReadError(text, "no file has such a name; check the pattern")
    return found


def stack(tables: list[NamedTable]) -> NamedTable:
    """Put tables one below the other; ReadError names the columns that a later one lacks or has beyond the first."""
    if len(tables) == 1:
        return tables[0]
    if all(table.rate is not None and table.shape[1] == 1 for table in tables):
        return _beside(tables)
    whole = joined(tables)
    note = f"{len(tables)} files of the same columns became one table of {whole.shape[0]:,} rows: {_listed(tables)}"
    return whole.with_(notes=[note, *whole.notes], source=f"{whole.source}, …")


def joined(tables: list[NamedTable]) -> NamedTable:
    """Put pieces of one table one below the other; ReadError as :func:`stack`."""
    first = tables[0]
    for table in tables:
        if table.sparse or table.kind != "table":
            raise ReadError(
                table.source,
                f"several files at once are read as tables of the same columns, and this one is of the kind "
                f"{table.kind!r}; put its lines into one file, or texts into one folder",
            )
        _check_columns(first, table)
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    rows = None
    if all(table.rows is not None for table in tables):
        rows = [name for table in tables for name in table.rows or []]
    missing = "nan" if any(table.missing for table in tables) else None
    return first.with_(X=_below(tables), rows=rows, missing=missing, notes=notes)


def _beside(tables: list[NamedTable]) -> NamedTable:
    """Put recordings of one channel each side by side; ReadError names one of another length or rate."""
    first = tables[0]
    for table in tables:
        if table.rate != first.rate:
            words = f"is sampled at {table.rate:g} Hz, and {first.source} at {first.rate:g} Hz; bring them to one rate"
            raise ReadError(table.source, words)
        if len(table.X) != len(first.X):
            words = f"has {len(table.X):,} samples, and {first.source} {len(first.X):,}; cut them to one length"
            raise ReadError(table.source, words)
    names = [(table.columns or ["sound"])[0] for table in tables]
    names = names if len(set(names)) == len(names) else [f"{name} {i + 1}" for i, name in enumerate(names)]
    note = f"{len(tables)} sounds of one channel each became the columns of one table: {_listed(tables)}"
    missing = "nan" if any(table.missing for table in tables) else None
    X = np.hstack([table.X for table in tables])
    notes = [note, *first.notes]
    return first.with_(X=X, columns=names, missing=missing, notes=notes, source=f"{first.source}, …")


def _listed(tables: list[NamedTable]) -> str:
    names = [os.path.basename(table.source) for table in tables]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _check_columns(first: NamedTable, table: NamedTable) -> None:
    if first.columns is None or table.columns is None:
        if first.shape[1] != table.shape[1] or first.columns is not table.columns:
            raise ReadError(
                table.source, f"its columns are not those of {first.source}; several files need the same columns"
            )
        return
    lost = [name for name in first.columns if name not in table.columns]
    more = [name for name in table.columns if name not in first.columns]
    if lost or more:
        words = [f"lacks {', '.join(map(repr, lost[:5]))}" if lost else ""]
        words.append(f"has {', '.join(map(repr, more[:5]))} besides" if more else "")
        told = " and ".join(filter(None, words))
        raise ReadError(table.source, f"{told}, unlike {first.source}; several files need the same columns")


def _below(tables: list[NamedTable]) -> Any:
    """Stack the cells; columns in the order of the first file, by name where there are names."""
    if all(table.numeric for table in tables):
        names = tables[0].columns
        order = [
            slice(None) if names is None else [table.columns.index(name) for name in names]  # type: ignore[union-attr]
            for table in tables
        ]
        return np.vstack([table.X[:, take] for table, take in zip(tables, order, strict=True)])
    import polars as pl

    frames = [table.frame().select(tables[0].columns) for table in tables]
    frames = [frame.with_columns(pl.col(pl.Float64).fill_nan(None)) for frame in frames]
    types = dict(frames[0].schema)
    for i, (frame, table) in enumerate(zip(frames, tables, strict=True)):
        for name, dtype in frame.schema.items():
            empty = frame[name].null_count() == frame.height
            if types[name] != dtype and not empty:
                if any(f[name].null_count() < f.height for f in frames[:i]):
                    words = (
                        f"{name!r} holds {_what(dtype)}, but {_what(types[name])} in an earlier file; make them alike"
                    )
                    raise ReadError(table.source, words)
                types[name] = dtype
    return pl.concat([frame.cast(types) for frame in frames])


def _what(dtype: Any) -> str:
    return "numbers" if dtype.is_numeric() else "words"
