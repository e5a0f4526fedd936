"""Visit every block on the workers of a Dask cluster.

A pass is one graph. A small task holds what all blocks share (how a block is made, the task, the state); one task a
block reads it and does the visit; the summaries are added by a tree of tasks in the order of
:func:`unweave.scale.summing.tree`, so that the bits are those of :class:`unweave.scale.visits.Here`. What rows keep
stays on the workers. Everything is a task that can be run again, so that what died with a worker is made anew from what
it came from. So that this goes back a few passes only, what rows keep is written now and then to a folder that all
workers see.
"""

from __future__ import annotations

import gc
import logging
import os
import tempfile
import time
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import getitem
from typing import Any

from unweave.parallel import get_num_threads
from unweave.scale.kept import Folder, Kept, read_own
from unweave.scale.on_worker import (
    Parcel,
    aligned,
    answered,
    held,
    packed,
    summarised,
    summary_of,
    unpacked,
    visit,
    written,
)
from unweave.scale.visits import Loader, Visits
from unweave.scale.ways import SMALL, Ways

try:
    import dask
    import distributed
    from dask._task_spec import Alias, List
    from distributed import Client, Future
    from distributed.client import FutureCancelledError, FuturesCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
    from distributed.utils import silence_logging_cmgr

    from unweave.scale.graph import Graph
except ImportError as error:
    raise ImportError(
        f"a cluster needs Dask, which is not installed ({error.name} is missing): pip install unweave[scale]"
    ) from error

_DURABLE = 10  # passes after which what rows keep is written down
_LOOK = 0.5  # seconds between two looks at how far the workers are, and whether they are there
_AHEAD = 3  # blocks under way for each worker where the answers are fetched in turn
_ANSWER = 5.0  # seconds in which a scheduler must answer whom it has not met


