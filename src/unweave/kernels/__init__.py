"""Compiled loops. Arrays and scalars in, arrays out; nothing of ours is imported here.

Every kernel works on a range of rows ``[start, stop)``, releases the GIL and is cached on disk; the caller spreads the
ranges over the pool of :mod:`unweave.parallel`. Each has a slow, obvious twin in ``tests/reference/``.
"""

from numba import njit

# Not full fastmath: that would break isnan. It is not in numba's cache key either, so there is one variant only.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function):
    """Compile a loop over rows: no GIL, cached on disk, sums may be reordered for SIMD."""
    return njit(cache=True, nogil=True, fastmath=_FASTMATH, error_model="numpy")(function)
