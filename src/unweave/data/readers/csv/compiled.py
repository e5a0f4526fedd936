"""Reads chunks that hold plain numbers alone by a compiled loop, and leaves every other chunk to the general parser."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.csv.chunks import Chunk, chunks
from unweave.data.readers.csv.columns import ColumnPlan
from unweave.data.readers.csv.parse import Parsed, finish_chunk
from unweave.parallel import get_num_threads

# From this many bytes on the compiled loop is used, and from many times as many if the compiler is not loaded yet:
# loading it takes most of a second.
LARGE = 8 << 20
_UNLOADED = 16
# Small enough that memory is used again while it is in the cache of the processor.
_CHUNK = 2 << 20
_MOST_THREADS = 8
_UNSURE = 4096
_PATIENCE = 3

ParseChunk = Callable[[Chunk, ColumnPlan, str], Parsed]


def is_for_compiled_loop(plan: ColumnPlan) -> bool:
    """Tell whether a file is large and seems to hold numbers alone, but for names of rows at the left."""
    size = plan.source.size() * (4 if plan.source.compressed else 1)
    enough = LARGE if "unweave.kernels" in sys.modules else _UNLOADED * LARGE
    delimiter = plan.dialect.delimiter
    return (
        size >= enough
        and (delimiter is None or (delimiter != " " and delimiter == plan.separator))
        and plan.texts in ([], [0])
        and bool(plan.numbers)
        and "truth" not in plan.roles
        and sys.byteorder == "little"
    )


def pieces(plan: ColumnPlan) -> Iterator[Chunk]:
    """Cut the file into chunks of a size that suits the compiled loop."""
    return chunks(plan.source, plan.dialect.skip, _CHUNK)


def threads() -> int:
    """Return how many chunks may be read at once."""
    return min(get_num_threads(), _MOST_THREADS)


class CompiledParser:
    """Reads chunks by the compiled loop, and by `general` those that hold anything it does not know.

    A mark for a missing value, quotes, spaces and blank lines are such things, and everything wrong: so notes and
    errors are those of `general`. When one chunk after the other is refused, the loop is not tried any more.
    """

    def __init__(self, general: ParseChunk):
        self._otherwise, self._refused = general, 0

    def __call__(self, chunk: Chunk, plan: ColumnPlan, dtype: str) -> Parsed:
        if self._refused < _PATIENCE:
            parsed = parse_numbers(chunk, plan, dtype)
            self._refused = self._refused + 1 if parsed is None else 0
            if parsed is not None:
                return parsed
        return self._otherwise(chunk, plan, dtype)


def parse_numbers(chunk: Chunk, plan: ColumnPlan, dtype: str) -> Parsed | None:
    """Parse the rows of a chunk; None unless it holds plain numbers and empty cells, equally many per line."""
    data, width = chunk.data, len(plan.numbers)
    # A cell takes a byte at least, the one that ends it. What is never written takes no memory.
    flat = np.empty(len(data) + 1)
    # The loop wants a line feed at the end; the last line has none, and copying it alone is cheap.
    cut = data.rfind(b"\n") + 1
    labels, rows, holes = [], 0, 0
    for piece, length in ((data, cut), (data[cut:] + b"\n", len(data) - cut + 1)):
        found = _read(piece, length, flat[rows * width :], plan)
        if found is None:
            return None
        rows += found.rows
        holes += found.holes
        labels.append(found.labels)
    texts: dict[int, Any] = {}
    if plan.texts:
        names = _words(b"".join(labels), rows)
        if names is None:
            return None
        texts = {0: names}
    values = flat[: rows * width].reshape(rows, width)
    if dtype == "float64":
        return Parsed(values, texts, holes > 0)
    return finish_chunk(values, texts, chunk, plan, dtype)


class _Lines(NamedTuple):
    """Counts the rows that were read and their empty cells; holds the first cells if these are names, one per line."""

    rows: int
    holes: int
    labels: bytes


def _read(data: bytes, length: int, values: NDArray, plan: ColumnPlan) -> _Lines | None:
    """Fill `values` from the whole lines in the first `length` bytes; None if something there is no number."""
    from unweave.kernels.numbers import read_rows

    point = "," if plan.dialect.decimal_comma else "."
    labels = np.empty(length + 1 if plan.texts else 0, dtype=np.uint8)
    unsure = np.empty((_UNSURE, 3), dtype=np.int64)
    rows, wrong, holes, listed, end = read_rows(
        np.frombuffer(data, np.uint8, count=length),
        np.frombuffer(data, np.uint64, count=length // 8),
        len(plan.numbers),
        ord(plan.separator),
        ord(point),
        values.view(np.uint64),
        labels,
        unsure,
    )
    if wrong >= 0:
        return None
    for k, begin, after in unsure[:listed]:
        values[k] = float(data[begin:after].replace(point.encode(), b"."))
    if listed and not np.isfinite(values[unsure[:listed, 0]]).all():
        return None
    return _Lines(rows, holes, labels[:end].tobytes())


def _words(lines: bytes, rows: int) -> Any:
    """Return lines as words, an empty one as null; None if they are not UTF-8."""
    import polars as pl

    try:
        words = pl.read_csv(lines, has_header=False, schema={"0": pl.String}, separator="\x1f", quote_char=None)
    except (pl.exceptions.PolarsError, RuntimeError):
        return None
    return words.to_series() if words.height == rows else None
