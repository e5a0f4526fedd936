"""Clusters from the top down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.tiny_values import need_spread
from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, whole
from unweave.group.dendrogram import TreeOfClusters
from unweave.group.divisive_scheme import Bisect, tree_of_splits
from unweave.group.kmeans_assign import one_hot
from unweave.group.linkage_door import need_floats, need_numbers_below, warn_of_equal_rows, whole_rows
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import iterate
from unweave.solve.lloyd import assign
from unweave.solve.plan import Plan


class Divisive(Counting, TreeOfClusters, Reportable, ClusterMixin, BaseEstimator):
    """All rows are one cluster; the cluster with the largest cost Σ ‖x − mean‖² is split in two, until there are k.

    Each split is 2-means, the best of `n_init` starts. Clusters come out nested, in the order in which they matter, and
    k clusters cost about log k times a pass over the table and not k times; :class:`unweave.KMeans` finds a lower cost
    for one given k. New rows walk down the tree, at each split to the nearer of its two centres.

    Minimises ½ Σ ‖x_i − c_{label i}‖², greedily. A cluster whose rows are all equal is not split: where fewer than
    `n_clusters` rows differ, there are fewer clusters, with a warning.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number that :class:`unweave.select.Groups` finds, kept as ``choice_``.
    n_init : int, default=4
        Starts of each split.
    max_iter : int, default=100
        Of each 2-means.
    tol : float, default=1e-4
        Of each 2-means: it ends when its cost falls by less than this fraction.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. An iteration is a split.

    Attributes
    ----------
    labels_ : array (n,)
        Also ``codes_``, a sparse one-hot table.
    cluster_centers_ : array (k, m)
        Also ``components_``.
    linkage_ : array (k - 1, 4)
        The tree in the format of ``scipy.cluster.hierarchy``, its leaves being the clusters: the last split is the
        first join. The height is Ward's, √(2·fall of the cost), raised where a later split was higher.
    splits_ : array (k - 1,)
        The cluster that each split divided; split i makes cluster i + 1.
    inertia_, objective_, n_clusters_, n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> from unweave import Divisive
    >>> model = Divisive(3).fit([[0.0], [1.0], [10.0], [11.0], [30.0]])
    >>> model.labels_.tolist(), model.cut(n_clusters=2).tolist()
    ([0, 0, 2, 2, 1], [0, 0, 0, 0, 1])

    References
    ----------
    Steinbach, Karypis and Kumar (2000), A comparison of document clustering techniques.
    """

    _limits_shape = True  # max_iter and tol are limits of each 2-means

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=4,
        max_iter=100,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None):
        """Split until there are `n_clusters`.

        Parameters
        ----------
        X : array or data frame, rows are samples
        y : ignored
        """
        with single_blas():
            X = whole_rows(self, X, reset=True)
            need_spread(X, X.dtype)
            k, starts = self._wanted(len(X)), whole(self.n_init, "n_init", 1)
            loop = make_loop(self, X)
            scheme = Bisect(X, k, starts, loop.max_iter, loop.tol)
            state, self.history_ = iterate(
                scheme.step, scheme.start(generator(self.random_state)), scheme.pace(loop), settled=scheme.settled
            )
            if loop.checkpoint is not None and scheme.settled(state):
                loop.checkpoint.remove()
        why = f"the cluster of the largest cost, the best of {starts} starts"
        self.plan_ = Plan(f"{X.shape[0]}×{X.shape[1]} rows into {k}", "bisecting k-means", "", "", "one cluster", [why])
        self._keep(X, state, k)
        return self

    def fit_predict(self, X, y=None):
        """Fit, and the cluster of every row."""
        return self.fit(X).labels_

    def _wanted(self, n: int) -> int:
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={k}")
        return k

    def _keep(self, X: NDArray, state: dict, k: int) -> None:
        made = int(state["made"])
        self.n_clusters_ = made + 1
        if made + 1 < k and not state["costs"].any():
            warn_of_equal_rows(made + 1, k)
        self.labels_ = self._leaves = state["labels"].astype(np.int64)
        self.cluster_centers_ = self.components_ = state["means"][: made + 1].astype(X.dtype)
        self.codes_ = one_hot(self.labels_, made + 1, X.dtype)
        self.splits_, self._pairs = state["split"][:made], state["pairs"][:made].astype(X.dtype)
        self.linkage_ = tree_of_splits(self.splits_, state["falls"][:made])
        self.n_iter_ = max(1, len(self.history_))
        self.objective_ = 0.5 * float(state["costs"][: made + 1].sum())
        self.inertia_ = 2 * self.objective_
        self.certificate_ = Certificate("none", 0.0, float("inf"), False, self.objective_)
        self._tree_words = ("cluster", "height of the split")

    def predict(self, X) -> NDArray[np.int64]:
        """Clusters of new rows: down the tree, at each split to the nearer of its two centres."""
        check_is_fitted(self)
        X = whole_rows(self, X, reset=False)
        labels = np.zeros(len(X), np.int64)
        with single_blas():
            for new, (split, pair) in enumerate(zip(self.splits_, self._pairs), 1):
                rows = np.flatnonzero(labels == split)
                if len(rows):
                    side, _ = assign(X[rows], pair.astype(X.dtype))
                    labels[rows[side == 1]] = new
        return labels

    def anomaly_score(self, X) -> NDArray[np.float64]:
        """How strange rows are: the distance to the nearest centre (higher is stranger)."""
        check_is_fitted(self)
        X = whole_rows(self, X, reset=False)
        with single_blas():
            return np.sqrt(assign(X, self.cluster_centers_.astype(X.dtype))[1].astype(np.float64))

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        k, m = self.n_clusters_, self.n_features_in_
        need_floats(self.cluster_centers_, (k, m), "cluster_centers_", looked_at)
        need_floats(self._pairs, (k - 1, 2, m), "the centres of the splits", looked_at)
        need_numbers_below(self.splits_, (k - 1,), k, "splits_", looked_at)
        need_numbers_below(self.labels_, self.labels_.shape, k, "labels_", looked_at)
