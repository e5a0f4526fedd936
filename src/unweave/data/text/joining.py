"""A batch of documents as one buffer of UTF-8: decoded, lowered and encoded in one go rather than one by one.

Documents are joined by a zero byte, which no word holds.
"""

from __future__ import annotations

import codecs
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.source import ReadError, Source
from unweave.data.text.documents import Batch, extends_ascii, marked_encoding


@dataclass(frozen=True)
class Cutting:
    """How texts become words; with digits=False, digits and ``_`` part words.

    `advice` ends the sentence about bytes that do not decode.
    """

    lowercase: bool = True
    marks: str = "split"
    least: int = 2
    encoding: str = "utf-8"
    errors: str = "strict"
    digits: bool = True
    advice: str = ", or errors='replace'"


def join_batch(batch: Batch, cutting: Cutting) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(bytes, bounds): document d is ``bytes[bounds[d]:bounds[d + 1]]``, lower case but for ASCII.

    >>> data, bounds = join_batch(Batch(["né", "b"]), Cutting())
    >>> data.tobytes(), bounds
    (b'n\\xc3\\xa9\\x00b', array([0, 4, 5]))
    """
    contents = [_load(path, batch.limit) for path in batch.contents] if _has_files(batch) else batch.contents
    raw = _as_bytes(contents, batch, cutting)
    data = np.frombuffer(bytearray(raw), np.uint8)
    bounds = np.zeros(len(contents) + 1, np.int64)
    bounds[-1] = len(data)
    if len(contents) > 1:
        bounds[1:-1] = np.flatnonzero(data == 0) + 1
    return data, bounds


def _has_files(batch: Batch) -> bool:
    return isinstance(batch.contents[0], Path)


def _load(path: Path, limit: int | None) -> bytes:
    """What a file holds; it is unpacked if it is .gz, .xz or .zst."""
    return Source(path, limit=limit).everything() if path.stat().st_size else b""


def _as_bytes(contents: list, batch: Batch, cutting: Cutting) -> bytes:
    kinds, encoding = set(map(type, contents)), batch.encoding or cutting.encoding
    if kinds == {bytes} and extends_ascii(encoding):
        raw = _joined(contents, b"\0", b" ")
        if raw.isascii():
            return raw
        if cutting.errors == "strict" and not _has_files(batch):
            try:
                return _utf8(raw.decode(encoding), cutting)
            except UnicodeDecodeError:
                pass  # one by one, to name the document
    if kinds != {str}:
        contents = [_decoded(c, batch, i, cutting) if isinstance(c, bytes) else c for i, c in enumerate(contents)]
    return _utf8(_joined(contents, "\0", " "), cutting)


def _joined(contents: list, zero, blank):
    """One text or bytes, with zeros between documents and blanks for those within: both part words."""
    whole = zero.join(contents)
    if whole.count(zero) >= len(contents):
        whole = zero.join([content.replace(zero, blank) for content in contents])
    return whole


def _decoded(raw: bytes, batch: Batch, i: int, cutting: Cutting) -> str:
    encoding = batch.encoding or cutting.encoding
    marked = marked_encoding(raw) if _has_files(batch) else None
    if marked is not None:  # the mark of a file wins over the encoding that was asked for
        raw, encoding = raw[len(marked[0]) :], marked[1]
    try:
        return raw.decode(encoding, cutting.errors)
    except UnicodeDecodeError as error:
        name, line = batch.place(i)
        before = raw[: error.start]
        if _has_files(batch) and extends_ascii(encoding):
            line, before = before.count(b"\n") + 1, before[before.rfind(b"\n") + 1 :]
        other = "latin-1" if codecs.lookup(encoding).name == "utf-8" else "utf-8"
        words = f"byte {len(before)} is not {encoding}; say what it is, such as encoding={other!r}{cutting.advice}"
        raise ReadError(name, words, line=line) from None


def _utf8(text: str, cutting: Cutting) -> bytes:
    """The text in bytes, lower case but for ASCII, which the kernel lowers. A lone surrogate parts words."""
    if not text.isascii():
        if cutting.marks == "keep":
            text = unicodedata.normalize("NFC", text)
        if cutting.lowercase:
            text = text.lower()
    return text.encode("utf-8", "surrogatepass")
