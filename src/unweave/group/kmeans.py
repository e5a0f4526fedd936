"""k-means."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import row_weights
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import number
from unweave.group.coreset_fit import fit_on_coreset
from unweave.group.kmeans_assign import all_losses, any_alike, nearest, one_hot, residual, total, warn_of_few
from unweave.group.kmeans_metrics import metric_of, ready_rows
from unweave.group.kmeans_plan import first_centres, make_scheme, wants_repair
from unweave.group.streaming import add_block, sums_of
from unweave.objectives.opening import open_table, reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free, OneHot
from unweave.select.auto import Counting, chooses
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem


class KMeans(Counting, ClusterMixin, BaseFactorization):
    """X ≈ U·Z with one-hot codes and free components, least squares: every row belongs to its nearest centre.

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

    _counted = "n_clusters"  # as whoever asked for the clusters calls their number

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

    @property
    def _takes_blocks(self) -> bool:
        return self.coreset is not None

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_clusters={k}")
        return Problem(k, loss, OneHot(), Free())

    @chooses
    def fit(self, X, y=None, sample_weight=None):
        """Find the centres.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            With `coreset` also a sequence of row blocks; ``codes_`` is None then.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows.
        """
        with single_blas():
            objective, learned = self._open(X)
            learned.weighted = sample_weight is not None
            weights = self._weights = row_weights(sample_weight, objective.shape[0])
            if self.coreset is not None:
                fit_on_coreset(self, self.coreset, objective, learned, weights)
            else:
                self._fit_objective(objective, learned, weights)
            del self._weights
            self._sums = sums_of(self.cluster_centers_, self.labels_, weights)
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit, and the distances of every row to every centre."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _open(self, X):
        """A training table, ready for the metric."""
        metric = metric_of(self.metric)
        objective, learned = open_table(self, X, self.missing, "squared")
        return ready_rows(metric, objective), learned

    def _reopen(self, X):
        """New rows, ready for the metric."""
        check_is_fitted(self)
        return ready_rows(metric_of(self.metric), reopen_table(self, X, self.missing, self._learned))

    def _plan(self, objective, problem, rng):
        k, metric = problem.n_components, metric_of(self.metric)
        centres, start = first_centres(objective, k, self.init, metric, self._weights, rng)
        repair = wants_repair(self.repair, self.init)
        scheme, reasons = make_scheme(objective, k, self._weights, metric, repair, number(self.tol, "tol"), rng)
        title = scheme.title if hasattr(scheme, "title") else "Lloyd"
        plan = Plan(describe(objective, problem), title, "nearest component", "means", start, reasons)
        return plan, scheme, scheme.start(centres)

    def _finish(self, objective, problem, scheme, state):
        Z, labels, value = state["centres"], state["labels"], self.history_.objective[-1]
        if hasattr(scheme, "pace"):
            order = np.lexsort(Z.T[::-1])
            Z, labels = np.ascontiguousarray(Z[order]), np.argsort(order).astype(np.int32)[labels]
        # Lloyd leaves a tie as it was: Boolean rows often tie, and so do copies that two equal centres have won.
        if self.metric == "hamming" or state["moved"] or any_alike(Z):
            labels, losses = nearest(objective, Z)
            value = total(losses, self._weights)
        self._full_components, self.labels_ = Z, labels
        self._publish(problem, Z)
        self.objective_, self.inertia_ = float(value), float(2 * value)
        self.reconstruction_err_ = float(np.sqrt(2 * value))
        self.codes_ = one_hot(labels, len(Z), Z.dtype)
        self.certificate_ = self._certificate(objective, problem, scheme, labels, Z, None)
        warn_of_few(labels, len(Z), self._counted)
        return None

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.cluster_centers_, self.n_parameters_ = self.components_, Z.size + 1

    def _certificate(self, objective, problem, scheme, labels, Z, rows):
        if certify.can_bound(objective, problem) and certify.bound_is_cheap(objective, problem, self.n_iter_):
            return certify.eckart_young(objective, problem, self.objective_, self._weights)
        return certify.Certificate("kkt", 0.0, residual(scheme, labels, Z), True, self.objective_)

    def certify(self, X, *, sample_weight=None):
        """The Eckart–Young certificate on the table and the weights the model was fitted to, at whatever cost."""
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
        """The nearest centre of every row: the left half-step."""
        with single_blas():
            return nearest(self._reopen(X), self.cluster_centers_)[0]

    def transform(self, X):
        """Distance of every row to every centre (over the observed entries), in the metric of the model."""
        with single_blas():
            objective = self._reopen(X)
            losses = all_losses(objective, self.cluster_centers_.astype(objective.dtype, copy=False))
            return metric_of(self.metric).distances(losses).astype(objective.dtype, copy=False)

    def anomaly_score(self, X):
        """How strange each row is: its distance to the nearest centre, in the metric of the model."""
        with single_blas():
            return metric_of(self.metric).distances(nearest(self._reopen(X), self.cluster_centers_)[1])

    def inverse_transform(self, U, *, linear: bool = False):
        """The centre of each one-hot code (as in ``codes_``)."""
        return super().inverse_transform(U, linear=linear)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Minus the inertia of X: higher is better."""
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
