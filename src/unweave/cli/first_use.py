"""Make the first command bearable: show what is being compiled, and do not import what no command needs."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager


class _Later(types.ModuleType):
    """Stand for a module until something is asked of it."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules[self.__name__]
        real = importlib.import_module(self.__name__)
        self.__dict__.update(real.__dict__)
        return getattr(real, name)


def import_later(name: str) -> None:
    """Put off the import of a module until something in it is used.

    scikit-learn imports ``scipy.stats``, which takes half a second, for a function that no command calls. A program of
    its own may do this; a library may not, as others share its process.
    """
    sys.modules.setdefault(name, _Later(name))


@contextmanager
def showing_compiling(quiet: bool) -> Iterator[None]:
    """Show which kernel is being compiled, and that it happens once: a line that goes away, or one that stays."""
    from unweave import compiling

    on_screen, seen = sys.stderr.isatty(), 0

    def told(name: str, begins: bool) -> None:
        nonlocal seen
        if not begins:
            if on_screen:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            return
        seen += 1
        most = max(seen, len(sys.modules["unweave.kernels"].ALL))
        if on_screen:
            text = f"compiling for the first use on this computer, once: {seen} of at most {most} ({name})"
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif seen == 1:
            print("compiling for the first use on this computer, once: a few seconds", file=sys.stderr, flush=True)

    compiling.tell((lambda *_: None) if quiet else told)
    try:
        yield
    finally:
        compiling.tell(None)
