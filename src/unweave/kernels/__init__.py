"""Compiled loops. Arrays and scalars in, arrays out; nothing of ours is imported here but the clock of compiling.

Every kernel works on a range of rows ``[start, stop)``, releases the GIL and is cached on disk; the caller spreads the
ranges over the pool of :mod:`unweave.parallel`. Each has a slow, obvious twin in ``tests/reference/``.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import event

from unweave import compiling

# Not full fastmath: that would break isnan. It is not in numba's cache key either, so there is one variant only.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


# Numbers between short scratch arrays, and between them and everything else. A loop over two arrays asks when it runs
# whether they lie closer together than it reads at once, and is run number by number if so: adding in another order,
# depending on where the heap put them. Arrays shorter than that must be kept apart for the same bits every time.
APART = 64


def kernel(function):
    """Compile a loop over rows: no GIL, cached on disk, sums may be reordered for SIMD.

    A kernel that calls another takes its code in. Left as a call, it would run the callee's own machine code in the
    process that compiles and the caller's copy of it in those that load from disk, and the two may add in another
    order: the first fit after an installation gave other last digits than the second. A constant that is handed to
    another kernel is written ``np.int64(0)``: a bare 0 is a type of its own, for which that kernel is compiled anew.
    """
    # nobody calls a kernel from C, and that wrapper takes a tenth of the compiling
    options = {"forceinline": True, "no_cfunc_wrapper": True}
    compiled = njit(nogil=True, fastmath=_FASTMATH, error_model="numpy", **options)(function)
    ALL.append(compiled)
    try:
        compiled.enable_caching()
    except RuntimeError:  # neither beside the source nor under the home folder
        _cache_privately(compiled)
    return compiled


def part(function):
    """Write a piece of a kernel that is called in three places at most: its code is copied into the caller.

    It is never compiled alone, which spares a fifth of all compiling. What Python calls, or kernels call often, is a
    kernel itself.
    """
    return njit(inline="always", nogil=True, fastmath=_FASTMATH, error_model="numpy")(function)


ALL: list = []  # every kernel of the modules that were imported


def _cache_privately(compiled) -> None:
    """Keep machine code in a folder that only this user can write, or in memory alone where there is none."""
    folder = private_folder()
    _say_where(folder)
    if folder is not None:
        settings: Any = config
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
        try:
            compiled.enable_caching()
        finally:
            settings.CACHE_DIR = before


@cache
def private_folder() -> Path | None:
    """Find a folder for this user under the temporary directory; None if others made it or may write there."""
    owner = os.getuid() if hasattr(os, "getuid") else None
    folder = Path(tempfile.gettempdir()) / f"unweave-kernels-{'user' if owner is None else owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    mine = owner is None or (found.st_uid == owner and not found.st_mode & 0o077)
    return folder if mine and stat.S_ISDIR(found.st_mode) and os.access(folder, os.W_OK) else None


@cache
def _say_where(folder: Path | None) -> None:
    where = (
        f"in {folder}" if folder else "in memory, for this process alone (NUMBA_CACHE_DIR names a folder to keep them)"
    )
    logging.getLogger("unweave").warning(
        "neither the package's folder nor the home folder can be written: compiled kernels are kept %s", where
    )


class _Watch(event.Listener):
    """Pass on that a kernel of ours is compiled, and say so once in the log."""

    said = False

    def on_start(self, event):
        name = _kernel_of(event)
        if not name:
            return
        compiling.begins(name)
        if not self.said and not compiling.is_told():
            _Watch.said = True
            logging.getLogger("unweave").warning(
                "compiling kernels for their first use here: a few seconds, then cached on disk "
                "('unweave warmup' compiles them all)"
            )

    def on_end(self, event):
        name = _kernel_of(event)
        if name:
            compiling.ends(name)


def _kernel_of(event) -> str:
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    ours = (getattr(function, "__module__", "") or "").startswith(__name__)
    return getattr(function, "__name__", "") if ours else ""


event.register("numba:compile", _Watch())
