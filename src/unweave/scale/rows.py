"""Rows of a sparse table in blocks: looked at once, then visited as the entries that count."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.storage import is_canonical
from unweave.data.table import BlockLook, BlockTables, Table, first_look, seen_blocks
from unweave.scale.kept import Kept
from unweave.scale.scratch import write_csr
from unweave.scale.visits import Loader, Task, Visits, visits_now

Entries = Callable[[Table], sp.csr_array]  # the entries that count of a checked block; it travels to workers
Note = Callable[[sp.csr_array], Any]  # what a model wants to know of a block's entries; what it returns is added up


class Part(NamedTuple):
    """A loaded block: the number of its first row, and its entries."""

    start: int
    table: sp.csr_array


@dataclass(frozen=True)
class Side:
    """The blocks of a table (or of the same table turned over), as entries.

    Attributes
    ----------
    load : Loader
        Makes :class:`Part` i.
    bounds : array
        Where blocks begin and end.
    shape : (int, int)
    dtype : dtype
    visits : Visits
    counts : array (m,)
        Entries of every column; none where nobody counted.
    notes : Any
        The sum of what the model noted of each block.
    digest : array
        Of the entries, for checkpoints.
    """

    load: Loader
    bounds: NDArray
    shape: tuple[int, int]
    dtype: np.dtype
    visits: Visits
    counts: NDArray
    notes: Any
    digest: NDArray

    def visit(self, task: Task, state: Any = None, kept: Kept | None = None) -> tuple[Any, Kept | None]:
        """Visit every block once; the sum of what the task hands back, and what its rows keep."""
        return self.visits.each(self.load, task, state, kept)

    def total(self, task: Task, state: Any = None) -> Any:
        """Visit every block once; the sum of what the task hands back."""
        return self.visits.total(self.load, task, state)

    def some(self, chosen: NDArray) -> sp.csr_array:
        """The rows with these (ascending) numbers, as one table: one visit."""
        found = self.total(take_rows, chosen)
        return sp.csr_array(sp.vstack(found)) if found else sp.csr_array((0, self.shape[1]), dtype=self.dtype)

    def drawn(self, rng: np.random.Generator, share: float) -> NDArray:
        """Numbers of rows at random, each with this chance; the same draws as of one table in memory."""
        pairs = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        return np.concatenate([a + np.flatnonzero(rng.random(b - a) < share) for a, b in pairs])


def take_rows(part: Part, chosen: NDArray, own):
    """Those rows of a block that are among the chosen (ascending) ones: a task."""
    a, b = np.searchsorted(chosen, (part.start, part.start + part.table.shape[0]))
    return ([part.table[chosen[a:b] - part.start]] if b > a else []), None


def open_rows(X, look: BlockLook, entries: Entries, note: Note, *, turn_into: str | None = None) -> Side:
    """Check every block in one visit.

    `look` is how blocks are looked at (:func:`unweave.data.table.first_look`). Where a folder is given in `turn_into`,
    each block is written there turned over, under its number.
    """
    visits = visits_now()
    found = visits.total(Loader(X, _Opening(look, entries, note, turn_into).__call__), _as_it_is)
    tables = seen_blocks(X, look, found["look"])
    assert tables.places is not None
    bounds = np.concatenate([[0], np.cumsum(tables.sizes)]).astype(np.int64)
    starts = dict(zip(tables.places, bounds[:-1].tolist(), strict=True))
    ready = {place: size for place, size in zip(tables.places, tables.sizes, strict=True) if found["ready"][place]}
    making = _Making(replace(tables, source=()), entries, starts, ready)
    digest = np.frombuffer("".join(found["digest"]).encode(), dtype=np.uint8)
    loader = Loader(X, making.__call__, tables.places)
    return Side(loader, bounds, tables.shape, tables.dtype, visits, found["counts"], found["notes"], digest)


@dataclass(frozen=True)
class _Opening:
    """Look at a block for the first time, and write it turned over where a folder is given."""

    look: BlockLook
    entries: Entries
    note: Note
    folder: str | None

    def __call__(self, raw, i: int) -> dict:
        look, found = self.look, self.look(raw, i)
        how = BlockTables((), look.missing, [], True, np.dtype(found["dtypes"][0]), look.n_columns, look.can_miss)
        X = _entries_of(how, self.entries, raw, i)
        if self.folder is not None and X.shape[0]:
            write_csr(f"{self.folder}/{i}", sp.csr_array(X.T))
        digest = hashlib.blake2b(digest_size=16)
        for array in (X.indptr, X.indices, X.data):
            digest.update(np.ascontiguousarray(array).data)
        counts = np.bincount(X.indices, minlength=X.shape[1])
        told = {"look": found, "ready": [_is_ready(raw, X)], "counts": counts}
        return {**told, "notes": self.note(X), "digest": [digest.hexdigest()]}


def _is_ready(raw, X: sp.csr_array) -> bool:
    """Tell whether a block is stored as the entries that count."""
    return is_canonical(raw, X.dtype) and raw.nnz == X.nnz


def _as_it_is(block, state, own):
    return block, None


@dataclass(frozen=True)
class _Making:
    """Make a block: what was read, checked, as the entries that count. A worker is sent no blocks.

    Blocks that were the entries that count already when they were looked at (`ready`: their rows) need no second look,
    but that kernels may trust them.
    """

    tables: BlockTables
    entries: Entries
    starts: dict[int, int]
    ready: dict[int, int]

    def __call__(self, raw, i: int) -> Part:
        tables = self.tables
        expected = self.ready.get(i), tables.n_columns
        same = is_canonical(raw, tables.dtype) and raw.shape == expected
        if same and raw.indices.max(initial=0) < tables.n_columns:
            return Part(self.starts[i], raw)
        return Part(self.starts[i], _entries_of(tables, self.entries, raw, i))


def _entries_of(how: BlockTables, entries: Entries, raw, i: int) -> sp.csr_array:
    return entries(how.made(raw, i))


def answers_of_blocks(estimator, X, missing, dtype, entries: Entries, task: Task, state: Any) -> Iterator[Any]:
    """What a task says of every block of new rows, in turn, each loaded once; columns are those of the fit."""
    look = first_look(estimator, X, missing, reset=False)
    how = BlockTables((), look.missing, [], True, np.dtype(dtype), look.n_columns, look.can_miss)
    return visits_now().gather(Loader(X, partial(_entries_of, how, entries)), task, state)
