"""Read the rows of a table in weighted pieces, and draw a sample of them that a start is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from unweave.data.storage import as_dense
from unweave.group.kmeans.inside import trial_centres
from unweave.group.kmeans.lloyd import assign
from unweave.objectives import Objective
from unweave.parallel import chunks, run

STARTS = ("k-means", "random")
SAMPLE = 20_000  # rows that a start is made from
_AT_ONCE = 64  # pieces that are under way together, at most,
_HELD = 1 << 24  # and numbers in their results


class WeightedRows:
    """Read the rows of a table, or of blocks of one, in pieces, each row with its weight.

    Parameters
    ----------
    objective : Objective
        From :func:`unweave.objectives.opening.open_table`.
    weights : array (n,), optional
    read : callable
        ``(objective, start, stop) -> (rows, what was seen of them or None)``.
    """

    def __init__(self, objective: Objective, weights: NDArray | None, read: Callable):
        self.objective, self.weights, self.read = objective, weights, read
        self.shape, self.complete = objective.shape, objective.complete
        self.total = float(self.shape[0] if weights is None else weights.sum())

    def tables(self) -> Iterator[tuple[int, Objective]]:
        """Yield (first row, table in memory) of every block."""
        yield from ((start, block) for start, _, block in self.objective.blocks())

    def map(self, task: Callable, size: int, held: int = 1) -> Iterator:
        """Yield ``task(X, seen, weights)`` of every piece of at most `size` rows, in order, on the pool.

        A result holds about `held` numbers: only so many pieces are run before their results are handed on.
        """
        together = size * min(_AT_ONCE, max(4, _HELD // held))
        for begin, table in self.tables():
            for low, high in chunks(table.shape[0], together):

                def piece(start: int, stop: int, table=table, begin=begin, low=low):
                    X, seen = self.read(table, low + start, low + stop)
                    own = None if self.weights is None else self.weights[begin + low + start : begin + low + stop]
                    return task(X, seen, own)

                yield from run(piece, high - low, size)


def sample_rows(rows: WeightedRows, most: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw at most `most` rows that have weight, holes filled with the column's mean, and their weights."""
    weights = np.ones(rows.shape[0]) if rows.weights is None else rows.weights
    heavy = np.flatnonzero(weights)
    chosen = heavy if len(heavy) <= most else np.sort(rng.choice(heavy, most, replace=False))
    tables, masks = [], []
    for begin, table in rows.tables():
        own = chosen[(chosen >= begin) & (chosen < begin + table.shape[0])] - begin
        if len(own):
            part = table.take(own)
            assert part is not None  # tables in memory can be taken from
            X, seen = rows.read(part, 0, len(own))
            X = as_dense(X)
            tables.append(X.astype(np.float64))
            masks.append(np.ones(X.shape, bool) if seen is None else np.asarray(seen) > 0)
    X, seen, w = np.concatenate(tables), np.concatenate(masks), weights[chosen].astype(np.float64)
    known = w @ seen
    means = (w @ (X * seen)) / np.where(known > 0, known, 1.0)
    return np.where(seen, X, means), w


def nearest(X: NDArray, centres: NDArray) -> NDArray:
    """Find the nearest centre of every row."""
    return assign(np.ascontiguousarray(X), np.ascontiguousarray(centres))[0]


def centres_by(
    init: str, X: NDArray, weights: NDArray, k: int, rng: np.random.Generator, trial: int
) -> NDArray[np.float64]:
    """Choose k centres of the sample, other ones for each trial: those of k-means, or random rows."""
    if init == "random":
        return X[rng.choice(len(X), k, replace=len(X) < k)]
    return trial_centres(X, k, rng, trial, weights)
