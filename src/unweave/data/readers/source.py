"""Defines what every reader gets: the file, unpacked and decoded (`Source`), and the caller's wishes (`Options`)."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from unweave.data.readers.unpack import Transcoded, packing, unpacked

DEFAULT_LIMIT = 16 << 30
_RATIO, _ALLOWANCE = 250, 64 << 20
_MARKS = {  # the longer first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_CHOICES: dict[str, tuple] = {
    "missing": ("auto", "nan", "zeros", None),
    "header": ("auto", True, False),
    "dtype": ("float64", "float32"),
    "duplicates": ("mean", "last", "sum", "error"),
    "lines": (None, True, False),
}


class ReadError(ValueError):
    """Raised when a file cannot be read: one sentence that names the file, the line when there is one, and the remedy.

    Examples
    --------
    >>> str(ReadError("a.csv", "5 cells where the others have 4; add or remove one", line=7))
    'a.csv, line 7: 5 cells where the others have 4; add or remove one'
    """

    def __init__(self, path: object, message: str, line: int | None = None):
        self.path, self.message, self.line = str(path), message, line
        place = f"{self.path}, line {line}" if line is not None else self.path
        super().__init__(f"{place}: {message}")

    def __reduce__(self):
        return type(self), (self.path, self.message, self.line)


def marked_encoding(raw: bytes) -> tuple[bytes, str] | None:
    """Return the byte order mark that bytes begin with, and the encoding it stands for.

    >>> marked_encoding("a".encode("utf-8-sig")), marked_encoding(b"a")
    ((b'\\xef\\xbb\\xbf', 'utf-8'), None)
    """
    return next(((mark, name) for mark, name in _MARKS.items() if raw.startswith(mark)), None)


class Source:
    """Opens a local file or folder; .gz, .xz and .zst files are unpacked on the way, told by their first bytes.

    Parameters
    ----------
    path : str or path
        A regular file or a folder; ``~`` is expanded.
    limit : int, optional
        The most bytes that may be unpacked from a compressed file. By default 16 GiB, and no more than 250 times the
        compressed size plus 64 MiB, so that a small file cannot fill the memory.
    encoding : str
        Of the text; a byte order mark in the file wins.

    Examples
    --------
    >>> import gzip, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv.gz")
    ...     _ = path.write_bytes(gzip.compress(b"x,y\\r\\n1,2\\r\\n"))
    ...     source = Source(path)
    ...     source.compressed, source.inner_name, list(source.lines())
    (True, 'a.csv', [(1, 'x,y'), (2, '1,2')])
    """

    def __init__(self, path: str | os.PathLike, *, limit: int | None = None, encoding: str = "utf-8"):
        self.name = os.fspath(path)
        self.path = Path(path).expanduser()
        self.encoding = encoding
        self.is_folder = self._check()
        self._packing = None if self.is_folder else packing(self._first_bytes())
        self.compressed = self._packing is not None
        self.limit = limit if limit is not None else min(DEFAULT_LIMIT, _RATIO * self.size() + _ALLOWANCE)
        # Sizes that a file declares are held against this one: it says what may be allocated, packed or not.
        self.memory_limit = limit if limit is not None else DEFAULT_LIMIT

    def _check(self) -> bool:
        if "\0" in self.name:
            raise ReadError(repr(self.name), "a file name cannot hold a zero byte; check the path")
        try:
            if self.path.is_dir():
                return True
            if not self.path.exists():
                raise ReadError(self.name, "there is no such file; check the path")
            if not self.path.is_file():
                raise ReadError(self.name, "is not a regular file; save the data to a file first")
            if self.size() == 0:
                raise ReadError(self.name, "the file is empty; there is nothing to read")
        except OSError as error:
            raise self.failure(error) from None
        return False

    def failure(self, error: OSError) -> ReadError:
        """Return what the operating system says as one sentence of ours."""
        words = (error.strerror or str(error) or type(error).__name__).lower()
        return ReadError(self.name, f"cannot be read ({words}); check the path and its permissions")

    def _first_bytes(self) -> bytes:
        try:
            with open(self.path, "rb") as file:
                return file.read(8)
        except OSError as error:
            raise self.failure(error) from None

    @property
    def inner_name(self) -> str:
        """Return the name of the file without folders and without .gz, .xz or .zst."""
        name = self.path.name
        suffix = self.path.suffix.lower()
        return name[: -len(suffix)] if self.compressed and suffix in (".gz", ".xz", ".zst") else name

    def size(self) -> int:
        """Return the number of bytes on disk."""
        return self.path.stat().st_size

    def open(self) -> BinaryIO:
        """Open the file, unpacked; ReadError when the packing is damaged or more than `limit` comes out."""
        if self.is_folder:
            raise ReadError(self.name, "is a folder where a file is expected; name one file in it")
        try:
            file = open(self.path, "rb")  # noqa: SIM115 - the caller closes it
        except OSError as error:
            raise self.failure(error) from None
        return file if self._packing is None else unpacked(file, self._packing, self.limit, self._damaged)

    def _damaged(self, reason: str) -> ReadError:
        if reason == "limit":
            words = f"unpacks to more than {self.limit:,} bytes; if that is meant, allow more with limit="
            return ReadError(self.name, words)
        return ReadError(self.name, f"the {self._packing} data is damaged or cut off ({reason}); get the file again")

    def head(self, n: int = 65536) -> bytes:
        """Return the first n bytes, unpacked."""
        with self.open() as file:
            return file.read(n)

    def everything(self) -> bytes:
        """Return all bytes, unpacked."""
        with self.open() as file:
            return file.read()

    def open_utf8(self) -> BinaryIO:
        """Open the text as UTF-8 without a byte order mark, whatever its encoding; not validated if it is UTF-8."""
        file = self.open()
        encoding = self._text_encoding(file)
        if encoding == "utf-8":
            if file.read(3) != codecs.BOM_UTF8:
                file.seek(0)
            return file
        return io.BufferedReader(Transcoded(file, encoding, self._undecodable))

    def _text_encoding(self, file: BinaryIO) -> str:
        start = file.read(4)
        file.seek(0)
        if (marked := marked_encoding(start)) is not None:
            # The names without an order of bytes are those of decoders that drop the mark.
            return marked[1].removesuffix("-le").removesuffix("-be")
        name = codecs.lookup(self.encoding).name
        return "utf-8" if name in ("utf-8", "utf-8-sig", "ascii") else name

    def _undecodable(self, encoding: str, line: int | None = None) -> ReadError:
        other = "latin-1" if encoding == "utf-8" else "utf-8"
        words = f"is not {encoding} text; say which it is, for instance encoding={other!r}"
        return ReadError(self.name, words, line=line)

    def not_utf8(self, line: int) -> ReadError:
        """Return the error for a line of text that should be UTF-8 and is not."""
        return ReadError(self.name, "is not UTF-8 text; say which it is, for instance encoding='latin-1'", line)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield lines with their numbers from 1, decoded, without line ends."""
        with self.open_utf8() as file:
            for number, raw in enumerate(file, 1):
                try:
                    yield number, raw.decode().rstrip("\r\n")
                except UnicodeDecodeError:
                    raise self._undecodable("utf-8", number) from None


