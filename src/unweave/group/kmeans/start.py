"""Find where k-means starts: by greedy k-means++, farthest-first traversal, rows or a partition drawn at random."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave import parallel
from unweave.group.kmeans.passes import chunk_rows
from unweave.kernels.lloyd import seed_accept, seed_pass


class _Seeds:
    """Keep the squared distance of each row to the nearest centre so far, by one fused pass per centre."""

    def __init__(self, X: np.ndarray, k: int, sample_weight: np.ndarray | None, trials: int):
        self.X = X = np.ascontiguousarray(X)
        (n, d), self.trials = X.shape, trials
        if not 1 <= k <= n:
            raise ValueError(f"k must be between 1 and the number of rows, {n}, got {k}")
        self.stride = 0 if sample_weight is None else 1
        self.weights = np.ones(1) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        self.closest, self.owner = np.full(n, np.inf, X.dtype), np.full(n, -1, np.int32)
        self.trial = np.empty((trials, n), X.dtype)
        self.centres, self.count = np.empty((k, d), X.dtype), 0
        self.size = chunk_rows(d, trials, 2**15)
        self.blocks = np.empty(0)

    def offer(self, rows: np.ndarray) -> None:
        """Take as the next centre the one of these rows that leaves the smallest sum of squared distances."""
        candidates = self.X[rows]
        apart = self._apart(candidates)

        def part(start: int, stop: int) -> np.ndarray:
            potentials = np.empty(len(rows))
            seed_pass(
                self.X,
                candidates,
                apart,
                self.owner,
                self.closest,
                self.weights,
                self.stride,
                self.trial,
                potentials,
                start,
                stop,
            )
            return potentials

        potentials = np.array(parallel.run(part, len(self.X), self.size))
        best = int(potentials.sum(axis=0).argmin())
        self.blocks = potentials[:, best]
        chosen = self.trial[best]
        parallel.run(
            lambda start, stop: seed_accept(chosen, self.closest, self.owner, self.count, start, stop),
            len(self.X),
            self.size,
        )
        self.centres[self.count] = candidates[best]
        self.count += 1

    def _apart(self, candidates: np.ndarray) -> np.ndarray:
        """Compute squared distances from candidates to the centres so far, rounded down (zeros where none is known)."""
        made = self.centres[: self.count].astype(np.float64)
        wanted = candidates.astype(np.float64)
        norms = np.einsum("ij,ij->i", wanted, wanted)[:, None] + np.einsum("ij,ij->i", made, made)
        d = wanted.shape[1]
        apart = norms * (1.0 - 1e-15 * (8 + d)) - 2.0 * (wanted @ made.T)
        known = np.zeros((len(candidates), len(self.centres)))
        known[:, : self.count] = np.maximum(apart, 0.0) * (1.0 - 1e-6 * (16 + 4 * np.sqrt(d)))
        return known

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw rows in proportion to weight times squared distance: first the block, then the row in it."""
        ends = np.cumsum(self.blocks)
        rows = np.empty(self.trials, np.intp)
        for t, point in enumerate(rng.random(self.trials) * ends[-1]):
            block = min(int(np.searchsorted(ends, point, side="right")), len(ends) - 1)
            while self.blocks[block] == 0.0:  # only rounding leads past the last row of weight
                block -= 1
            start = block * self.size
            mass = self.closest[start : start + self.size].astype(np.float64)
            if self.stride:
                mass *= self.weights[start : start + self.size]
            inside = np.searchsorted(np.cumsum(mass), point - (ends[block] - self.blocks[block]), side="right")
            rows[t] = start + min(int(inside), int(np.flatnonzero(mass)[-1]))
        return rows


def _draw_by_weight(n: int, size: int, rng: np.random.Generator, sample_weight: np.ndarray | None) -> np.ndarray:
    if sample_weight is None:
        return rng.integers(n, size=size)
    share = np.asarray(sample_weight, dtype=np.float64)
    return rng.choice(n, size=size, p=share / share.sum())


