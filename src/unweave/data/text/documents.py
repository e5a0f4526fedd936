"""Documents from wherever they are: strings, files, the lines of a file, the files of a folder; one at a time."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from unweave.data.readers.source import ReadError, Source

INPUTS = ("text", "files", "lines")
_SUFFIX = ".txt"
_BOMS = {  # the longer first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class Document(NamedTuple):
    """A text, or bytes to be decoded, or a file to be read by the thread that counts its words."""

    content: str | bytes | Path
    file: str = ""
    number: int = -1
    encoding: str | None = None

    @property
    def name(self) -> str:
        """For errors."""
        if self.number < 0:
            return self.file
        return f"{self.file}, line {self.number}" if self.file else f"document {self.number}"

    def size(self) -> int:
        """Bytes or characters, to cut work into chunks."""
        if not isinstance(self.content, Path):
            return len(self.content)
        try:
            return self.content.stat().st_size
        except OSError as error:
            raise ReadError(self.name, f"cannot be read ({error.strerror}); check the path") from None

    def load(self) -> str | bytes:
        """What it holds; files are unpacked if they are .gz, .xz or .zst."""
        if not isinstance(self.content, Path):
            return self.content
        return Source(self.content).everything() if self.size() else b""


def documents_of(raw, source: str, encoding: str = "utf-8") -> Iterator[Document]:
    """The documents that a user named.

    Parameters
    ----------
    raw : iterable, or a path
        source="text": texts, or bytes. source="files": names of files, each a document; or one folder, whose ``*.txt``
        files are the documents. source="lines": one or several names of files of which each line is a document.
    source : "text", "files" or "lines"

    >>> [document.name for document in documents_of(["one", "two"], "text")]
    ['document 0', 'document 1']
    """
    if source == "text":
        return _texts(_several(raw, "a list of texts, such as [text]; file names need input='files'"))
    if isinstance(raw, str | os.PathLike):
        raw = _of_folder(Path(raw)) if Path(raw).is_dir() else [raw]
    paths = _several(raw, "a folder or a list of file names")
    return _lines(paths, encoding) if source == "lines" else _files(paths)


def _several(raw, wanted: str) -> Iterable:
    if isinstance(raw, str | bytes | os.PathLike):
        raise ValueError(f"one {type(raw).__name__} was given where several documents are expected: give {wanted}")
    if isinstance(raw, dict) or hasattr(raw, "columns") or not hasattr(raw, "__iter__"):
        raise TypeError(f"documents must be an iterable, not of type {type(raw).__name__}: give {wanted}")
    return raw


def _texts(raw: Iterable) -> Iterator[Document]:
    for i, content in enumerate(raw):
        if not isinstance(content, str | bytes):
            raise TypeError(f"document {i} is {content!r:.50}, not a text; replace it by '' or leave it out")
        yield Document(content, number=i)


def _paths(raw: Iterable) -> Iterator[Path]:
    for i, path in enumerate(raw):
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"file {i} is {path!r:.50}, not a file name")
        yield Path(path).expanduser()


def _files(raw: Iterable) -> Iterator[Document]:
    return (Document(path, str(path)) for path in _paths(raw))


def _lines(raw: Iterable, encoding: str) -> Iterator[Document]:
    for path in _paths(raw):
        source = Source(path, encoding=encoding)
        # only where a line feed is one byte can lines be told apart before they are decoded
        wide = any(source.head(4).startswith(mark) for mark in _BOMS) or not _extends_ascii(encoding)
        with source.open_utf8() if wide else source.open() as file:
            for number, line in enumerate(file, 1):
                yield Document(line, str(path), number, "utf-8" if wide else None)


def _of_folder(folder: Path) -> list[Path]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() == _SUFFIX and path.is_file())
    if not paths:
        raise ValueError(
            f"there is no *{_SUFFIX} file in {str(folder)!r}; name a folder of text files, or list the files"
        )
    return paths


def decoded(document: Document, encoding: str, errors: str) -> str | bytes:
    """The text of a document; bytes that are all ASCII stay as they are.

    >>> decoded(Document("né".encode("latin-1")), "latin-1", "strict")
    'né'
    """
    raw = document.load()
    encoding = document.encoding or encoding
    if isinstance(raw, str) or (raw.isascii() and _extends_ascii(encoding)):
        return raw
    if isinstance(document.content, Path):
        raw, encoding = _unmarked(raw, encoding)
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        other = "latin-1" if codecs.lookup(encoding).name == "utf-8" else "utf-8"
        words = f"byte {error.start} is not {encoding}; say what it is, such as encoding={other!r}, or errors='replace'"
        raise ReadError(document.name, words) from None


def _unmarked(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """Without the byte order mark, which wins over the encoding that was asked for."""
    for mark, marked in _BOMS.items():
        if raw.startswith(mark):
            return raw[len(mark) :], marked
    return raw, encoding


def _extends_ascii(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")


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
