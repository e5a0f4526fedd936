"""Cluster rows by k-means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, row_weights
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import Run, fitting
from unweave.group.kmeans.in_blocks import fit_blocks
from unweave.group.kmeans.labels import all_losses, any_alike, nearest, one_hot, total, warn_of_empty
from unweave.group.kmeans.lloyd import CentreScheme
from unweave.group.kmeans.metrics import metric_of
from unweave.group.kmeans.plan import choose_scheme, first_centres, wants_repair
from unweave.group.kmeans.stream import add_block, on_coreset, sums_of
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free, OneHot
from unweave.select.auto import chooses
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem, check_size
from unweave.updates import Nearest


class KMeans(ClusterMixin, BaseFactorization):
    """Give every row to its nearest centre: X ≈ U·Z with one-hot codes and free components, least squares.

    Minimises ½ Σ_i w_i ‖x_i − c_{label i}‖²; ``inertia_`` is twice that. Small tables are settled row by row
    (Hartigan), larger ones by Lloyd's iterations, with distances that bounds prove unnecessary left out. Then centres
    are moved from where two share a group to where one holds two, and in small tables also at random, as long as that
    lowers the objective: one call finds what many starts would.
    Takes sparse tables, and with ``missing="nan"`` centres and distances use the observed entries only.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number that :class:`unweave.select.Groups` finds, kept as ``choice_``.
    init : {"k-means++", "farthest", "random", "partition"} or array (k, m), default="k-means++"
        Rows drawn far apart (greedily, the best of 2 + ln k draws each time), rows farthest from those taken, any rows,
        the means of a random partition, or given centres.
    metric : {"euclidean", "cosine", "hamming"}, default="euclidean"
        "cosine" counts directions only, ½‖x/‖x‖ − c‖² = 1 − cos with centres of length one (a row of zeros raises);
        "hamming" counts entries that differ in a table of zeros and ones, its centres are majorities (a column that
        ties keeps its former value, a row that ties goes to the first centre).
    coreset : int, optional
        Fit the centres to so many weighted rows that stand for all (:func:`unweave.coreset`), then label every row
        once: for millions of rows.
    repair : {"auto", True, False}, default="auto"
        Whether centres are moved afterwards; "auto" unless `init` is an array. False is Lloyd alone. Clusters of a
        repaired fit are numbered in the order of their centres (first column first), so that two seeds that find the
        same name them alike.
    missing, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. Lloyd also settles when no label changes. A round of swaps is one
        iteration; in small tables each gain is one, and they are searched to the end whatever `tol` is.

    Attributes
    ----------
    cluster_centers_ : array (k, m)
        Also ``components_``.
    labels_ : array (n,)
        Of the training rows; ``codes_`` is the same as a sparse one-hot table. With fewer distinct rows than clusters
        some labels are not used, and a warning says so.
    inertia_, objective_ : float
    n_parameters_ : int
        k·m + 1: the centres, and one variance.
    n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`. The bound is the larger of the rank-k tail and the centred
        rank-(k − 1) tail.

    Examples
    --------
    >>> import unweave
    >>> model = unweave.KMeans(2).fit([[0.0], [1], [10], [11]])
    >>> model.inertia_, model.anomaly_score([[10.5], [4.5]]).tolist()
    (1.0, [0.0, 4.0])

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM. Arthur and Vassilvitskii (2007), k-means++. Hamerly (2010) and
    Elkan (2003) for the bounds. Telgarsky and Vattani (2010), Hartigan's method. Fränti and Kivijärvi (2000),
    Randomised local search, for swaps. Dhillon and Modha (2001), Concept decompositions, for cosines.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        metric="euclidean",
        coreset=None,
        repair="auto",
        missing=None,
        max_iter=300,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.metric = metric
        self.coreset = coreset
        self.repair = repair
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _cost_family(self, complete):
        return "groups"

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_clusters={k}")
        return Problem(k, loss, OneHot(), Free())

    @chooses
    def fit(self, X, y=None, sample_weight=None, *, client=None):
        """Find the centres.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            Blocks are visited once in each iteration and never held together: labels stay with their rows until the
            end, and ``codes_`` is None. The start is found, and repaired, on rows that stand for all.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        return self._fit_counted(X, sample_weight, "n_clusters", client)

    def _fit_counted(self, X, sample_weight, counted: str, client=None):
        """Fit; a warning about the number of clusters calls it `counted`, as whoever asked for them does."""
        with fitting(self, client):
            objective, learned = self._open(X)
            learned.weighted = sample_weight is not None
            weights = row_weights(sample_weight, objective.shape[0])
            if self.coreset is None and objective.in_blocks:
                fit_blocks(self, objective, learned, weights, counted)
            elif self.coreset is None:
                self._fit_rows(objective, learned, weights, counted)
            else:
                drawn = on_coreset(self.coreset, self._number(), objective, weights, self.random_state)
                self._fit_rows(drawn.objective, learned, drawn.weights, counted)
                drawn.label_all(self, objective, weights)
            self._sums = sums_of(self.cluster_centers_, self.labels_, weights)
        return self

    def fit_predict(self, X, y=None, sample_weight=None, *, client=None):
        """Fit, and return the label of every row."""
        return self.fit(X, sample_weight=sample_weight, client=client).labels_

    def fit_transform(self, X, y=None, sample_weight=None, *, client=None):
        """Fit, and return the distances of every row to every centre."""
        return self.fit(X, sample_weight=sample_weight, client=client).transform(X)

    def _open(self, X):
        """Open a training table and make it ready for the metric."""
        metric = metric_of(self.metric)
        objective, learned = open_table(self, X, self.missing, "squared")
        if objective.in_blocks and self.coreset is None and not metric.changes:
            return objective, learned  # its blocks are looked at once, in the visit that finds the start
        return objective.each_block(metric.rows), learned

    def _reopen(self, X):
        """Open new rows and make them ready for the metric."""
        check_is_fitted(self)
        return reopen_table(self, X, self.missing, self._learned).each_block(metric_of(self.metric).rows)

    def _fit_rows(self, objective: Objective, learned: Learned, weights: NDArray | None, counted: str) -> None:
        """Find the centres of rows in memory, label them, and publish."""
        problem = self._problem(learned.loss, objective.shape, learned.mixed)
        check_size(problem, *objective.shape)
        run = Run(self, objective, weights)
        scheme, plan = self._choose(objective, problem, weights, run.rng)
        state = run.through(scheme, plan)
        Z, labels, value = state["centres"], state["labels"], run.history.objective[-1]
        if scheme.by_centre:
            order = np.lexsort(Z.T[::-1])
            Z, labels = np.ascontiguousarray(Z[order]), np.argsort(order).astype(np.int32)[labels]
        # Lloyd leaves a tie as it was. Boolean rows often tie, and so do copies of a row that two equal centres share.
        if metric_of(self.metric).ties or state["moved"] or any_alike(Z):
            labels, losses = nearest(objective, Z)
            value = total(losses, weights)
        self._publish_fit(problem, learned, Z, labels, value)
        self.codes_ = one_hot(labels, len(Z), Z.dtype)
        run.close(float(value), self._proof(objective, scheme, weights, float(value)))
        warn_of_empty(labels, len(Z), counted)

    def _publish_fit(self, problem: Problem, learned: Learned, Z: NDArray, labels: NDArray, value: float) -> None:
        """Publish centres and labels, and the objective there."""
        self._learned, self._sentence, self._left, self._stream = learned, problem, Nearest(), None
        self._full_components, self.labels_ = Z, labels
        self._publish(problem, Z)
        self.inertia_, self.reconstruction_err_ = float(2 * value), float(np.sqrt(2 * value))

    def _choose(
        self, objective: Objective, problem: Problem, weights: NDArray | None, rng, k: int | None = None
    ) -> tuple[CentreScheme, Plan]:
        """Choose where to begin and which scheme takes the steps, and say why; `k` centres, unless all are wanted."""
        metric, tol = metric_of(self.metric), number(self.tol, "tol")
        centres, start = first_centres(objective, k or problem.n_components, self.init, metric, weights, rng)
        repair = wants_repair(self.repair, self.init)
        scheme, reasons = choose_scheme(objective, centres, weights, metric, repair, tol, rng)
        words = (scheme.title, "nearest component", "means", start, reasons)
        return scheme, Plan(describe(objective, problem), *words)

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.cluster_centers_, self.n_parameters_ = self.components_, Z.size + 1

    def _proof(self, objective: Objective, scheme: CentreScheme, weights: NDArray | None, value: float):
        """Bound the objective from below if that is cheap, or else say how far centres are from their rows' means."""
        problem, Z = self._sentence, self._full_components
        if certify.can_bound(objective, problem) and certify.bound_is_cheap(objective, problem, self.n_iter_):
            return certify.eckart_young(objective, problem, value, weights)
        gap = np.linalg.norm(scheme.means(self.labels_, Z).astype(np.float64) - Z)
        return certify.Certificate("kkt", 0.0, float(gap / max(float(np.linalg.norm(Z)), 1e-30)), True, value)

    def certify(self, X, *, sample_weight=None):
        """Bound the objective (Eckart–Young) on the table and weights the model was fitted to, at whatever cost."""
        with single_blas():
            objective = self._reopen(X)
            self._learned.need_weights(sample_weight, "sample_weight")
            if not certify.can_bound(objective, self._sentence):
                return self.certificate_
            weights = row_weights(sample_weight, objective.shape[0])
            value = total(nearest(objective, self.cluster_centers_)[1], weights)
            self.certificate_ = certify.eckart_young(objective, self._sentence, value, weights)
        return self.certificate_

    def predict(self, X):
        """Find the nearest centre of every row: the left half-step."""
        with single_blas():
            return nearest(self._reopen(X), self.cluster_centers_)[0]

    def transform(self, X):
        """Compute the distance of every row to every centre (over the observed entries), in the metric of the model."""
        with single_blas():
            return self._reopen(X).of_rows(_distances, (self.cluster_centers_, metric_of(self.metric)))

    def anomaly_score(self, X):
        """Score how strange each row is: its distance to the nearest centre, in the metric of the model."""
        with single_blas():
            return metric_of(self.metric).distances(nearest(self._reopen(X), self.cluster_centers_)[1])

    def inverse_transform(self, U, *, linear: bool = False):
        """Return the centre of each one-hot code (as in ``codes_``)."""
        return super().inverse_transform(U, linear=linear)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Return minus the inertia of X: higher is better."""
        with single_blas():
            _, losses = nearest(self._reopen(X), self.cluster_centers_)
        return -2 * total(losses, row_weights(sample_weight, len(losses)))

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block: centres are the means of all rows they have won so far.

        Labels, codes and objective are then those of the block. Rows of an earlier `fit` count as if they lay on their
        centres.
        """
        add_block(self, X, sample_weight)
        return self


def _distances(rows: Objective, told: tuple, own: None) -> tuple[NDArray, None]:
    """Compute the distance of every row in memory to every centre."""
    centres, metric = told
    losses = all_losses(rows, centres.astype(rows.dtype, copy=False))
    return metric.distances(losses).astype(rows.dtype, copy=False), None