class Cluster(Visits):
    """Visit on the workers of a Dask cluster, which need the same versions of Python and unweave.

    Parameters
    ----------
    client : distributed.Client
    scratch : path, optional
        A folder that this process and all workers see, for what rows keep; the environment's ``UNWEAVE_SCRATCH`` or a
        temporary folder of this machine unless told. Where workers do not see it, a death is answered by making
        everything again from the first pass.
    patience : float
        Seconds without a single worker after which a visit gives up.
    """

    def __init__(self, client: Client, scratch: str | os.PathLike | None = None, patience: float = 20.0):
        if client.asynchronous:
            raise ValueError(
                "client is asynchronous, and a fit waits: give distributed.Client(..., asynchronous=False)"
            )
        self.client, self.patience = client, patience
        self.address = getattr(client.scheduler, "address", "?")  # kept, for when the scheduler is gone
        self._scratch = os.fspath(scratch or os.environ.get("UNWEAVE_SCRATCH") or tempfile.gettempdir())
        self._seen: dict[str, bool] = {}  # whether workers see a folder
        self._sources: dict[int, Ways] = {}
        self.passes = self.loads = 0

    # -- visits --------------------------------------------------------------------------------------------------

    def each(self, load, task, state=None, kept=None):
        if not len(load):
            return None, None
        graph = Graph()
        pairs = self._visited(graph, visit, load, task, state, kept)
        sums = graph.added([graph.node("summary", summary_of, pair) for pair in pairs])
        mine = [graph.node("own", getitem, pair, 1) for pair in pairs]
        found, *items = self._start(graph.tasks, [sums[-1], *mine])
        try:
            summary, n_kept = self._result(found, items)
        except BaseException:
            for future in items:
                future.release()
            raise
        finally:
            found.release()
        self.passes += 1
        self.loads += len(load)
        if not n_kept:
            return summary, None
        return summary, self._cut(OnWorkers(items, self, kept))

    def total(self, load, task, state=None, kept=None):
        """One task a block: nothing is taken apart where rows keep nothing."""
        if not len(load):
            return None
        graph = Graph()
        sums = graph.added(self._visited(graph, summarised, load, task, state, kept))
        # Sums of neighbours show how far the pass is; every summary held for that would fill the workers.
        futures = self._start(graph.tasks, sums)
        try:
            summary = self._result(futures[-1], futures)[0]
        finally:
            for future in futures:
                future.release()
        self.passes += 1
        self.loads += len(load)
        return summary

    def _visited(self, graph: Graph, do: Callable, load: Loader, task, state, kept: Kept | None) -> list[Alias]:
        """Put the visits to all blocks into a graph, as `do` makes them."""
        self._need_workers()
        common = packed((load.make, task, state))
        # What is small goes with every task, which saves waiting for one more.
        shared = common if len(common) * len(load) <= SMALL else graph.node("shared", held, Parcel(common))
        owns = [None] * len(load) if kept is None else self._reachable(kept)

        def block(raw: Any) -> Any:
            if not hasattr(raw, "needs"):
                return graph.given(raw)
            return graph.node("block", raw.read, List(*map(graph.given, raw.needs)))

        raws = [self._raw(load, i) for i in range(len(load))]
        return [
            graph.node("visit", do, block(raw), load.place(i), shared, graph.given(own))
            for i, (raw, own) in enumerate(zip(raws, owns, strict=True))
        ]

    def gather(self, load, task, state=None):
        self._need_workers()
        shared = self._submit("shared", held, Parcel(packed((load.make, task, state))))
        under_way: deque[Future] = deque()
        most, done = _AHEAD * max(1, len(self._workers())), 0
        try:
            for i in range(len(load)):
                raw, place = self._raw(load, i), load.place(i)
                if hasattr(raw, "needs"):
                    raw = self._submit("block", raw.read, raw.needs)
                under_way.append(self._submit("answer", answered, raw, place, shared))
                while len(under_way) >= (most if i + 1 < len(load) else 1):
                    yield self._result(under_way.popleft())
                    done += 1
                    self._tell(done, len(load))
        finally:
            for future in [shared, *under_way]:
                future.release()
        self.passes += 1
        self.loads += len(load)

    def write(self, items: list, paths: list[str]) -> list[str | None]:
        """Write what blocks keep from where it is; the paths, None where nothing is kept."""
        graph = Graph()
        nodes = [graph.node("write", written, path, graph.given(item)) for path, item in zip(paths, items, strict=True)]
        futures = self._start(graph.tasks, nodes)
        return [self._result(future) for future in futures]

    def _cut(self, kept: OnWorkers) -> Kept:
        """Now and then write down what rows keep, so that a death is answered from there."""
        if kept.depth < _DURABLE:
            return kept
        if not self.sees(self._scratch):
            if kept.depth == _DURABLE:
                warnings.warn(
                    f"workers do not see the folder {self._scratch}: if one dies, all passes are made again; set "
                    "UNWEAVE_SCRATCH to a folder that all machines share",
                    UserWarning,
                    stacklevel=2,
                )
            return kept
        folder = Folder(os.path.join(self._scratch, f"unweave-{uuid.uuid4().hex}"))
        return Kept(self.write(kept.items, [str(folder.path / str(i)) for i in range(len(kept))]), folder)

    def sees(self, folder: str | os.PathLike) -> bool:
        """Whether all workers see a folder of this machine; asked once."""
        name = os.fspath(folder)
        if name not in self._seen:
            with tempfile.TemporaryDirectory(prefix="unweave-", dir=folder) as probe:
                answers = self.client.run(os.path.isdir, probe, on_error="ignore")  # one may die just now
            self._seen[name] = all(answers.values())
        return self._seen[name]

    def _reachable(self, kept: Kept) -> list:
        """What blocks keep as workers can have it: files that they do not see (of a checkpoint) are sent to them."""
        if kept.folder is None or self.sees(kept.folder.path.parent):
            return kept.items
        return [
            self._submit("kept", unpacked, Parcel(packed(kept.own(i)))) if isinstance(item, str) else item
            for i, item in enumerate(kept.items)
        ]

    # -- blocks --------------------------------------------------------------------------------------------------

    def _raw(self, load: Loader, i: int) -> Any:
        """What a worker reads block i from: a small function, or a task that holds the block.

        A function that `needs` what lies on workers already is given it there.
        """
        source = self._sources.get(id(load.source))
        if source is None:
            source = self._sources[id(load.source)] = Ways(load.source)
        return source.block(load.place(i), partial(self._submit, "block", held))

    # -- the cluster ---------------------------------------------------------------------------------------------

    def _start(self, graph: dict, wanted: list[Alias]) -> list[Future]:
        with _large_graphs():
            return self.client.get(graph, [alias.key for alias in wanted], sync=False)

    def _submit(self, kind: str, do: Callable, *args) -> Future:
        with _large_graphs():
            return self.client.submit(do, *args, key=f"unweave-{kind}-{uuid.uuid4().hex}", pure=False)

    def _result(self, future: Future, blocks: Sequence[Future] = ()) -> Any:
        """Wait for a result, as long as there is somebody to bring it; tell how many of the blocks are done."""
        try:
            while not self._has_ended(future):
                self._tell_blocks(blocks)
                self._need_workers()
            self._tell_blocks(blocks)
            return aligned(future.result())
        except KilledWorker as error:
            raise MemoryError(
                f"workers died {error.allowed_failures + 1} times over one block, which most often means that they "
                f"ran out of memory ({_limit([error.last_worker.memory_limit])}): give smaller blocks, or more memory "
                "to each worker"
            ) from error
        except (FutureCancelledError, FuturesCancelledError, CommClosedError) as error:
            raise self._lost() from error
        except RuntimeError as error:
            if "deserialization of the task graph" not in str(error):
                raise
            raise RuntimeError(
                "the scheduler cannot read the work that it was sent: install the same versions of Python, unweave "
                "and Dask there and on the workers as here"
            ) from error

    def _has_ended(self, future: Future) -> bool:
        """Wait for a moment. A future may end just as the time is over, so a timeout says nothing but that it was."""
        try:
            with self.client.as_current():  # which need not be the default one
                distributed.wait(future, timeout=_LOOK)
        except TimeoutError as late:
            late.__traceback__ = None  # it would hold the frames of who waits, and with them the codes of every pass
            return future.status != "pending"
        return True

    def _tell_blocks(self, blocks: Sequence[Future]) -> None:
        if blocks:
            self._tell(sum(block.status == "finished" for block in blocks), len(blocks))

    def _lost(self) -> ConnectionError:
        return ConnectionError(
            f"the scheduler at {self.address} was lost in mid-fit: fit again when it is back; with checkpoint= the "
            "fit goes on from its last checkpoint"
        )

    def _workers(self) -> dict[str, dict]:
        if self.client.status != "running":
            raise self._lost()
        try:
            return self.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, CommClosedError) as error:
            raise self._lost() from error

    def _need_workers(self) -> None:
        """Raise if there is nobody to do the work, after waiting for a while."""
        began = time.monotonic()
        while True:
            workers = self._workers()
            if any(worker["status"] == "running" for worker in workers.values()):
                return
            if time.monotonic() - began > self.patience:
                if workers:
                    raise MemoryError(
                        f"all {len(workers)} workers have paused, short of memory "
                        f"({_limit([worker['memory_limit'] for worker in workers.values()])}): give smaller blocks, "
                        "or more memory to each worker"
                    )
                raise RuntimeError(
                    f"the cluster at {self.address} has no workers (waited {self.patience:g} s): start some, "
                    f"dask worker {self.address}"
                )
            time.sleep(0.1)


