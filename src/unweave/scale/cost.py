"""Say what a fit of a table in blocks will cost before it runs: visits, bytes, memory and time.

Sizes follow from the shape of the table (:mod:`unweave.scale.families`). Time is measured speed times size: nobody but
a trial on some rows knows how long a row takes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, log
from typing import Any, NamedTuple

import numpy as np

from unweave.scale.families import FAMILIES, GRAM_COLUMNS, Sent, Size, family_of
from unweave.scale.summing import TOGETHER

__all__ = ["FAMILIES", "Cost", "Speeds", "cost_of", "family_of"]

_PROCESS = 280e6  # bytes of a process that has only imported a model: Python, NumPy, SciPy, numba, scikit-learn
_FEW_KEPT = 1 << 27  # bytes of codes that this process keeps in memory: the rest is in files (``Here``)
_AT_ONCE = 50  # workers that one worker sends to at once ("distributed.worker.connections.outgoing")
_TASKS = 3  # of a cluster for each block: the visit, its summary, and what its rows keep


class Speeds(NamedTuple):
    """How fast things go, beside the work on a row, which is measured on a sample.

    `through`, `task` and `start` were measured on a busy machine of two cores with workers that talk in ciphers (TLS);
    `read` and `send` are guesses at a usual disk and link.

    Attributes
    ----------
    read : float
        Bytes a second that one process reads from disk.
    send : float
        Bytes a second between two workers.
    through : float
        Bytes a second from the process that calls `fit` through the scheduler to a worker.
    task : float
        Seconds of the scheduler for each task.
    start : float
        Seconds that a pass takes at least.
    """

    read: float = 1e9
    send: float = 5e8
    through: float = 1.1e8
    task: float = 1e-3
    start: float = 0.03


@dataclass(frozen=True)
class Cost:
    """What a fit of a table in blocks costs.

    Attributes
    ----------
    blocks : int
    rows : int
        Of a block.
    workers : int
        Of a cluster; 0 where this process does the work.
    passes : int
        Visits to all blocks, from the first look to the last.
    visits_an_iteration : int
    bytes_read : float
        An iteration, of the table and of factors in files, by all together.
    bytes_out : float
        An iteration: the states, once to each worker.
    bytes_back : float
        An iteration: the summaries, of every block and of the sums on their way up.
    worker_memory : float
        Bytes of each worker at most, with 280 MB for a process that has only imported a model.
    driver_memory : float
        Bytes of the process that calls `fit`; where that does the work, of everything.
    seconds : float
        Of the fit; 0 where nobody has measured how long a row takes.
    """

    blocks: int
    rows: int
    workers: int
    passes: int
    visits_an_iteration: int
    bytes_read: float
    bytes_out: float
    bytes_back: float
    worker_memory: float
    driver_memory: float
    seconds: float

    def as_dict(self) -> dict[str, float]:
        """Everything as plain numbers, for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Everything in plain English, a sentence a line."""
        many = f"{self.visits_an_iteration} visit{'s' if self.visits_an_iteration > 1 else ''}"
        said = [
            f"{self.blocks:,} block{'s' if self.blocks > 1 else ''} of {self.rows:,} rows",
            f"{many} an iteration, {self.passes:,} passes in all; reads {in_bytes(self.bytes_read)} an iteration",
        ]
        if self.workers:
            out, back = self.bytes_out / self.workers, self.bytes_back
            said.append(f"sends {in_bytes(out)} to each worker and {in_bytes(back)} of sums back an iteration")
            said.append(f"{in_bytes(self.worker_memory)} a worker, {in_bytes(self.driver_memory)} here")
        else:
            said.append(f"{in_bytes(self.driver_memory)} of memory here")
        if self.seconds:
            said.append(f"about {in_time(self.seconds)}")
        return said


def cost_of(
    family: str,
    shape: tuple[int, int],
    k: int,
    *,
    blocks: int,
    workers: int = 0,
    stored: int | None = None,
    dtype: Any = "float64",
    file_bytes: float | None = None,
    iterations: int = 100,
    seconds_a_row: float = 0.0,
    speeds: Speeds | None = None,
) -> Cost:
    r"""Say what a fit of a table in blocks will cost.

    Parameters
    ----------
    family : str
        A key of :data:`FAMILIES`; :func:`family_of` finds that of an estimator.
    shape : (int, int)
        Rows and columns.
    k : int
        Components, groups or topics.
    blocks : int
        How many row blocks the table comes in.
    workers : int, default=0
        Of a cluster; 0 for this process.
    stored : int, optional
        Entries of a sparse table; a dense one unless told.
    dtype : dtype, default="float64"
        Of the table.
    file_bytes : float, optional
        What is read from disk in one pass; as the table is in memory unless told.
    iterations : int, default=100
        How many the fit is expected to need, or may take at most.
    seconds_a_row : float, optional
        Of one iteration, measured: seconds of a trial, by its iterations and its rows. On one core if there are
        workers, who have one each. Nothing is said of time without it.
    speeds : Speeds, optional

    Returns
    -------
    Cost

    Examples
    --------
    >>> cost = cost_of("groups", (12_000_000, 100), 50, blocks=12, workers=4, dtype="float32", iterations=20)
    >>> print("\n".join(cost.lines()))
    12 blocks of 1,000,000 rows
    1 visit an iteration, 23 passes in all; reads 4.8 GB an iteration
    sends 21 kB to each worker and 566 kB of sums back an iteration
    1.5 GB a worker, 353 MB here
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    n, m = shape
    number, kind, speeds = np.dtype(dtype).itemsize, FAMILIES[family], speeds or Speeds()
    size = Size(n, m, k, n * m if stored is None else stored, number, blocks)
    visits, rows = kind.visits(size), ceil(n / max(blocks, 1))
    table = n * m * number if stored is None else stored * (number + 4) + 8 * n
    # Ratings are read by rows and again by columns; the files of users are read beside.
    read = len(visits) * (table if file_bytes is None else file_bytes) + kind.files(size, max(workers, 1))
    passes = iterations * len(visits) + kind.beside
    if family == "axes" and m <= GRAM_COLUMNS:
        passes = 1 + kind.beside  # one look is all it takes
    at_once = min(workers, blocks) if kind.works else min(workers, 1)
    seconds = _seconds(size, visits, read, rows * seconds_a_row, at_once, speeds) * passes / len(visits)
    state, total = max(v.state for v in visits), max(v.added + v.listed for v in visits)
    if not kind.works:
        state = state / blocks  # told to one after the other
    one_block = 3 * table / max(blocks, 1)  # one is worked on while one is loaded, and room to work in
    kept, driver = 2 * kind.kept(size), kind.driver(size) + 2 * state + 2 * total
    worker = _PROCESS + one_block + 4 * state + 2 * total + kept / max(workers, 1)  # of two passes, packed and not
    here = driver + (2 * state if workers else one_block + min(kept, 2 * _FEW_KEPT))
    return Cost(
        blocks=blocks, rows=rows, workers=workers, passes=passes, visits_an_iteration=len(visits), bytes_read=read,
        bytes_out=sum(v.state for v in visits) * max(at_once, 1), bytes_back=sum(_back(v, blocks) for v in visits),
        worker_memory=worker if workers else 0.0, driver_memory=_PROCESS + here,
        seconds=seconds if seconds_a_row else 0.0,
    )  # fmt: skip