def kmeans_plus_plus(
    X: np.ndarray, k: int, rng: np.random.Generator, sample_weight: np.ndarray | None = None, trials: int | None = None
) -> np.ndarray:
    """Draw k rows of X, spread out in proportion to squared distance (greedy k-means++).

    Each next centre is the best of `trials` rows (2 + ln k unless told) drawn with probability proportional to
    ``w_i min_j |x_i - c_j|^2``; best means the smallest sum of those numbers afterwards. One fused pass over X per
    centre, in which the triangle inequality spares the rows that no candidate can come nearer to. The start of choice
    for k-means: its expected cost is within a factor O(log k) of the best.

    Reference: D. Arthur, S. Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.

    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    >>> sorted(kmeans_plus_plus(X, 3, np.random.default_rng(0)).ravel().round().tolist())
    [0.0, 5.0, 9.0]
    """
    trials = 2 + int(np.log(k)) if trials is None else int(trials)
    seeds = _Seeds(X, k, sample_weight, trials)
    seeds.offer(_draw_by_weight(len(X), 1, rng, sample_weight))
    while seeds.count < k:
        spread = seeds.blocks.sum() > 0.0
        seeds.offer(seeds.draw(rng) if spread else _draw_by_weight(len(X), 1, rng, sample_weight))
    return seeds.centres


def farthest_first(
    X: np.ndarray, k: int, rng: np.random.Generator, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Take a random row, then again and again the row farthest from all those taken: at most twice the best radius.

    It looks at distances only; weights do not matter to it. For data without outliers, or to start from the extremes
    (archetypes). Reference: T. Gonzalez, Theor. Comput. Sci. 38 (1985).

    >>> X = np.array([[0.0], [1.0], [10.0]])
    >>> sorted(farthest_first(X, 2, np.random.default_rng(0)).ravel().tolist())
    [0.0, 10.0]
    """
    seeds = _Seeds(X, k, None, 1)
    seeds.offer(_draw_by_weight(len(X), 1, rng, None))
    while seeds.count < k:
        seeds.offer(np.array([seeds.closest.argmax()]))
    return seeds.centres


def random_rows(X: np.ndarray, k: int, rng: np.random.Generator, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Draw k different rows of X at random, in proportion to `sample_weight`; rows of no weight only if others run out.

    >>> random_rows(np.eye(3), 3, np.random.default_rng(0)).sum(axis=0).tolist()
    [1.0, 1.0, 1.0]
    """
    n = len(X)
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of rows, {n}, got {k}")
    if sample_weight is None:
        return np.ascontiguousarray(X[rng.choice(n, size=k, replace=False)])
    share = np.asarray(sample_weight, dtype=np.float64)
    weighty = min(k, int(np.count_nonzero(share)))
    rows = rng.choice(n, size=weighty, replace=False, p=share / share.sum())
    if weighty < k:
        rest = np.setdiff1d(np.flatnonzero(share == 0.0), rows)
        rows = np.concatenate([rows, rng.choice(rest, size=k - weighty, replace=False)])
    return np.ascontiguousarray(X[rows])


def partition_means(
    X: np.ndarray, k: int, rng: np.random.Generator, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Compute the weighted means of k groups of equal size, drawn at random: all near the middle of the table.

    >>> partition_means(np.array([[1.0], [3.0]]), 1, np.random.default_rng(0)).tolist()
    [[2.0]]
    """
    n = len(X)
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of rows, {n}, got {k}")
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    order = rng.permutation(n)
    # Rows of no weight come last, so that every group has weight if there are k rows with any.
    group = np.empty(n, np.int32)
    group[order[np.argsort(weights[order] == 0, kind="stable")]] = np.arange(n) % k
    shares = sp.csr_array((weights, (group, np.arange(n))), shape=(k, n))
    mass = np.bincount(group, weights, k)[:, None]
    return np.where(mass > 0, (shares @ X) / np.where(mass > 0, mass, 1), X[:k]).astype(X.dtype)
