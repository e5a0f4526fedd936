"""What BFR may keep, in rows and sets, for a number of bytes."""

from __future__ import annotations

import math
from typing import NamedTuple

from unweave.data.arguments import whole

_SCRATCH = 160  # bytes a row that k-means works with, beside two copies of the rows
_MOST_SETS = 512  # more are merged sooner: all pairs of them are compared


class Bounds(NamedTuple):
    """Rows of a block, rows of the first clustering, retained rows, and compressed sets."""

    block: int
    start: int
    retained: int
    sets: int


def share_memory(memory, k: int, d: int, itemsize: int) -> Bounds:
    """Share `memory` bytes out; ValueError with the least that would do if it is too little.

    An eighth for the block under way, three eighths for the first clustering, a sixteenth each for retained rows and
    compressed sets (kept twice, before and after a block); the rest is for the final clustering and odds and ends.

    >>> share_memory(2**25, 16, 8, 4)
    Bounds(block=65536, start=56173, retained=16384, sets=362)
    """
    memory = whole(memory, "memory", 1)
    row = d * itemsize
    sets = min(_MOST_SETS, memory // 16 // (64 * d + 64), math.isqrt(memory // 16 // 16))
    bounds = Bounds(
        block=memory // 8 // (row + 32),
        start=memory * 3 // 8 // (2 * row + _SCRATCH),
        retained=memory // 16 // (4 * row),
        sets=sets,
    )
    least = max(bounds_needed(k, d, row))
    if memory < least:
        raise ValueError(
            f"memory={memory} bytes is too little for n_clusters={k} and {d} columns: give at least {least}"
        )
    return bounds


def bounds_needed(k: int, d: int, row: int) -> tuple[int, int, int, int]:
    """Bytes below which there is no room for 8 rows a cluster at the start, 64 retained rows, 16 sets, k statistics."""
    return (
        8 * k * (2 * row + _SCRATCH) * 8 // 3 + 16,
        64 * 16 * 4 * row,
        16 * 16 * max(64 * d + 64, 16 * 16),
        8 * k * (64 * d + 64),
    )
