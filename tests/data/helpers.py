"""What the tests of tables and readers share."""

from __future__ import annotations

import io
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unweave.data.named import NamedTable
from unweave.data.readers import Options, Source


def saved(save: Callable[..., Any], *arguments, **options) -> bytes:
    """The bytes that ``save(file, …)`` writes."""
    file = io.BytesIO()
    save(file, *arguments, **options)
    return file.getvalue()


def read_bytes(read: Callable[[Source, Options], NamedTable], data: bytes, **options) -> NamedTable:
    """What a reader makes of a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.txt")
        path.write_bytes(data)
        return read(Source(path, encoding=options.get("encoding", "utf-8")), Options(**options))


def peak_of(call: Callable[[], Any]) -> int:
    """The most bytes that a call has allocated through Python and NumPy."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
