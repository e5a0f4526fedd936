"""From joins to a tree: scipy's format, cuts and labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
    forest = _Forest(n)
    for i, (a, b) in enumerate(state["pairs"][:done][order].tolist()):
        Z[i, :2], Z[i, 3] = forest.join(a, b)
    Z[:done, 2] = heights[order]
    if done < n - 1:
        roots = [r for r in range(n) if forest.find(r) == r]
        for i, other in enumerate(roots[1:], done):
            Z[i, :2], Z[i, 3] = forest.join(roots[0], other)
        Z[done:, 2] = np.inf
    return Z


class _Forest:
    """Union of sets with path halving; each set knows its name in scipy's counting and its size."""

    def __init__(self, n: int):
        self.parent, self.name, self.size = list(range(n)), list(range(n)), [1] * n
        self.next = n

    def find(self, a: int) -> int:
        parent = self.parent
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    def join(self, a: int, b: int) -> tuple[tuple[int, int], int]:
        """Join the sets of a and b: their names in order, and the size of the union."""
        a, b = self.find(a), self.find(b)
        if self.size[a] < self.size[b]:
            a, b = b, a
        names = sorted((self.name[a], self.name[b]))
        self.parent[b] = a
        self.size[a] += self.size[b]
        self.name[a], self.next = self.next, self.next + 1
        return (names[0], names[1]), self.size[a]


def clusters_at(Z: NDArray, height: float) -> int:
    """How many clusters a cut at this height leaves: joins up to and including it are made."""
    return len(Z) + 1 - int(np.searchsorted(Z[:, 2], height, side="right"))


def cut_labels(Z: NDArray, n_clusters: int) -> NDArray[np.int64]:
    """The cluster of every leaf after the first joins, down to `n_clusters`, numbered as they appear.

    >>> cut_labels(np.array([[1.0, 2, 1, 2], [0, 3, 2, 3]]), 2).tolist()
    [0, 1, 1]
    """
    n = len(Z) + 1
    top = np.arange(2 * n - 1)
    made = n - n_clusters
    for i in range(made - 1, -1, -1):
        top[Z[i, :2].astype(np.intp)] = top[n + i]
    _, first, labels = np.unique(top[:n], return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[labels.reshape(-1)]
