"""What a worker of a cluster runs, and how things are packed on their way there and back. Knows no Dask."""

from __future__ import annotations

import logging
import pickle
import signal
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from unweave.parallel import get_num_threads, set_num_threads
from unweave.scale.kept import read_own, write_own
from unweave.scale.summing import add_up
from unweave.scale.visits import Task, visited


def dask_setup(worker: Any) -> None:
    """Make a new worker of a cluster that we start leave Ctrl-C and what there is to say to who waits for its results.

    Ctrl-C in a terminal is sent to every process there: workers that ended by it would take with them what their rows
    keep, which is what a fit goes on from. Dask calls this.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed").setLevel(logging.CRITICAL)


def packed(value: Any) -> bytes:
    """Anything as bytes, functions included.

    Dask moves arrays without copying them, to wherever they lie in a message. BLAS is not given an array that begins
    between two numbers: NumPy copies it, into another order in memory, and products end in other last bits. What is
    unpacked where it is used always begins as it should.
    """
    import cloudpickle  # comes with Dask, an extra

    return cloudpickle.dumps(value, protocol=4)


def aligned(value: Any) -> Any:
    """Sums, answers and what rows keep, with all arrays as they would be in the process that made them.

    >>> shifted = np.frombuffer(b"." + bytes(16), dtype=np.float64, offset=1)
    >>> shifted.flags.aligned, aligned({"a": (shifted, 2)})["a"][0].flags.aligned
    (False, True)
    """
    if isinstance(value, dict):
        return {name: aligned(item) for name, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(aligned, value))
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["ALIGNED", "WRITEABLE"])
    if value is None or isinstance(value, int | float | complex | str | bytes | np.generic):
        return value
    return pickle.loads(packed(value))


class Parcel:
    """Bytes in a task that nobody looks into on the way.

    Dask names a task by all it holds: of plain bytes it would write out every one of them as text, three times the work
    of sending them.
    """

    def __init__(self, content: bytes):
        self.content, self.name = content, uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        return self.name


def held(parcel: Parcel) -> bytes:
    """What a task was sent with stays on the worker; whenever it is lost the task brings it back."""
    return parcel.content


def unpacked(parcel: Parcel) -> Any:
    """The same for what a worker uses as it is: what rows keep, from files that it does not see."""
    return pickle.loads(parcel.content)


def visit(raw: Any, place: int, shared: bytes, own: Any) -> tuple[Any, Any]:
    """Visit one block: the summary, and what its rows keep. `raw` is a packed block, or a function that reads it."""
    if get_num_threads() != 1:
        set_num_threads(1)  # the workers are what runs side by side
    if isinstance(raw, bytes):
        raw = pickle.loads(raw)
    elif not callable(raw):
        raw = aligned(raw)  # a block that lay on another worker
    return visited(raw, place, *_unpacked(shared), aligned(own))


@lru_cache(maxsize=2)
def _unpacked(shared: bytes) -> tuple[Callable, Task, Any]:
    """What all blocks of a pass share, unpacked once on a worker."""
    return pickle.loads(shared)


def answered(raw: Any, place: int, shared: bytes) -> Any:
    """Visit one block for its answer alone."""
    return visit(raw, place, shared, None)[0]


def summary_of(pair: tuple[Any, Any]) -> tuple[Any, int]:
    """The summary of a visit, and whether its rows keep something."""
    return pair[0], int(pair[1] is not None)


def summarised(raw: Any, place: int, shared: bytes, own: Any) -> tuple[Any, int]:
    """Visit one block whose rows keep nothing."""
    return visit(raw, place, shared, own)[0], 0


def summed(few: list[tuple[Any, int]]) -> tuple[Any, int]:
    """The sum of neighbours, and how many blocks of theirs keep something."""
    return add_up([summary for summary, _ in few]), sum(kept for _, kept in few)


def written(path: str, own: Any) -> str | None:
    """Write what a block keeps; the path, None where that is nothing."""
    own = read_own(own)
    return None if own is None else write_own(path, own)
