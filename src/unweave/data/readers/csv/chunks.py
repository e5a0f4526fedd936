"""Cuts a delimited file into large chunks of whole records; a quoted cell may hold line ends."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import BinaryIO

from unweave.data.readers.source import ReadError, Source

CHUNK = 4 << 20
_STEP = 1 << 14
_LONGEST = 1 << 30


class Chunk:
    """Holds whole records in UTF-8; `line` is the number of the first line, from 1.

    Lines are counted when somebody asks, which is when something is wrong: counting costs a tenth of parsing.
    """

    def __init__(self, data: bytes, line: int | Callable[[], int]):
        self.data, self._line = data, line

    @property
    def line(self) -> int:
        return self._line if isinstance(self._line, int) else self._line()

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the records, each with the number of the line it begins on, without line ends.

        >>> list(Chunk(b'a,"x\\ny"\\nb,c', 5).records())
        [(5, b'a,"x\\ny"'), (7, b'b,c')]
        """
        line = start = self.line
        held = b""
        for piece in self.data.split(b"\n"):
            held = held + b"\n" + piece if held else piece
            if held.count(b'"') % 2 == 0:
                yield start, held.removesuffix(b"\r")
                start, held = line + 1, b""
            line += 1
        if held:
            yield start, held


def chunks(source: Source, skip: int = 0, size: int = CHUNK) -> Iterator[Chunk]:
    """Cut a file into chunks of about `size` bytes, without its first `skip` lines and without its last line end.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.csv")
    ...     _ = path.write_bytes(b"x,y\\n1,2\\n3,4\\n")
    ...     [(chunk.data, chunk.line) for chunk in chunks(Source(path), skip=1, size=3)]
    [(b'1,2', 2), (b'3,4', 3)]
    """
    with source.open_utf8() as file:
        for _ in range(skip):
            file.readline()
        line = skip + 1
        if isinstance(getattr(file, "raw", None), io.FileIO) and hasattr(os, "pread"):
            rest = yield from _plain(file, line, size)
            if rest is None:
                return
            line = rest
        yield from cut_records(file, source.name, line, size)


def cut_records(file: BinaryIO, name: str, line: int, size: int = CHUNK) -> Iterator[Chunk]:
    """Cut what is left of a file into chunks, the first of which begins on line `line`; `name` is told in errors."""
    held = b""
    while data := file.read(size):
        held = held + data if held else data
        end = _before_blanks(held, _last_end(held))
        if end < 0:
            if len(held) > _LONGEST:
                raise ReadError(name, "a line or a quoted cell is longer than 1 GiB; check the quotes", line)
            size = max(size, len(held))
            continue
        yield Chunk(held[:end].removesuffix(b"\r"), line)
        line += held.count(b"\n", 0, end) + 1
        held = held[end + 1 :]
    if held.count(b'"') % 2:
        raise ReadError(name, 'a cell opens with " and never closes; add the missing quote', _open_line(held, line))
    held = held.rstrip(b"\r\n")
    if held:
        yield Chunk(held, line)


def _plain(file: BinaryIO, line: int, size: int) -> Generator[Chunk, None, int | None]:
    """Cut a file on disk, copying each chunk once, up to a quote or a blank line; return the line that is next."""
    descriptor, first = file.fileno(), file.tell()
    length = os.fstat(descriptor).st_size
    start = first
    while True:
        end = _line_end(descriptor, start + size)
        data = os.pread(descriptor, max(0, end - start), start)
        number = partial(_line_at, file.name, first, start, line)
        if end >= length and b'"' not in data:
            if data := data.rstrip(b"\r\n"):
                yield Chunk(data, number)
            return None
        data = data.removesuffix(b"\r")
        if not data or b'"' in data or data[-1] in b"\r\n":
            file.seek(start)
            return number()
        yield Chunk(data, number)
        start = end + 1


def _line_at(path: str, first: int, start: int, line: int) -> int:
    """Return the number of the line at byte `start`, if `line` is at byte `first`."""
    with open(path, "rb") as file:
        file.seek(first)
        while first < start:
            data = file.read(min(start - first, CHUNK))
            if not data:
                break
            line, first = line + data.count(b"\n"), first + len(data)
    return line


def _line_end(descriptor: int, at: int) -> int:
    """Find the first line feed from a place on, or the end of the file."""
    while data := os.pread(descriptor, _STEP, at):
        found = data.find(b"\n")
        if found >= 0:
            return at + found
        at += len(data)
    return os.fstat(descriptor).st_size


def _last_end(data: bytes) -> int:
    """Find the last line end outside quotes, or -1."""
    end = data.rfind(b"\n")
    if end < 0 or b'"' not in data:
        return end
    quotes = data.count(b'"', 0, end)
    while end >= 0 and quotes % 2:
        before = data.rfind(b"\n", 0, end)
        quotes -= data.count(b'"', max(before, 0), end)
        end = before
    return end


def _before_blanks(data: bytes, end: int) -> int:
    """Step back over blank lines to the line end before them, or -1: they go with what follows, if anything does."""
    start = end
    while start > 0 and data[start - 1] in b"\r\n":
        start -= 1
    return data.index(b"\n", start) if start > 0 else -1


def _open_line(data: bytes, line: int) -> int:
    """Find the first line from which on the number of quotes stays odd."""
    found, odd = line, False
    for number, piece in enumerate(data.split(b"\n"), line):
        if piece.count(b'"') % 2:
            odd = not odd
            found = number if odd else found
    return found
