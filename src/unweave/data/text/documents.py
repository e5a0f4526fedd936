"""Takes documents from wherever they are (texts, files, lines of a file, a folder) and joins batches of them in bytes.

`documents_of` hands out batches of about a megabyte. `join_batch` makes one buffer of UTF-8 of a batch: decoded,
lowered and encoded in one go rather than document by document, with a zero byte, which no word holds, between them.
"""

from __future__ import annotations

import codecs
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.source import ReadError, Source, marked_encoding

INPUTS = ("text", "files", "lines")
SUFFIX = ".txt"
BATCH = 1 << 20  # characters or bytes: some ten milliseconds of work
_MOST = 1 << 16  # documents in a batch, if they are short


class Batch(NamedTuple):
    """Holds documents that follow each other: texts, bytes to be decoded, or files for the thread that counts to read.

    One object for many documents: a million short ones would otherwise take longer to wrap than to count.
    """

    contents: list
    file: str = ""
    first: int = 0
    encoding: str | None = None
    size: int = 0
    limit: int | None = None

    def place(self, i: int) -> tuple[str, int | None]:
        """Return where document i is, for errors: a name, and a line if it is one of a file.

        >>> Batch(["one", "two"], first=7).place(1), Batch([b"one"], "a.txt", first=3).place(0)
        (('document 8', None), ('a.txt', 3))
        """
        if isinstance(self.contents[i], Path):
            return str(self.contents[i]), None
        return (self.file, self.first + i) if self.file else (f"document {self.first + i}", None)


def documents_of(raw, source: str, encoding: str = "utf-8") -> Iterator[Batch]:
    """Yield the documents that a user named, in batches of about a megabyte that depend on the documents alone.

    Parameters
    ----------
    raw : iterable, or a path
        source="text": texts, or bytes. source="files": names of files, each a document; or one folder, whose ``*.txt``
        files are the documents. source="lines": one or several names of files of which each line is a document.
    source : "text", "files" or "lines"

    >>> [batch.contents for batch in documents_of(["one", "two"], "text")]
    [['one', 'two']]
    """
    if source == "text":
        return _texts(_several(raw, "a list of texts, such as [text]; file names need input='files'"))
    if isinstance(raw, str | os.PathLike):
        raw = text_files(Path(raw)) if Path(raw).is_dir() else [raw]
    paths = _several(raw, "a folder or a list of file names")
    return _lines(paths, encoding) if source == "lines" else batches_of_files(_paths(paths))


def _several(raw, wanted: str) -> Iterable:
    if isinstance(raw, str | bytes | os.PathLike):
        raise ValueError(f"one {type(raw).__name__} was given where several documents are expected: give {wanted}")
    if isinstance(raw, dict) or hasattr(raw, "columns") or not hasattr(raw, "__iter__"):
        raise TypeError(f"documents must be an iterable, not of type {type(raw).__name__}: give {wanted}")
    return raw


def _texts(raw: Iterable) -> Iterator[Batch]:
    stream, first, size, take = iter(raw), 0, 0, 1
    held: list = []
    # pieces, so that the loop runs once for many short documents, of few documents where they are long
    while piece := list(islice(stream, take)):
        if not {str, bytes}.issuperset(map(type, piece)):
            _check_texts(piece, first + len(held))
        lengths = list(map(len, piece))
        held += piece
        size += sum(lengths)
        if size >= BATCH or len(held) >= _MOST:
            yield Batch(held, first=first, size=size)
            first, held, size = first + len(held), [], 0
        take = max(1, min(2 * take, BATCH // 16 // (1 + max(lengths)), _MOST))
    if held:
        yield Batch(held, first=first, size=size)


def _check_texts(piece: list, first: int) -> None:
    for i, content in enumerate(piece, first):
        if not isinstance(content, str | bytes):
            raise TypeError(f"document {i} is {content!r:.50}, not a text; replace it by '' or leave it out")


def _paths(raw: Iterable) -> Iterator[Path]:
    for i, path in enumerate(raw):
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"file {i} is {path!r:.50}, not a file name")
        yield Path(path).expanduser()


def batches_of_files(paths: Iterable[Path], limit: int | None = None) -> Iterator[Batch]:
    """Yield batches of files, each a document; `limit` is the most bytes that a packed one may unpack to."""
    held: list[Path] = []
    size = 0
    for path in paths:
        held.append(path)
        size += _size(path)
        if size >= BATCH or len(held) == _MOST:
            yield Batch(held, size=size, limit=limit)
            held, size = [], 0
    if held:
        yield Batch(held, size=size, limit=limit)


def _size(path: Path) -> int:
    try:
        about = path.stat()
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ReadError(path, f"cannot be read ({words}); check the path") from None
    if stat.S_ISDIR(about.st_mode):
        raise ReadError(path, "is a folder where a file is expected; give one folder alone, or name the files in it")
    if not stat.S_ISREG(about.st_mode):  # a pipe or a socket might never end
        raise ReadError(path, "is not a regular file; save the text to a file first")
    return about.st_size


def _lines(raw: Iterable, encoding: str) -> Iterator[Batch]:
    for path in _paths(raw):
        source = Source(path, encoding=encoding)
        # only where a line feed is one byte can lines be told apart before they are decoded
        wide = marked_encoding(source.head(4)) is not None or not extends_ascii(encoding)
        number = 1
        with source.open_utf8() if wide else source.open() as file:
            while lines := file.readlines(BATCH):
                yield Batch(lines, str(path), number, "utf-8" if wide else None, sum(map(len, lines)))
                number += len(lines)


def text_files(folder: Path) -> list[Path]:
    """List the ``*.txt`` files of a folder and its folders, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == SUFFIX and path.is_file())
    if not paths:
        raise ReadError(folder, f"there is no *{SUFFIX} file in this folder; name a folder of text files, or the files")
    return paths


@cache
def extends_ascii(encoding: str) -> bool:
    """Tell whether bytes below 128 mean what they mean in ASCII, and no others do."""
    return codecs.lookup(encoding).name in ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")


@cache
def check_encoding(encoding: str, errors: str) -> None:
    """Raise ValueError unless Python knows both."""
    try:
        codecs.lookup(encoding)
        codecs.lookup_error(errors)
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding={encoding!r} with errors={errors!r} is not known; use for instance 'utf-8' and "
            "'strict', 'replace' or 'ignore'"
        ) from None


# -- a batch as one buffer of bytes ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cutting:
    """Says how texts become words; with digits=False, digits and ``_`` separate words.

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
    """Join a batch into (bytes, bounds): document d is ``bytes[bounds[d]:bounds[d + 1]]``, lower case but for ASCII.

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
    """Read a file; it is unpacked if it is .gz, .xz or .zst."""
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
    """Join documents by zeros, and replace zeros within them by blanks: both separate words."""
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
    """Encode the text, lower case but for ASCII, which the kernel lowers. A lone surrogate separates words."""
    if not text.isascii():
        if cutting.marks == "keep":
            text = unicodedata.normalize("NFC", text)
        if cutting.lowercase:
            text = text.lower()
    return text.encode("utf-8", "surrogatepass")
