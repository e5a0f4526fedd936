"""Turn joins of clusters into a tree: in scipy's format, with cuts, labels and a figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.group.distances import warn_of_equal_rows
from unweave.kernels.linkage import leaf_labels, name_joins
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Joining(Scheme):
    """Join clusters step by step until one is left: what the linkages share.

    The state holds the joins found so far: ``pairs`` of rows that stand for clusters, their ``heights``, and how many
    are ``done``. The objective is the number of clusters that are left.
    """

    n: int  # rows
    ending = "the tree is complete"

    def begin(self, rng=None) -> dict:
        return no_joins(self.n)

    def settled(self, state: dict) -> bool:
        return is_complete(state)

    def adapt(self, loop: Loop) -> Loop:
        """Go on until the tree is complete: it is complete or not, so no tolerance ends it."""
        return replace(loop, tol=None)


def no_joins(n: int) -> dict:
    """Make the state of n rows that are all alone."""
    return {"pairs": np.zeros((n - 1, 2), np.int64), "heights": np.full(n - 1, np.inf), "done": 0}


def is_complete(state: dict) -> bool:
    """Tell whether all clusters are joined."""
    return int(state["done"]) == len(state["pairs"])


def with_joins(state: dict, pairs: NDArray, heights: NDArray) -> tuple[dict, float]:
    """Add joins to a state: the new one, and the number of clusters left."""
    first, last = int(state["done"]), int(state["done"]) + len(pairs)
    new = {"pairs": state["pairs"].copy(), "heights": state["heights"].copy(), "done": last}
    new["pairs"][first:last], new["heights"][first:last] = pairs, heights
    return new, float(len(state["pairs"]) + 1 - last)


def linkage_of(state: dict) -> NDArray[np.float64]:
    """Write the joins of a state as a tree in scipy's format.

    Row i joins clusters ``Z[i, 0] < Z[i, 1]`` at height ``Z[i, 2]`` into cluster n + i of ``Z[i, 3]`` rows. Clusters
    that were not joined (a fit that was stopped) are joined at infinite height.

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
    """Count the clusters that a cut at this height leaves: joins up to and including it are made."""
    return len(Z) + 1 - int(np.searchsorted(Z[:, 2], height, side="right"))


def cut_labels(Z: NDArray, n_clusters: int) -> NDArray[np.int64]:
    """Label every leaf by its cluster after the first joins, down to `n_clusters`, numbered as they appear.

    >>> cut_labels(np.array([[1.0, 2, 1, 2], [0, 3, 2, 3]]), 2).tolist()
    [0, 1, 1]
    """
    labels = np.empty(len(Z) + 1, np.int64)
    children = Z[: len(labels) - n_clusters, :2].astype(np.int64)
    if children.size and not 0 <= children.min() <= children.max() < len(labels) + len(children):
        raise ValueError("linkage_ is not a tree: it joins clusters that were never made")
    leaf_labels(children, labels)
    return labels


class TreeOfClusters:
    """Cut and draw the tree ``linkage_`` of an estimator.

    `_leaves` is the leaf of every training row where leaves are clusters and not the rows themselves.
    """

    _takes_cluster = False

    linkage_: NDArray
    labels_: NDArray
    n_clusters_: int
    _tree_words: tuple[str, str]
    _leaves: NDArray | None = None

    def cut(self, n_clusters=None, *, height=None) -> NDArray[np.int64]:
        """Label the training rows by another cut of the same tree, by number of clusters or by height."""
        check_is_fitted(self, "linkage_")
        if (n_clusters is None) == (height is None):
            raise ValueError("cut needs either n_clusters or height, one of the two")
        labels = self._cut_by_height(height) if n_clusters is None else self._cut_by_count(n_clusters)
        return labels if self._leaves is None else labels[self._leaves]

    def _cut_by_height(self, height) -> NDArray[np.int64]:
        return cut_labels(self.linkage_, clusters_at(self.linkage_, number(height, "height")))

    def _cut_by_count(self, n_clusters) -> NDArray[np.int64]:
        k, leaves = whole(n_clusters, "n_clusters", 1), len(self.linkage_) + 1
        if k > leaves:
            raise ValueError(f"n_clusters={k} is more than the {leaves} leaves of the tree: ask for fewer")
        distinct = clusters_at(self.linkage_, 0.0)
        if k > distinct:
            warn_of_equal_rows(distinct, k)
        return cut_labels(self.linkage_, min(k, distinct))

    def dendrogram(self, *, most=50) -> Figure:
        """Draw the tree as a matplotlib figure: its top `most` leaves, and the cut."""
        check_is_fitted(self, "linkage_")
        most = whole(most, "most", 2)
        return draw_tree(self.linkage_, n_clusters=self.n_clusters_, most=most, words=self._tree_words)

    def plot(self, X=None) -> Figure:
        """Draw the dendrogram."""
        return self.dendrogram()


def draw_tree(Z: NDArray, *, n_clusters: int, most: int, words: tuple[str, str]) -> Figure:
    """Draw a matplotlib figure of the tree: clusters joined by brackets at the height of their join.

    Parameters
    ----------
    Z : array (n - 1, 4)
        The tree in scipy's format.
    n_clusters : int
        Where the tree is cut: one colour per cluster, and a line at the height of the cut.
    most : int
        Leaves that are drawn; of a larger tree the top, with the number of rows of each leaf in brackets.
    words : (str, str)
        What the leaves and the heights are.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'") from error
    from scipy.cluster.hierarchy import dendrogram

    if not len(Z):
        raise ValueError("a tree of one leaf cannot be drawn: fit at least two rows")
    drawn = Z.copy()
    top = float(drawn[np.isfinite(drawn[:, 2]), 2].max(initial=1.0))
    drawn[~np.isfinite(drawn[:, 2]), 2] = 1.1 * top  # not joined: drawn a little above everything
    cut = _between(drawn[:, 2], n_clusters)
    figure = pyplot.figure(figsize=(9, 4.5), layout="constrained")
    axis = figure.subplots()
    part = {"truncate_mode": "lastp", "p": most} if len(Z) >= most else {}
    dendrogram(
        drawn, ax=axis, color_threshold=cut, above_threshold_color="#888888",
        leaf_rotation=90 if min(len(Z) + 1, most) > 12 else 0, **part,
    )  # fmt: skip
    if 0 < cut < np.inf:
        axis.axhline(cut, color="#888888", linestyle="--", linewidth=0.8)
    axis.set(xlabel=f"{words[0]} (or how many, in brackets)" if part else words[0], ylabel=words[1])
    return figure


def _between(heights: NDArray, n_clusters: int) -> float:
    """Find a height between the last join that is made for so many clusters and the first that is not."""
    made = len(heights) + 1 - n_clusters
    if made == len(heights):
        return np.inf
    below = heights[made - 1] if made else 0.0
    return float(0.5 * (below + heights[made]))
