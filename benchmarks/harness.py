"""What a row of the benchmark is, and how its contenders are run against each other.

A row names the work: data, ours, the peers, and one evaluator that gives everybody's objective from the answer alone.
Peers run to their own end. Ours runs until its objective is no higher than the peer's final one; then the evaluator
checks the answer that was kept. The whole wall time of the fit counts.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# Two fits that follow the same path differ by rounding: an objective this much above the target still counts as it.
SLACK = 1e-6
# BLAS and OpenMP threads of the last contender go on spinning for a while after their work is done, on a core that the
# next one needs. Everybody starts after the same pause.
_PAUSE = 0.4


class Missing(Exception):
    """The data of a row are not where they should be; the message says what and where."""


@dataclass
class Fit:
    """What a contender hands back: `answer` goes to the evaluator, `seconds` replaces the wall time if given."""

    answer: Any
    iterations: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Row:
    """One kind of work.

    `load(folder, size)` gives the data; size is ``"full"``, ``"quick"`` or ``"tiny"`` (for warming up). `ours(data,
    target)` fits, stopping at the target if it is not None. `peers` maps a name to ``call(data, threads)``.
    `work(data, iterations)` gives the useful floating-point operations and the bytes that must be moved at least.
    `aim` says how objectives are compared: "reach" (ours must not be above the peer's), "below" (ours must be better,
    time is only shown) or "none" (times alone). `stops` says whether ours heeds the target; a closed form does not and
    is run once for all peers. `tuned_on` names the data on which the constants behind our side were set, `reported_on`
    the data of the row if its title does not: they must not be the same.
    """

    name: str
    title: str
    target: float
    load: Callable[[Path, str], Any]
    ours: Callable[[Any, float | None], Fit]
    peers: dict[str, Callable[[Any, int], Fit]]
    objective: Callable[[Any, Any], float]
    work: Callable[[Any, int], tuple[float, float]] | None = None
    dtype: str = "float32"
    aim: str = "reach"
    stops: bool = True
    unit: str = "s"
    value: str = "objective"
    slack: float = SLACK
    repeats: int = 3
    tuned_on: str = "no data"
    reported_on: str = "as named"


@dataclass
class Result:
    """Best of several runs of one contender with one number of threads."""

    contender: str
    threads: int
    seconds: float = math.inf
    objective: float = math.nan
    iterations: int = 0
    runs: int = 0
    spent: float = 0.0
    target: float | None = None
    peak_mb: float | None = None
    error: str | None = None

    def as_dict(self) -> dict:
        return asdict(self)


@contextmanager
def threads_limited(n: int) -> Iterator[None]:
    """Every BLAS and OpenMP pool of the process on `n` threads; faiss keeps a count of its own."""
    import sys

    from threadpoolctl import threadpool_limits

    if "faiss" in sys.modules:
        sys.modules["faiss"].omp_set_num_threads(n)
    with threadpool_limits(limits=n):
        yield


def run_peer(row: Row, name: str, data: Any, threads: int) -> tuple[Fit, float]:
    """One fit of a peer: the answer and its seconds."""
    call = row.peers[name]
    with threads_limited(threads), quiet():
        started = time.perf_counter()
        fit = call(data, threads)
        seconds = time.perf_counter() - started
    return fit, fit.seconds if fit.seconds is not None else seconds


def run_ours(row: Row, data: Any, threads: int, target: float | None) -> tuple[Fit, float]:
    """One fit of ours; the library sets its own threads and leaves BLAS as it found it."""
    import unweave

    former = unweave.set_num_threads(threads)
    try:
        with quiet():
            started = time.perf_counter()
            fit = row.ours(data, target)
            seconds = time.perf_counter() - started
    finally:
        unweave.set_num_threads(former)
    return fit, fit.seconds if fit.seconds is not None else seconds


@contextmanager
def quiet() -> Iterator[None]:
    """Ends by max_iter are meant here: no warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass
class Duel:
    """All contenders of one row, run in turns in this process so that noise hits them alike."""

    row: Row
    data: Any
    threads: tuple[int, ...] = (1, 2)
    repeats: int = 3
    budget: float = 60.0
    with_ours: bool = True
    peers: list[Result] = field(default_factory=list)
    ours: list[Result] = field(default_factory=list)

    def run(self, say: Callable[[str], Any]) -> None:
        """Best of `repeats` rounds; a contender that has used up `budget` seconds is not run again."""
        self.peers = [Result(name, t) for name in self.row.peers for t in self.threads]
        for turn in range(self.repeats):
            for result in self.peers:
                if self._goes_on(result):
                    self._time(result, lambda r=result: run_peer(self.row, r.contender, self.data, r.threads))
                    say(f"  round {turn + 1}: {_line(result)}")
            if turn == 0 and self.with_ours:
                self.ours = list(self._ours_against_each_peer())
            for result in self.ours:
                if self._goes_on(result):
                    self._time(result, lambda r=result: run_ours(self.row, self.data, r.threads, r.target))
                    say(f"  round {turn + 1}: {_line(result)}")

    def _goes_on(self, result: Result) -> bool:
        return result.error is None and (result.runs == 0 or result.spent < self.budget)

    def _ours_against_each_peer(self) -> Iterator[Result]:
        """Ours once for each objective that a peer ended with, or once if no objective is aimed at."""
        if self.row.aim != "reach" or not self.row.stops:
            yield from (Result("unweave", t) for t in self.threads)
            return
        for name in self.row.peers:
            ends = [r.objective for r in self.peers if r.contender == name and r.error is None]
            if ends:
                yield from (Result(f"unweave to {name}", t, target=min(ends)) for t in self.threads)

    def _time(self, result: Result, call: Callable[[], tuple[Fit, float]]) -> None:
        time.sleep(_PAUSE)
        started = time.perf_counter()
        try:
            fit, seconds = call()
        except Exception as error:  # a peer that cannot do it is a line of the table, not the end of the run
            result.error = f"{type(error).__name__}: {error}"
            return
        result.spent += time.perf_counter() - started
        result.runs += 1
        if seconds < result.seconds:
            result.seconds, result.iterations = seconds, fit.iterations
            result.objective = self.row.objective(self.data, fit.answer)


def _line(result: Result) -> str:
    if result.error:
        return f"{result.contender} ({result.threads} threads): {result.error}"
    return (
        f"{result.contender} ({result.threads} threads): {result.seconds:.4g} s, "
        f"{result.iterations} iterations, objective {result.objective:.8g}"
    )


def stop_at(target: float | None, slack: float = SLACK) -> Callable[[Any], bool]:
    """A callback for our estimators that stops at the target."""
    limit = -math.inf if target is None else target + slack * abs(target)
    return lambda progress: progress.objective <= limit