def _back(sent: Sent, blocks: int) -> float:
    """Bytes of summaries on their way up: of every block, and of every sum but the last."""
    total, count = float(sent.added * blocks + sent.listed), blocks
    while count > TOGETHER:
        count = ceil(count / TOGETHER)
        total += sent.added * count + sent.listed
    return total


def _seconds(size: Size, visits: list[Sent], read: float, work: float, workers: int, speeds: Speeds) -> float:
    """Time an iteration: the busiest worker's blocks, then what is sent and what the scheduler does between."""
    if not workers:
        return max(size.blocks * work, read / speeds.read)  # loads are ahead of the work
    busiest = ceil(size.blocks / workers)
    own = busiest * work + read / size.blocks * busiest / speeds.read
    # From here through the scheduler to a worker, which sends to fifty others at once.
    out = sum(v.state for v in visits) * (1 / speeds.through + min(workers - 1, _AT_ONCE) / speeds.send)
    levels = max(1.0, log(max(size.blocks, 2), TOGETHER))
    back = sum(v.added * (TOGETHER - 1) * levels + v.listed for v in visits) / speeds.send
    back += sum(v.added + v.listed for v in visits) / speeds.through
    tasks = len(visits) * size.blocks * (_TASKS + 1 / (TOGETHER - 1))
    return max(own, tasks * speeds.task) + out + back + len(visits) * speeds.start


# -- words -------------------------------------------------------------------------------------------------------------


def in_bytes(number: float) -> str:
    """Bytes as people say them.

    >>> in_bytes(4_000_000_000), in_bytes(1_234_000), in_bytes(12)
    ('4.0 GB', '1.2 MB', '12 bytes')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:.1f} {name}" if number < 10 * unit else f"{number / unit:.0f} {name}"
    return f"{number:.0f} bytes"


def in_time(seconds: float) -> str:
    """Seconds as people say them.

    >>> in_time(40.2), in_time(600), in_time(7300)
    ('40 s', '10 minutes', '2.0 hours')
    """
    for unit, name, least in ((3600, "hours", 5400), (60, "minutes", 120)):
        if seconds >= least:
            return f"{seconds / unit:.1f} {name}" if seconds < 10 * unit else f"{seconds / unit:.0f} {name}"
    return f"{seconds:.2g} s"
