"""Documents from wherever they are: strings, files, the lines of a file, the files of a folder; a batch at a time."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from unweave.data.readers.source import ReadError, Source

INPUTS = ("text", "files", "lines")
SUFFIX = ".txt"
BATCH = 1 << 20  # characters or bytes: some ten milliseconds of work
_MOST = 1 << 16  # documents in a batch, if they are short


class Batch(NamedTuple):
    """Documents that follow each other: texts, bytes to be decoded, or files to be read by the thread that counts.

    One object for many documents: a million short ones would otherwise take longer to wrap than to count.
    """

    contents: list
    file: str = ""
    first: int = 0
    encoding: str | None = None
    size: int = 0
    limit: int | None = None

    def place(self, i: int) -> tuple[str, int | None]:
        """Where document i is, for errors: a name, and a line if it is one of a file.

        >>> Batch(["one", "two"], first=7).place(1), Batch([b"one"], "a.txt", first=3).place(0)
        (('document 8', None), ('a.txt', 3))
        """
        if isinstance(self.contents[i], Path):
            return str(self.contents[i]), None
        return (self.file, self.first + i) if self.file else (f"document {self.first + i}", None)


def documents_of(raw, source: str, encoding: str = "utf-8") -> Iterator[Batch]:
    """The documents that a user named, in batches of about a megabyte; what a batch holds depends on them alone.

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
    """Files, each a document; `limit` is the most bytes that a packed one may unpack to."""
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
    """The ``*.txt`` files of a folder and its folders, sorted."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == SUFFIX and path.is_file())
    if not paths:
        raise ReadError(folder, f"there is no *{SUFFIX} file in this folder; name a folder of text files, or the files")
    return paths


def marked_encoding(raw: bytes) -> tuple[bytes, str] | None:
    """The byte order mark that bytes begin with, and the encoding it tells of.

    >>> marked_encoding("a".encode("utf-8-sig")), marked_encoding(b"a")
    ((b'\\xef\\xbb\\xbf', 'utf-8'), None)
    """
    marks = {  # the longer first: that of UTF-32 begins like that of UTF-16
        codecs.BOM_UTF32_LE: "utf-32-le",
        codecs.BOM_UTF32_BE: "utf-32-be",
        codecs.BOM_UTF8: "utf-8",
        codecs.BOM_UTF16_LE: "utf-16-le",
        codecs.BOM_UTF16_BE: "utf-16-be",
    }
    return next(((mark, name) for mark, name in marks.items() if raw.startswith(mark)), None)


@cache
def extends_ascii(encoding: str) -> bool:
    """Whether bytes below 128 are what they are in ASCII, and no others are."""
    return codecs.lookup(encoding).name in ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")


@cache
def check_encoding(encoding: str, errors: str) -> None:
    """ValueError unless Python knows both."""
    try:
        codecs.lookup(encoding)
        codecs.lookup_error(errors)
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding={encoding!r} with errors={errors!r} is not known; use for instance 'utf-8' and "
            "'strict', 'replace' or 'ignore'"
        ) from None
