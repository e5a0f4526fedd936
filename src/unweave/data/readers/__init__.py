"""Reads files of many formats into one :class:`~unweave.data.named.NamedTable`.

How a file becomes a table: `read_file.read`, which users call as :func:`unweave.read`, wraps the path in a `Source`
(`source`: opened, unpacked by `unpack` within a limit, and decoded) and the wishes of the caller in `Options`. `detect`
lists the formats and asks each family in turn whether the first bytes look like its own. The reader of that format
takes the source and the options and returns a table, with the help of `build`, or raises `ReadError`: one sentence
with the file, the line and the remedy.

Families: `csv` (delimited text), `ratings` (one entry per line), `sparse` (formats that list entries), `frames`
(Parquet, JSON and NDJSON), `spreadsheets` (Excel), `statistics` (SPSS and Stata), `arrays` (NumPy and SciPy), `images`
and `text`. `lines` cuts text files into blocks of lines for several of them, `several` puts tables of several files
one below the other, and `text_columns` makes texts of one column. Names are loaded when first used, so that listing
formats costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.data.readers.detect import formats, register
    from unweave.data.readers.read_file import read
    from unweave.data.readers.source import Options, ReadError, Source

__all__ = ["read", "formats", "register", "ReadError", "Source", "Options"]

_HOMES = {
    "read": "read_file",
    "formats": "detect",
    "register": "detect",
    "ReadError": "source",
    "Source": "source",
    "Options": "source",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
