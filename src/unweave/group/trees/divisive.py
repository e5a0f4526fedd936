"""Cluster rows from the top down."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.data.tiny_values import need_spread
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.distances import (
    group_means,
    need_floats,
    need_numbers_below,
    squares_to_mean,
    warn_of_equal_rows,
    whole_rows,
)
from unweave.group.kmeans.labels import one_hot
from unweave.group.kmeans.lloyd import Lloyd, assign
from unweave.group.trees.tree import TreeOfClusters, linkage_of, no_joins
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme


class Divisive(TreeOfClusters, Model, ClusterMixin, BaseEstimator):
    """Split the cluster with the largest cost Σ ‖x − mean‖² in two, until there are k; all rows begin as one.

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
    def fit(self, X, y=None, *, client=None):
        """Split until there are `n_clusters`.

        Parameters
        ----------
        X : array or data frame, rows are samples
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        with fitting(self, client):
            X = whole_rows(self, X, reset=True)
            need_spread(X, X.dtype)
            k, starts = self._wanted(len(X)), whole(self.n_init, "n_init", 1)
            run = Run(self, X)
            scheme = Bisect(X, k, starts, run.loop.max_iter, run.loop.tol)
            why = f"the cluster of the largest cost, the best of {starts} starts"
            table = f"{X.shape[0]}×{X.shape[1]} rows into {k}"
            state = run.through(scheme, Plan(table, "bisecting k-means", "", "", "one cluster", [why]))
            self._keep(X, state, k)
            value = 0.5 * float(state["costs"].sum())
            self.inertia_ = 2 * value
            run.close(value, Certificate.none(value, 0.0), done=scheme.settled(state))
        return self

    def fit_predict(self, X, y=None):
        """Fit, and return the cluster of every row."""
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
        self._tree_words = ("cluster", "height of the split")

    def predict(self, X) -> NDArray[np.int64]:
        """Find the clusters of new rows: down the tree, at each split to the nearer of its two centres."""
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
        """Score how strange rows are: the distance to the nearest centre (higher is stranger)."""
        check_is_fitted(self)
        X = whole_rows(self, X, reset=False)
        with single_blas():
            return np.sqrt(assign(X, self.cluster_centers_.astype(X.dtype))[1].astype(np.float64))

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        k, m = self.n_clusters_, self.n_features_in_
        need_floats(self.cluster_centers_, (k, m), "cluster_centers_", looked_at)
        need_floats(self._pairs, (k - 1, 2, m), "the centres of the splits", looked_at)
        need_numbers_below(self.splits_, (k - 1,), k, "splits_", looked_at)
        need_numbers_below(self.labels_, self.labels_.shape, k, "labels_", looked_at)


class Bisect(Scheme):
    """Split the cluster of the largest cost in two, once per step; the objective is half the cost of all.

    State: ``labels``, the ``means`` and ``costs`` of the clusters, and of each split the cluster it divided
    (``split``), its two centres (``pairs``) and by how much the cost fell (``falls``).
    """

    def __init__(self, X: NDArray, k: int, starts: int, max_iter: int, tol: float | None):
        self.X, self.k, self.starts = X, k, starts
        self.inner = Loop(max_iter=max_iter, tol=tol, ending="one of several starts")
        self.ending = f"{k} clusters are found"

    def begin(self, rng=None) -> dict:
        k, d = self.k, self.X.shape[1]
        labels = np.zeros(len(self.X), np.int32)
        means, costs = np.zeros((k, d)), np.zeros(k)
        means[0], costs[0] = self._mean_and_cost(self.X)
        return {
            "labels": labels, "means": means, "costs": costs, "split": np.zeros(k - 1, np.int64),
            "pairs": np.zeros((k - 1, 2, d)), "falls": np.zeros(k - 1), "made": 0, "generator": rng,
        }  # fmt: skip

    def adapt(self, loop: Loop) -> Loop:
        """Take a step for each split, whatever the limits of a 2-means are."""
        return replace(loop, max_iter=max(1, self.k - 1), tol=None, ending=self.ending)

    def settled(self, state: dict) -> bool:
        """Tell whether there are enough clusters, or none left whose rows differ."""
        return int(state["made"]) == self.k - 1 or not state["costs"].any()

    def step(self, state: dict) -> tuple[dict, float]:
        if self.settled(state):
            return state, 0.5 * float(state["costs"].sum())
        new, rng = deepcopy(state), deepcopy(state["generator"])
        widest, made = int(state["costs"].argmax()), int(state["made"])
        rows = np.flatnonzero(state["labels"] == widest)
        part = np.ascontiguousarray(self.X[rows])
        pair, side = self._halves(part, rng)
        new["labels"][rows[side == 1]] = made + 1
        new["split"][made], new["pairs"][made], new["made"] = widest, pair, made + 1
        new["generator"] = rng
        for which, name in enumerate((widest, made + 1)):
            new["means"][name], new["costs"][name] = self._mean_and_cost(part[side == which])
        new["falls"][made] = max(0.0, state["costs"][widest] - new["costs"][widest] - new["costs"][made + 1])
        return new, 0.5 * float(new["costs"].sum())

    def _mean_and_cost(self, part: NDArray) -> tuple[NDArray, float]:
        labels = np.zeros(len(part), np.int64)
        mean = group_means(part, labels, 1)
        # Rows that are all equal cost nothing, whatever rounding says of their mean.
        equal = bool((part == part[0]).all())
        return mean[0], 0.0 if equal else float(squares_to_mean(part, labels, mean).sum())

    def _halves(self, part: NDArray, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        """Take the best of several 2-means: two centres, and which of them each row is nearer to; no side is empty."""
        lloyd, best = Lloyd(part, 2), None
        for _ in range(self.starts):
            state, history = iterate(lloyd, lloyd.begin(rng), self.inner)
            if best is None or history.objective[-1] < best[0]:
                best = history.objective[-1], state["centres"]
        assert best is not None
        pair, (side, _) = best[1], assign(part, best[1])
        if side.min() == side.max():  # distances of nearly equal rows vanish: the first against the others
            side = (part != part[0]).any(axis=1).astype(np.int32)
            pair = np.stack([part[0], part[int(side.argmax())]])
        # The half of the first row keeps the name, so that names do not depend on the start.
        return (pair, side) if side[0] == 0 else (pair[::-1], 1 - side)


def tree_of_splits(split: NDArray, falls: NDArray) -> NDArray[np.float64]:
    """Write splits as a tree in scipy's format: the last is the first join, at √(2·fall), never below the join before.

    >>> tree_of_splits(np.array([0, 0]), np.array([50.0, 2.0]))
    array([[ 0.,  2.,  2.,  2.],
           [ 1.,  3., 10.,  3.]])
    """
    k = len(split) + 1
    pairs = np.column_stack([split, np.arange(1, k)])[::-1]
    heights = np.maximum.accumulate(np.sqrt(2.0 * falls[::-1]))
    return linkage_of({"pairs": pairs, "heights": heights, "done": k - 1} if k > 1 else no_joins(1))
