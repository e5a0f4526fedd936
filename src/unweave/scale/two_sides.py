"""Ratings in blocks from both sides: blocks of users, and the same entries again in blocks of items.

Least squares for users reads the ratings of each user, and for items those of each item. Blocks of users hold the
first together; for the second the table is read once, turned over, and written in blocks of items to a scratch folder,
unless whoever has the ratings has them both ways. The entries are written as they are (12 bytes each for float64).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.table import BlockLook, first_look
from unweave.scale.door import as_blocks
from unweave.scale.rows import Entries, Note, Part, Side, open_rows
from unweave.scale.scratch import Scratch, Sheet, read_csr, write_csr
from unweave.scale.visits import Loader


class TwoSided:
    """Ratings in blocks of users (users × items) and in blocks of items (items × users).

    Parameters
    ----------
    by_user : sequence of tables
        Blocks of users; what a recommender's `fit` takes where it takes blocks.
    by_item : sequence of tables, optional
        The same ratings turned over, in blocks of items. Without them `fit` writes them to a scratch folder, which
        costs one more pass.
    scratch : path, optional
        Where files of a fit go (the ratings turned over, the factors of the users): a folder that every worker of a
        cluster reads and writes under this path. The place for temporary files unless told.

    Examples
    --------
    >>> import numpy as np
    >>> R = np.array([[1.0, 0, 2], [0, 3, 0]])
    >>> len(TwoSided([R[:1], R[1:]], [R.T]))
    2
    """

    def __init__(self, by_user: Sequence, by_item: Sequence | None = None, scratch: str | os.PathLike | None = None):
        self.by_user, self.by_item, self.scratch = as_blocks(by_user), as_blocks(by_item), scratch

    def __len__(self) -> int:
        return len(self.by_user)

    def __getitem__(self, i):
        return self.by_user[i]


@dataclass(frozen=True)
class Sides:
    """A table of ratings that was opened from both sides, and the folder for what is too large for a driver."""

    rows: Side
    columns: Side
    scratch: Scratch

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    @property
    def nnz(self) -> int:
        return int(self.rows.counts.sum())

    def change(self, sheet: Sheet, change: Callable[[NDArray, Any], NDArray], state: Any) -> Sheet:
        """A new file with every row of a sheet changed, stretch by stretch as the blocks of rows; the old one goes."""
        new, visits = self.scratch.sheet(sheet.shape, sheet.dtype), self.rows.visits
        passes, loads = visits.passes, visits.loads
        visits.each(Loader(_Stretches(self.rows.bounds.tolist()), _as_read), _changed, (sheet, new, change, state))
        visits.passes, visits.loads = passes, loads  # no block was loaded
        sheet.remove()
        return new


@dataclass(frozen=True)
class _Stretches:
    """Where blocks begin and end, in place of the blocks."""

    bounds: list[int]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, i: int) -> tuple[int, int]:
        return self.bounds[i], self.bounds[i + 1]


def _as_read(raw, i: int):
    return raw


def _changed(stretch: tuple[int, int], told: tuple, own):
    sheet, new, change, state = told
    new.write(stretch[0], change(sheet.rows(*stretch), state))
    return 0, None


def open_sides(estimator, X, missing, entries: Entries, note: Note, *, reset: bool) -> Sides:
    """Check ratings in blocks (or :class:`TwoSided`) in one visit, and turn them over unless they come both ways."""
    given = X if isinstance(X, TwoSided) else TwoSided(X)
    scratch, look = Scratch(given.scratch), first_look(estimator, given.by_user, missing, reset=reset)
    if given.by_item is None:
        pieces = scratch.folder("pieces")
        rows = open_rows(given.by_user, look, entries, note, turn_into=pieces)
        return Sides(rows, _turned(rows, scratch, pieces), scratch)
    rows = open_rows(given.by_user, look, entries, note)
    return Sides(rows, _given_columns(given.by_item, look, rows, entries), scratch)


# -- the other side: as given, or turned over --------------------------------------------------------------------------


def _given_columns(source, look: BlockLook, rows: Side, entries: Entries) -> Side:
    n, m = rows.shape
    try:
        columns = open_rows(source, look._replace(n_columns=n), entries, _lengths)
    except ValueError as error:
        raise ValueError(f"by_item (blocks of items × users): {error}") from error
    if columns.shape != (m, n):
        raise ValueError(
            f"by_item has {columns.shape[0]} rows, but the blocks of users have {m} columns: it must be the same "
            "ratings turned over (items × users)"
        )
    if columns.dtype != rows.dtype or not np.array_equal(np.concatenate(columns.notes), rows.counts):
        raise ValueError(
            "by_user and by_item do not hold the same entries, or not of one type: by_item must be the same ratings "
            "turned over; leave it out to have it written"
        )
    return columns


def _lengths(X: sp.csr_array) -> list[NDArray]:
    return [np.diff(X.indptr)]


def _turned(rows: Side, scratch: Scratch, pieces: str) -> Side:
    """Join what each block of users has of a stretch of items, for every stretch, and write it: blocks of items."""
    places = [rows.load.place(i) for i in range(len(rows.load))]
    cuts, folder = _cuts(rows.counts, len(places)), scratch.folder("columns")
    source = _Pieces(pieces, places, rows.bounds, cuts, rows.dtype.str)
    rows.visits.each(Loader(source, _numbered), _write_joined, folder)
    for name in os.listdir(pieces):
        os.unlink(os.path.join(pieces, name))
    n, m = rows.shape
    load = Loader(_Stored(folder, n, len(cuts) - 1), partial(_stored_part, cuts[:-1].tolist()))
    return Side(load, cuts, (m, n), rows.dtype, rows.visits, np.empty(0), None, rows.digest)


def _numbered(raw, i: int):
    return raw, i


def _write_joined(block, folder: str, own):
    X, i = block
    write_csr(f"{folder}/{i}", X)
    return 0, None


def _stored_part(starts: list[int], raw, i: int) -> Part:
    return Part(starts[i], raw)


def _cuts(counts: NDArray, pieces: int) -> NDArray:
    """Cut columns into so many stretches of about equally many entries.

    >>> _cuts(np.array([4, 1, 1, 1, 1]), 2).tolist()
    [0, 1, 5]
    """
    m, total = len(counts), np.cumsum(counts)
    ends = np.searchsorted(total, total[-1] * np.arange(1, pieces) / pieces) + 1
    return np.unique(np.concatenate([[0], np.minimum(ends, m), [m]])).astype(np.int64)


@dataclass(frozen=True)
class _Pieces:
    """Stretches of items, each in as many pieces as there are blocks of users."""

    folder: str
    places: list[int]
    bounds: NDArray
    cuts: NDArray
    dtype: str

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def __getitem__(self, i: int) -> sp.csr_array:
        return self.fetch(i)()

    def fetch(self, i: int) -> Callable[[], sp.csr_array]:
        """A function that reads stretch i."""
        a, b = self.cuts[i : i + 2].tolist()
        return partial(_joined, self.folder, self.places, self.bounds, a, b, self.dtype)


@dataclass(frozen=True)
class _Stored:
    """Blocks of items as they were written."""

    folder: str
    n_columns: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> sp.csr_array:
        return self.fetch(i)()

    def fetch(self, i: int) -> Callable[[], sp.csr_array]:
        """A function that reads block i."""
        return partial(read_csr, f"{self.folder}/{i}", self.n_columns)


def _joined(folder: str, places: list[int], bounds: NDArray, a: int, b: int, dtype: str) -> sp.csr_array:
    """Items a to b with the entries of all users: what every block of users has of them, side by side."""
    parts, counts = [], np.zeros(b - a, np.int64)
    for place in places:
        indptr = np.asarray(np.load(f"{folder}/{place}.indptr.npy", mmap_mode="r")[a : b + 1], dtype=np.int64)
        counts += np.diff(indptr)
        parts.append(indptr)
    whole = np.concatenate([[0], np.cumsum(counts)])
    indices, data, free = np.empty(whole[-1], np.int32), np.empty(whole[-1], np.dtype(dtype)), whole[:-1].copy()
    for place, start, indptr in zip(places, bounds[:-1], parts, strict=True):
        lo, hi, each = indptr[0], indptr[-1], np.diff(indptr)
        at = np.arange(hi - lo) + np.repeat(free - (indptr[:-1] - lo), each)
        indices[at] = np.load(f"{folder}/{place}.indices.npy", mmap_mode="r")[lo:hi] + np.int32(start)
        data[at] = np.load(f"{folder}/{place}.data.npy", mmap_mode="r")[lo:hi]
        free += each
    return sp.csr_array((data, indices, whole), shape=(b - a, int(bounds[-1])))
