"""``python -m benchmarks.simulate [--no-real]``: how long a pass takes on many machines that we do not have.

A simulation of what ``unweave.scale.cluster`` does, event by event: a state goes out, blocks are visited where their
rows are, idle workers take over blocks of others, one scheduler handles every task in turn, summaries are added by
neighbours of eight, and what died with a worker is made again from the last pass after which it was written down. It
uses no clock and no cluster, and the same seed gives the same answer.

Where a cluster can be started here, the simulation is held against it first: many small blocks that sleep, and a worker
that is killed (``benchmarks/rehearsal.py``). ``benchmarks/imagined.py`` has the fits that nobody has run.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import ceil
from typing import Any

from unweave.scale.summing import tree

DURABLE = 10  # passes after which what rows keep is written down: ``_DURABLE`` of ``unweave.scale.cluster``
AT_ONCE = 50  # workers that one worker sends to at once: "distributed.worker.connections.outgoing"


@dataclass(frozen=True)
class Setting:
    """A fit on a cluster.

    Attributes
    ----------
    work : sequence of float
        Seconds that a visit to each block takes, with reading it.
    workers : int
    machine : int
        Workers of one machine, who share its link and die together.
    passes : int
        Visits to all blocks.
    state : float
        Bytes that each worker is told in a pass.
    added : float
        Bytes that each block hands back, which are added up.
    listed : float
        Bytes that all blocks together hand back side by side.
    send : float
        Bytes a second over the link of one machine.
    through : float
        Bytes a second from whoever fits through the scheduler to a worker, and back.
    by_tree : bool
        Whether machines pass the state on to each other; as the code stands, one who has it sends to fifty at once.
    folder : float
        Bytes that each machine reads from a folder which all machines share.
    shared : float
        Bytes a second that this folder gives out to all machines together.
    ahead, after : float
        Seconds of the scheduler for each block before the first visit begins, and after each visit.
    own : float
        Seconds of a worker between two visits.
    driver : float
        Seconds between two passes: the half-step on the components.
    spread : float
        Standard deviation of the time of a visit, relative.
    slow : float
        Chance of a visit to take `slowness` times as long: stragglers.
    slowness : float
    deaths : float
        Expected number of deaths an hour of one machine.
    killed : sequence of (pass, second in it, worker)
        Deaths that are told rather than drawn; of one worker each.
    notice : float
        Seconds until a death is noticed.
    back : float
        Seconds until a dead worker is replaced by an empty one.
    write : float
        Seconds to write down what one block keeps.
    keeps : bool
        Whether rows keep something: without that a death costs the visits of one pass.
    depth : int
        Passes since what rows keep was written down, at the beginning.
    seed : int
    """

    work: Sequence[float]
    workers: int = 1
    machine: int = 1
    passes: int = 1
    state: float = 0.0
    added: float = 0.0
    listed: float = 0.0
    send: float = 1e9
    through: float = 1e8
    by_tree: bool = False
    folder: float = 0.0
    shared: float = 1e10
    ahead: float = 0.0
    after: float = 0.0
    own: float = 0.0
    driver: float = 0.0
    spread: float = 0.0
    slow: float = 0.0
    slowness: float = 4.0
    deaths: float = 0.0
    killed: Sequence[tuple[int, float, int]] = ()
    notice: float = 0.0
    back: float = 5.0
    write: float = 0.0
    keeps: bool = True
    depth: int = 0
    seed: int = 0

    @property
    def machines(self) -> int:
        """How many machines there are."""
        return ceil(self.workers / self.machine)


def simulate(setting: Setting) -> list[float]:
    """Simulate a fit; the seconds of each pass.

    >>> simulate(Setting([1.0, 2.0, 3.0], passes=2))
    [6.0, 6.0]
    >>> simulate(Setting([1.0] * 8, workers=4))
    [2.0]
    """
    noise, fate = random.Random(setting.seed), random.Random(f"deaths {setting.seed}")
    # Blocks begin where the scheduler puts them: neighbours together.
    home = [i * setting.workers // len(setting.work) for i in range(len(setting.work))]
    seconds, depth = [], setting.depth
    for number in range(setting.passes):
        deaths = [(t, w) for p, t, w in setting.killed if p == number] + _drawn(setting, fate)
        one = _Pass(setting, _noisy(setting, noise), home, depth, deaths)
        took = one.run() + setting.driver
        home, depth = one.place, depth + 1
        if depth >= DURABLE and setting.keeps:
            took += setting.write * ceil(len(setting.work) / setting.workers)
            depth = 0
        seconds.append(took)
    return seconds


def _noisy(s: Setting, rng: random.Random) -> list[float]:
    """The seconds of every visit of a pass; all workers read from the shared folder at once."""
    read = s.folder * s.machines / max(len(s.work), 1) * max(s.workers / s.shared, s.machine / s.send)
    late = [(max(0.1, rng.gauss(1.0, s.spread)), rng.random() < s.slow) for _ in s.work]
    return [read + one * f * (s.slowness if slow else 1.0) for one, (f, slow) in zip(s.work, late, strict=True)]


def _drawn(s: Setting, rng: random.Random) -> list[tuple[float, int]]:
    """Deaths of whole machines in one pass, each at most once."""
    found = []
    for number in range(s.machines if s.deaths else 0):
        second = rng.expovariate(s.deaths / 3600)
        found += [(second, w) for w in range(number * s.machine, min(s.workers, (number + 1) * s.machine))]
    return found


class _Pass:
    """One visit to all blocks.

    `home` says on which worker each block lies, `depth` how many passes ago what rows keep was written down.
    """

    def __init__(self, setting: Setting, work: list[float], home: list[int], depth: int, deaths: list):
        self.s, self.work, self.depth, self.deaths = setting, work, depth, deaths
        self.place, self.order = list(home), count()
        self.queues: list[deque[int]] = [deque() for _ in range(setting.workers)]
        for block, worker in enumerate(home):
            self.queues[worker].append(block)
        self.long = [(-len(queue), worker) for worker, queue in enumerate(self.queues)]
        heapq.heapify(self.long)
        self.again = [0] * len(home)  # visits that a block needs beyond one: those that died
        self.done: dict[int, float] = {}
        self.busy: list[int | None] = [None] * setting.workers
        self.turn = [0] * setting.workers  # a worker who died and came back does not end what it began
        self.alive = [True] * setting.workers
        self.events: list[tuple[float, int, str, int, int]] = []
        self.scheduler = 0.0  # when it has time again
        self.ready = [0.0] * setting.workers  # when each worker has the state

    def run(self) -> float:
        """Seconds until the sum is with whoever fits."""
        s = self.s
        begin = self.scheduler = s.ahead * len(s.work)
        self.ready = [begin + arrival for arrival in told(s)]
        for worker, arrival in enumerate(self.ready):
            self._at(arrival, "free", worker)
        for second, worker in self.deaths:
            self._at(second, "death", worker)
        while len(self.done) < len(s.work):
            now, _, kind, worker, turn = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(now, worker, turn)
        return self._sum()

    def _at(self, time: float, kind: str, worker: int) -> None:
        heapq.heappush(self.events, (time, next(self.order), kind, worker, self.turn[worker]))

    def _free(self, now: float, worker: int, turn: int) -> None:
        if not self.alive[worker] or turn != self.turn[worker] or self.busy[worker] is not None:
            return
        if now < self.ready[worker]:
            return  # its time comes
        block = self._next(worker)
        if block is not None:
            self.busy[worker], self.place[block] = block, worker
            self._at(now + (1 + self.again[block]) * (self.work[block] + self.s.own), "end", worker)

    def _next(self, worker: int) -> int | None:
        """The next block of a worker; of one who has none, the last of the one who has most."""
        if self.queues[worker]:
            return self.queues[worker].popleft()
        while self.long:
            size, other = self.long[0]
            left = len(self.queues[other])
            if -size == left and left:
                block = self.queues[other].pop()
                heapq.heapreplace(self.long, (1 - left, other))
                return block
            heapq.heapreplace(self.long, (-left, other)) if left else heapq.heappop(self.long)
        return None

    def _give(self, block: int, worker: int) -> None:
        self.place[block] = worker
        self.queues[worker].append(block)
        heapq.heappush(self.long, (-len(self.queues[worker]), worker))

    def _end(self, now: float, worker: int, turn: int) -> None:
        if turn != self.turn[worker]:
            return  # it died meanwhile
        block = self.busy[worker]
        assert block is not None
        self.busy[worker] = None
        self.scheduler = max(self.scheduler, now) + self.s.after
        self.done[block] = self.scheduler
        self._at(now, "free", worker)

    def _death(self, now: float, worker: int, turn: int) -> None:
        self.alive[worker], self.busy[worker] = False, None
        self.turn[worker] += 1
        self._at(now + self.s.notice, "noticed", worker)
        self._at(now + self.s.back, "back", worker)

    def _noticed(self, now: float, worker: int, turn: int) -> None:
        """All blocks that lay there are visited again, as often as since what their rows keep was written down."""
        self.queues[worker].clear()
        lost = [block for block, where in enumerate(self.place) if where == worker]
        others = [other for other in range(self.s.workers) if self.alive[other]] or [worker]
        for i, block in enumerate(lost):
            self.done.pop(block, None)
            self.again[block] = self.depth if self.s.keeps else 0
            self._give(block, others[i % len(others)])
        for other in others:
            self._at(now, "free", other)

    def _back(self, now: float, worker: int, turn: int) -> None:
        self.alive[worker] = True
        self.ready[worker] = max(self.ready[0], now + self.s.state / self.s.send)
        self._at(self.ready[worker], "free", worker)

    def _sum(self) -> float:
        """Add up by neighbours of eight; a sum is made where most of its parts are, and others are sent there."""
        s, share = self.s, self.s.listed / len(self.s.work)

        def join(few: list[tuple[float, int, float]]) -> tuple[float, int, float]:
            where = max(few, key=lambda part: part[2])[1]
            sent = sum(s.added + share * part[2] for part in few if part[1] != where)
            return max(part[0] for part in few) + sent / s.send, where, sum(part[2] for part in few)

        ended = [(self.done[block], self.place[block], 1.0) for block in range(len(s.work))]
        return tree(ended, join)[0] + (s.added + s.listed) / s.through


def told(s: Setting) -> list[float]:
    """When each worker has the state: the first by way of the scheduler, the others from workers who have it.

    >>> told(Setting([], workers=4, state=1.0, send=1.0, through=1.0))
    [1.0, 4.0, 4.0, 4.0]
    >>> told(Setting([], workers=4, state=1.0, send=1.0, through=1.0, by_tree=True))
    [1.0, 2.0, 3.0, 3.0]
    """
    at, once = s.state / s.through, s.state / s.send
    if s.by_tree:
        return [at + once * (worker // s.machine).bit_length() for worker in range(s.workers)]
    times = [at]
    while len(times) < s.workers:
        have = len(times)
        more = min(s.workers - have, AT_ONCE * have)
        out = ceil(more / have) * ceil(have / s.machines)  # copies over the link of a machine that sends,
        at += once * max(out, ceil(more / s.machines))  # and of one that receives
        times += [at] * more
    return times


# -- what bounds it ----------------------------------------------------------------------------------------------------


def bounds(setting: Setting) -> dict[str, float]:
    """Seconds of a pass, and those that go into each cause: what would be saved without it.

    Times that overlap save little alone: where the scheduler is as busy as the workers, neither is the bound by much.
    "deaths" is what one death of a machine costs, five passes after codes were
    written down, times how many are to be expected in a pass.
    """
    s = replace(setting, deaths=0.0, killed=(), depth=DURABLE // 2, seed=1)
    causes: dict[str, dict[str, Any]] = {
        "work": {"work": [0.0] * len(s.work)},
        "stragglers": {"slow": 0.0, "spread": 0.0},
        "network": {"state": 0.0, "added": 0.0, "listed": 0.0},
        "folder": {"folder": 0.0},
        "scheduler": {"ahead": 0.0, "after": 0.0, "own": 0.0},
        "driver": {"driver": 0.0},
    }
    whole = _mean(s)
    found = {name: max(0.0, whole - _mean(replace(s, **without))) for name, without in causes.items()}
    half = s.ahead * len(s.work) + told(s)[-1] + sum(s.work) / s.workers / 2  # of the visits
    dead = replace(s, killed=[(0, half, worker) for worker in range(min(s.machine, s.workers))])
    one = sum(simulate(dead)) - sum(simulate(s))
    found["deaths"] = max(one, 0.0) * setting.deaths * s.machines * whole / 3600
    return {"pass": whole + found["deaths"], "a death": one, **found}


def _mean(setting: Setting) -> float:
    seconds = simulate(setting)
    return sum(seconds) / len(seconds)


def table(title: str, setting: Setting, machines: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 100)) -> list[str]:
    """Lines of a table: seconds of a pass on so many machines, what each cause alone adds, and which adds most."""
    lines = [
        f"\n{title}",
        "machines   pass s  times    work  network  folder  scheduler  stragglers  deaths   (a death)  bound",
    ]
    alone = None
    for number in machines:
        b = bounds(replace(setting, workers=number * setting.machine))
        alone = alone or b["pass"]
        bound = max((name for name in b if name not in ("pass", "a death")), key=lambda name: b[name])
        lines.append(
            f"{number:8d} {b['pass']:8.1f} {alone / b['pass']:6.1f} {b['work']:7.1f}  {b['network']:7.1f}  "
            f"{b['folder']:6.1f}  {b['scheduler']:9.1f}  {b['stragglers']:10.1f}  {b['deaths']:6.2f}  "
            f"{b['a death']:10.1f}  {bound}"
        )
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description=__doc__)
    parser.add_argument("--no-real", dest="real", action="store_false", help="do not start a cluster here")
    if parser.parse_args(arguments).real:
        from benchmarks.rehearsal import rehearse

        rehearse()
    from benchmarks.imagined import imagined

    for title, setting in imagined().items():
        print("\n".join(table(title, setting)), flush=True)


if __name__ == "__main__":
    main()
