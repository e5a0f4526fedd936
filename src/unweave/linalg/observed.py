"""Observed entries in the layout of the kernels, and ranges of rows of about equal work."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unweave import parallel

# multiplications in one call of a kernel: 2 to 20 ms
_CHUNK = 2.0e8


class Observed(NamedTuple):
    """Entries and the other factor in the layout of the kernels: int64, int32, one float dtype, C order."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    weights: np.ndarray
    H: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.indptr.shape[0] - 1


def normalise(indptr, indices, data, weights, H) -> Observed:
    """The dtype of `H` rules (float32 or float64, others become float64); what already fits is not copied."""
    dtype = H.dtype if H.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    weights = np.empty(0, dtype) if weights is None else weights
    floats = [np.ascontiguousarray(v, dtype=dtype) for v in (data, weights, H)]
    return Observed(
        np.ascontiguousarray(indptr, dtype=np.int64), np.ascontiguousarray(indices, dtype=np.int32), *floats
    )


def in_double(entries: Observed, rows: np.ndarray) -> Observed:
    """Some of the rows, in float64."""
    lengths = np.diff(entries.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    pick = np.repeat(entries.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
    weights = entries.weights[pick] if entries.weights.size else entries.weights
    return normalise(indptr, entries.indices[pick], entries.data[pick], weights, entries.H.astype(np.float64))


def spread(task: Callable[[int, int], object], indptr: np.ndarray, entry_cost: float, row_cost: float) -> None:
    """Run ``task(start, stop)`` over ranges of rows of about equal work, however unequal the rows are."""
    n = indptr.shape[0] - 1
    work = (indptr - indptr[0]) * float(entry_cost) + np.arange(n + 1) * float(row_cost)
    pieces = int(np.clip(np.ceil(work[-1] / _CHUNK), 1, max(n, 1)))
    cuts = np.searchsorted(work, np.linspace(0.0, work[-1], pieces + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))
    parallel.run(lambda start, stop: task(int(cuts[start]), int(cuts[stop])), cuts.shape[0] - 1, 1)


def per_row(value: float | np.ndarray, n: int, dtype: np.dtype) -> np.ndarray:
    """Repeat a number for every row; numbers that are given per row are only brought to the right type."""
    # A copy: what is broadcast is read-only, for which kernels would be compiled anew.
    return np.array(np.broadcast_to(np.asarray(value, dtype=dtype), (n,)), order="C")
