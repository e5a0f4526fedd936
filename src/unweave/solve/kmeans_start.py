"""Where k-means begins: rows of the table that lie far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.linalg.products import column_means, row_squared_norms


class _Distances:
    """Squared distances from all rows to a few of them, taken about the mean so that large means do not cancel."""

    def __init__(self, X: NDArray):
        self.X, self.mean = X, column_means(X).astype(X.dtype)
        self.norms = row_squared_norms(X, shift=self.mean)

    def to(self, rows: NDArray) -> NDArray[np.float64]:
        C = np.ascontiguousarray((self.X[rows] - self.mean).T)
        near = self.mean @ C
        out = np.empty((len(self.X), len(rows)))
        size = max(64, 2**22 // max(1, self.X.shape[1]))

        def task(start, stop):
            inner = self.X[start:stop] @ C - near
            out[start:stop] = np.maximum(self.norms[start:stop, None] - 2.0 * inner + self.norms[rows], 0)

        parallel.run(task, len(self.X), size)
        out[rows, np.arange(len(rows))] = 0
        return out


def kmeans_plus_plus(
    X: NDArray, k: int, rng: np.random.Generator, sample_weight: NDArray | None = None, trials: int | None = None
) -> NDArray:
    """Greedy k-means++: each centre is the best of a few rows drawn with probability proportional to their cost so far.

    A row's cost is its weight times its squared distance to the nearest centre chosen. When every row lies on a centre
    the rest are drawn at random. Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding.

    >>> X = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> sorted(kmeans_plus_plus(X, 2, np.random.default_rng(0)).round().ravel().tolist())
    [0.0, 9.0]
    """
    n = len(X)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    trials = 2 + int(np.log(k)) if trials is None else trials
    distances = _Distances(X)
    first = _draw(weights, 1, rng)
    chosen = [int(first[0])]
    nearest = distances.to(first)[:, 0]
    while len(chosen) < k:
        candidates = _draw(weights * nearest, trials, rng)
        tried = np.minimum(nearest[:, None], distances.to(candidates))
        best = int(np.argmin(weights @ tried))
        chosen.append(int(candidates[best]))
        nearest = np.ascontiguousarray(tried[:, best])
    return X[chosen].copy()


def _draw(cost: NDArray, count: int, rng: np.random.Generator) -> NDArray:
    """Rows drawn with probability proportional to `cost`; uniformly when there is none."""
    total = np.cumsum(cost)
    if not total[-1] > 0:
        return rng.integers(len(cost), size=count)
    return np.minimum(np.searchsorted(total, rng.random(count) * total[-1], side="right"), len(cost) - 1)


def farthest_first(X: NDArray, k: int, rng: np.random.Generator, sample_weight: NDArray | None = None) -> NDArray:
    """A random row, then always the row farthest from those chosen (Gonzalez 1985); swayed by outliers."""
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    distances = _Distances(X)
    chosen = [int(_draw(weights, 1, rng)[0])]
    nearest = np.full(len(X), np.inf)
    while len(chosen) < k:
        nearest = np.minimum(nearest, distances.to(np.array(chosen[-1:]))[:, 0])
        chosen.append(int(np.argmax(np.where(weights > 0, nearest, -1))))
    return X[chosen].copy()


def random_rows(X: NDArray, k: int, rng: np.random.Generator, sample_weight: NDArray | None = None) -> NDArray:
    """k different rows, all equally likely (or in proportion to their weights)."""
    share = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64) / np.sum(sample_weight)
    enough = share is None or np.count_nonzero(share) >= k
    return X[rng.choice(len(X), k, replace=not enough, p=share)].copy()
