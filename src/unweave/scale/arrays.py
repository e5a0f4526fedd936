"""Row blocks of arrays: in memory, mapped from a file, or stored in chunks (Zarr, HDF5)."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.source import ReadError
from unweave.data.storage import n_numbers, sliceable, typed
from unweave.scale.block_source import Blocks, Reader, Stamp, told_where


def float_type(dtype: Any, asked: Any = None) -> np.dtype:
    """The type of the numbers of a block: as asked; float32 stays, everything else becomes float64.

    >>> [str(float_type(np.dtype(name))) for name in ("f4", "f2", "i8", "?")]
    ['float32', 'float64', 'float64', 'float64']
    """
    if asked is not None:
        if np.dtype(asked) not in (np.float32, np.float64):
            raise ValueError(f"dtype={asked!r} is not known; use 'float64' or 'float32'")
        return np.dtype(asked)
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def row_ranges(n: int, rows: int) -> list[tuple[int, int]]:
    """Cut n rows into ranges of so many.

    >>> row_ranges(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(a, min(a + rows, n)) for a in range(0, n, rows)]


def need_numbers(dtype: np.dtype, shape: tuple[int, ...], name: str) -> None:
    """Raise ReadError unless an array is a table of real numbers with rows and columns."""
    if dtype.kind not in "buif":
        raise ReadError(name, f"holds {dtype}, not real numbers; give an array of numbers")
    if len(shape) != 2:
        raise ReadError(name, f"the array has {len(shape)} dimensions, not two; reshape it to (rows, columns) first")
    if not shape[1]:
        raise ReadError(name, "the array has no columns; there is nothing to work on")


def picked_columns(columns: Any, width: int) -> list[int] | None:
    """The columns asked for by number; None for all of them."""
    if columns is None:
        return None
    for j in columns:
        if not isinstance(j, int | np.integer) or not -width <= j < width:
            raise ValueError(f"columns={columns!r}: the columns have no names; give numbers from 0 to {width - 1}")
    return [int(j) % width for j in columns]


