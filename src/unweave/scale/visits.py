"""Visit every block of a table once, in this process: rows map, summaries add."""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unweave.parallel import get_num_threads, single_blas
from unweave.scale.kept import Folder, Kept, put_aside, read_own
from unweave.scale.summing import Sum

# (block, state, what its rows keep or None) -> (summary, what its rows keep now or None)
Task = Callable[[Any, Any, Any], tuple[Any, Any]]
Listener = Callable[[int, int, int], object]  # (number of the pass, blocks of it that are done, blocks)


@dataclass(frozen=True)
class Loader:
    """How block i is made: read from a sequence, then checked and prepared. Nothing of it is held.

    Parameters
    ----------
    source : sequence
        Of blocks as the user has them. One that reads files has a method ``fetch(i)``: a small function that reads
        block i wherever it is called.
    make : callable
        ``(what was read, i) -> block``.
    places : sequence of int, optional
        The blocks of the source that are visited; all of them unless told.
    """

    source: Any
    make: Callable[[Any, int], Any]
    places: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.source) if self.places is None else len(self.places)

    def place(self, i: int) -> int:
        """Where block i is in the source."""
        return i if self.places is None else self.places[i]

    def read(self, i: int) -> Any:
        """Block i as it is in the source."""
        place = self.place(i)
        return read_block(lambda: self.source[place], place)

    def __call__(self, i: int) -> Any:
        return self.make(self.read(i), self.place(i))

    def then(self, change: Callable[[Any], Any]) -> Loader:
        """The same with a change of every block."""
        make = self.make
        return replace(self, make=lambda raw, i: change(make(raw, i)))


def read_block(read: Callable[[], Any], place: int) -> Any:
    """Read a block; one that cannot be read is told by its number, and by whatever its reader says (the file)."""
    try:
        return read()
    except MemoryError as error:
        raise MemoryError(_too_large(place)) from error
    except Exception as error:
        kind = OSError if isinstance(error, OSError) else ValueError
        raise kind(f"block {place} of X could not be read: {str(error) or type(error).__name__}") from error


def _too_large(place: int) -> str:
    return f"block {place} of X does not fit into memory with what is made of it: give smaller blocks"


class Visits(ABC):
    """Visit the blocks of one table.

    Attributes
    ----------
    passes : int
        Visits to all blocks so far.
    loads : int
        Blocks that were asked for by visits so far; a block that a worker had to load anew after a death is not
        counted twice.
    """

    passes: int = 0
    loads: int = 0

    def _tell(self, done: int, blocks: int) -> None:
        """Let who listens know how far the pass under way is."""
        listener = _listener.get()
        if listener is not None:
            listener(self.passes + 1, done, blocks)

    @abstractmethod
    def each(self, load: Loader, task: Task, state: Any = None, kept: Kept | None = None) -> tuple[Any, Kept | None]:
        """Run ``task(load(i), state, what block i keeps)`` for every block; the sum of the summaries, and what is kept.

        The sum is added in one order, whoever computes: the same bits in this process and on any number of workers.
        """

    def total(self, load: Loader, task: Task, state: Any = None, kept: Kept | None = None) -> Any:
        """The same for a task whose rows keep nothing from this visit: the sum of the summaries alone."""
        return self.each(load, task, state, kept)[0]

    def in_turn(self, load: Loader, task: Task, state: Any, order: Sequence[int]) -> Any:
        """Hand a state from block to block: ``state = task(block, state, None)[0]``, in this order; one pass.

        For methods that learn from one block before they look at the next: nothing is done side by side.
        """
        passes = self.passes
        for done, i in enumerate(order, start=1):
            with listening(None):
                state = self.each(replace(load, places=[load.place(i)]), task, state)[0]
            self.passes = passes
            self._tell(done, len(order))
        self.passes = passes + 1
        return state

    @abstractmethod
    def gather(self, load: Loader, task: Task, state: Any = None) -> Iterator[Any]:
        """Yield what ``task`` hands back for every block in turn, instead of adding it up: for answers about rows."""


