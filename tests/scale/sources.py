"""Blocks in files that are slow to read, or end the process that reads them; workers read them on their own."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def cut(X, pieces: int) -> list:
    """Rows in so many blocks of about equal size."""
    edges = np.linspace(0, X.shape[0], pieces + 1).astype(int)
    return [X[a:b] for a, b in pairwise(edges)]


@dataclass(frozen=True)
class Files:
    """Blocks that were written to files.

    `seconds` is how long each takes to read. `deadly` are the readings (block, which time) in which the reading process
    is killed. Every reading leaves a byte in a file beside, so that they can be counted.
    """

    paths: tuple[str, ...]
    seconds: float = 0.0
    deadly: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, folder: Path, blocks: list, **more) -> Files:
        """Write blocks to a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for i, block in enumerate(blocks):
            if sp.issparse(block):
                sp.save_npz(path := folder / f"{i}.npz", block)
            else:
                np.save(path := folder / f"{i}.npy", block)
            paths.append(str(path))
        return cls(tuple(paths), **more)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, i: int):
        return self.fetch(i)()

    def fetch(self, i: int):
        """A function that reads block i."""
        times = tuple(time for block, time in self.deadly if block == i)
        return partial(read, self.paths[i], self.seconds, times)

    def readings(self) -> list[int]:
        """How often each block was read."""
        return [os.path.getsize(path + ".read") if os.path.exists(path + ".read") else 0 for path in self.paths]


def read(path: str, seconds: float, deadly: tuple[int, ...]):
    """Read a block, late; or be killed."""
    time.sleep(seconds)
    with open(path + ".read", "ab") as file:
        file.write(b".")
    if os.path.getsize(path + ".read") in deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return sp.csr_array(sp.load_npz(path)) if path.endswith(".npz") else np.load(path)
