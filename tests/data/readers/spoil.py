"""Valid bytes with some of them changed, for tests that a reader refuses in words what it cannot read."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import strategies as st

from unweave.data.named import NamedTable
from unweave.data.readers import ReadError, read

_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["set", "cut", "insert", "repeat"]), st.integers(0, 10**6), st.binary(min_size=1, max_size=9)
    ),
    min_size=1,
    max_size=6,
)


def spoiled(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Seeds with up to six edits."""
    return st.builds(_apply, st.sampled_from(seeds), _EDITS)


def _apply(data: bytes, edits: list[tuple[str, int, bytes]]) -> bytes:
    for what, where, piece in edits:
        at = where % (len(data) + 1)
        if what == "set":
            data = data[:at] + piece + data[at + len(piece) :]
        elif what == "cut":
            data = data[:at] + data[at + len(piece) :]
        elif what == "insert":
            data = data[:at] + piece + data[at:]
        else:
            data = data[:at] + data[at : at + 40] * 3 + data[at + 40 :]
    return data


def reads_or_refuses(data: bytes, format: str, name: str = "file.bin") -> NamedTable | None:
    """Read the bytes; anything but a table or a ReadError fails the test."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            table = read(path, format=format)
        except ReadError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error).replace(str(path), "")
            return None
    assert isinstance(table, NamedTable)
    assert table.shape[0] > 0
    return table
