"""Measure how long a fit takes, without the time in which kernels were compiled, which happens once."""

from __future__ import annotations

import sys
import time
from typing import Any


class Clock:
    """Time what runs inside; ``seconds`` leaves compiling out, ``compiling`` is what was left out.

    The compiler is asked only where it is loaded already: a clock does not load it, and a model that compiles has.

    >>> with Clock() as clock:
    ...     pass
    >>> clock.seconds < 1 and clock.compiling == 0
    True
    """

    def __init__(self) -> None:
        self.seconds = self.compiling = 0.0
        self._listener: Any = None

    def __enter__(self) -> Clock:
        self._events = sys.modules.get("numba.core.event")
        if self._events is not None:
            self._listener = self._events.TimingListener()
            self._events.register("numba:compile", self._listener)
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        elapsed = time.perf_counter() - self._began
        if self._events is not None:
            self._events.unregister("numba:compile", self._listener)
            self.compiling = min(self._listener.duration, elapsed) if self._listener.done else 0.0
        self.seconds = elapsed - self.compiling