class OnWorkers(Kept):
    """What every block keeps, on the workers.

    Parameters
    ----------
    items : list of Future
    cluster : Cluster
        Whose workers.
    before : Kept or None
        What the visit began from. The files that the first of this line came from must stay as long as there is one
        who may have to be made again.
    """

    def __init__(self, items: list[Future], cluster: Cluster, before: Kept | None):
        super().__init__(items)
        self.cluster = cluster
        self.depth: int = before.depth + 1 if isinstance(before, OnWorkers) else 1
        self.root: Kept | None = before.root if isinstance(before, OnWorkers) else before

    def own(self, i):
        item = self.items[i]
        return read_own(self.cluster._result(item) if isinstance(item, Future) else item)

    def _written(self, folder, name):
        if not self.cluster.sees(folder.path.parent):
            return super()._written(folder, name)  # block by block through this process
        paths = self.cluster.write(self.items, [str(folder.path / f"{name}-{i}") for i in range(len(self))])
        # What follows from here on begins from these files.
        self.items, self.folder, self.root, self.depth = paths, folder, Kept(paths, folder), 0
        return [None if path is None else os.path.basename(path) for path in paths]


def _limit(limits: Iterable[int | None]) -> str:
    """The least memory that a worker may have, in words."""
    least = min((limit for limit in limits if limit), default=None)
    return "no limit is set" if least is None else f"{dask.utils.format_bytes(least)} a worker"


