"""Writes arrays and a JSON note to one file, and reads them back without trusting what the file says.

The format is safetensors (8 bytes of length, a JSON table, the bytes of the arrays without gaps) with a digest of each
array and one of the header, so that any reader of that format opens these files. A file is written beside its
destination, flushed to the disk and renamed over it, so a reader finds the old file or the new one, never a part. The
header is checked against the size of the file before anything is allocated. No pickle. It is written and parsed here,
because arrays must neither be copied on the way out nor be trusted on the way in.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import secrets
import stat
import struct
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.parallel import get_num_threads

SMALL = 16 << 20  # bytes of arrays that are always read and compared with their digests
MOST_HEADER = 16 << 20  # JSON takes up to 40 times its size when parsed, whatever it says

_PIECE = 8 << 20
_NOTE, _DIGESTS, _SEAL = "unweave", "digests", "seal"
_ALIGN = 64
_CODES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}  # fmt: skip
_DTYPES = {code: np.dtype(word) for code, word in _CODES.items()}
_NAMES = {dtype: code for code, dtype in _DTYPES.items()}


class DamagedFileError(ValueError):
    """Raised for a file that is not one of ours, or not whole."""


def digest(array: NDArray) -> str:
    """Return a short fingerprint of an array's bytes (not of its shape or type).

    SHA-256, which processors have an instruction for, cut to 16 bytes; of more than 8 MB, that of the digests of its
    pieces of 8 MB, so that several threads can share the work.
    """
    array = np.ascontiguousarray(array)
    if array.nbytes <= _PIECE:
        return _hash(_pieces(array)[0]).hex()
    with _hashers() as pool:
        return _joined(_hash_pieces(pool, array))


def _hashers() -> ThreadPoolExecutor:
    """Make a pool of threads that hash; hashlib lets other threads run, so that the disk need not wait for it."""
    return ThreadPoolExecutor(get_num_threads())


def _hash_pieces(pool: ThreadPoolExecutor, array: NDArray) -> list[Future]:
    return [pool.submit(_hash, piece) for piece in _pieces(array)]


def _pieces(array: NDArray) -> list[memoryview]:
    data = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    return [data[start : start + _PIECE] for start in range(0, max(1, len(data)), _PIECE)]


def _hash(data: memoryview | bytes) -> bytes:
    return hashlib.sha256(data).digest()[:16]


def _joined(hashed: list[Future]) -> str:
    found = [piece.result() for piece in hashed]
    return (found[0] if len(found) == 1 else _hash(b"".join(found))).hex()


# -- writing -----------------------------------------------------------------------------------------------------------


def write(path: str | os.PathLike, arrays: Mapping[str, NDArray], note: Mapping) -> None:
    """Write named arrays and a JSON note to `path`, atomically.

    A link is followed. OSError if the file cannot be written, ValueError if the note is too long; whatever was at
    `path` is then still there, whole.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise IsADirectoryError(f"{target} is a folder or a device, not a file")
    plain = {name: _plain(name, array) for name, array in arrays.items()}
    # Large items first, so that every array lies at a multiple of its item size.
    plain = dict(sorted(plain.items(), key=lambda item: (-item[1].itemsize, -item[1].nbytes)))
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(6)}.part")
    # Not mkstemp: its files are closed to everyone else, whatever the umask says.
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            _write_all(file, plain, json.dumps(note, separators=(",", ":")))
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _plain(name: str, array: NDArray) -> NDArray:
    if not can_hold(array.dtype):
        raise TypeError(f"array {name!r} is of type {array.dtype}, which the file format does not have")
    return np.require(array, dtype=array.dtype.newbyteorder("<"), requirements="C")


def _write_all(file: BinaryIO, arrays: dict[str, NDArray], note: str) -> None:
    """Write the header, the arrays, and the header again: the digests in it are known only after the arrays."""
    blank = make_header(arrays, dict.fromkeys(arrays, "0" * 32), note)
    _put(file, memoryview(blank))
    with _hashers() as pool, ThreadPoolExecutor(1) as flusher:
        hashed = {name: _hash_pieces(pool, array) for name, array in arrays.items()}
        flushed: Future = flusher.submit(int)
        for array in arrays.values():
            for piece in _pieces(array):
                _put(file, piece)
                # The disk works while the next pieces are hashed and copied, not only at the end.
                if len(piece) == _PIECE and flushed.done():
                    flushed.result()  # a failed flush is told once: it must not get lost
                    flushed = flusher.submit(os.fsync, file.fileno())
        flushed.result()
        digests = {name: _joined(pieces) for name, pieces in hashed.items()}
    file.seek(0)
    _put(file, memoryview(make_header(arrays, digests, note)))


def _put(file: BinaryIO, data: memoryview) -> None:
    """Write all of the data: an unbuffered file may take less than it is given."""
    while len(data):
        data = data[file.write(data) :]


def _flush_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# -- reading -----------------------------------------------------------------------------------------------------------


