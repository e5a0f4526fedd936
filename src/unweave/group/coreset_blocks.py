"""Rows a block at a time: an array, a mapped file or a sequence of blocks, checked and let go."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.fingerprint import fingerprint
from unweave.data.table import BlockTables, check_table, filled_block, is_blocks
from unweave.objectives import Blocks, Objective
from unweave.solve.lloyd_rows import assign

_BLOCK_BYTES = 1 << 22  # of a block of a table that comes in one piece, unless told


@dataclass(frozen=True)
class RowBlocks:
    """Row blocks of one width and type; `load` makes block i, dense and checked, and nothing of it is kept.

    `in_memory` is false where the rows come from disk or from blocks, so that no array as long as the table should be
    kept either.
    """

    source: Sequence
    dtype: np.dtype
    n_columns: int
    in_memory: bool
    checked: bool

    def __len__(self) -> int:
        return len(self.source)

    def load(self, i: int) -> NDArray:
        """Block i as a C-contiguous array."""
        block = self.source[i]
        if not self.checked:
            tables = BlockTables(self.source, None, [], True, self.dtype, self.n_columns, can_miss=False)
            block = tables.load(i).values
        return block.toarray() if sp.issparse(block) else block

    def __iter__(self) -> Iterator[NDArray]:
        for i in range(len(self)):
            yield self.load(i)
            self.let_go(i)

    def let_go(self, i: int) -> None:
        """Take the pages of block i of a mapped file out of memory; reading them again would bring them back."""
        if isinstance(self.source, _Slices):
            _forget_pages(self.source[i])

    def digest(self) -> NDArray:
        """A short array that changes with the data, for the identity of a checkpoint; one pass."""
        return np.frombuffer(fingerprint({}, self).encode(), dtype=np.uint8)


class _Slices(Sequence):
    """Row slices of a table, as a sequence."""

    def __init__(self, X: Any, rows: int):
        self.X, self.rows = X, max(1, rows)

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.rows)

    def __getitem__(self, i):
        return self.X[i * self.rows : (i + 1) * self.rows]


class TablesOf(Sequence):
    """The tables of blocks that were opened already, loaded one at a time."""

    def __init__(self, blocks: Blocks):
        self.blocks = blocks

    def __len__(self) -> int:
        return len(self.blocks.bounds) - 1

    def __getitem__(self, i):
        return self.blocks._load(i).X


def each_block(blocks: Blocks, change: Callable[[Objective], Objective]) -> Blocks:
    """The blocks, each changed when it is its turn."""

    def load(i: int) -> Objective:
        return change(blocks._load(i))

    return Blocks(load, np.diff(blocks.bounds).tolist(), load(0), blocks.complete)


def open_rows(estimator, X, *, reset: bool, block_bytes: int = _BLOCK_BYTES) -> RowBlocks:
    """The rows of X in blocks; a table in memory is checked at once, anything else block by block as it is read.

    >>> from unweave.group import KMeans
    >>> rows = open_rows(KMeans(), np.zeros((5, 2)), reset=True, block_bytes=32)
    >>> [len(block) for block in rows]
    [2, 2, 1]
    """
    if isinstance(X, list | tuple) and not len(X):
        raise ValueError("X is empty: 0 samples; give at least one block of rows")
    if is_blocks(X):
        first = check_table(estimator, filled_block(X), None, reset=reset)
        return RowBlocks(X, first.values.dtype, first.shape[1], False, False)
    if _mapped_file(X) is not None and getattr(X, "ndim", 0) == 2 and len(X):
        first = check_table(estimator, X[:1], None, reset=reset)
        rows = block_bytes // (X.dtype.itemsize * max(1, X.shape[1]))
        return RowBlocks(_Slices(X, rows), first.values.dtype, X.shape[1], False, False)
    values = check_table(estimator, X, None, reset=reset).values
    rows = block_bytes // (values.dtype.itemsize * max(1, values.shape[1]))
    return RowBlocks(_Slices(values, rows), values.dtype, values.shape[1], True, True)


def nearest_rows(rows: RowBlocks, points: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """For every block, the index of the nearest of `points` to each row, and the squared distance."""
    points, n = np.ascontiguousarray(points, dtype=rows.dtype), 0
    for block in rows:
        if len(block):
            yield assign(block, points)
            n += len(block)
    if not n:
        raise ValueError("X has no rows: 0 samples; give at least one")


def need_array(value, shape: tuple[int, ...], kinds: tuple, what: str, looked_at: bool) -> None:
    """Raise unless a value from a file is an array that kernels can trust; `looked_at` means it may be read."""
    sound = isinstance(value, np.ndarray) and value.dtype in kinds and value.shape == shape
    if not sound or (looked_at and not np.isfinite(value).all()):
        raise ValueError(f"{what} must be an array of finite numbers of the shape {shape}")


def _mapped_file(X) -> np.memmap | None:
    """The mapped file that an array is a view of, if any."""
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and isinstance(X.base, mmap.mmap):
            return X
        X = X.base
    return None


def _forget_pages(view: NDArray) -> None:
    """Unmap the pages of a contiguous view of a file; a private copy (mode "c") is left alone, it may hold changes."""
    file = _mapped_file(view)
    if file is None or file.mode == "c" or not view.flags.c_contiguous or not hasattr(mmap, "MADV_DONTNEED"):
        return
    pages: mmap.mmap = file.base  # type: ignore[assignment]
    first = np.frombuffer(pages, dtype=np.uint8).ctypes.data
    start = (view.ctypes.data - first) // mmap.PAGESIZE * mmap.PAGESIZE
    pages.madvise(mmap.MADV_DONTNEED, start, view.ctypes.data + view.nbytes - first - start)
