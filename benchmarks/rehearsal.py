"""Hold the simulation against a real cluster of two workers: many small blocks that sleep, and one worker killed.

Visits that sleep take no core, so that two cores are enough for what is asked: how long the scheduler takes, and
whether blocks are shared out, stolen and made again as ``benchmarks/simulate.py`` has it.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import threading
import time
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.simulate import Setting, simulate
from unweave.scale.visits import Loader

BLOCKS, EMPTY, WORKERS, PASSES = 200, 2000, 2, 4
SHORTEST, LONGEST, STRAGGLER = 0.02, 0.1, 2.0  # seconds that blocks sleep


@dataclass(frozen=True)
class Sleepy:
    """Blocks that are nothing but the time it takes to read them."""

    naps: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.naps)

    def __getitem__(self, i: int) -> int:
        return i

    def fetch(self, i: int) -> partial:
        """A function that sleeps, then hands back the number of the block."""
        return partial(_nap, self.naps[i], i)


def _nap(seconds: float, i: int) -> int:
    if seconds:
        time.sleep(seconds)
    return i


def _as_it_is(raw: Any, i: int) -> Any:
    return raw


def _visit(block: int, state: Any, own: Any) -> tuple[dict, dict]:
    """A visit that keeps a little; when it was is told, so that the first can be found."""
    return {"visits": 1, "when": [time.time()]}, {"codes": np.zeros(4)}


class Took(NamedTuple):
    """Seconds of a pass, seconds until its first visit had ended, and what is kept."""

    whole: float
    first: float
    kept: Any


def timed(visits, naps: list[float], kept=None) -> Took:
    """Make one pass over blocks that sleep."""
    began, clock = time.perf_counter(), time.time()
    found, kept = visits.each(Loader(Sleepy(tuple(naps)), _as_it_is), _visit, None, kept)
    assert found["visits"] == len(naps)
    return Took(time.perf_counter() - began, min(found["when"]) - clock, kept)


def overheads(client, visits) -> dict[str, float]:
    """Seconds for each block: of the scheduler before and after its visit, and of a worker between two visits.

    The first two are those of empty blocks, the third of blocks that all sleep alike.
    """
    timed(visits, [0.0] * 20)
    theirs, mine = sum(client.run(time.process_time).values()), time.process_time()
    empty = timed(visits, [0.0] * EMPTY)
    theirs, mine = sum(client.run(time.process_time).values()) - theirs, time.process_time() - mine
    print(f"{EMPTY} empty blocks, {WORKERS} workers: {empty.whole:.2f} s; of processors, a block: here and in the "
          f"scheduler {1e3 * mine / EMPTY:.2f} ms, in a worker {1e3 * theirs / EMPTY:.2f} ms")  # fmt: skip
    ahead, after = empty.first / EMPTY, (empty.whole - empty.first) / EMPTY
    asleep = timed(visits, [0.05] * BLOCKS)
    own = max(0.0, (asleep.whole - ahead * BLOCKS) / (BLOCKS / WORKERS) - 0.05)
    print(f"on the clock: {1e3 * ahead:.2f} ms a block before the first visit, {1e3 * after:.2f} ms after each, and "
          f"{1e3 * own:.1f} ms of a worker between two (load of the machine: {os.getloadavg()[0]:.1f})")  # fmt: skip
    return {"ahead": ahead, "after": after, "own": own}


def rehearse() -> None:
    """Measure, predict, run, and print both."""
    from unweave.scale.cluster import Cluster, start_cluster

    warnings.simplefilter("ignore")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    rng = random.Random(0)
    naps = [rng.uniform(SHORTEST, LONGEST) for _ in range(BLOCKS)]
    naps[7] = STRAGGLER
    with start_cluster(WORKERS) as client:
        visits = Cluster(client)
        setting = Setting(naps, WORKERS, passes=PASSES, **overheads(client, visits))
        compare(f"asleep for {1e3 * SHORTEST:.0f}–{1e3 * LONGEST:.0f} ms, one for {STRAGGLER:.0f} s", setting,
                run(client, visits, setting))  # fmt: skip
        back = seconds_back(client)
        print(f"a worker that was killed is back after {back:.1f} s")
        killed = replace(setting, back=back, killed=[(PASSES - 1, 3.0, 0)], **overheads(client, visits))
        compare("the same, one of the two killed (SIGKILL) in the last pass", killed, run(client, visits, killed))


def compare(title: str, setting: Setting, real: list[float]) -> None:
    """Print what was predicted beside what was measured."""
    told = simulate(setting)
    print(f"{title}: {setting.workers} workers, {len(setting.work)} blocks")
    for number, (a, b) in enumerate(zip(told, real, strict=True)):
        print(f"  pass {number + 1}: predicted {a:5.2f} s, measured {b:5.2f} s ({100 * (a / b - 1):+.0f} %)")
    a, b = sum(told), sum(real)
    print(f"  all:    predicted {a:5.2f} s, measured {b:5.2f} s ({100 * (a / b - 1):+.0f} %)", flush=True)


def run(client, visits, setting: Setting) -> list[float]:
    """The passes of a setting on the real cluster, with its deaths."""
    kept, seconds = None, []
    for number in range(setting.passes):
        for _, second, worker in (death for death in setting.killed if death[0] == number):
            pid = list(client.run(os.getpid).values())[worker]
            threading.Timer(second, os.kill, (pid, signal.SIGKILL)).start()
        took = timed(visits, list(setting.work), kept)
        kept = took.kept
        seconds.append(took.whole)
    return seconds


def seconds_back(client) -> float:
    """How long it takes until a worker that was killed is replaced."""
    pid, began = next(iter(client.run(os.getpid).values())), time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    while pid in _pids(client) or len(_pids(client)) < WORKERS:
        time.sleep(0.05)
    return time.perf_counter() - began


def _pids(client) -> set[int]:
    return set(client.run(os.getpid, on_error="ignore").values())
