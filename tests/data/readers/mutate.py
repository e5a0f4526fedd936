"""Damaged files for the tests of readers, and what a reader may do with them."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from unweave.data.named import NamedTable
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source

_NASTY = [b"-1", b"99999999999", b"2147483648", b"nan", b"inf", b"1e400", b"0", b"\n", b"\r\n", b"\n\n", b"\xff", b"\0"]
_NASTY += [b",", b":", b"::", b"\t", b" ", b'"', b"#", b"%", b"x", b"", b"9" * 30, "é".encode(), b"-0.5"]


@st.composite
def mutated(draw, *seeds: bytes) -> bytes:
    """One of the seeds with up to five edits: cut, copy, overwrite or insert."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 6)))
        put = draw(st.one_of(st.sampled_from(_NASTY), st.binary(max_size=4), st.just(data[start : stop + 12])))
        data = data[:start] + put + data[stop:]
    return data


def read_bytes(read, data: bytes, name: str = "file.txt", **options) -> NamedTable:
    """What a reader makes of a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return read(Source(path, encoding=options.get("encoding", "utf-8")), Options(**options))


def reads_or_refuses(read, data: bytes, **options) -> None:
    """A damaged file is either a sound table or a ReadError in one line; nothing else may come out."""
    try:
        table = read_bytes(read, data, **options)
    except ReadError as error:
        assert "\n" not in error.message and error.message.strip()
        return
    assert min(table.shape) >= 1
    values = table.X
    if table.sparse:
        values.check_format(full_check=True)
        assert values.has_canonical_format
        values = values.data
    assert values.dtype == np.float64
    assert not np.isinf(values).any()


def peak_of(call) -> int:
    """The most bytes that a call has allocated through Python and NumPy."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
