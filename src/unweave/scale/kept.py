"""What stays with the rows of each block between two visits: their codes, where the next visit begins from them."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data import container

Own = dict  # of arrays, by name


def write_own(path: str | os.PathLike, own: Own) -> str:
    """Write what a block keeps, atomically; the path."""
    container.write(Path(path), own, {"kind": "rows"})
    return str(path)


def put_aside(path: Path, own: Own) -> str:
    """Write what a block keeps for this process alone, as fast as it goes: it need not outlive a crash; the path."""
    place = path.with_suffix(".npz")
    np.savez(place, **own)
    return str(place)


def read_own(item: Any) -> Own | None:
    """What a block keeps: as it is, or from its file."""
    if not isinstance(item, str):
        return item
    if not item.endswith(".npz"):
        return container.read(Path(item))[0]
    with np.load(item) as found:
        return dict(found)


class Folder:
    """A new folder of files that goes when the last who holds this object does.

    Parameters
    ----------
    path : path
        Made if it is not there.
    lasting : bool
        Leave it there, also after the process has ended, until :meth:`expendable` is called: that of a checkpoint.
    """

    def __init__(self, path: str | os.PathLike, *, lasting: bool = False):
        self.path = Path(path).resolve()  # workers have other current folders
        self.path.mkdir(parents=True, exist_ok=True)
        if not lasting:
            self.expendable()

    def expendable(self) -> None:
        """From now on nobody but those who hold this object needs the files."""
        self._gone = weakref.finalize(self, shutil.rmtree, str(self.path), ignore_errors=True)


class Kept:
    """What every block keeps, in order: dicts of arrays, or paths of files that hold them.

    Two visits never share a `Kept`, so the one before is still whole when a visit fails or is taken back.

    Parameters
    ----------
    items : sequence
        For each block a dict of arrays, a path, or None.
    folder : path or Folder, optional
        Where the files are: a folder of its own that goes when this object does.
    """

    def __init__(self, items: Sequence, folder: str | Folder | None = None):
        self.items = list(items)
        self.folder = Folder(folder) if isinstance(folder, str) else folder

    def __len__(self) -> int:
        return len(self.items)

    def own(self, i: int) -> Own | None:
        """What block i keeps, in this process."""
        return read_own(self.items[i])

    def store(self, folder: Folder, name: str) -> dict:
        """Write all into a folder, under names that begin with `name`; what :meth:`stored` needs to find it again."""
        return {"kept": self._written(folder, name)}

    def _written(self, folder: Folder, name: str) -> list[str | None]:
        written: list[str | None] = []
        for i in range(len(self)):
            own = self.own(i)
            written.append(None if own is None else f"{name}-{i}")
            if own is not None:
                write_own(folder.path / f"{name}-{i}", own)
        return written

    @classmethod
    def stored(cls, folder: Folder, note: dict) -> Kept:
        """What :meth:`store` wrote."""
        items = [None if name is None else str(folder.path / name) for name in note["kept"]]
        missing = [path for path in items if path is not None and not Path(path).exists()]
        if missing:
            raise ValueError(
                f"the codes of the checkpoint are gone ({missing[0]}): delete the checkpoint to start anew"
            )
        return cls(items, folder)
