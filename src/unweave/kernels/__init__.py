"""Compiled loops. Arrays and scalars in, arrays out; nothing of ours is imported here.

Every kernel works on a range of rows ``[start, stop)``, releases the GIL and is cached on disk; the caller spreads the
ranges over the pool of :mod:`unweave.parallel`. Each has a slow, obvious twin in ``tests/reference/``.
"""

from __future__ import annotations

import logging

from numba import njit
from numba.core import event

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
    return njit(cache=True, nogil=True, fastmath=_FASTMATH, error_model="numpy", forceinline=True)(function)


class _SayFirstCompile(event.Listener):
    """One line in the log when a kernel is compiled because the cache does not hold it yet."""

    said = False

    def on_start(self, event):
        dispatcher = event.data.get("dispatcher")
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", "") or ""
        if not self.said and module.startswith(__name__):
            _SayFirstCompile.said = True
            logging.getLogger("unweave").warning(
                "compiling kernels for their first use here: a few seconds, then cached on disk "
                "('unweave warmup' compiles them all)"
            )

    def on_end(self, event):
        pass


event.register("numba:compile", _SayFirstCompile())
