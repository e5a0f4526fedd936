"""Find the nearest of many points by cosine: a scan of a copy in bytes, and rows of length one to begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.nearest import LANE, coarsen_point, coarsen_range, nearest_range
from unweave.kernels.top import sort_range
from unweave.linalg.products import row_squared_norms

_BYTES = 1 << 23  # of the copy that one task scans: half a millisecond


class Index:
    """Rows of length one (float32) and a copy of them in bytes, a quarter of their size, which is scanned first.

    Only rows that can still be among the nearest by the copy are multiplied in float32, so what :meth:`nearest` gives
    is to the bit what multiplying all of them would give; see :mod:`unweave.kernels.nearest`.

    >>> Index(np.eye(3, dtype=np.float32)).nearest(np.array([0, 1, 0], np.float32), 2)
    (array([1, 0]), array([1., 0.], dtype=float32))
    """

    def __init__(self, units: NDArray):
        n, width = units.shape
        self.units, self._lanes = units, -(-width // LANE)
        steps, errors = np.empty(n, np.float32), np.empty(n, np.float32)
        tails = np.empty((self._lanes, n), np.float32)
        self._copy = np.zeros((self._lanes, n, LANE), np.int8), steps, errors, tails
        self._size = max(1, _BYTES // (LANE * self._lanes))
        parallel.run(lambda a, b: coarsen_range(units, *self._copy, a, b), n, self._size)

    def nearest(self, point: NDArray, n: int) -> tuple[NDArray, NDArray]:
        """The `n` rows with the largest products with a point of length one, best first (of equals the lower row)."""
        whole, rests = np.zeros((self._lanes, LANE), np.int16), np.empty(self._lanes)
        bounds = coarsen_point(point, whole, rests)

        floor = [np.float32(-np.inf)]

        def scan(start: int, stop: int) -> tuple[NDArray, NDArray]:
            """The best of a range, as far as they are above the floor: what `n` rows of another range reach.

            Which range is done first changes how many rows are multiplied, and nothing else: equals are not below it.
            """
            size = min(n, stop - start)
            values, places = np.full((1, size), floor[0], np.float32), np.full((1, size), -1, np.int64)
            nearest_range(self.units, *self._copy, point, whole, rests, *bounds, values[0], places[0], start, stop)
            sort_range(values, places, 0, 1)
            found = places[0] >= 0
            if size == n and found.all():
                floor[0] = max(floor[0], np.nextafter(values[0, -1], np.float32(-np.inf)))
            return places[0][found], values[0][found]

        return _merged(parallel.run(scan, len(self.units), self._size), n)


def _merged(lists: list[tuple[NDArray, NDArray]], n: int) -> tuple[NDArray, NDArray]:
    """The best `n` of sorted lists, whose rows come in ascending order of the lists."""
    if len(lists) == 1:
        return lists[0]
    places, values = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    best = np.argsort(-values, kind="stable")[:n]
    return places[best], values[best]


def unit_rows(F: NDArray) -> NDArray:
    """Rows scaled to length one, in float32; a row of zeros stays, its cosine with everything is 0."""
    largest = np.abs(F).max(axis=1, initial=0.0, keepdims=True)
    F = F / np.where(largest > 0, largest, 1)  # first, because squares may overflow or vanish
    lengths = np.sqrt(row_squared_norms(F))[:, None]
    return np.ascontiguousarray(F / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def unit_row(code: NDArray) -> NDArray:
    """The same for one row, in a few microseconds."""
    code = code / (float(np.abs(code).max()) or 1.0)
    return (code / (float(np.sqrt(code @ code)) or 1.0)).astype(np.float32)
