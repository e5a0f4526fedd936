"""Read rows a block at a time, from an array, a mapped file or a sequence of blocks: checked, and let go."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.fingerprint import fingerprint
from unweave.data.storage import as_dense
from unweave.data.table import BlockTables, check_table, is_blocks, named_block
from unweave.objectives import Objective
from unweave.scale.door import as_blocks

_BLOCK_BYTES = 1 << 22  # of a block of a table that comes in one piece, unless told


@dataclass(frozen=True)
class RowBlocks:
    """Read row blocks of one width and type; `load` makes block i, dense and checked, and nothing of it is kept.

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
        """Load block i as a C-contiguous array."""
        block = self.source[i]
        if not self.checked:
            tables = BlockTables(self.source, None, [], True, self.dtype, self.n_columns, can_miss=False)
            block = tables.load(i).values
        return as_dense(block)

    def __iter__(self) -> Iterator[NDArray]:
        for i in range(len(self)):
            yield self.load(i)
            self.let_go(i)

    def let_go(self, i: int) -> None:
        """Take the pages of block i of a mapped file out of memory; reading them again would bring them back."""
        if isinstance(self.source, _Slices):
            _forget_pages(self.source[i])

    def digest(self) -> NDArray:
        """Make a short array that changes with the data, for the identity of a checkpoint; one pass."""
        return np.frombuffer(fingerprint({}, self).encode(), dtype=np.uint8)


class _Slices(Sequence):
    """Slice a table into blocks of rows, as a sequence."""

    def __init__(self, X: Any, rows: int):
        self.X, self.rows = X, max(1, rows)

    def __len__(self) -> int:
        return -(-self.X.shape[0] // self.rows)

    def __getitem__(self, i):
        return self.X[i * self.rows : (i + 1) * self.rows]


@dataclass(frozen=True)
class OpenedRows:
    """Read the rows of a table that was opened and checked already, in dense blocks."""

    objective: Objective

    @property
    def dtype(self) -> np.dtype:
        return self.objective.dtype

    @property
    def n_columns(self) -> int:
        return self.objective.shape[1]

    def __iter__(self) -> Iterator[NDArray]:
        for _, _, block in self.objective.blocks():
            parts = _Slices(block.X, _rows_of(_BLOCK_BYTES, block.X))
            yield from (as_dense(parts[i]) for i in range(len(parts)))


def open_rows(estimator, X, *, reset: bool, block_bytes: int = _BLOCK_BYTES) -> RowBlocks:
    """Open the rows of X in blocks; a table in memory is checked at once, anything else block by block as it is read.

    >>> from unweave.group import KMeans
    >>> rows = open_rows(KMeans(), np.zeros((5, 2)), reset=True, block_bytes=32)
    >>> [len(block) for block in rows]
    [2, 2, 1]
    """
    if isinstance(X, list | tuple) and not len(X):
        raise ValueError("X is empty: 0 samples; give at least one block of rows")
    X = as_blocks(X)
    if is_blocks(X):
        first = check_table(estimator, named_block(X), None, reset=reset)
        return RowBlocks(X, first.values.dtype, first.shape[1], False, False)
    if _mapped_file(X) is not None and getattr(X, "ndim", 0) == 2 and len(X):
        first = check_table(estimator, X[:1], None, reset=reset)
        return RowBlocks(_Slices(X, _rows_of(block_bytes, X)), first.values.dtype, X.shape[1], False, False)
    values = check_table(estimator, X, None, reset=reset).values
    return RowBlocks(_Slices(values, _rows_of(block_bytes, values)), values.dtype, values.shape[1], True, True)


def _rows_of(size: int, X) -> int:
    """Count the rows of X that take so many bytes as an array."""
    return size // (X.dtype.itemsize * max(1, X.shape[1]))


def _mapped_file(X) -> np.memmap | None:
    """Find the mapped file that an array is a view of, if any."""
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
