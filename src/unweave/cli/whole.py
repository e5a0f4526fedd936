"""Work on a file that is larger than memory, or by several processes: some rows to decide by, all rows in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.data.named import NamedTable
from unweave.data.readers.pieces import Pieces, Sliced, Streamed, pieces_of, some_of
from unweave.data.readers.several import every_path, joined
from unweave.data.readers.source import Options
from unweave.data.recipe import Recipe

_SAMPLE = 50_000  # rows by which is decided what columns are for, and on which scale they are
_SMALLEST, _LARGEST = 1 << 20, 64 << 20  # bytes of a block
_BLOCKS = (
    24  # of the memory that may be used, the share of a block: one is worked on, one loaded, each held as read too
)
_EACH = 4  # blocks of a table in memory for each worker
_SURELY = 50  # no file unpacks to so many times its size


@dataclass
class Whole:
    """All rows of one or several files, of which the table of a job is a sample.

    Attributes
    ----------
    pieces : list of Pieces
        One for each file.
    memory : int
        Bytes that may be used, of this process or of each worker.
    block : int
        Bytes of a block.
    n_rows, n_columns : int
        As read.
    words : str
        Why the table is worked on in blocks.
    """

    pieces: list[Pieces]
    memory: int
    block: int
    words: str
    n_rows: int = 0
    n_columns: int = 0
    _scratch: Any = field(default=None, repr=False)
    _ready: Sequence | None = field(default=None, repr=False)

    def prepared(self, recipe: Recipe | None) -> Sequence:
        """All rows as the model takes them, in blocks: read anew in every pass, or from a file written once."""
        if self._ready is None:
            if all(isinstance(piece, Sliced) for piece in self.pieces):
                self._ready = Slices(self.pieces, recipe)  # type: ignore[arg-type]
            else:
                self._ready = self._written(recipe)
        return self._ready

    def _written(self, recipe: Recipe | None) -> Sequence:
        """Write all rows as numbers to a scratch file, because text would have to be read again in every pass."""
        from unweave.scale.files import blocks
        from unweave.scale.scratch import Scratch

        self._scratch = Scratch()
        path, start, table = self._scratch.path / "table.npy", 0, None
        for part in self.parts():
            X = _numbers(recipe, part)
            if table is None:
                table = np.lib.format.open_memmap(path, "w+", X.dtype, (self.n_rows, X.shape[1]))
            table[start : start + len(X)] = X
            start += len(X)
        assert table is not None
        table.flush()
        rows = self._rows(table.shape[1], table.itemsize)
        del table
        return blocks(np.load(path, mmap_mode="r"), rows=rows)

    def _rows(self, width: int, number: int) -> int:
        """How many rows a block has that is cut from the file that they were written to."""
        return max(1, self.block // max(1, width * number))

    def n_blocks(self, width: int, number: int) -> int:
        """How many blocks there will be, of so many columns of so many bytes each; nothing is read for it."""
        if all(isinstance(piece, Sliced) for piece in self.pieces):
            return len(Slices(self.pieces, None))  # type: ignore[arg-type]
        return -(-self.n_rows // self._rows(width, number))

    def parts(self) -> Iterator[NamedTable]:
        """All rows as read, piece by piece, in order."""
        for piece in self.pieces:
            yield from piece

    def names(self) -> Iterator[list[str]]:
        """The names of all rows, piece by piece; their numbers where they have none."""
        start = 0
        for part in self.parts():
            n = part.shape[0]
            yield part.rows or [str(i + 1) for i in range(start, start + n)]
            start += n


class Slices(Sequence):
    """Blocks of files of which any rows can be read, as the model takes them."""

    def __init__(self, pieces: list[Sliced], recipe: Recipe | None):
        self.pieces, self.recipe = pieces, recipe
        self._places = [(f, i) for f, piece in enumerate(pieces) for i in range(len(piece))]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, i):
        return self.fetch(i)()

    def fetch(self, i: int) -> Callable[[], Any]:
        """A small function that reads block i wherever it is called."""
        file, place = self._places[i]
        return partial(_read, self.pieces[file].fetch(place), self.recipe)


def _read(read: Callable[[], NamedTable], recipe: Recipe | None) -> Any:
    return _numbers(recipe, read())


def _numbers(recipe: Recipe | None, table: NamedTable) -> Any:
    return (table if recipe is None else recipe.apply(table)).X


def block_bytes(memory: int, needed: int, workers: int | None) -> int:
    """How large a block of a table may be where so much memory may be used, and each worker is to have a few."""
    most = memory // _BLOCKS if not workers else min(memory // _BLOCKS, needed // (_EACH * workers))
    return int(np.clip(most, _SMALLEST, _LARGEST))


# -- opening -----------------------------------------------------------------------------------------------------------


def opened(settings: Settings, options: Options, source: Any) -> NamedTable | None:
    """Some rows of files that are larger than memory, or on which several processes are to work; else None."""
    from unweave.scale.memory import free_memory

    free = free_memory()
    memory = settings.memory or free // 2
    paths = [Path(path) for path in every_path(source)]
    if not asks_for_workers(settings) and sum(_size(path) for path in paths) * _SURELY < memory:
        return None
    found = [pieces_of(path, settings.format, options) for path in paths]
    pieces = [one for one in found if one is not None]
    needed = sum(one.bytes for one in pieces)
    if len(pieces) < len(found) or (needed <= memory and not asks_for_workers(settings)):
        return None
    block = block_bytes(memory, needed, settings.workers)
    for one in pieces:
        one.cut(block)
    whole = Whole(pieces, memory, block, _why(settings, needed, memory))
    return _sample(whole, pieces)


def asks_for_workers(settings: Settings) -> bool:
    return bool(settings.workers or settings.cluster)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _why(settings: Settings, needed: int, memory: int) -> str:
    from unweave.report.numbers import readable_bytes

    if settings.cluster:
        return f"worked on in blocks by the workers of {settings.cluster}"
    if settings.workers:
        return f"worked on in blocks by {settings.workers} workers"
    asked = "the --memory given" if settings.memory else "half of what is free"
    told = f"about {readable_bytes(needed)} as numbers, more than {readable_bytes(memory)}, {asked}"
    return f"{told}: worked on in blocks, never all at once"


def _sample(whole: Whole, pieces: list[Pieces]) -> NamedTable:
    """Rows from all over the files; rows and columns of all are counted on the way."""
    total = sum(one.bytes for one in pieces)
    samples = []
    for one in pieces:
        wanted = max(1, int(_SAMPLE * one.bytes / max(total, 1)))
        if isinstance(one, Sliced):
            samples.append(one.some(wanted))
            whole.n_rows += one.n_rows
        else:
            assert isinstance(one, Streamed)
            some = _Thinned(one, wanted)
            one.looked_at(some.look, some.again)
            samples.append(joined(some.kept))
            whole.n_rows += some.n_rows
    table = joined(samples)
    whole.n_columns = table.shape[1]
    said = f"{whole.words}; what columns are for and their scale is told from {table.shape[0]:,} rows"
    # A hole may be where the sample has none, and costs nothing where there is none.
    missing = None if table.sparse else "nan"
    return table.with_(notes=[*_lasting(table.notes), said], whole=whole, missing=missing, source=pieces[0].source.name)


def _lasting(notes: list[str]) -> list[str]:
    """Notes that are true of all rows: how many values are missing is known of the sample alone."""
    return [note for note in notes if "values are missing" not in note]


class _Thinned:
    """Keeps about so many rows of a file that is read from beginning to end."""

    def __init__(self, pieces: Streamed, wanted: int):
        self.pieces, self.wanted = pieces, wanted
        self.again()

    def again(self) -> None:
        """Forget what was kept."""
        self.kept: list[NamedTable] = []
        self.n_rows, self.step = 0, 0

    def look(self, table: NamedTable) -> None:
        """Keep every so many rows of a piece."""
        n = table.shape[0]
        if not self.step:  # all pieces are about as large as the first
            expected = n * max(1.0, self.pieces.bytes / self.pieces.size)
            self.step = max(1, int(expected / self.wanted))
        rows = np.arange(-self.n_rows % self.step, n, self.step)
        self.n_rows += n
        if len(rows):
            self.kept.append(some_of(table, rows))


# -- who works ---------------------------------------------------------------------------------------------------------


@contextmanager
def working(settings: Settings, table: NamedTable) -> Iterator[dict[str, Any]]:
    """What `fit` gets so that it is done by those who were asked for: a client, or nothing."""
    from unweave.scale.visits import Here, visiting

    if settings.cluster:
        yield {"client": settings.cluster}
    elif settings.workers:
        from unweave.scale.cluster import start_cluster

        with start_cluster(settings.workers, settings.memory) as client:
            yield {"client": client}
    elif table.whole is not None:
        with visiting(Here(most_kept=table.whole.memory // 8)):
            yield {}
    else:
        yield {}


def rows_to_fit(settings: Settings, ready: NamedTable, recipe: Recipe | None) -> Any:
    """What `fit` gets: the table, its blocks where there is more than fits, or slices of it for several processes."""
    if ready.whole is not None:
        return ready.whole.prepared(recipe)
    if not asks_for_workers(settings) or not ready.numeric:
        return ready
    edges = np.unique(np.linspace(0, ready.shape[0], n_slices(settings) + 1).astype(int))
    return [ready.X[a:b] for a, b in pairwise(edges)]


def n_slices(settings: Settings) -> int:
    """How many blocks a table in memory is cut into for several processes."""
    return _EACH * (settings.workers or 2)
