"""A folder of files that live as long as a fit: tables of numbers that are larger than what a driver should hold."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class Scratch:
    """A folder of its own that goes when this object does.

    Parameters
    ----------
    inside : path, optional
        Where it is made; the environment's ``UNWEAVE_SCRATCH`` or the place for temporary files otherwise. Workers on
        other machines must see it under the same path.
    """

    def __init__(self, inside: str | os.PathLike | None = None):
        self.path = Path(tempfile.mkdtemp(prefix="unweave-", dir=inside or os.environ.get("UNWEAVE_SCRATCH")))
        self._gone = weakref.finalize(self, shutil.rmtree, str(self.path), ignore_errors=True)

    def folder(self, name: str) -> str:
        """Make a folder inside; its path."""
        place = self.path / name
        place.mkdir(exist_ok=True)
        return str(place)

    def sheet(self, shape: tuple[int, int], dtype) -> Sheet:
        """Make a file that has room for an array."""
        path, dtype = self.path / uuid.uuid4().hex, np.dtype(dtype)
        with open(path, "wb") as file:
            file.truncate(max(1, shape[0] * shape[1] * dtype.itemsize))
        return Sheet(str(path), shape, dtype.str)


class Sheet(NamedTuple):
    """An array in a file that is named by its path: tasks write their own rows and read those of others."""

    path: str
    shape: tuple[int, int]
    dtype: str

    def write(self, start: int, rows: NDArray) -> None:
        """Write rows from `start` on. Closing the file is what makes them seen on other machines too."""
        with open(self.path, "r+b") as file:
            file.seek(start * self.shape[1] * np.dtype(self.dtype).itemsize)
            file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)

    def rows(self, start: int, stop: int) -> NDArray:
        """Read rows from `start` to `stop`."""
        dtype, width = np.dtype(self.dtype), self.shape[1]
        with open(self.path, "rb") as file:
            file.seek(start * width * dtype.itemsize)
            return np.fromfile(file, dtype, (stop - start) * width).reshape(-1, width)

    def array(self) -> NDArray:
        """All rows, read from the file as they are looked at; a row that is written to stays as it is in the file."""
        return np.asarray(np.memmap(self.path, self.dtype, "c", shape=self.shape))

    def held(self) -> NDArray:
        """The same as an array that holds the file: it goes when nobody has the array, or a part of it, any more."""
        mapped = np.memmap(self.path, self.dtype, "c", shape=self.shape)
        weakref.finalize(mapped, Path(self.path).unlink, missing_ok=True)
        return np.asarray(mapped)

    def remove(self) -> None:
        """Remove the file."""
        Path(self.path).unlink(missing_ok=True)


def sheet_of(array: NDArray, scratch: Scratch) -> Sheet:
    """The file that holds an array: the one it is a map of, or a new one where it is in memory (from a checkpoint)."""
    shape = (len(array), array.size // max(1, len(array)))
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if isinstance(owner, np.memmap) and os.path.exists(str(owner.filename)):
            return Sheet(str(owner.filename), shape, owner.dtype.str)
        owner = owner.base
    sheet = scratch.sheet(shape, array.dtype)
    sheet.write(0, array.reshape(shape))
    return sheet


def write_csr(path: str, X: sp.csr_array) -> None:
    """Write a table as three arrays; whoever reads it sees all of an array or none."""
    for name in ("indptr", "indices", "data"):
        place, part = f"{path}.{name}.npy", f"{path}.{uuid.uuid4().hex}.npy"
        np.save(part, getattr(X, name))
        os.replace(part, place)


def read_csr(path: str, n_columns: int) -> sp.csr_array:
    """Read a table that :func:`write_csr` has written."""
    indptr, indices, data = (np.load(f"{path}.{name}.npy") for name in ("indptr", "indices", "data"))
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
