"""Cluster rows from the bottom up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number
from unweave.data.tiny_values import need_spread
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting, refuse_cluster
from unweave.group.distances import (
    gap_to_others,
    group_means,
    nearest_rows,
    need_floats,
    need_numbers_below,
    squares_to_mean,
    whole_rows,
)
from unweave.group.kmeans.labels import one_hot
from unweave.group.kmeans.passes import assign
from unweave.group.trees.euclidean import Single, Ward
from unweave.group.trees.table import MOST_ROWS, Table
from unweave.group.trees.tree import Joining, TreeOfClusters, is_complete, linkage_of, no_joins
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.history import History
from unweave.solve.plan import Plan

LINKAGES = ("ward", "single", "complete", "average")
METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming")


class Agglomerative(TreeOfClusters, Model, ClusterMixin, BaseEstimator):
    """Join the two nearest clusters, again and again, until one is left: a tree, cut where the clusters are.

    The distance of clusters A and B is, by `linkage`,

    * ``"ward"``: √(2|A||B|/(|A|+|B|))·‖mean A − mean B‖, so that the sum of squares rises least. Round clusters, like
      those of k-means, but without a number of clusters chosen in advance.
    * ``"single"``: the smallest distance of a pair of rows. Clusters of any shape with empty space between them.
    * ``"complete"``: the largest; ``"average"``: the mean of all pairs. In between, and for other metrics.

    Ward and single (Euclidean) need O(n·columns) memory; the others keep all n(n − 1)/2 distances and take at most
    16 384 rows (1 GiB). The tree is scipy's; where distances are equal, several are right and one of them is given.
    Rows that are equal join at height 0 and are never separated: where fewer than `n_clusters` rows differ, there are
    fewer clusters, with a warning.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        "auto" takes the number that :class:`unweave.select.Groups` finds, kept as ``choice_``.
        Where to cut the tree; not used if `height` is given.
    linkage : {"ward", "single", "complete", "average"}, default="ward"
    height : float, optional
        Cut at this height: joins up to it are made.
    metric : str, default="euclidean"
        Distance of rows: also "cityblock", "chebyshev", "cosine", "correlation", "hamming". Ward is Euclidean only.
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. An iteration makes some joins, and its objective is the number of clusters
        left. A fit that is stopped keeps the joins it made; what was not joined then joins at infinite height.

    Attributes
    ----------
    linkage_ : array (n - 1, 4)
        The tree in the format of ``scipy.cluster.hierarchy``: the two clusters, the height, the number of rows.
    children_, distances_ : arrays
        The first two columns of it as whole numbers, and the third.
    labels_ : array (n,)
        Clusters of the cut, numbered as they appear; ``codes_`` is the same as a sparse one-hot table.
    n_clusters_ : int
    cluster_centers_ : array (k, m)
        Means of the clusters, also ``components_``.
    objective_ : float
        ½ Σ ‖x − mean of its cluster‖², to compare with :class:`unweave.KMeans`.
    n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> from unweave import Agglomerative
    >>> model = Agglomerative(2, linkage="single").fit([[0.0], [1.0], [10.0], [11.5]])
    >>> model.labels_.tolist(), model.distances_.tolist()
    ([0, 0, 1, 1], [1.0, 1.5, 9.0])
    >>> model.cut(height=1.2).tolist()
    [0, 0, 1, 2]

    References
    ----------
    Ward (1963). Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. Murtagh (1983), A survey of
    recent advances in hierarchical clustering algorithms.
    """

    def __init__(
        self,
        n_clusters=2,
        *,
        linkage="ward",
        height=None,
        metric="euclidean",
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.height = height
        self.metric = metric
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None, *, client=None):
        """Build the tree and cut it.

        Parameters
        ----------
        X : array or data frame, rows are samples
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        refuse_cluster(self, client)
        self._check_words()
        if self.height is None:
            return self._fit_counted(X)
        self.__dict__.pop("choice_", None)
        return self._fit_tree(X)

    @chooses
    def _fit_counted(self, X):
        """Build a tree that is cut by a number, which may have to be found."""
        return self._fit_tree(X)

    def _fit_tree(self, X):
        with fitting(self):
            X = whole_rows(self, X, reset=True)
            need_spread(X, X.dtype if self.metric == "euclidean" else np.float64)
            k, n = self._wanted(len(X)), len(X)
            run = Run(self, X, max_iter=n)
            if n == 1:
                state, self.history_, self.plan_ = no_joins(1), History(), _plan(X, "none", "one row is a tree already")
            else:
                scheme, title, why = _choose_scheme(X, self.linkage, self.metric)
                state = run.through(scheme, _plan(X, title, why))
            self.n_iter_ = max(1, len(self.history_))
            self._keep(X, linkage_of(state), k)
            value = 0.5 * float(squares_to_mean(X, self.labels_, self.cluster_centers_).sum())
            run.close(value, done=is_complete(state))
        return self

    def fit_predict(self, X, y=None):
        """Fit, and return the cluster of every row."""
        return self.fit(X).labels_

    def _check_words(self) -> None:
        if not isinstance(self.linkage, str) or self.linkage not in LINKAGES:
            raise ValueError(f"linkage={self.linkage!r} is not known; use one of {', '.join(LINKAGES)}")
        if not isinstance(self.metric, str) or self.metric not in METRICS:
            raise ValueError(f"metric={self.metric!r} is not known; use one of {', '.join(METRICS)}")
        if self.linkage == "ward" and self.metric != "euclidean":
            raise ValueError(
                f"linkage='ward' needs metric='euclidean', not {self.metric!r}: use linkage='average' with it"
            )

    def _wanted(self, n: int) -> int | None:
        """Check the number of clusters asked for; None if the tree is to be cut by height."""
        if self.height is not None:
            number(self.height, "height")
            return None
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={k}")
        return k

    def _keep(self, X: NDArray, Z: NDArray, k: int | None) -> None:
        self.linkage_ = Z
        self.children_, self.distances_ = Z[:, :2].astype(np.int64), Z[:, 2].copy()
        self.labels_ = self.cut(height=self.height) if k is None else self.cut(n_clusters=k)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.cluster_centers_ = self.components_ = group_means(X, self.labels_, self.n_clusters_)
        self.codes_ = one_hot(self.labels_, self.n_clusters_, X.dtype)
        self._tree_words = ("row", f"height of the join ({self.linkage})")
        self._rows = None if self.linkage == "ward" else X

    def predict(self, X) -> NDArray[np.int64]:
        """Find the clusters of new rows: of the nearest mean for Ward, otherwise of the nearest training row."""
        check_is_fitted(self)
        X = whole_rows(self, X, reset=False)
        if self._rows is None:
            return self._nearest_mean(X)[0]
        return self.labels_[nearest_rows(self._rows, X, 1, self.metric)[1][:, 0]]

    def anomaly_score(self, X) -> NDArray[np.float64]:
        """Score how strange rows are: the distance to what `predict` goes by (higher is stranger).

        For Ward that is the nearest mean. Clusters of the other linkages need not lie about their mean, and not every
        metric has one: the nearest training row, and for a row that is a training row itself, the nearest other one.
        """
        check_is_fitted(self)
        X = whole_rows(self, X, reset=False)
        return self._nearest_mean(X)[1] if self._rows is None else gap_to_others(self._rows, X, self.metric)

    def _nearest_mean(self, X: NDArray) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        with single_blas():
            labels, squares = assign(X, self.cluster_centers_.astype(X.dtype))
        return labels.astype(np.int64), np.sqrt(squares.astype(np.float64))

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        n, m, k = len(self.linkage_) + 1, self.n_features_in_, self.n_clusters_
        need_floats(self.cluster_centers_, (k, m), "cluster_centers_", looked_at)
        need_numbers_below(self.labels_, (n,), k, "labels_", looked_at)
        need_numbers_below(self.children_, (n - 1, 2), 2 * n - 1, "children_", looked_at)
        if self.linkage != "ward":
            need_floats(self._rows, (n, m), "the training rows", looked_at)


def _plan(X: NDArray, title: str, why: str) -> Plan:
    return Plan(f"tree of {X.shape[0]}×{X.shape[1]} rows", title, "", "", "every row alone", [why])


def _choose_scheme(X: NDArray, linkage: str, metric: str) -> tuple[Joining, str, str]:
    """Choose the scheme that builds the tree: it, its title, and why it was chosen."""
    if linkage == "ward":
        return Ward(X), "mutual nearest neighbours, means in tiles", "Ward needs only means and sizes: O(n) memory"
    if linkage == "single" and metric == "euclidean":
        return Single(X), "minimum spanning tree, rows in tiles", "its edges are the joins: O(n) memory"
    if len(X) > MOST_ROWS:
        raise ValueError(
            f"linkage={linkage!r} with metric={metric!r} keeps all distances of {len(X)} rows, and {MOST_ROWS} is the "
            "limit (1 GiB): use linkage='ward' or 'single' with metric='euclidean', or fit a sample of the rows"
        )
    why = "needs the distance of every pair of rows"
    return Table(X, linkage, metric), "mutual nearest neighbours in a table of distances", why
