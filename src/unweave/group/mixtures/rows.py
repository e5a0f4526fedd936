"""Read the rows of a table in weighted pieces, and draw a sample of them that a start is made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
    """Read the rows of a table in memory in pieces, each row with its weight.

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

    @property
    def shape(self) -> tuple[int, int]:
        return self.objective.shape

    @property
    def complete(self) -> bool:
        return self.objective.complete

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.shape[0] if self.weights is None else self.weights.sum())

    def map(self, task: Callable, size: int, held: int = 1) -> Iterator:
        """Yield ``task(X, seen, weights)`` of every piece of at most `size` rows, in order, on the pool.

        A result holds about `held` numbers: only so many pieces are run before their results are handed on.
        """
        together = size * min(_AT_ONCE, max(4, _HELD // held))
        for low, high in chunks(self.shape[0], together):

            def piece(start: int, stop: int, low=low):
                X, seen = self.read(self.objective, low + start, low + stop)
                own = None if self.weights is None else self.weights[low + start : low + stop]
                return task(X, seen, own)

            yield from run(piece, high - low, size)

    def add_up(self, summary: Callable[[WeightedRows, Any], Any], state: Any) -> Any:
        """Add up ``summary(rows in memory, state)`` over the table: at once, or in one visit to its blocks."""
        return summary(self, state)

    def of_rows(self, answer: Callable[[WeightedRows, Any], NDArray], state: Any) -> NDArray:
        """Return what ``answer(rows in memory, state)`` has to say of every row."""
        return answer(self, state)

    def looked_at(self, look: Callable[[WeightedRows], Any]) -> Callable[[], list]:
        """Return how to ask what `look` finds in the table: a list, of one for each stretch in memory."""
        return lambda: [look(self)]

    def taken(self, chosen: NDArray) -> tuple[NDArray[np.float64], NDArray, NDArray]:
        """Take some rows as an array, with what was seen of them, and say which they are."""
        part = self.objective.take(chosen)
        assert part is not None  # tables in memory can be taken from
        X, seen = self.read(part, 0, len(chosen))
        X = as_dense(X)
        return X.astype(np.float64), np.ones(X.shape, bool) if seen is None else np.asarray(seen) > 0, chosen


def chosen_rows(rows: WeightedRows, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Choose at most `most` rows that have weight."""
    n = rows.shape[0]
    if rows.weights is None:
        return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
    heavy = np.flatnonzero(rows.weights)
    return heavy if len(heavy) <= most else np.sort(rng.choice(heavy, most, replace=False))


def sample_rows(rows: WeightedRows, most: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw at most `most` rows that have weight, holes filled with the column's mean, and their weights."""
    X, seen, chosen = rows.taken(chosen_rows(rows, most, rng))
    w = np.ones(len(chosen)) if rows.weights is None else rows.weights[chosen].astype(np.float64)
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
