"""Many whole numbers out of bytes at once, with the line that each is on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.blocks import Block
from unweave.data.readers.source import ReadError, Source

_SPACE = b" \t\r\n"
_DIGITS = 18  # every number of 18 digits fits into 64 bits


@dataclass(frozen=True)
class Numbers:
    """The whole numbers of a block: values, first bytes, bytes after the last, and how many are on each line."""

    block: Block
    values: NDArray
    starts: NDArray
    ends: NDArray
    counts: NDArray

    def line_of(self, number: int) -> int:
        """The line that a number (by its place among the numbers) is on."""
        return self.block.line_at(int(self.starts[number]))


def whole_numbers(source: Source, block: Block, also: bytes = b"") -> Numbers:
    """Whole numbers (no sign, at most 18 digits) between spaces, tabs, line ends and the bytes in `also`.

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
    return Numbers(block, _values(data, starts, lengths), starts, ends, counts)


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
