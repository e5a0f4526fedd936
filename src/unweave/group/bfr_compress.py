"""The compressed and the retained set of BFR: rows far from every cluster become small sets, within bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.bfr_sets import Sets, roughly, statistics

_ROWS_EACH = 8  # retained rows for each small set that is tried


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
        sets = sets.merged(roughly(sets.means, half, rng, sets.counts), half)
        sets = sets.take(sets.counts > 0)
    return sets, rows


def _small_sets(rows: NDArray, origin: NDArray, limit: float, bounds, rng) -> tuple[Sets, NDArray]:
    k = max(1, min(len(rows) // _ROWS_EACH, bounds.sets // 2))
    labels = roughly(rows, k, rng)
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
