"""Reads files of SPSS and Stata, by pyreadstat, which is installed with ``unweave[stats]``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from unweave.data.named import NamedTable
from unweave.data.readers.frames import columns_table
from unweave.data.readers.source import Options, ReadError, Source

_STATA = tuple(bytes([version]) for version in (0x71, 0x72, 0x73, 0x74, 0x75, 0x76))  # before 2013 files began so


def read_spss(source: Source, options: Options) -> NamedTable:
    """Read an SPSS file (.sav, .zsav); values with a label become the label."""
    return _read(source, options, "read_sav", "an SPSS file")


def read_stata(source: Source, options: Options) -> NamedTable:
    """Read a Stata file (.dta); values with a label become the label."""
    return _read(source, options, "read_dta", "a Stata file")


def _read(source: Source, options: Options, function: str, what: str) -> NamedTable:
    try:
        import pyreadstat
    except ImportError:
        raise ReadError(
            source.name, f"is {what}; install its reader (pip install 'unweave[stats]') or save it as CSV"
        ) from None
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = source.path
            if source.compressed:  # the reader takes the name of a file, not bytes
                path = Path(folder, "unpacked")
                path.write_bytes(source.everything())
            frame, about = getattr(pyreadstat, function)(path, apply_value_formats=True, output_format="polars")
    except ReadError:
        raise
    except Exception as error:  # its errors are of a class that is not public
        words = str(error).strip().splitlines()
        raise ReadError(source.name, f"cannot be read as {what} ({words[0][:100] if words else error!r})") from None
    if not frame.width or not frame.height:
        raise ReadError(source.name, "holds no rows; there is nothing to read")
    table = columns_table(source, options, dict(frame.schema), frame.height, frame.select)
    labelled = [name for name in frame.columns if about.variable_value_labels.get(name)]
    notes = [f"values of {len(labelled)} columns were read as their labels"] if labelled else []
    return table.with_(notes=[*notes, *table.notes])


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "spss" and "stata" by their first bytes; those of older Stata files are few, so the name must agree.

    >>> looks_like(b"$FL2@(#) SPSS", "a.bin"), looks_like(b"<stata_dta><header>", "a.bin")
    ('spss', 'stata')
    """
    if head.startswith((b"$FL2@(#)", b"$FL3@(#)")):
        return "spss"
    old = head.startswith(_STATA) and name.lower().endswith(".dta")
    return "stata" if old or head.startswith(b"<stata_dta>") else None


FORMATS = {"spss": read_spss, "stata": read_stata}
