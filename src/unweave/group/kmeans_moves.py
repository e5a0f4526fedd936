"""Swaps that may mend a clustering: which centres are worth taking away, and which clusters worth splitting."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.kmeans_moves import removal_costs, split_gains

_SAMPLE = 1024  # rows of a cluster that speak for it: moves are only proposed here, and judged by the whole table
_ENTRIES = 2**24  # of all such rows together
_TOO_FEW = 16  # rows that say nothing about a cluster
_NEIGHBOURS = 12  # centres among which the rows of a lost one are shared out
_TRIALS = 10  # swaps tried that do not promise to pay; more where they cost nothing to speak of
_MOST_TRIALS = 100
_FREE = 2**13  # rows that all trials together may look at before they count as dear


class Sample(NamedTuple):
    """Rows of every cluster, cluster after cluster, with the weights they stand for."""

    X: NDArray
    weights: NDArray
    bounds: NDArray


class Swap(NamedTuple):
    """Centres to take away and as many clusters to split, and the fall of Σ w|x − c|² that they promise at least."""

    removed: list[int]
    split: list[int]
    promise: float


class Moves(NamedTuple):
    """What each split would gain and each removal cost, the halves of each split, and the neighbours of each centre."""

    gains: NDArray
    costs: NDArray
    pairs: NDArray
    near: NDArray


def rows_a_cluster(k: int, m: int) -> int:
    """How many rows of a cluster to look at; 0 where the table is too wide for enough of them.

    >>> rows_a_cluster(10, 2), rows_a_cluster(1000, 100_000)
    (1024, 0)
    """
    most = min(_SAMPLE, _ENTRIES // (k * m))
    return most if most >= _TOO_FEW else 0


def sample_rows(labels: NDArray, weights: NDArray | None, k: int, most: int) -> tuple[NDArray, NDArray, NDArray]:
    """At most `most` rows of each cluster, evenly spaced: (rows, weights scaled up to the cluster's, bounds).

    >>> sample_rows(np.array([1, 0, 1, 1, 1]), None, 2, 2)
    (array([1, 0, 3]), array([1., 2., 2.]), array([0, 1, 3]))
    """
    order = np.argsort(labels.astype(np.int16) if k < 2**15 else labels, kind="stable")
    if weights is not None:
        order = order[weights[order] > 0]
    counts = np.bincount(labels[order], minlength=k)
    kept = np.minimum(counts, most)
    bounds = np.concatenate([[0], np.cumsum(kept)])
    cluster = np.repeat(np.arange(k), kept)
    place = (np.arange(bounds[-1]) - bounds[cluster]) * counts[cluster] // np.maximum(kept, 1)[cluster]
    rows = order[(np.cumsum(counts) - counts)[cluster] + place]
    if weights is None:
        return rows, (counts / np.maximum(kept, 1))[cluster], bounds
    total = np.bincount(labels[order], weights[order], k)
    drawn = np.bincount(cluster, weights[rows], k)
    return rows, weights[rows] * (total / np.where(drawn > 0, drawn, 1))[cluster], bounds


def find_moves(sample: Sample, centres: NDArray) -> Moves:
    """Gains of splits by 2-means inside each cluster, and costs of removals by the next nearest centre."""
    k, d = centres.shape
    C = centres.astype(np.float64)
    near = _neighbours(C)
    gains, costs, pairs = np.zeros(k), np.zeros(k), np.zeros((k, 2, d))
    side = np.empty(len(sample.X), np.int8)
    size = max(1, 2**21 // max(1, d * len(sample.X) // k))
    parallel.run(lambda i, j: split_gains(*sample, pairs, gains, side, i, j), k, size)
    parallel.run(lambda i, j: removal_costs(*sample, C, near, costs, i, j), k, size)
    return Moves(gains, costs, pairs, near)


def _neighbours(C: NDArray) -> NDArray:
    """The nearest other centres of each, nearest first."""
    k = len(C)
    near = np.empty((k, min(_NEIGHBOURS, k - 1)), np.int64)
    middle = C - C.mean(axis=0)
    norms = np.einsum("ij,ij->i", middle, middle)
    for start in range(0, k, 512):
        block = slice(start, min(start + 512, k))
        squares = norms - 2.0 * (middle[block] @ middle.T)
        squares[np.arange(squares.shape[0]), np.arange(block.start, block.stop)] = np.inf
        near[block] = np.argsort(squares, axis=1, kind="stable")[:, : near.shape[1]]
    return near


def swaps(moves: Moves, n: int) -> list[Swap]:
    """What to try, in order: all swaps that must pay at once, the best one alone, then those that come nearest to it.

    A swap of centre b into cluster a lowers the objective at least by gain a − cost b before any centre has moved;
    when they settle it falls further, so a swap that does not promise to pay may still pay. `n` is the number of rows:
    a small table is searched more widely.
    """
    together = _paying(moves)
    bold = [together] if len(together.split) > 1 else []
    trials = max(_TRIALS, min(_MOST_TRIALS, _FREE // n))
    among = 1 + math.isqrt(2 * trials)
    splits, removals = np.argsort(-moves.gains, kind="stable"), np.argsort(moves.costs, kind="stable")
    single = [
        Swap([int(b)], [int(a)], float(moves.gains[a] - moves.costs[b]))
        for a in splits[:among]
        for b in removals[:among]
        if a != b and moves.gains[a] > 0
    ]
    return bold + sorted(single, key=lambda swap: -swap.promise)[:trials]


def _paying(moves: Moves) -> Swap:
    """Best splits with cheapest removals, pair by pair while they pay; none beside one that would change its price."""
    removed: list[int] = []
    split: list[int] = []
    promise = 0.0
    cheap = iter(np.argsort(moves.costs, kind="stable"))
    for a in np.argsort(-moves.gains, kind="stable"):
        if a in removed or moves.gains[a] <= 0:
            continue
        for b in cheap:
            if b != a and b not in split and not set(moves.near[b, :2]) & set(removed):
                break
        else:
            break
        if moves.costs[b] >= moves.gains[a]:
            break
        split.append(int(a))
        removed.append(int(b))
        promise += float(moves.gains[a] - moves.costs[b])
    return Swap(removed, split, promise)


def swapped(centres: NDArray, moves: Moves, swap: Swap) -> NDArray:
    """The centres after a swap: both halves of each split take the places of its centre and of a removed one."""
    new = centres.copy()
    new[swap.split] = moves.pairs[swap.split, 0]
    new[swap.removed] = moves.pairs[swap.split, 1]
    return new
