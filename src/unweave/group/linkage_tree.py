"""From joins to a tree: scipy's format, cuts and labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.kernels.linkage import leaf_labels, name_joins


class Merges:
    """Joins found so far, as a state of the one loop: ``pairs`` of rows that stand for clusters, their ``heights``, and
    how many are ``done``. The objective is the number of clusters that are left."""

    @staticmethod
    def none(n: int) -> dict:
        return {"pairs": np.zeros((n - 1, 2), np.int64), "heights": np.full(n - 1, np.inf), "done": 0}

    @staticmethod
    def add(state: dict, pairs: NDArray, heights: NDArray) -> tuple[dict, float]:
        """The state with more joins, and its objective."""
        first, last = int(state["done"]), int(state["done"]) + len(pairs)
        new = {"pairs": state["pairs"].copy(), "heights": state["heights"].copy(), "done": last}
        new["pairs"][first:last], new["heights"][first:last] = pairs, heights
        return new, float(len(state["pairs"]) + 1 - last)

    @staticmethod
    def complete(state: dict) -> bool:
        return int(state["done"]) == len(state["pairs"])


def linkage_of(state: dict) -> NDArray[np.float64]:
    """The tree in scipy's format: row i joins clusters ``Z[i, 0] < Z[i, 1]`` at height ``Z[i, 2]`` into cluster n + i
    of ``Z[i, 3]`` rows. Clusters that were not joined (a fit that was stopped) are joined at infinite height.

    >>> linkage_of({"pairs": np.array([[1, 2], [0, 1]]), "heights": np.array([3.0, 1.0]), "done": 2})
    array([[0., 1., 1., 2.],
           [2., 3., 3., 3.]])
    """
    n, done = len(state["pairs"]) + 1, int(state["done"])
    heights = state["heights"][:done]
    order = np.argsort(heights, kind="stable")
    Z = np.empty((n - 1, 4))
    names, sizes = name_joins(state["pairs"][:done][order], Z)
    Z[:done, 2], Z[done:, 2] = heights[order], np.inf
    if done < n - 1:  # what is left joins the first of the clusters, one after the other
        Z[done:, 0], Z[done:, 1] = names[1:], np.r_[names[0], np.arange(n + done, 2 * n - 2)]
        Z[done:, :2].sort(axis=1)
        Z[done:, 3] = np.cumsum(sizes)[1:]
    return Z


def clusters_at(Z: NDArray, height: float) -> int:
    """How many clusters a cut at this height leaves: joins up to and including it are made."""
    return len(Z) + 1 - int(np.searchsorted(Z[:, 2], height, side="right"))


def cut_labels(Z: NDArray, n_clusters: int) -> NDArray[np.int64]:
    """The cluster of every leaf after the first joins, down to `n_clusters`, numbered as they appear.

    >>> cut_labels(np.array([[1.0, 2, 1, 2], [0, 3, 2, 3]]), 2).tolist()
    [0, 1, 1]
    """
    labels = np.empty(len(Z) + 1, np.int64)
    children = Z[: len(labels) - n_clusters, :2].astype(np.int64)
    if children.size and not 0 <= children.min() <= children.max() < len(labels) + len(children):
        raise ValueError("linkage_ is not a tree: it joins clusters that were never made")
    leaf_labels(children, labels)
    return labels
