"""Sets of rows that are known by three statistics: how many, their sum, and the sum of their squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.kmeans import KMeans
from unweave.kernels.large import admit
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.kmeans_start import kmeans_plus_plus
from unweave.solve.lloyd import Lloyd, assign

_PARTIALS = 1 << 20  # bytes of partial statistics that threads may hold together


@dataclass(frozen=True)
class Sets:
    """N, SUM and SUMSQ of every set, of rows less a fixed origin near all of them, so that little cancels."""

    counts: NDArray
    sums: NDArray
    squares: NDArray

    @classmethod
    def empty(cls, n: int, d: int) -> Sets:
        return cls(np.zeros(n), np.zeros((n, d)), np.zeros((n, d)))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def means(self) -> NDArray:
        """Of the rows less the origin; zero for a set without rows."""
        return self.sums / np.maximum(self.counts, 1.0)[:, None]

    @property
    def within(self) -> NDArray:
        """Sum of squared deviations from the mean, of every set and column."""
        return np.maximum(self.squares - self.sums * self.means, 0.0)

    def take(self, which) -> Sets:
        return Sets(self.counts[which], self.sums[which], self.squares[which])

    def joined(self, other: Sets) -> Sets:
        """These sets and then those."""
        pairs = zip((self.counts, self.sums, self.squares), (other.counts, other.sums, other.squares))
        return Sets(*(np.concatenate(pair) for pair in pairs))

    def __add__(self, other: Sets) -> Sets:
        return Sets(self.counts + other.counts, self.sums + other.sums, self.squares + other.squares)

    def merged(self, labels: NDArray, k: int) -> Sets:
        """k sets: set j is all those with label j in one."""
        new = Sets.empty(k, self.sums.shape[1])
        for into, those in ((new.counts, self.counts), (new.sums, self.sums), (new.squares, self.squares)):
            np.add.at(into, labels, those)
        return new

    def variances(self, pooled: NDArray) -> NDArray:
        """Of every set and column; each set counts one further row of the `pooled` variance, so that few rows, or rows
        that are all alike, do not make a set that nothing can join."""
        return (self.within + pooled) / (self.counts + 1.0)[:, None]


def pooled_variance(sets: Sets, grain: float) -> NDArray:
    """Mean variance within the sets, of every column, and never quite zero."""
    variance = sets.within.sum(axis=0) / max(1.0, float(sets.counts.sum()))
    return np.maximum(variance, max(1e-12 * float(variance.max(initial=0.0)), grain))


def joining(X: NDArray, sets: Sets, origin: NDArray, pooled: NDArray, threshold: float) -> tuple[Sets, NDArray]:
    """Every row joins its nearest set if it lies within `threshold` standard deviations of it, on average a column.

    Returns the statistics of those that join and the labels, -1 for the rows that are near none.
    """
    means = sets.means + origin
    labels, _ = assign(X, means.astype(X.dtype))
    return gathered(X, labels, means, 1.0 / sets.variances(pooled), threshold**2 * X.shape[1], origin), labels


def gathered(X: NDArray, labels: NDArray, means: NDArray, scales: NDArray, limit: float, origin: NDArray) -> Sets:
    """Statistics of the rows that pass, chunk by chunk in a fixed order; the labels of the others become -1."""
    k, d = means.shape

    def part(start: int, stop: int) -> Sets:
        new = Sets.empty(k, d)
        admit(X, means, scales, limit, origin, labels, new.counts, new.sums, new.squares, start, stop)
        return new

    most = max(1, min(16, _PARTIALS // (8 * k * (2 * d + 1))))
    total = Sets.empty(k, d)
    for new in parallel.run(part, len(X), max(1 << 12, -(-len(X) // most))):
        total = total + new
    return total


def statistics(X: NDArray, labels: NDArray, k: int, origin: NDArray) -> Sets:
    """Statistics of the k groups that labels say."""
    flat = np.zeros((k, X.shape[1]))
    return gathered(X, labels.astype(np.int32), flat, flat, np.inf, origin)


def clustered(X: NDArray, k: int, weights: NDArray | None = None, **options) -> KMeans:
    """k-means inside another fit; Ctrl-C ends that one too."""
    model = KMeans(k, **options).fit(X, sample_weight=weights)
    _pass_on(model.history_)
    return model


def roughly(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None = None) -> NDArray:
    """Labels of a quick k-means: a good start and a few iterations."""
    scheme = Lloyd(X, k, weights)
    start = scheme.start(kmeans_plus_plus(X, k, rng, weights, trials=1))
    state, history = iterate(scheme.step, start, Loop(max_iter=4, tol=0.0))
    _pass_on(history)
    return state["labels"]


def _pass_on(history: History) -> None:
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
