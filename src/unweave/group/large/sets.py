"""Know sets of rows by three statistics (how many, their sum, the sum of their squares), and make few sets of many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.kmeans.inside import rough_labels
from unweave.group.kmeans.passes import assign
from unweave.kernels.large import admit

_ROWS_EACH = 8  # retained rows for each small set that is tried
_PARTIALS = 1 << 20  # bytes of partial statistics that threads may hold together


@dataclass(frozen=True)
class Sets:
    """Hold N, SUM and SUMSQ of every set, of rows less a fixed origin near all of them, so that little cancels."""

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
        """Compute the means of the rows less the origin; zero for a set without rows."""
        return self.sums / np.maximum(self.counts, 1.0)[:, None]

    @property
    def within(self) -> NDArray:
        """Compute the sum of squared deviations from the mean, of every set and column."""
        return np.maximum(self.squares - self.sums * self.means, 0.0)

    def take(self, which) -> Sets:
        return Sets(self.counts[which], self.sums[which], self.squares[which])

    def joined(self, other: Sets) -> Sets:
        """List these sets and then those."""
        pairs = zip((self.counts, self.sums, self.squares), (other.counts, other.sums, other.squares))
        return Sets(*(np.concatenate(pair) for pair in pairs))

    def __add__(self, other: Sets) -> Sets:
        return Sets(self.counts + other.counts, self.sums + other.sums, self.squares + other.squares)

    def merged(self, labels: NDArray, k: int) -> Sets:
        """Merge into k sets: set j is all those with label j in one."""
        new = Sets.empty(k, self.sums.shape[1])
        for into, those in ((new.counts, self.counts), (new.sums, self.sums), (new.squares, self.squares)):
            np.add.at(into, labels, those)
        return new

    def variances(self, pooled: NDArray) -> NDArray:
        """Compute the variance of every set and column.

        Each set counts one further row of the `pooled` variance, so that few rows, or rows that are all alike, do not
        make a set that nothing can join.
        """
        return (self.within + pooled) / (self.counts + 1.0)[:, None]


def pooled_variance(sets: Sets, grain: float) -> NDArray:
    """Compute the mean variance within the sets, of every column, never quite zero."""
    variance = sets.within.sum(axis=0) / max(1.0, float(sets.counts.sum()))
    return np.maximum(variance, max(1e-12 * float(variance.max(initial=0.0)), grain))


def joining(X: NDArray, sets: Sets, origin: NDArray, pooled: NDArray, threshold: float) -> tuple[Sets, NDArray]:
    """Let every row join its nearest set if it lies within `threshold` standard deviations, on average over columns.

    Returns the statistics of those that join and the labels, -1 for the rows that are near none.
    """
    means = sets.means + origin
    labels, _ = assign(X, means.astype(X.dtype))
    return gathered(X, labels, means, 1.0 / sets.variances(pooled), threshold**2 * X.shape[1], origin), labels


def gathered(X: NDArray, labels: NDArray, means: NDArray, scales: NDArray, limit: float, origin: NDArray) -> Sets:
    """Add up the statistics of the rows that pass, in a fixed order of chunks; the labels of the others become -1."""
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
    """Add up the statistics of the k groups that labels say."""
    flat = np.zeros((k, X.shape[1]))
    return gathered(X, labels.astype(np.int32), flat, flat, np.inf, origin)


def compress(sets: Sets, rows: NDArray, origin: NDArray, limit: float, bounds, rng) -> tuple[Sets, NDArray]:
    """Turn retained rows into small sets and merge small sets; both stay within `bounds`.

    A group of retained rows becomes a set if its variance (mean over columns) is at most `limit`; if too many rows
    remain, the tightest other groups do too. Sets are merged in pairs while the variance of the union is at most
    `limit`; if too many remain, those that lie together are merged by k-means.
    """
    if len(rows) > bounds.retained:
        new, rows = _small_sets(rows, origin, limit, bounds, rng)
        sets = sets.joined(new)
    sets = _merge_close(sets, limit)
    if len(sets) > bounds.sets:
        half = max(1, bounds.sets // 2)
        sets = sets.merged(rough_labels(sets.means, half, rng, sets.counts), half)
        sets = sets.take(sets.counts > 0)
    return sets, rows


def _small_sets(rows: NDArray, origin: NDArray, limit: float, bounds, rng) -> tuple[Sets, NDArray]:
    k = max(1, min(len(rows) // _ROWS_EACH, bounds.sets // 2))
    labels = rough_labels(rows, k, rng)
    groups = statistics(rows, labels, k, origin)
    variance = _mean_variance(groups)
    several = groups.counts > 1
    accepted = several & (variance <= limit)
    left = len(rows) - int(groups.counts[accepted].sum())
    for j in np.argsort(variance, kind="stable"):
        if left <= bounds.retained // 2:
            break
        if several[j] and not accepted[j]:
            accepted[j] = True
            left -= int(groups.counts[j])
    return groups.take(accepted), rows[~accepted[labels]]


def _mean_variance(sets: Sets) -> NDArray:
    return sets.within.mean(axis=1) / np.maximum(sets.counts, 1.0)


def _merge_close(sets: Sets, limit: float) -> Sets:
    """Merge pairs that are each other's nearest while the union stays tight, until there is none."""
    while len(sets) > 1:
        near = _nearest_other(sets.means)
        mutual = np.flatnonzero((near[near] == np.arange(len(sets))) & (np.arange(len(sets)) < near))
        unions = sets.take(mutual) + sets.take(near[mutual])
        good = mutual[_mean_variance(unions) <= limit]
        if not len(good):
            break
        labels = np.arange(len(sets))
        labels[near[good]] = good
        _, labels = np.unique(labels, return_inverse=True)
        sets = sets.merged(labels, int(labels.max()) + 1)
    return sets


def _nearest_other(points: NDArray) -> NDArray:
    from scipy.spatial.distance import cdist

    squares = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    return squares.argmin(axis=1)
