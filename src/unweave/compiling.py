"""Keep count of the kernels that are compiled at their first use, and tell the time without that.

Compiling happens once on a machine and then never again, so no fit is charged for it: the loop reads :func:`clock`, and
whoever shows progress (the command line) asks to be told by :func:`tell`.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable

Told = Callable[[str, bool], None]

_lock = threading.Lock()
_under_way: list[str] = []
_since = 0.0
_spent = 0.0
_collects = False  # whether garbage was collected before compiling began
_told: list[Told] = []


def clock() -> float:
    """Seconds on a clock that stands still while a kernel is being compiled, in whichever thread."""
    with _lock:
        now = time.perf_counter()
        return now - _spent - (now - _since if _under_way else 0.0)


def seconds() -> float:
    """Seconds that this process has spent compiling kernels so far."""
    return time.perf_counter() - clock()


def tell(listener: Told | None) -> None:
    """Have a function called with the name of each kernel when its compiling begins (True) and ends (False)."""
    _told[:] = [] if listener is None else [listener]


def is_told() -> bool:
    """Whether somebody shows what is being compiled."""
    return bool(_told)


def begins(name: str) -> None:
    """Note that a kernel is being compiled; kernels that it calls are compiled inside.

    The compiler makes millions of objects that live until it is done: looking for garbage among them, again and again,
    takes a seventh of compiling. It waits until the kernel is there.
    """
    global _since, _collects
    with _lock:
        if not _under_way:
            _since = time.perf_counter()
            _collects = gc.isenabled()
            gc.disable()
        _under_way.append(name)
    for listener in _told:
        listener(name, True)


def ends(name: str) -> None:
    """Note that a kernel has been compiled."""
    global _spent
    with _lock:
        _under_way.remove(name)
        if not _under_way:
            _spent += time.perf_counter() - _since
            if _collects:
                gc.enable()
    for listener in _told:
        listener(name, False)
