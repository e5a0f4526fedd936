"""Reads sheets of Excel workbooks, by polars and fastexcel, which are installed with ``unweave[excel]``."""

from __future__ import annotations

import io
from typing import Any

from unweave.data.named import NamedTable
from unweave.data.readers.frames import columns_table
from unweave.data.readers.source import Options, ReadError, Source

_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".ods")
_OLD = b"\xd0\xcf\x11\xe0"


def read_excel(source: Source, options: Options) -> NamedTable:
    """Read the first sheet of a workbook, or the one that the path names; the first row names the columns."""
    import polars as pl

    try:
        import fastexcel
    except ImportError:
        raise ReadError(
            source.name,
            "is an Excel workbook; install its reader (pip install 'unweave[excel]') or save it as CSV",
        ) from None
    data = source.everything()
    try:
        sheets = fastexcel.read_excel(data).sheet_names
        sheet = _chosen(source, options, sheets)
        header = options.header is not False
        frame = pl.read_excel(io.BytesIO(data), sheet_name=sheet, has_header=header, infer_schema_length=None)
    except ReadError:
        raise
    except Exception as error:  # each version of the reader has classes of its own
        words = str(error).strip().splitlines()
        raise ReadError(source.name, f"cannot be read as a workbook ({words[0][:100] if words else error!r})") from None
    frame = _without_blanks(frame)
    if not frame.width or not frame.height:
        raise ReadError(source.name, f"the sheet {sheet!r} is empty; name another as FILE.xlsx:SHEET")
    table = columns_table(source, options, dict(frame.schema), frame.height, frame.select)
    others = [name for name in sheets if name != sheet]
    more = f" of {len(sheets)}; another is read as {source.name}:{others[0]}" if others else ""
    return table.with_(notes=[f"read the sheet {sheet!r}{more}", *table.notes])


def _chosen(source: Source, options: Options, sheets: list[str]) -> str:
    if options.member is None:
        return sheets[0]
    if options.member not in sheets:
        raise ReadError(source.name, f"has no sheet {options.member!r}; its sheets are {', '.join(map(repr, sheets))}")
    return options.member


def _without_blanks(frame: Any) -> Any:
    """Drop rows and columns without any cell, which workbooks often end with."""
    import polars as pl

    kept = [name for name in frame.columns if frame[name].null_count() < frame.height]
    return frame.select(kept).filter(~pl.all_horizontal(pl.all().is_null())) if kept else pl.DataFrame()


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "excel" by the first bytes of a workbook and its name.

    >>> looks_like(b"PK\\x03\\x04...", "sales.xlsx"), looks_like(b"PK\\x03\\x04...", "arrays.npz")
    ('excel', None)
    """
    if head.startswith(_OLD):
        return "excel" if name.lower().endswith(".xls") else None
    book = name.lower().endswith(_SUFFIXES) or b"[Content_Types].xml" in head[:200] or b"xl/workbook.xml" in head
    return "excel" if head.startswith(b"PK\x03\x04") and book else None


FORMATS = {"excel": read_excel}
