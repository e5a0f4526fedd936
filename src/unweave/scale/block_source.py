"""A table in row blocks that are read where and when they are needed."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.data.readers.source import ReadError

Reader = Callable[[], Any]  # reads one block wherever it is called; small when pickled unless it must bring the data


class BlockSource(Sequence):
    """Row blocks of one table, as ``unweave.blocks`` returns them; nothing is held.

    Attributes
    ----------
    feature_names : list of str or None
        Of the columns.
    n_columns : int
    sizes : list of int or None
        Rows of each block; None where that is known only when it was read.
    origin : str
        Where the blocks come from, in words.
    """

    def __init__(self, feature_names: list[str] | None, n_columns: int, sizes: list[int | None], origin: str):
        self.feature_names, self.n_columns, self.sizes, self.origin = feature_names, n_columns, sizes, origin

    @abstractmethod
    def fetch(self, i: int) -> Reader:
        """A small function that reads block i wherever it is called."""

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, i):
        if not isinstance(i, int | np.integer):
            raise TypeError(f"blocks are read one at a time: give a number, not {i!r}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no block {i}: there are {len(self)}")
        return self.fetch(int(i) % len(self))()

    @property
    def n_rows(self) -> int | None:
        """Rows of all blocks together; None where that is known only when they were read."""
        known = [size for size in self.sizes if size is not None]
        return sum(known) if len(known) == len(self.sizes) else None

    def __repr__(self) -> str:
        count = f"{len(self):,} block{'s' if len(self) > 1 else ''}"
        known = [size for size in self.sizes if size is not None]
        rows = ""
        if len(known) == len(self.sizes):
            about = "" if len(set(known)) == 1 else "up to "
            rows = f" of {about}{max(known):,} row{'s' if max(known) > 1 else ''}"
        columns = f"{self.n_columns:,} column{'s' if self.n_columns > 1 else ''}"
        return f"<{count}{rows} × {columns} from {self.origin}>"


class Blocks(BlockSource):
    """Blocks that are read by one small function each."""

    def __init__(
        self,
        readers: list[Reader],
        feature_names: list[str] | None,
        n_columns: int,
        sizes: list[int | None],
        origin: str,
    ):
        super().__init__(feature_names, n_columns, sizes, origin)
        self.readers = readers

    def fetch(self, i):
        return self.readers[i]


# -- what goes wrong when a block is read ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stamp:
    """What a file was like when it was opened, to tell when it is no longer the same.

    Copies of one file on several machines have times of their own; these are from before it was opened.
    """

    path: str
    size: int
    modified: int
    opened: int

    @classmethod
    def of(cls, path: str | os.PathLike) -> Stamp:
        """That of a file now."""
        status = os.stat(path)
        return cls(os.fspath(path), status.st_size, status.st_mtime_ns, time.time_ns())

    def check(self) -> None:
        """Raise ReadError if the file is gone or another."""
        try:
            now = os.stat(self.path)
        except OSError as error:
            words = (error.strerror or type(error).__name__).lower()
            raise ReadError(self.path, f"the file was there when it was opened, and is not now ({words})") from None
        newer = now.st_mtime_ns != self.modified and now.st_mtime_ns > self.opened - 10**9
        if now.st_size != self.size or newer:
            raise ReadError(self.path, "the file has changed since it was opened; open it again with unweave.blocks")


@contextmanager
def told_where(name: str, start: int, stop: int | None) -> Iterator[None]:
    """Let what goes wrong meanwhile be told with the file and the rows (numbered from 1)."""
    name = name if stop is None else f"{name}, rows {start + 1:,} to {stop:,}"
    try:
        yield
    except ReadError as error:
        raise ReadError(name, error.message, error.line) from None
    except OSError as error:
        words = (error.strerror or str(error) or type(error).__name__).lower()
        raise OSError(f"{name}: cannot be read ({words})") from error
    except MemoryError:
        raise
    except Exception as error:
        words = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise ReadError(name, f"cannot be read ({words})") from error
