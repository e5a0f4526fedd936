"""Save a fit under way, so that a killed process loses at most ten seconds of it.

A checkpoint belongs to one problem: it holds a digest of the parameters that shape the fit, of the state of its random
generator and of everything that `fit` was given, and is refused for any other. It is written after the first iteration,
then at most every ten seconds and never for more than a twentieth of the time, and removed when the fit ends.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from pathlib import Path

import numpy as np

from unweave.data import container
from unweave.data.atomic import need_place, not_written
from unweave.scale.kept import Folder, Kept
from unweave.solve.history import History

_FORMAT = 3  # what states hold: the Krylov basis lies in rows since 2, LDA keeps its former counts since 3


class Checkpoint:
    """A state and its history in one file; what rows of a table in blocks keep is in a folder beside it.

    That folder has one folder inside for each write, named by the file: whenever the process is killed, the file and
    what it names are whole. What an earlier write left goes after the next.

    Parameters
    ----------
    path : path
        Where to write.
    identity : str
        Digest of the problem and data; see :func:`unweave.data.fingerprint.fingerprint`.
    every : float
        Seconds between two writes.

    Raises
    ------
    OSError
        At once if nothing can be written there, rather than after the first iteration; and whenever a write fails (a
        full disk), with what to do. The last checkpoint that was written is then still whole.
    """

    def __init__(self, path: str | os.PathLike, identity: str, every: float = 10.0):
        need_place(path, "the checkpoint")
        self.path, self.identity, self.every = Path(path), identity, every
        self.beside = self.path.with_name(self.path.name + ".rows")
        self._folder: Folder | None = None  # of the last write
        self._written: float | None = None
        self._cost = 0.0

    def load(self) -> tuple[dict, History] | None:
        """The saved state and history, None if there is no file; ValueError if it is damaged or of another fit."""
        if not self.path.exists():
            return None
        try:
            arrays, note = container.read(self.path)
            if note.get("kind") != "checkpoint" or note.get("format") != _FORMAT:
                raise container.DamagedFileError(f"{self.path} is not a checkpoint of this version of unweave")
            if note["identity"] != self.identity:
                raise ValueError(
                    f"checkpoint {str(self.path)!r} belongs to another fit (other data, weights, parameters or "
                    "random_state): delete it or give another path"
                )
            folder = self._named(note.get("rows"))
            state = {**arrays, **{name: _thaw(value, folder) for name, value in note["scalars"].items()}}
            history = History.from_dict(note["history"])
        except container.DamagedFileError as error:
            raise ValueError(f"checkpoint: {error}; delete the file to start anew") from error
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"checkpoint {str(self.path)!r} is incomplete ({error!r}); delete it") from error
        self._written, self._folder = time.perf_counter(), folder
        return state, history

    def _named(self, name: str | None) -> Folder | None:
        """The folder that a checkpoint names; others beside it were left by a process that was killed."""
        for one in self.beside.glob("*"):
            if one.name != name:
                shutil.rmtree(one, ignore_errors=True)
        return None if name is None else Folder(self.beside / Path(name).name, lasting=True)

    def offer(self, state: dict, history: History) -> None:
        """Write if it is time."""
        now = time.perf_counter()
        if self._written is None or now - self._written >= max(self.every, 20 * self._cost):
            self.write(state, history)

    def write(self, state: dict, history: History) -> None:
        """Write now, atomically."""
        began = time.perf_counter()
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        of_rows = any(isinstance(value, Kept) for value in state.values())
        folder = Folder(self.beside / uuid.uuid4().hex, lasting=True) if of_rows else None
        try:
            scalars = {name: _freeze(value, name, folder) for name, value in state.items() if name not in arrays}
            note = {
                "kind": "checkpoint",
                "format": _FORMAT,
                "identity": self.identity,
                "history": history.as_dict(),
                "rows": None if folder is None else folder.path.name,
                "scalars": scalars,
            }
            container.write(self.path, arrays, note)
        except BaseException as error:
            if folder is not None:
                folder.expendable()
            if isinstance(error, OSError):
                raise not_written(error, "write the checkpoint", self.path) from error
            raise
        if self._folder is not None:
            self._folder.expendable()  # it goes now, or with the last visit that began from it
        self._folder = folder
        self._written = time.perf_counter()
        self._cost = self._written - began

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        shutil.rmtree(self.beside, ignore_errors=True)


def _freeze(value, name: str, folder: Folder | None):
    """A scalar, a random generator, or what rows keep (written into the folder) as JSON."""
    if isinstance(value, Kept):
        assert folder is not None  # made where a state has one
        return value.store(folder, name)
    if isinstance(value, np.random.Generator):
        return {"generator": _plain(value.bit_generator.state)}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a state holds arrays, scalars, generators and `Kept` only, not {type(value).__name__}")


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    return value.item() if isinstance(value, np.generic) else value


def _thaw(value, folder: Folder | None):
    if not isinstance(value, dict):
        return value
    if "kept" in value and folder is not None:
        return Kept.stored(folder, value)
    state = {
        key: np.array(item["array"], dtype=item["dtype"]) if isinstance(item, dict) and "array" in item else item
        for key, item in value["generator"].items()
    }
    generator = np.random.Generator(getattr(np.random, str(state["bit_generator"]))())
    generator.bit_generator.state = state
    return generator
