"""Measure whether rows lie nearer to their own cluster than to the next, exactly and in memory that grows with n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave import parallel
from unweave.data.arguments import generator, whole
from unweave.data.storage import as_dense, is_array, row_squares
from unweave.data.table import check_table
from unweave.data.tiny_values import enlarged
from unweave.kernels.silhouette import TILE, WIDTH, mean_distances
from unweave.linalg.operators import as_product
from unweave.select.trial import Trial, labels_of

_NARROW = 64  # columns up to which distances are summed by the kernel; products of matrices are faster beyond
_PIECE = 1 << 17  # rows that one call of the kernel goes through
_CELLS = 1 << 21  # distances of a block that are in memory at once


def silhouette(X, labels, sample: int | None = None, *, random_state=None) -> float:
    """Average the silhouettes of a clustering, in [−1, 1].

    Near 1 for tight clusters far apart, near 0 where they touch.

    s_i = (b_i − a_i)/max(a_i, b_i), with a_i the mean Euclidean distance of row i to the others of its cluster and b_i
    the least mean distance to the rows of another one. Rows alone in their cluster have s_i = 0, and so has everything
    when there is one cluster only. Rows labelled −1 belong to no cluster and are left out.

    The n×n distances are never kept: memory grows with n, time with n². With `sample` the mean is over that many rows,
    drawn at random, each with its exact s_i (its distances to all rows), so that it is unbiased and costs sample·n.

    Parameters
    ----------
    X : array, sparse matrix or data frame (n, m)
    labels : array (n,)
    sample : int, optional
        How many rows to average over; all if None or more than n.
    random_state : None, int or generator
        For the sample.

    Examples
    --------
    >>> round(silhouette([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 4)
    0.8997

    References
    ----------
    Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster analysis.
    """
    values, labels = _checked(X, labels)
    clustered = np.flatnonzero(labels >= 0)
    if sample is not None and whole(sample, "sample", 1) < len(clustered):
        rng = generator(random_state)
        clustered = np.sort(rng.choice(clustered, sample, replace=False))
    return float(_rows(values, labels, clustered).mean())


def silhouette_rows(X, labels) -> NDArray:
    """Compute the silhouette of every row, as in :func:`silhouette`; 0 for rows labelled −1.

    >>> silhouette_rows([[0.0], [1.0], [10.0], [12.0]], [0, 0, 1, 1]).round(3)
    array([0.909, 0.9  , 0.789, 0.826])
    """
    values, labels = _checked(X, labels)
    clustered = np.flatnonzero(labels >= 0)
    out = np.zeros(len(labels))
    out[clustered] = _rows(values, labels, clustered)
    return out


def _checked(X, labels) -> tuple[Any, NDArray]:
    """Bring a table to a scale whose squares do not vanish, and number its labels from 0; −1 stays −1."""
    values = enlarged(check_table(BaseEstimator(), X, None, reset=True).values)
    labels = np.asarray(labels)
    if labels.shape != (values.shape[0],):
        raise ValueError(f"labels must hold one label for each of the {values.shape[0]} rows, got {labels.shape}")
    outside = labels == -1 if labels.dtype.kind in "if" else np.zeros(len(labels), bool)
    if outside.all():
        raise ValueError("labels holds no cluster: every row is labelled -1")
    codes = np.full(len(labels), -1, np.int64)
    codes[~outside] = np.unique(labels[~outside], return_inverse=True)[1].reshape(-1)
    return values, codes


def _rows(values: Any, labels: NDArray, wanted: NDArray) -> NDArray:
    """Compute the silhouettes of the rows `wanted`."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    counts = np.bincount(labels[order])
    if len(counts) == 1:
        return np.zeros(len(wanted))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(order))
    queries, own = place[wanted], labels[wanted]
    narrow = is_array(values) and values.shape[1] <= _NARROW
    means = _by_kernel if narrow else _by_products
    with parallel.single_blas():
        inside, nearest = means(values[order], queries, own, offsets)
    alone = counts[own] == 1
    larger = np.maximum(inside, nearest)
    return np.where(alone | (larger == 0), 0.0, (nearest - inside) / np.where(larger == 0, 1.0, larger))


def _by_kernel(values: NDArray, queries, own, offsets) -> tuple[NDArray, NDArray]:
    n, m = values.shape
    X = np.zeros((n, -(-m // WIDTH) * WIDTH), values.dtype)
    X[:, :m] = values
    total, inside = np.zeros(len(queries)), np.zeros(len(queries))
    nearest = np.full(len(queries), np.inf)

    def tile(start: int, stop: int) -> None:
        for first, last in parallel.chunks(n, _PIECE):
            mean_distances(X, queries, own, offsets, first, last, total, inside, nearest, start, stop)

    parallel.run(tile, len(queries), TILE)
    return inside, nearest


def _by_products(values: Any, queries, own, offsets) -> tuple[NDArray, NDArray]:
    """Compute the same from |x|² + |y|² − 2 x·y in float64, blocks of queries against all rows."""
    values = values.astype(np.float64)
    if is_array(values):
        values -= values.mean(axis=0)
    product = as_product(values)
    squares, counts = row_squares(values), np.diff(offsets)
    inside, nearest = np.empty(len(queries)), np.empty(len(queries))
    for start, stop in parallel.chunks(len(queries), max(1, _CELLS // len(squares))):
        these, mine, at = queries[start:stop], own[start:stop], np.arange(stop - start)
        block = as_dense(values[these])
        gaps = squares[:, None] + squares[these] - 2 * product.dot(np.ascontiguousarray(block.T))
        gaps[these, at] = 0
        sums = np.add.reduceat(np.sqrt(np.maximum(gaps, 0, out=gaps), out=gaps), offsets[:-1], axis=0)
        inside[start:stop] = sums[mine, at] / np.maximum(counts[mine] - 1, 1)
        means = sums / counts[:, None]
        means[mine, at] = np.inf
        nearest[start:stop] = means.min(axis=0)
    return inside, nearest


@dataclass(frozen=True)
class Silhouette:
    """Score by the mean silhouette of the clusters; of `sample` rows (each against all) where there are more."""

    sample: int = 2000

    name = "silhouette"
    title = "mean silhouette"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        labels = labels_of(trial.fit(X), X)
        return np.array([silhouette(X, labels, whole(self.sample, "sample", 1), random_state=seed)])
