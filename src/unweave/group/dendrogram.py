"""What models with a tree of clusters share: cuts of the tree, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.group.linkage_door import warn_of_equal_rows
from unweave.group.linkage_tree import clusters_at, cut_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class TreeOfClusters:
    """Cuts and figure of ``linkage_``, for estimators that keep one; `_leaves` is the leaf of every training row where
    leaves are clusters and not the rows themselves."""

    linkage_: NDArray
    labels_: NDArray
    n_clusters_: int
    _tree_words: tuple[str, str]
    _leaves: NDArray | None = None

    def cut(self, n_clusters=None, *, height=None) -> NDArray[np.int64]:
        """Labels of the training rows for another cut of the same tree, by number of clusters or by height."""
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
        """A matplotlib figure of the tree: its top `most` leaves, and the cut."""
        check_is_fitted(self, "linkage_")
        most = whole(most, "most", 2)
        return draw_tree(self.linkage_, n_clusters=self.n_clusters_, most=most, words=self._tree_words)

    def plot(self, X=None) -> Figure:
        """The dendrogram."""
        return self.dendrogram()


def draw_tree(Z: NDArray, *, n_clusters: int, most: int, words: tuple[str, str]) -> Figure:
    """A matplotlib figure of the tree: clusters joined by brackets at the height of their join.

    Parameters
    ----------
    Z : array (n - 1, 4)
        The tree in scipy's format.
    n_clusters : int
        Where the tree is cut: one colour a cluster, and a line at the height of the cut.
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
    """A height between the last join that is made for so many clusters and the first that is not."""
    made = len(heights) + 1 - n_clusters
    if made == len(heights):
        return np.inf
    below = heights[made - 1] if made else 0.0
    return float(0.5 * (below + heights[made]))
