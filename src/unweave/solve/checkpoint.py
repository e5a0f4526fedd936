"""Save a fit under way, so that a killed process loses at most ten seconds of it.

A checkpoint belongs to one problem: it holds a digest of the parameters that shape the fit, of the state of its random
generator and of everything that `fit` was given, and is refused for any other. It is written after the first iteration,
then at most every ten seconds and never for more than a twentieth of the time, and removed when the fit ends.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from unweave.data import container
from unweave.data.atomic import need_place, not_written
from unweave.solve.history import History

_FORMAT = 3  # what states hold: the Krylov basis lies in rows since 2, LDA keeps its former counts since 3


class Checkpoint:
    """A state and its history in one file.

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
            state = {**arrays, **{name: _thaw(value) for name, value in note["scalars"].items()}}
            history = History.from_dict(note["history"])
        except container.DamagedFileError as error:
            raise ValueError(f"checkpoint: {error}; delete the file to start anew") from error
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"checkpoint {str(self.path)!r} is incomplete ({error!r}); delete it") from error
        self._written = time.perf_counter()
        return state, history

    def offer(self, state: dict, history: History) -> None:
        """Write if it is time."""
        now = time.perf_counter()
        if self._written is None or now - self._written >= max(self.every, 20 * self._cost):
            self.write(state, history)

    def write(self, state: dict, history: History) -> None:
        """Write now, atomically."""
        began = time.perf_counter()
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        scalars = {name: _freeze(value) for name, value in state.items() if name not in arrays}
        note = {
            "kind": "checkpoint",
            "format": _FORMAT,
            "identity": self.identity,
            "history": history.as_dict(),
            "scalars": scalars,
        }
        try:
            container.write(self.path, arrays, note)
        except OSError as error:
            raise not_written(error, "write the checkpoint", self.path) from error
        self._written = time.perf_counter()
        self._cost = self._written - began

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def _freeze(value):
    """A scalar or a random generator as JSON."""
    if isinstance(value, np.random.Generator):
        return {"generator": _plain(value.bit_generator.state)}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a state holds arrays, scalars and generators only, not {type(value).__name__}")


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    return value.item() if isinstance(value, np.generic) else value


def _thaw(value):
    if not isinstance(value, dict):
        return value
    state = {
        key: np.array(item["array"], dtype=item["dtype"]) if isinstance(item, dict) and "array" in item else item
        for key, item in value["generator"].items()
    }
    generator = np.random.Generator(getattr(np.random, str(state["bit_generator"]))())
    generator.bit_generator.state = state
    return generator