def array_blocks(X: Any, size: Callable[[int, np.dtype], int], columns: Any, dtype: Any) -> Blocks:
    """Blocks of an array of any kind; ``size(columns, dtype)`` says how many rows a block has."""
    place, chunked = mapped_place(X), is_chunked(X)
    name = "an array in memory"
    if place is not None:
        name = os.path.basename(place.path)
    elif chunked:
        name = f"a {type(X).__module__.partition('.')[0]} array"
    need_numbers(np.dtype(X.dtype), X.shape, name)
    n, m = X.shape
    if not n:
        raise ReadError(name, "the array has no rows; there is nothing to read")
    picked, out = picked_columns(columns, m), float_type(X.dtype, dtype)
    width = m if picked is None else len(picked)
    read: Callable[[int, int], Reader]
    rows = size(width, out)
    if place is not None:
        read = partial(MappedRows, place, picked, out.str)
    elif chunked:
        read, rows = partial(ChunkedRows, _reopened(X), name, picked, out.str), _whole_chunks(X, rows)
    else:
        X = sliceable(X)
        read, rows = lambda a, b: partial(_taken, X[a:b], picked, out.str), size(-(-n_numbers(X) // n), out)
    ranges = row_ranges(n, rows)
    return Blocks([read(a, b) for a, b in ranges], None, width, [b - a for a, b in ranges], name)


def _taken(X: Any, picked: list[int] | None, dtype: str) -> Any:
    return typed(X if picked is None else X[:, picked], dtype)


# -- arrays that are mapped from a file --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mapped:
    """Where the numbers of a table lie in a file."""

    path: str
    offset: int
    dtype: str
    strides: tuple[int, int]
    shape: tuple[int, int]
    stamp: Stamp | None = None

    def rows(self, start: int, stop: int) -> NDArray:
        """A view of some rows, which reads what is looked at."""
        if self.stamp is not None:
            self.stamp.check()
        down, across = self.strides
        dtype, width = np.dtype(self.dtype), self.shape[1]
        begin = self.offset + start * down
        length = (stop - start - 1) * down + (width - 1) * across + dtype.itemsize
        if begin + length > os.stat(self.path).st_size:
            raise ReadError(self.path, "the file ends before these rows; it has become shorter")
        raw = np.memmap(self.path, dtype=np.uint8, mode="r", offset=begin, shape=(length,))
        return np.ndarray((stop - start, width), dtype, raw.data, 0, self.strides)


@dataclass(frozen=True)
class MappedRows:
    """Read some rows of a mapped file into memory, wherever this is called."""

    place: Mapped
    picked: list[int] | None
    dtype: str
    start: int
    stop: int

    def __call__(self) -> NDArray:
        with told_where(self.place.path, self.start, self.stop):
            rows = self.place.rows(self.start, self.stop)
            return np.array(rows if self.picked is None else rows[:, self.picked], dtype=self.dtype, order="C")


def mapped_place(X: Any) -> Mapped | None:
    """Where the numbers of a memory map, or of a part of one, lie; None if they do not lie in a file as they are."""
    root = X
    while isinstance(root, np.ndarray) and not (isinstance(root, np.memmap) and isinstance(root.base, mmap.mmap)):
        root = root.base
    if not isinstance(root, np.memmap) or root.mode == "c" or root.filename is None:
        return None  # changes of a private map are not in the file
    if X.ndim != 2 or not X.size or min(X.strides) < 0:
        return None
    offset = int(root.offset + X.ctypes.data - root.ctypes.data)
    return Mapped(str(root.filename), offset, X.dtype.str, (X.strides[0], X.strides[1]), (X.shape[0], X.shape[1]))


# -- arrays in chunks: Zarr, HDF5, and whatever behaves like them ------------------------------------------------------


def is_chunked(X: Any) -> bool:
    """Tell whether something is an array that is stored in chunks, and no Dask collection."""
    has = all(hasattr(X, name) for name in ("chunks", "shape", "dtype", "__getitem__"))
    return has and not hasattr(X, "__dask_graph__")


@dataclass(frozen=True)
class ChunkedRows:
    """Read some rows of an array in chunks, wherever this is called."""

    array: Any
    name: str
    picked: list[int] | None
    dtype: str
    start: int
    stop: int

    def __call__(self) -> NDArray:
        with told_where(self.name, self.start, self.stop):
            rows = np.asarray((self.array() if callable(self.array) else self.array)[self.start : self.stop])
            return np.ascontiguousarray(rows if self.picked is None else rows[:, self.picked], dtype=self.dtype)


def _whole_chunks(X: Any, rows: int) -> int:
    """Rows of a block that begins and ends with a chunk, or with a file of several chunks."""
    chunks = getattr(X, "shards", None) or getattr(X, "chunks", None)
    step = int(chunks[0]) if chunks else 1
    return max(step, rows // step * step)


def _reopened(X: Any) -> Any:
    """The array itself if it can be sent to others; an open HDF5 file cannot, so it is opened again there."""
    file = getattr(getattr(X, "file", None), "filename", None)
    return X if file is None else partial(_hdf5_array, os.path.abspath(file), X.name)


def _hdf5_array(path: str, name: str) -> NDArray:
    import h5py  # whoever gave such an array has it

    return h5py.File(path, "r")[name]


def zarr_array(path: str) -> Any:
    """Open the array of a Zarr folder."""
    try:
        import zarr
    except ImportError:
        raise ImportError(f"{path} is a Zarr folder, and zarr is not installed: pip install zarr") from None
    found = zarr.open(path, mode="r")
    if not hasattr(found, "shape"):
        inside = ", ".join(repr(f"{path}/{name}") for name in sorted(found.array_keys())) or "it has none"
        raise ReadError(path, f"is a Zarr group; name one of its arrays: {inside}")
    return found


def is_zarr_folder(path: str) -> bool:
    """Tell whether a path is a folder that Zarr wrote."""
    return any(os.path.isfile(os.path.join(path, name)) for name in ("zarr.json", ".zarray", ".zgroup"))
