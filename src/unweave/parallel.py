"""One thread pool for the whole library, and one rule for BLAS inside it.

Work is cut into chunks whose number depends only on the shape of the data, never on the number of threads, and every
chunk writes its own rows. So one thread and many give the same bits. Kernels are compiled with ``nogil`` and called
once a chunk: no numba threading layer is involved, nothing breaks after a fork, two Python threads may fit at once,
and Ctrl-C is seen between chunks.

Tasks must be leaves: a task running on the pool must not call :func:`run` itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_threads: int | None = None


def _default_threads() -> int:
    asked = os.environ.get("UNWEAVE_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def get_num_threads() -> int:
    """Number of threads that fits use (``UNWEAVE_NUM_THREADS``, or the cores this process may run on)."""
    global _threads
    if _threads is None:
        _threads = _default_threads()
    return _threads


def set_num_threads(n: int) -> int:
    """Use `n` threads from now on; returns the former number. Answers do not depend on it, to the bit."""
    global _threads, _pool
    if isinstance(n, bool) or int(n) != n or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
    former = get_num_threads()
    with _lock:
        _threads, old, _pool = int(n), _pool, None
    if old is not None:
        old.shutdown(wait=False)
    return former


def _forget_pool() -> None:
    """A forked child has none of its parent's threads: start a pool of its own when it needs one."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _get_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            # Where limits belong to each thread, those of the pool keep theirs as long as they live.
            _pool = ThreadPoolExecutor(
                get_num_threads(),
                thread_name_prefix="unweave",
                initializer=lambda: _libraries()[1].limit(limits=1, user_api="blas"),
            )
        return _pool


def chunks(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Half-open ranges of at most `size` that cover ``range(n)``."""
    return ((start, min(start + size, n)) for start in range(0, n, max(1, size)))


def run(task: Callable[[int, int], object], n: int, size: int) -> list:
    """``[task(start, stop) for start, stop in chunks(n, size)]``, on the pool; the results in order of the chunks.

    An exception (Ctrl-C included) is raised only after every chunk under way has ended, so no thread still writes to
    an array that the caller is about to drop.
    """
    spans = list(chunks(n, size))
    if len(spans) <= 1 or get_num_threads() == 1:
        return [task(start, stop) for start, stop in spans]
    futures = [_get_pool().submit(task, start, stop) for start, stop in spans]
    try:
        wait(futures, return_when=FIRST_EXCEPTION)
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
    return [future.result() for future in futures]


_blas_lock = threading.Lock()
_blas_depth = 0
_blas_limit: Any = None
_blas: tuple[Any, Any] | None = None


@contextmanager
def single_blas() -> Iterator[None]:
    """BLAS on one thread while inside (restored afterwards): our own pool runs the blocks side by side.

    The limit belongs to the process, so nested and concurrent uses share one and the last to leave restores it,
    whichever Python thread it is. Where it belongs to each thread (OpenBLAS on OpenMP) every thread sets its own.
    """
    global _blas_depth, _blas_limit
    shared, own = _libraries()
    with _blas_lock:
        if _blas_depth == 0:
            _take_control(shared)
            _blas_limit = shared.limit(limits=1, user_api="blas")
        _blas_depth += 1
    mine = own.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        mine.restore_original_limits()
        with _blas_lock:
            _blas_depth -= 1
            if _blas_depth == 0:
                _take_control(shared)
                _blas_limit.restore_original_limits()
                _take_control(shared)  # nobody's: others may set limits of their own


def _libraries() -> tuple[Any, Any]:
    """BLAS libraries whose number of threads belongs to the process, and those where each thread has its own."""
    global _blas
    if _blas is None:
        import scipy.linalg  # noqa: F401  (NumPy's BLAS and this one are all that we call: both are loaded now)
        from threadpoolctl import ThreadpoolController

        found = ThreadpoolController()
        paths: tuple[list, list] = [], []
        for library in found.lib_controllers:
            if library.user_api == "blas":
                by_thread = library.internal_api == "openblas" and library.threading_layer == "openmp"
                paths[by_thread].append(library.filepath)
        _blas = found.select(filepath=paths[0]), found.select(filepath=paths[1])
    return _blas


def _take_control(controller: Any) -> None:
    """Let this thread set limits. Since its release 3.8 threadpoolctl obeys only the first thread that ever did so, and
    silently ignores all others: their fits would run on several BLAS threads, and end in other last bits."""
    for library in controller.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)
