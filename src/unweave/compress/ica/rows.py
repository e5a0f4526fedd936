"""Whitened rows, and the three sums over them that every method of ICA steps by, in memory or in blocks.

Whitening is PCA's: rows less their mean, on the leading axes, each scaled to variance one (divisor n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.compress.ica.contrasts import Contrast
from unweave.objectives import Objective
from unweave.parallel import run
from unweave.solve.closed import decompose

_ENTRIES = 1 << 17  # of rows that are worked on at once: a third of a millisecond, and scratch stays in the cache
_SAMPLE = 100  # rows of a sample for each component
_LEAST = 10_000  # rows of a sample at least
_WORTH = 3  # times the sample that a table must have, for a sample to be worth its while


class Measured(NamedTuple):
    """Means over rows of y = W·z: `cross` is E[G'(y)·zᵀ] (one row for each y), `slope` E[G''(y)], `level` E[G(y)]."""

    cross: NDArray[np.float64]
    slope: NDArray[np.float64]
    level: NDArray[np.float64]


@dataclass(frozen=True)
class Whitening:
    """The map of rows to whitened ones, z = forth·(x − mean); `back` is its inverse on their span."""

    mean: NDArray
    forth: NDArray[np.float64]
    back: NDArray[np.float64]
    left: float  # the sum of squares that it leaves out

    def of(self, rows: Objective) -> NDArray:
        """Whiten rows in memory: one column for each row."""
        forth = np.ascontiguousarray(self.forth, dtype=rows.dtype)
        Z = np.empty((len(forth), rows.shape[0]), dtype=rows.dtype)
        mean = self.mean.astype(rows.dtype)

        def task(start, stop):
            x, _ = rows.dense_rows(start, stop)
            np.matmul(forth, (x - mean).T, out=Z[:, start:stop])

        run(task, rows.shape[0], max(64, (1 << 17) // rows.shape[1]))
        return Z


def whitening(objective: Objective, k: int, *, exactly: bool) -> Whitening:
    """Find how rows are whitened to k columns, or where not `exactly`, to as many as the rank allows."""
    svd = decompose(objective, k, "mean")
    s = svd.s.astype(np.float64)
    small = max(objective.shape) * float(np.finfo(objective.dtype).eps)
    if svd.method == "gram":
        small = max(small, np.sqrt(small))  # singular values from squares are right to half of the digits
    rank = int(np.count_nonzero(s > small * s[0])) if s[0] > 0 else 0
    mean = np.zeros(objective.shape[1]) if svd.shift is None else np.asarray(svd.shift, dtype=np.float64)
    if s[0] <= small * np.sqrt(objective.shape[0]) * float(np.abs(mean).max(initial=0.0)):
        raise ValueError("X is constant: all rows are alike, and there is nothing to unmix; give columns that vary")
    if rank < k and exactly:
        raise ValueError(
            f"n_components={k} sources cannot be told from X, whose rows less their mean have rank {rank}: use "
            f"n_components={rank}, or None for as many as there are"
        )
    s, Vt, root = s[:rank], svd.Vt[:rank].astype(np.float64), np.sqrt(objective.shape[0])
    return Whitening(mean, Vt * (root / s)[:, None], Vt.T * (s / root), float(svd.tail))


class Whitened:
    """Whitened rows in memory, as the columns of `Z`."""

    def __init__(self, Z: NDArray):
        self.Z = Z

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many rows and columns there are, in that order."""
        return self.Z.shape[1], self.Z.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return self.Z.dtype

    def measure(self, W: NDArray, contrast: Contrast) -> Measured:
        """Compute the means at y = W·z."""
        n = self.shape[0]
        return Measured(*(total / n for total in _sums(self.Z, W, contrast)))

    def sample(self, rng: np.random.Generator) -> Whitened | None:
        """Draw some of the rows, or None where all are few enough."""
        n, k = self.shape
        size = max(_LEAST, _SAMPLE * k)
        if n < _WORTH * size:
            return None
        return Whitened(np.ascontiguousarray(self.Z[:, np.sort(rng.choice(n, size, replace=False))]))


class WhitenedBlocks:
    """Rows in blocks that are whitened whenever they are visited."""

    def __init__(self, objective: Objective, whitening: Whitening):
        self.objective, self.whitening = objective, whitening
        self.shape = objective.shape[0], len(whitening.forth)
        self.dtype = objective.dtype

    def measure(self, W: NDArray, contrast: Contrast) -> Measured:
        """Compute the means at y = W·z in one visit to the blocks."""
        found = self.objective.total(_of_block, (self.whitening, W, contrast))
        return Measured(*(found[name] / self.shape[0] for name in Measured._fields))

    def sample(self, rng: np.random.Generator) -> Whitened | None:
        """Return the rows that stand for all of them."""
        return Whitened(self.whitening.of(self.objective.standing()))


Rows = Whitened | WhitenedBlocks


def _of_block(block: Objective, told: tuple[Whitening, NDArray, Contrast], own) -> tuple[dict, None]:
    whitening, W, contrast = told
    found = _sums(whitening.of(block), W, contrast)
    return dict(zip(Measured._fields, found, strict=True)), None


def _sums(Z: NDArray, W: NDArray, contrast: Contrast) -> list[NDArray[np.float64]]:
    """Sum over chunks of rows on the pool, in the order of the chunks."""
    W = np.ascontiguousarray(W, dtype=Z.dtype)

    def task(start, stop):
        part = Z[:, start:stop]
        first, slope, level = contrast.sums(W @ part)
        return first @ part.T, slope, level

    size = max(64, _ENTRIES // len(W))
    totals = [np.zeros((len(W), len(Z))), np.zeros(len(W)), np.zeros(len(W))]
    for found in run(task, Z.shape[1], size):
        for total, one in zip(totals, found, strict=True):
            total += one
    return totals
