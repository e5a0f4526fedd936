"""Parquet files, by polars."""

from __future__ import annotations

import io
from typing import Any

from unweave.data.named import NamedTable
from unweave.data.readers.frames import columns_table
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source


def read_parquet(source: Source, options: Options) -> NamedTable:
    """A Parquet file; columns are read a few at a time into the one array."""
    _check_ends(source)
    file: Any = io.BytesIO(source.everything()) if source.compressed else source.path
    schema = _guarded(source, lambda pl: dict(_scan(pl, file).collect_schema()))
    if not schema:
        raise ReadError(source.name, "holds no columns; there is nothing to read")
    n = _guarded(source, lambda pl: _scan(pl, file).select(pl.len()).collect().item())

    def take(names: list[str]) -> Any:
        return _guarded(source, lambda pl: _scan(pl, file).select(names).collect())

    return columns_table(source, options, schema, n, take)


FORMATS = {"parquet": read_parquet}


def looks_like(head: bytes, name: str) -> str | None:
    """Parquet files begin with PAR1.

    >>> looks_like(b"PAR1...", "a.bin"), looks_like(b"1,2", "a.parquet")
    ('parquet', None)
    """
    return "parquet" if head.startswith(b"PAR1") else None


def _check_ends(source: Source) -> None:
    if source.compressed:
        return
    with source.open() as file:
        file.seek(max(0, source.size() - 8))
        tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > source.size() - 8:
        raise ReadError(source.name, "the Parquet file is cut off or damaged at its end; get the file again")


def _scan(pl: Any, file: Any) -> Any:
    if isinstance(file, io.BytesIO):
        file.seek(0)
        return pl.scan_parquet(file)
    return pl.scan_parquet(file, glob=False, hive_partitioning=False)


def _guarded(source: Source, call: Any) -> Any:
    """Call polars; what it says of a damaged file becomes one sentence, a panic of its decoder too."""
    import polars as pl

    try:
        return call(pl)
    except (pl.exceptions.PolarsError, ValueError, OSError, RuntimeError, MemoryError, OverflowError) as error:
        raise ReadError(
            source.name, f"the Parquet file is damaged ({_first_line(error)}); get the file again"
        ) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ReadError(source.name, "the Parquet file is damaged; get the file again") from None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__