class Contents:
    """Holds an open file: its note and the arrays it lists, which are read when asked for.

    Files with at most `SMALL` bytes of arrays are read at once; larger ones are mapped into memory, copy on write, so
    that arrays can be changed and the file cannot.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        kind = os.stat(path).st_mode  # before opening: a pipe would wait for ever
        if not stat.S_ISREG(kind):
            word = "a folder" if stat.S_ISDIR(kind) else "a device or pipe"
            raise DamagedFileError(f"{self.path} is {word}, not a file of unweave")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                self.note, self.entries = parse_header(*read_header(file, size), size)
            except RecursionError as error:
                raise DamagedFileError(
                    f"{self.path} is not a file of unweave: its header is nested too deep"
                ) from error
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise DamagedFileError(f"{self.path} is not a whole file of unweave: {_words(error)}") from error
            self._buffer = self._open_buffer(file, size)

    def _open_buffer(self, file: BinaryIO, size: int) -> bytearray | mmap.mmap:
        if sum(entry.nbytes for entry in self.entries.values()) > SMALL:
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)
        file.seek(0)
        buffer = bytearray(file.read(size))
        if len(buffer) != size:
            raise DamagedFileError(f"{self.path} became shorter while it was read")
        return buffer

    def array(self, name: str) -> NDArray:
        """Return an array, mapped or in memory; it can be changed, and the file does not change with it."""
        entry = self.entries[name]
        count = entry.nbytes // entry.dtype.itemsize
        flat = np.frombuffer(self._buffer, entry.dtype, count, entry.begin) if count else np.empty(0, entry.dtype)
        return np.require(flat.reshape(entry.shape), requirements="A")

    def small(self) -> set[str]:
        """Return the names of the arrays that are always checked: from the smallest on, `SMALL` bytes together."""
        total, names = 0, set()
        for name, entry in sorted(self.entries.items(), key=lambda item: item[1].nbytes):
            total += entry.nbytes
            if total > SMALL:
                break
            names.add(name)
        return names

    def check(self, names: Iterable[str]) -> None:
        """Compare arrays with their digests; DamagedFileError names the first that differs."""
        for name in names:
            array, told = self.array(name), self.entries[name].digest
            if digest(array) != told and (array.size or told):
                raise DamagedFileError(f"{self.path} is damaged: the contents of {name!r} do not match their digest")


def read(path: str | os.PathLike) -> tuple[dict[str, NDArray], dict]:
    """Return the arrays and the note of a file written by :func:`write`; DamagedFileError if it is anything else."""
    contents = Contents(path)
    contents.check(contents.entries)
    return {name: contents.array(name).copy() for name in contents.entries}, contents.note


def _words(error: Exception) -> str:
    return f"{error} is missing or unknown" if isinstance(error, KeyError) else str(error)


# -- the header --------------------------------------------------------------------------------------------------------


class StoredArray(NamedTuple):
    """Says where an array lies in the file, in bytes, and what its digest must be."""

    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int
    end: int
    digest: str

    @property
    def nbytes(self) -> int:
        return self.end - self.begin


def can_hold(dtype: np.dtype) -> bool:
    """Tell whether arrays of this type can be written as they are.

    >>> can_hold(np.dtype("float32")), can_hold(np.dtype("complex64"))
    (True, False)
    """
    return dtype.newbyteorder("<") in _NAMES


def make_header(arrays: Mapping[str, NDArray], digests: Mapping[str, str], note: str) -> bytes:
    """Return the bytes before the arrays: the length and the JSON text; arrays follow in the order of `arrays`."""
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
    """Return the digest of everything the header says."""
    whole = json.dumps([table, note, digests], sort_keys=True).encode()
    return hashlib.sha256(whole).hexdigest()[:32]


def read_header(file: BinaryIO, size: int) -> tuple[bytes, int]:
    """Read the JSON text of the header, and return it with the byte where the arrays begin."""
    start = file.read(9)
    if len(start) < 9 or start[8:] != b"{":
        raise ValueError("it does not begin like one" if start else "it is empty")
    (length,) = struct.unpack("<Q", start[:8])
    if length > min(size - 8, MOST_HEADER):
        raise ValueError(f"its header claims {length} bytes, the file has {size} and a header at most {MOST_HEADER}")
    return start[8:] + file.read(length - 1), 8 + length


def parse_header(text: bytes, start: int, size: int) -> tuple[dict, dict[str, StoredArray]]:
    """Return the note and the arrays it lists, checked against each other and the size of the file."""
    table = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    metadata = table.pop("__metadata__")
    note, digests = json.loads(metadata[_NOTE]), json.loads(metadata[_DIGESTS])
    seal = _seal(table, metadata[_NOTE], metadata[_DIGESTS])
    # Files of before there was a seal have none.
    if set(metadata) - {_SEAL} != {_NOTE, _DIGESTS} or metadata.get(_SEAL, seal) != seal:
        raise ValueError("its header does not match its digest")
    if not isinstance(note, dict) or set(digests) != set(table):
        raise ValueError("it does not hold the arrays it lists")
    entries = {name: _stored_array(table[name], digests[name], start) for name in table}
    _check_cover(entries, start, size)
    return note, entries


def _stored_array(told: dict, digest: Any, start: int) -> StoredArray:
    begin, end = told["data_offsets"]
    dtype, shape = _DTYPES[told["dtype"]], tuple(told["shape"])
    if len(shape) > 32 or not all(type(n) is int and 0 <= n < 1 << 62 for n in (*shape, begin, end)):
        raise ValueError("the shape of an array is impossible")
    if math.prod(max(n, 1) for n in shape) >= 1 << 60 or math.prod(shape) * dtype.itemsize != end - begin:
        raise ValueError("the shape of an array does not fit its bytes")
    if not isinstance(digest, str):
        raise ValueError("an array has no digest")
    return StoredArray(dtype, shape, start + begin, start + end, digest)


def _check_cover(entries: dict[str, StoredArray], start: int, size: int) -> None:
    """Check that the arrays lie one after the other and fill the file."""
    for entry in sorted(entries.values(), key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != start:
            raise ValueError("its arrays overlap or leave gaps")
        start = entry.end
    if start != size:
        raise ValueError(f"its arrays end at byte {start}, but the file has {size}")


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