def _large_graphs():
    """A state or a block in a task may be large: that is so that it can be run again."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"})


# -- clusters ----------------------------------------------------------------------------------------------------------


@contextmanager
def start_cluster(workers: int | None = None, memory: str | int | None = None) -> Iterator[Client]:
    """Start workers on this machine, talk to them in ciphers, and stop them at the end.

    Workers are new processes of one thread each: a script that starts some must not do so when it is imported, but
    under ``if __name__ == "__main__":``.

    Parameters
    ----------
    workers : int, optional
        How many; the cores that this process may use unless told.
    memory : str or int, optional
        Of each worker, "2GB" or bytes; an even share of the machine's unless told.

    Yields
    ------
    distributed.Client
        What ``fit(X, client=...)`` takes.
    """
    one = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "MKL", "OMP", "NUMBA", "UNWEAVE")}
    one["POLARS_MAX_THREADS"] = "1"
    with (
        dask.config.set(
            {
                "distributed.worker.multiprocessing-method": "spawn",
                # Visits are handed out at once: a worker does not wait for the scheduler between two of them.
                "distributed.scheduler.worker-saturation": float("inf"),
                # A worker that dies is started again, however often: no place is given up.
                "distributed.deploy.lost-worker-timeout": "365 days",
                # Pages about the cluster are served to whoever asks, without a key: there are none.
                "distributed.scheduler.http.routes": [],
                "distributed.worker.http.routes": [],
            }
        ),
        distributed.LocalCluster(
            n_workers=get_num_threads() if workers is None else workers,
            threads_per_worker=1,
            memory_limit="auto" if memory is None else memory,
            processes=True,
            security=distributed.Security.temporary(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port: a usual one may be taken
            env=one,
            preload=["unweave.scale.on_worker"],
            silence_logs=logging.CRITICAL,  # what goes wrong is told by whoever waits for it
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def count_workers(address: str) -> int:
    """How many workers the cluster of a scheduler has; ConnectionError where none answers."""
    with on_cluster(address) as visits:
        assert isinstance(visits, Cluster)
        return len(visits._workers())


@contextmanager
def on_cluster(client: Any) -> Iterator[Visits]:
    """What a user gave as `client` as one who visits.

    Parameters
    ----------
    client : distributed.Client, str or Visits
        A client, the address of a scheduler (a client is made and closed), or a :class:`Cluster` with its own settings.
    """
    if not isinstance(client, Visits | Client | str):
        raise TypeError(
            f"client must be a distributed.Client or the address of a scheduler, got {type(client).__name__}"
        )
    with silence_logging_cmgr(logging.CRITICAL):  # what goes wrong is told once, by the exception
        if isinstance(client, Visits):
            yield client
        elif isinstance(client, Client):
            yield Cluster(client)
        else:
            with _connected(client) as made:
                yield Cluster(made)


def _connected(address: str) -> Client:
    try:
        return Client(address, set_as_default=False, timeout=_ANSWER)
    except (OSError, ValueError) as error:
        why = str(error)
    gc.collect()  # a client that failed must not be collected while another starts: Dask would wait for itself
    raise ConnectionError(f"client={address!r}: no scheduler of Dask answers there ({why})")
