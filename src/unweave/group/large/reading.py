"""Read rows once within a number of bytes: blocks become statistics of clusters, small sets and a few rows (BFR)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.group.kmeans.inside import fitted_kmeans
from unweave.group.kmeans.passes import assign
from unweave.group.large.blocks import RowBlocks
from unweave.group.large.sets import Sets, compress, joining, pooled_variance, statistics
from unweave.parallel import chunks
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme

_SCRATCH = 160  # bytes per row that k-means works with, beside two copies of the rows
_MOST_SETS = 512  # more are merged sooner: all pairs of them are compared


class Bounds(NamedTuple):
    """Say how many rows of a block, rows of the first clustering, retained rows and compressed sets are kept."""

    block: int
    start: int
    retained: int
    sets: int


def share_memory(memory, k: int, d: int, itemsize: int) -> Bounds:
    """Share `memory` bytes out; ValueError with the least that would do if it is too little.

    An eighth for the block under way, three eighths for the first clustering, a sixteenth each for retained rows and
    compressed sets (kept twice, before and after a block); the rest is for the final clustering and odds and ends.

    >>> share_memory(2**25, 16, 8, 4)
    Bounds(block=65536, start=56173, retained=16384, sets=362)
    """
    memory = whole(memory, "memory", 1)
    row = d * itemsize
    sets = min(_MOST_SETS, memory // 16 // (64 * d + 64), math.isqrt(memory // 16 // 16))
    bounds = Bounds(
        block=memory // 8 // (row + 32),
        start=memory * 3 // 8 // (2 * row + _SCRATCH),
        retained=memory // 16 // (4 * row),
        sets=sets,
    )
    least = max(bounds_needed(k, d, row))
    if memory < least:
        raise ValueError(
            f"memory={memory} bytes is too little for n_clusters={k} and {d} columns: give at least {least}"
        )
    return bounds


def bounds_needed(k: int, d: int, row: int) -> tuple[int, int, int, int]:
    """Count the bytes that 8 rows per cluster at the start, 64 retained rows, 16 sets and k statistics need."""
    return (
        8 * k * (2 * row + _SCRATCH) * 8 // 3 + 16,
        64 * 16 * 4 * row,
        16 * 16 * max(64 * d + 64, 16 * 16),
        8 * k * (64 * d + 64),
    )


@dataclass(frozen=True)
class Summary:
    """Hold all that is known of the rows read so far.

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
class OnePass(Scheme):
    """Read rows once, block by block: a step takes in one block, and its objective is that of a row, on average.

    `done` blocks were read before the first of `rows` (a model that goes on learning); `options` are those of the
    k-means at the start and at the end.
    """

    rows: RowBlocks
    n_clusters: int
    bounds: Bounds
    threshold: float
    tightness: float
    options: dict[str, Any]
    done: int = 0

    rises = True  # each block brings rows that no cluster has seen

    def begin(self, rng=None) -> dict:
        """Make the state before anything is read."""
        rng = np.random.default_rng(0) if rng is None else rng
        none = Sets.empty(0, self.rows.n_columns)
        retained = np.empty((0, self.rows.n_columns), self.rows.dtype)
        summary = Summary(none, none, retained, np.zeros(self.rows.n_columns))
        return {**summary.state(), "blocks": 0, "rows": 0, "seed": int(rng.integers(1 << 62))}

    def adapt(self, loop: Loop) -> Loop:
        """Take one step for each block."""
        return replace(loop, max_iter=len(self.rows), tol=0.0, ending="every block was read")

    def step(self, state: dict) -> tuple[dict, float]:
        i = state["blocks"] - self.done
        new = self.take_in(state, self.rows.load(i), last=i + 1 == len(self.rows))
        self.rows.let_go(i)
        return new

    def finish(self, state: dict) -> dict:
        """Make clusters of what there is where the reading was stopped before there were rows enough."""
        if state["clusters"] or not state["rows"]:
            return state
        return self.take_in(state, state["retained"][:0], last=True)[0]

    def take_in(self, state: dict, block: NDArray, last: bool) -> tuple[dict, float]:
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
        """Cluster the rows so far by k-means; rows that are far from every cluster stay behind."""
        X = summary.retained
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}")
        model = fitted_kmeans(X, self.n_clusters, random_state=rng, **self.options)
        origin = X.mean(axis=0, dtype=np.float64)
        whole = statistics(X, model.labels_, self.n_clusters, origin)
        pooled = self._pooled(Summary(whole, summary.compressed, X[:0], origin))
        joined, labels = joining(X, whole, origin, pooled, self.threshold)
        return Summary(joined, summary.compressed, X[labels < 0], origin)

    def _objective(self, summary: Summary) -> float:
        """Compute ½ Σ of squared distances if every small set and retained row joined the nearest cluster."""
        if not len(summary.discard):
            rows = summary.retained.astype(np.float64)
            return 0.5 * float(((rows - rows.mean(axis=0)) ** 2).sum()) if len(rows) else 0.0
        points, weights = leftovers(summary)
        total = summary.discard.within.sum() + summary.compressed.within.sum()
        if len(points):
            total += assign(points, summary.discard.means)[1] @ weights
        return 0.5 * float(total)


def leftovers(summary: Summary) -> tuple[NDArray, NDArray]:
    """List the means of the small sets and the retained rows, less the origin, and how many rows each stands for."""
    points = np.concatenate([summary.compressed.means, summary.retained - summary.origin])
    return points, np.concatenate([summary.compressed.counts, np.ones(len(summary.retained))])


def final_clusters(summary: Summary, k: int, options: dict[str, Any], seed: int) -> tuple[NDArray, float]:
    """Find centres and objective of k clusters of everything that is left: the clusters, small sets and retained rows.

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
    fits = [fitted_kmeans(points, k, weights, random_state=rng, **options)]
    if len(filled) == k:
        fits.append(fitted_kmeans(points, k, weights, init=filled.means, **options))
    best = min(fits, key=lambda fit: fit.inertia_)
    return best.cluster_centers_ + summary.origin, 0.5 * (within + best.inertia_)
