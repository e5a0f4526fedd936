"""Measure distances between whole rows: of dense tables with every entry known, checked on the way in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.storage import is_array
from unweave.data.table import check_table
from unweave.group.kmeans.labels import one_hot
from unweave.parallel import get_num_threads
from unweave.solve.progress import warn_user

_HOLES = (
    "Input X contains NaN, and distances between rows need every entry; fill the holes first (unweave.TableImputer)"
)


def whole_rows(estimator, X, *, reset: bool) -> NDArray:
    """Check X as a dense array of floats; sparse tables and holes are refused in words."""
    if not is_array(getattr(X, "X", X)):
        raise TypeError(
            f"{type(estimator).__name__} does not take a sparse X, because distances between rows fill it: reduce it "
            "with TruncatedSVD first, or pass X.toarray()"
        )
    try:
        table = check_table(estimator, X, None, reset=reset)
    except ValueError as error:
        if "contains NaN" in str(error):
            raise ValueError(_HOLES) from None
        raise
    if table.seen is not None:
        raise ValueError(_HOLES)
    return np.asarray(table.values)


def group_means(X: NDArray, labels: NDArray, k: int) -> NDArray:
    """Compute the mean of the rows of each group, summed in float64 about the mean of all; the type of X."""
    middle = X.mean(axis=0, dtype=np.float64)
    sums = one_hot(labels, k, np.float64).T @ (X - middle)
    return (sums / np.bincount(labels, minlength=k)[:, None] + middle).astype(X.dtype)


def squares_to_mean(X: NDArray, labels: NDArray, means: NDArray) -> NDArray[np.float64]:
    """Compute the squared distance of every row to the mean of its group."""
    gaps = X.astype(np.float64) - means[labels]
    return np.einsum("ij,ij->i", gaps, gaps)


def nearest_rows(rows: NDArray, X: NDArray, k: int, metric: str = "euclidean") -> tuple[NDArray, NDArray]:
    """Find the k nearest of `rows` for each row of X: their distances and their numbers, nearest first."""
    if metric == "euclidean":
        from scipy.spatial import cKDTree

        return cKDTree(rows).query(X, k=list(range(1, k + 1)), workers=get_num_threads())
    from sklearn.neighbors import NearestNeighbors

    distances, near = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(rows).kneighbors(X)
    if not np.isfinite(distances).all():
        raise ValueError(f"metric={metric!r} is not defined for some rows of X (constant rows): drop these rows")
    return distances, near


def gap_to_others(rows: NDArray, X: NDArray, metric: str = "euclidean") -> NDArray[np.float64]:
    """Measure how far each row of X is from the nearest of `rows`; a row that is one of them, from the nearest other.

    >>> gap_to_others(np.array([[0.0], [1.0], [5.0]]), np.array([[5.0], [1.5]])).tolist()
    [4.0, 0.5]
    """
    distances, near = nearest_rows(rows, X, min(2, len(rows)), metric)
    itself = (rows[near[:, 0]] == X).all(axis=1)
    return np.where(itself, distances[:, -1], distances[:, 0])


def gap_to_several(rows: NDArray, X: NDArray, many: int) -> NDArray[np.float64]:
    """Measure the distance of each row of X to the last of the `many` nearest of `rows`, itself not counted.

    All of `rows` are taken if there are fewer.

    >>> gap_to_several(np.array([[0.0], [1.0], [5.0]]), np.array([[5.0], [1.5]]), 2).tolist()
    [5.0, 1.5]
    """
    many = min(many, len(rows))
    distances, near = nearest_rows(rows, X, min(many + 1, len(rows)))
    itself = (rows[near[:, 0]] == X).all(axis=1)
    return np.where(itself, distances[:, -1], distances[:, many - 1])


def warn_of_equal_rows(distinct: int, k: int) -> None:
    """Warn that there are fewer clusters than asked for, because equal rows are never separated."""
    from sklearn.exceptions import ConvergenceWarning

    warn_user(
        f"only {distinct} rows differ, so there are {distinct} clusters and not n_clusters={k}", ConvergenceWarning
    )


def distinct_rows(X: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Find rows that differ from all before them, which of these each row equals, and how many rows equal each.

    >>> [part.tolist() for part in distinct_rows(np.array([[2.0], [1.0], [2.0]]))]
    [[0, 1], [0, 1, 0], [2.0, 1.0]]
    """
    _, first, node, copies = np.unique(X, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[node.reshape(-1)], copies[order].astype(np.float64)


def need_floats(
    values, shape: tuple[int, ...], name: str, looked_at: bool, kinds: tuple = (np.float32, np.float64)
) -> None:
    """Raise unless an array from a file is one that kernels may be given; `looked_at` means it may be read."""
    sound = isinstance(values, np.ndarray) and values.dtype in kinds and values.shape == shape
    if not sound or (looked_at and not np.isfinite(values).all()):
        raise ValueError(f"{name} is not an array {shape} of finite numbers")


def need_numbers_below(values, shape: tuple[int, ...], k: int, name: str, looked_at: bool) -> None:
    """Raise unless an array from a file holds whole numbers from 0 and below k."""
    sound = isinstance(values, np.ndarray) and values.dtype.kind == "i" and values.shape == shape
    if not sound or (looked_at and values.size and not 0 <= values.min() <= values.max() < k):
        raise ValueError(f"{name} is not an array {shape} of whole numbers below {k}")