# -- options -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """Says how to read a file: :func:`unweave.read` documents each of the options.

    Examples
    --------
    >>> Options(missing="nan").dtype
    'float64'
    """

    missing: str | None = "auto"
    names: str | int | bool | None = "auto"
    delimiter: str | None = None
    header: bool | str = "auto"
    encoding: str = "utf-8"
    dtype: str = "float64"
    limit: int | None = None
    member: str | None = None
    duplicates: str = "mean"
    colour: bool = False
    lines: bool | None = None
    stop_words: str | list[str] | None = "english"
    min_documents: int = 2
    max_words: int = 20000

    def __post_init__(self):
        for name, choices in _CHOICES.items():
            value: Any = getattr(self, name)
            if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
                raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(map(repr, choices))}")
        if self.delimiter is not None and not _may_separate(self.delimiter):
            raise ValueError(f"delimiter={self.delimiter!r} must be one character that is no part of cells (or '::')")
        _check_encoding(self.encoding)
        for name in ("min_documents", "max_words"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit must be a positive number of bytes, got {self.limit}")


def _may_separate(delimiter: str) -> bool:
    return len(delimiter) in (1, 2) and not any(c.isalnum() or c in '"\r\n+-.' for c in delimiter)


def _check_encoding(name: str) -> None:
    import codecs

    try:
        text = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError, TypeError):
        text = False
    if not text:
        raise ValueError(f"encoding={name!r} is not known; use for instance 'utf-8' or 'latin-1'")
