"""Reads a text file as large blocks of whole lines, and many whole numbers out of a block at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.source import ReadError, Source

BLOCK = 1 << 20
_PIECE = 1 << 17  # stays in the cache
_FIRST = 1 << 16
_LONGEST_LINE = 1 << 28
_SHORT_HEAD = 4096  # a head that is shorter is the whole file
_SPACE = b" \t\r\n"
_DIGITS = 18  # every number of 18 digits fits into 64 bits


class Block(NamedTuple):
    """Holds whole lines in UTF-8, every one ended by a line feed; `line` is the number of the first, from 1."""

    line: int
    data: bytes
    n_lines: int

    def line_at(self, byte: int) -> int:
        """Return the number of the line that a byte of the block is on."""
        return self.line + self.data.count(b"\n", 0, byte)


def blocks(source: Source, size: int = BLOCK) -> Iterator[Block]:
    """Cut a file into blocks of about `size` bytes, without byte order mark; Windows line ends become line feeds.

    Text that should be UTF-8 is handed on unchecked: it is for the parser to refuse what it cannot take.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "baskets.dat")
    ...     _ = path.write_bytes(b"1 2\\r\\n3")
    ...     list(blocks(Source(path)))
    [Block(line=1, data=b'1 2\\n', n_lines=1), Block(line=2, data=b'3\\n', n_lines=1)]
    """
    line, rest = 1, b""
    step = min(_FIRST, size)
    with source.open_utf8() as file:
        while data := file.read(step):
            step = min(4 * step, size)  # a read allocates its size at once, and most files are small
            end = data.rfind(b"\n") + 1
            data, rest = _joined(rest, data, end)
            if len(rest) > _LONGEST_LINE:
                raise ReadError(source.name, "the line is longer than 256 MiB; is this a text file?", line)
            if data:
                count = count_lines(data)
                yield Block(line, _plain(data), count)
                line += count
    if rest:
        yield Block(line, _plain(rest + b"\n"), 1)


def _joined(rest: bytes, data: bytes, end: int) -> tuple[bytes, bytes]:
    """Return the lines that end in `data`, with what came before, and what begins there; copy no more than once."""
    if not end:
        return b"", rest + data
    return b"".join((rest, memoryview(data)[:end])), data[end:]


def count_lines(data: bytes) -> int:
    """Count line feeds, at several times the speed of ``data.count``."""
    whole = np.frombuffer(data, np.uint8)
    return sum(int(np.count_nonzero(whole[i : i + _PIECE] == 10)) for i in range(0, len(whole), _PIECE))


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n") if b"\r" in data else data


def decoded(source: Source, block: Block) -> list[str]:
    """Decode the lines of a block; ReadError with the line and the remedy where it is not UTF-8."""
    try:
        return block.data.decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        line = block.line_at(error.start)
        raise ReadError(
            source.name, "the text is not UTF-8; say which it is, for instance encoding='latin-1'", line
        ) from None


def head_lines(head: bytes) -> list[str]:
    """Return the first lines of a file, for telling its format, without the last one if it may be cut off.

    >>> head_lines(b"\\xef\\xbb\\xbfuser,item\\r\\na,b\\r\\n")
    ['user,item', 'a,b']
    """
    lines = head.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    whole = len(head) < _SHORT_HEAD
    return lines if whole and lines[-1] else lines[:-1]


# -- whole numbers with the line that each is on -----------------------------------------------------------------------


@dataclass(frozen=True)
class WholeNumbers:
    """Holds the whole numbers of a block: values, first bytes, bytes after the last, and how many are on each line."""

    block: Block
    values: NDArray
    starts: NDArray
    ends: NDArray
    counts: NDArray

    def line_of(self, number: int) -> int:
        """Return the line that a number (by its place among the numbers) is on."""
        return self.block.line_at(int(self.starts[number]))


def whole_numbers(source: Source, block: Block, also: bytes = b"") -> WholeNumbers:
    """Read whole numbers (no sign, at most 18 digits) between spaces, tabs, line ends and the bytes in `also`.

    Anything else is a :class:`ReadError` that names the line. One pass over all numbers for each digit of the longest.
    """
    data = np.frombuffer(block.data, np.uint8)
    digit = (data - np.uint8(48)) < 10
    _refuse_other_bytes(source, block, data, also)
    edges = np.flatnonzero(digit[1:] != digit[:-1]) + 1
    edges = np.concatenate(([0], edges)) if len(digit) and digit[0] else edges
    # A block ends with a line feed, so every number that begins also ends.
    starts, ends = edges[::2], edges[1::2]
    lengths = ends - starts
    if len(lengths) and lengths.max() > _DIGITS:
        where = int(starts[np.argmax(lengths > _DIGITS)])
        raise ReadError(source.name, "a number of more than 18 digits is too large", block.line_at(where))
    feeds = np.flatnonzero(data == 10)
    counts = np.diff(np.searchsorted(starts, feeds), prepend=0)
    return WholeNumbers(block, _values(data, starts, lengths), starts, ends, counts)


def _refuse_other_bytes(source: Source, block: Block, data: NDArray, also: bytes) -> None:
    unknown = np.ones(256, bool)
    unknown[np.frombuffer(b"0123456789" + _SPACE + also, np.uint8)] = False
    other = unknown[data]
    if not other.any():
        return
    where = int(np.argmax(other))
    shown = block.data[where : where + 1]
    if shown == b"-":
        raise ReadError(
            source.name, "a number is negative; only whole numbers from 0 are allowed", block.line_at(where)
        )
    text = repr(shown.decode()) if shown < b"\x80" else f"the byte {shown[0]:#x}"
    raise ReadError(source.name, f"{text} is no part of a whole number", block.line_at(where))


def _values(data: NDArray, starts: NDArray, lengths: NDArray) -> NDArray:
    values = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max()) if len(lengths) else 0):
        going = slice(None) if place < lengths.min() else np.flatnonzero(lengths > place)
        values[going] = values[going] * 10 + (data[starts[going] + place] - np.uint8(48))
    return values
