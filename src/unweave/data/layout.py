"""The header of a file of arrays: from arrays to bytes, and from bytes that nobody vouches for to checked entries.

The layout is that of safetensors (8 bytes of length, a JSON table, the bytes of the arrays without gaps), so any reader
of that format opens these files. It is written and parsed here, because arrays must neither be copied on the way out
nor be trusted on the way in.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_HEADER = 16 << 20  # JSON takes up to 40 times its size when parsed, whatever it says

_NOTE, _DIGESTS, _SEAL = "unweave", "digests", "seal"
_ALIGN = 64
_CODES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}  # fmt: skip
_DTYPES = {code: np.dtype(word) for code, word in _CODES.items()}
_NAMES = {dtype: code for code, dtype in _DTYPES.items()}


class Entry(NamedTuple):
    """Where an array lies in the file, in bytes, and what it must digest to."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int
    end: int
    digest: str

    @property
    def nbytes(self) -> int:
        return self.end - self.begin


def can_hold(dtype: np.dtype) -> bool:
    """Whether arrays of this type can be written as they are.

    >>> can_hold(np.dtype("float32")), can_hold(np.dtype("complex64"))
    (True, False)
    """
    return dtype.newbyteorder("<") in _NAMES


def make_header(arrays: Mapping[str, NDArray], digests: Mapping[str, str], note: str) -> bytes:
    """The length and the JSON text that stand before the arrays, which follow in the order of `arrays`."""
    table: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        table[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    told = json.dumps(digests, separators=(",", ":"))
    metadata = {_NOTE: note, _DIGESTS: told, _SEAL: _seal(table, note, told)}
    text = json.dumps({"__metadata__": metadata, **table}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % _ALIGN)
    if len(text) > MOST_HEADER:
        raise ValueError(f"too many names and numbers outside arrays: {len(text)} bytes, at most {MOST_HEADER} fit")
    return struct.pack("<Q", len(text)) + text


def _seal(table: dict, note: str, digests: str) -> str:
    """Digest of everything the header says."""
    whole = json.dumps([table, note, digests], sort_keys=True).encode()
    return hashlib.sha256(whole).hexdigest()[:32]


def read_header(file: BinaryIO, size: int) -> tuple[bytes, int]:
    """The JSON text and where the arrays begin."""
    start = file.read(9)
    if len(start) < 9 or start[8:] != b"{":
        raise ValueError("it does not begin like one" if start else "it is empty")
    (length,) = struct.unpack("<Q", start[:8])
    if length > min(size - 8, MOST_HEADER):
        raise ValueError(f"its header claims {length} bytes, the file has {size} and a header at most {MOST_HEADER}")
    return start[8:] + file.read(length - 1), 8 + length


def parse_header(text: bytes, start: int, size: int) -> tuple[dict, dict[str, Entry]]:
    """The note and the entries, checked against each other and the size of the file."""
    table = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    metadata = table.pop("__metadata__")
    note, digests = json.loads(metadata[_NOTE]), json.loads(metadata[_DIGESTS])
    seal = _seal(table, metadata[_NOTE], metadata[_DIGESTS])
    # Files of before there was a seal have none.
    if set(metadata) - {_SEAL} != {_NOTE, _DIGESTS} or metadata.get(_SEAL, seal) != seal:
        raise ValueError("its header does not match its digest")
    if not isinstance(note, dict) or set(digests) != set(table):
        raise ValueError("it does not hold the arrays it lists")
    entries = {name: _entry(table[name], digests[name], start) for name in table}
    _check_cover(entries, start, size)
    return note, entries


def _entry(told: dict, digest: Any, start: int) -> Entry:
    begin, end = told["data_offsets"]
    dtype, shape = _DTYPES[told["dtype"]], tuple(told["shape"])
    if len(shape) > 32 or not all(type(n) is int and 0 <= n < 1 << 62 for n in (*shape, begin, end)):
        raise ValueError("the shape of an array is impossible")
    if math.prod(max(n, 1) for n in shape) >= 1 << 60 or math.prod(shape) * dtype.itemsize != end - begin:
        raise ValueError("the shape of an array does not fit its bytes")
    if not isinstance(digest, str):
        raise ValueError("an array has no digest")
    return Entry(dtype, shape, start + begin, start + end, digest)


def _check_cover(entries: dict[str, Entry], start: int, size: int) -> None:
    """Arrays lie one after the other and fill the file."""
    for entry in sorted(entries.values(), key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != start:
            raise ValueError("its arrays overlap or leave gaps")
        start = entry.end
    if start != size:
        raise ValueError(f"its arrays end at byte {start}, but the file has {size}")


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
