"""BFR as a scheme of the one loop: a step takes in one block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.group.bfr_compress import compress
from unweave.group.bfr_memory import Bounds
from unweave.group.bfr_sets import Sets, clustered, joining, pooled_variance, statistics
from unweave.parallel import chunks
from unweave.solve.lloyd_rows import assign


@dataclass(frozen=True)
class Summary:
    """All that is known of the rows read so far.

    `discard` are the k clusters, `compressed` small sets far from them, both as statistics of the rows less `origin`;
    `retained` are rows near neither, as they came.
    """

    discard: Sets
    compressed: Sets
    retained: NDArray
    origin: NDArray

    @classmethod
    def of(cls, state: dict) -> Summary:
        k = state["clusters"]
        every = Sets(state["counts"], state["sums"], state["squares"])
        return cls(every.take(slice(0, k)), every.take(slice(k, None)), state["retained"], state["origin"])

    def state(self) -> dict:
        every = self.discard.joined(self.compressed)
        return {
            "clusters": len(self.discard),
            "counts": every.counts,
            "sums": every.sums,
            "squares": every.squares,
            "retained": self.retained,
            "origin": self.origin,
        }


@dataclass(frozen=True)
class Stream:
    """How blocks are taken in."""

    n_clusters: int
    bounds: Bounds
    threshold: float
    tightness: float
    options: dict[str, Any]

    def begin(self, d: int, dtype: np.dtype, seed: int) -> dict:
        """Nothing read yet."""
        none = Sets.empty(0, d)
        return {**Summary(none, none, np.empty((0, d), dtype), np.zeros(d)).state(), "blocks": 0, "rows": 0,
                "seed": seed}  # fmt: skip

    def step(self, state: dict, block: NDArray, last: bool = False) -> tuple[dict, float]:
        """Take in a block; the mean objective of a row so far if all that is left over joined a cluster.

        The first clustering waits until there are rows enough for it, or this is the last block.
        """
        summary = Summary.of(state)
        rng = np.random.default_rng([state["seed"], state["blocks"]])
        for start, stop in chunks(len(block), self.bounds.block):
            summary = self._take(summary, block[start:stop], rng)
        if last and not len(summary.discard) and len(summary.retained):
            summary = self._first_clusters(summary, rng)
        new = {**state, **summary.state(), "blocks": state["blocks"] + 1, "rows": state["rows"] + len(block)}
        return new, self._objective(summary) / max(1, new["rows"])

    def _take(self, summary: Summary, rows: NDArray, rng) -> Summary:
        if not len(summary.discard):
            summary = Summary(summary.discard, summary.compressed, np.concatenate([summary.retained, rows]),
                              summary.origin)  # fmt: skip
            return self._first_clusters(summary, rng) if len(summary.retained) >= self.bounds.start else summary
        pooled = self._pooled(summary)
        joined, labels = joining(rows, summary.discard, summary.origin, pooled, self.threshold)
        discard = summary.discard + joined
        left, compressed = rows[labels < 0], summary.compressed
        if len(compressed) and len(left):
            small = self.tightness**2 * pooled
            joined, labels = joining(left, compressed, summary.origin, small, self.threshold)
            left, compressed = left[labels < 0], compressed + joined
        retained = np.concatenate([summary.retained, left]) if len(left) else summary.retained
        limit = self.tightness**2 * float(pooled.mean())
        compressed, retained = compress(compressed, retained, summary.origin, limit, self.bounds, rng)
        return Summary(discard, compressed, retained, summary.origin)

    def _pooled(self, summary: Summary) -> NDArray:
        grain = (np.finfo(summary.retained.dtype).eps * (1e-30 + np.abs(summary.origin).max(initial=0.0))) ** 2
        return pooled_variance(summary.discard, float(grain))

    def _first_clusters(self, summary: Summary, rng) -> Summary:
        """k-means of the rows so far; rows that are far from every cluster stay behind."""
        X = summary.retained
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}")
        model = clustered(X, self.n_clusters, random_state=rng, **self.options)
        origin = X.mean(axis=0, dtype=np.float64)
        whole = statistics(X, model.labels_, self.n_clusters, origin)
        pooled = self._pooled(Summary(whole, summary.compressed, X[:0], origin))
        joined, labels = joining(X, whole, origin, pooled, self.threshold)
        return Summary(joined, summary.compressed, X[labels < 0], origin)

    def _objective(self, summary: Summary) -> float:
        """½ Σ of squared distances if every small set and retained row joined the nearest cluster."""
        if not len(summary.discard):
            rows = summary.retained.astype(np.float64)
            return 0.5 * float(((rows - rows.mean(axis=0)) ** 2).sum()) if len(rows) else 0.0
        points, weights = leftovers(summary)
        total = summary.discard.within.sum() + summary.compressed.within.sum()
        if len(points):
            total += assign(points, summary.discard.means)[1] @ weights
        return 0.5 * float(total)


def leftovers(summary: Summary) -> tuple[NDArray, NDArray]:
    """Means of the small sets and the retained rows, less the origin, and how many rows each stands for."""
    points = np.concatenate([summary.compressed.means, summary.retained - summary.origin])
    return points, np.concatenate([summary.compressed.counts, np.ones(len(summary.retained))])


def final_clusters(summary: Summary, k: int, options: dict[str, Any], seed: int) -> tuple[NDArray, float]:
    """Centres and objective of k clusters of everything that is left: the clusters, small sets and retained rows.

    A weighted k-means on their means, from the clusters as they are and from a start of its own; the better counts.
    """
    filled = summary.discard.take(summary.discard.counts > 0)
    points, weights = leftovers(summary)
    within = float(filled.within.sum() + summary.compressed.within.sum())
    points, weights = np.concatenate([filled.means, points]), np.concatenate([filled.counts, weights])
    if len(points) <= k:
        centres = points[np.arange(k) % len(points)]
        return centres + summary.origin, 0.5 * within
    rng = np.random.default_rng([seed, 1 << 32])
    fits = [clustered(points, k, weights, random_state=rng, **options)]
    if len(filled) == k:
        fits.append(clustered(points, k, weights, init=filled.means, **options))
    best = min(fits, key=lambda fit: fit.inertia_)
    return best.cluster_centers_ + summary.origin, 0.5 * (within + best.inertia_)