class Here(Visits):
    """Visit in this process. Two blocks are in memory at a time: one is read while the pool works on the other, or both
    are worked on.

    Parameters
    ----------
    most_kept : int
        Bytes of kept codes beyond which they go into files.
    folder : path, optional
        Where these go; a temporary folder otherwise.
    """

    def __init__(self, most_kept: int = 1 << 27, folder: str | os.PathLike | None = None):
        self.most_kept, self.folder = most_kept, folder
        self.passes = self.loads = 0

    def each(self, load, task, state=None, kept=None):
        total, items, size, place = Sum(), [], 0, None
        for i, (summary, mine) in enumerate(self._visits(load, task, state, kept)):
            total.take(summary)
            size += 0 if mine is None else sum(array.nbytes for array in mine.values())
            if size > self.most_kept and mine is not None:
                place = place or self._place()
                mine = put_aside(place.path / str(i), mine)
            items.append(mine)
            self._tell(i + 1, len(load))
        self.passes += 1
        if all(item is None for item in items):
            return total.close(), None
        return total.close(), Kept(items, place)

    def in_turn(self, load, task, state, order):
        ordered = replace(load, places=[load.place(i) for i in order])
        with closing(_side_by_side(ordered, len(order), 1)) as blocks:  # the next is read while one is worked on
            for i, block in enumerate(blocks):
                self.loads += 1
                state = task(block, state, None)[0]
                del block
                self._tell(i + 1, len(order))
        self.passes += 1
        return state

    def gather(self, load, task, state=None):
        for i, (answer, _) in enumerate(self._visits(load, task, state, None)):
            yield answer
            self._tell(i + 1, len(load))
        self.passes += 1

    def _visits(self, load: Loader, task: Task, state: Any, kept: Kept | None) -> Iterator[tuple[Any, Any]]:
        """What every visit hands back, in order.

        Where there are several threads two visits go on side by side: what a task does on one thread, and what a small
        block leaves of the others, is not waited for. Blocks are read one at a time, since readers need not allow more.
        """
        reading = threading.Lock()

        def visit(i: int) -> tuple[Any, Any]:
            with reading:
                raw = load.read(i)
            with single_blas():
                return task(load.make(raw, load.place(i)), state, None if kept is None else kept.own(i))

        if get_num_threads() > 1 and len(load) > 1:
            with closing(_side_by_side(visit, len(load), 2)) as found:
                for pair in found:
                    self.loads += 1
                    yield pair
                    del pair
            return
        with closing(_side_by_side(load, len(load), 1)) as blocks:
            for i, block in enumerate(blocks):
                self.loads += 1
                pair = task(block, state, None if kept is None else kept.own(i))
                del block
                yield pair

    def _place(self) -> Folder:
        if self.folder is None:
            return Folder(tempfile.mkdtemp(prefix="unweave-"))
        return Folder(Path(self.folder) / uuid.uuid4().hex)


def _side_by_side(call: Callable[[int], Any], n: int, threads: int) -> Generator[Any, None, None]:
    """``call(i)`` for every i below n, in order, on threads of their own, that go on while an answer is looked at.

    When somebody stops asking, what is under way ends first: nobody reads a file that is about to be closed.
    """
    if n == 1:
        yield call(0)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="unweave-block") as executor:
        coming: deque[Future] = deque()
        try:
            for i in range(n + threads):
                if i < n:
                    coming.append(executor.submit(copy_context().run, call, i))
                if i >= threads:
                    yield coming.popleft().result()
        finally:
            for future in coming:
                future.cancel()


def visited(raw: Any, place: int, make: Callable, task: Task, state: Any, own: Any) -> tuple[Any, Any]:
    """Do one visit where the data are: what a worker runs. `raw` is the block, or a function that reads it."""
    with single_blas():
        try:
            block = make(read_block(raw, place) if callable(raw) else raw, place)
            return task(block, state, read_own(own))
        except MemoryError as error:
            raise MemoryError(_too_large(place)) from error


_now: ContextVar[Visits | None] = ContextVar("visits", default=None)
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def visiting(visits: Visits | None) -> Iterator[None]:
    """Let tables in blocks that are opened meanwhile be visited by these; None changes nothing."""
    if visits is None:
        yield
        return
    token = _now.set(visits)
    try:
        yield
    finally:
        _now.reset(token)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Let somebody know of every block that is done meanwhile; None hears nothing."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def visits_now() -> Visits:
    """Those of the fit under way; in this process unless a cluster was given."""
    return _now.get() or Here()
