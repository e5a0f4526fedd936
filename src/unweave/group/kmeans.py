"""k-means."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from unweave.factorization.base import BaseFactorization
from unweave.factorization.door import open_table, reopen_table
from unweave.factorization.settings import whole
from unweave.linalg.products import matmul
from unweave.objectives import Blocks, Dense
from unweave.parallel import single_blas
from unweave.penalties import Free, OneHot
from unweave.solve import certificate as certify
from unweave.solve.kmeans_start import farthest_first, kmeans_plus_plus, random_rows
from unweave.solve.lloyd import Lloyd, assign
from unweave.solve.means import MeansOfSeen, nearest_labels
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem
from unweave.solve.start import row_mixture, spread_rows
from unweave.updates import Nearest


def _farthest(X, k, rng, sample_weight=None):
    """Farthest-first looks at distances only; weights do not matter to it."""
    return farthest_first(X, k, rng)


_STARTS = {"k-means++": kmeans_plus_plus, "farthest": _farthest, "random": random_rows}


class KMeans(ClusterMixin, BaseFactorization):
    """X ≈ U·Z with one-hot codes and free components, least squares: every row belongs to its nearest centre.

    Minimises ½ Σ_i w_i ‖x_i − c_{label i}‖²; ``inertia_`` is twice that. Lloyd's iterations, with distances that bounds
    prove unnecessary left out; the answer is that of plain Lloyd. Takes sparse tables, and with ``missing="nan"``
    centres and distances use the observed entries only.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "farthest", "random"} or array (k, m), default="k-means++"
    missing, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. A fit also ends when no label changes (unless ``tol=0``).

    Attributes
    ----------
    cluster_centers_ : array (k, m)
        Also ``components_``.
    labels_ : array (n,)
        Of the training rows; ``codes_`` is the same as a sparse one-hot table.
    inertia_, objective_ : float
    n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`. The bound is the larger of the rank-k tail and the centred
        rank-(k − 1) tail.

    Examples
    --------
    >>> import unweave
    >>> unweave.KMeans(2).fit([[0.0], [1], [10], [11]]).inertia_
    1.0

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM. Arthur and Vassilvitskii (2007), k-means++. Hamerly (2010) and
    Elkan (2003) for the bounds.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
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
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        k = whole(self.n_clusters, "n_clusters", 1)
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_clusters={k}")
        return Problem(k, loss, OneHot(), Free())

    def fit(self, X, y=None, sample_weight=None):
        """Find the centres.

        Parameters
        ----------
        X : array, sparse matrix or data frame
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows.
        """
        with single_blas():
            objective, learned = open_table(self, X, self.missing, "squared")
            if isinstance(objective, Blocks):
                raise ValueError("KMeans.fit needs one table in memory; feed blocks to partial_fit")
            self._weights = None
            if sample_weight is not None:
                self._weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
                if not self._weights.any():
                    raise ValueError("sample_weight must hold a positive number: all are zero")
            self._fit_objective(objective, learned)
            del self._weights
        return self

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit, and the distances of every row to every centre."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _plan(self, objective, problem, rng):
        k = problem.n_components
        centres, start = self._centres(objective, k, rng)
        if isinstance(objective, Dense) and objective.complete:
            lloyd = _LloydScheme(objective, k, self._weights)
            scheme: _LloydScheme | MeansOfSeen = lloyd
            title, why = "Lloyd with distance bounds", lloyd.lloyd.choice.why
        else:
            scheme = MeansOfSeen(objective, k, self._weights)
            title, why = "Lloyd", "the table is sparse or has holes: nearest by the entries seen, then their means"
        plan = Plan(describe(objective, problem), title, "nearest component", "means", start, [why])
        return plan, scheme, scheme.start(centres)

    def _centres(self, objective, k: int, rng):
        if not isinstance(self.init, str):
            centres = np.array(self.init, dtype=objective.dtype, order="C")
            if centres.shape != (k, objective.shape[1]):
                raise ValueError(f"init must have the shape ({k}, {objective.shape[1]}), got {centres.shape}")
            if not np.isfinite(centres).all():
                raise ValueError("init must hold finite numbers")
            return centres, "given"
        if self.init not in _STARTS:
            raise ValueError(f"init={self.init!r} is not known; use one of {', '.join(_STARTS)} or an array of centres")
        if isinstance(objective, Dense) and objective.complete:
            return _STARTS[self.init](objective.X, k, rng, getattr(self, "_weights", None)), self.init
        if self.init == "random":
            return row_mixture(objective, rng.choice(objective.shape[0], k, replace=False)), self.init
        return row_mixture(objective, spread_rows(objective, k, rng)), "k-means++"

    def _finish(self, objective, problem, scheme, state):
        Z = self._full_components = state["centres"]
        self._publish(problem, Z)
        settled = scheme.settled(state)
        labels, losses = (state["labels"], None) if settled else self._nearest(objective, Z)
        self.labels_ = labels
        value = self.history_.objective[-1]
        if losses is not None:
            value = float(losses @ (np.ones(len(labels)) if self._weights is None else self._weights))
        self.objective_, self.inertia_ = float(value), float(2 * value)
        self.reconstruction_err_ = float(np.sqrt(2 * value))
        self.codes_ = _one_hot(labels, len(Z), Z.dtype)
        self.certificate_ = self._certificate(objective, problem, scheme, labels, Z, None)
        return None

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.cluster_centers_ = self.components_

    def _certificate(self, objective, problem, scheme, labels, Z, rows):
        bounded = self._weights is None and certify.can_bound(objective, problem)
        if bounded and certify.bound_is_cheap(objective, problem, self.n_iter_):
            return certify.eckart_young(objective, problem, self.objective_)
        # Every row is at its nearest centre, so all that is left is how far centres are from the means of their rows.
        former, change = Z, 0.0
        if isinstance(scheme, _LloydScheme) and not scheme.settled({"moved": 1}):
            weights = np.ones(len(labels)) if self._weights is None else self._weights
            counts = np.bincount(labels, weights, len(Z))
            rows = sp.csr_array((weights, (labels, np.arange(len(labels)))), shape=(len(Z), len(labels)))
            means = np.where(counts[:, None] > 0, (rows @ objective.X) / np.maximum(counts, 1e-300)[:, None], former)
            change = float(np.linalg.norm(means - former) / max(float(np.linalg.norm(former)), 1e-30))
        return certify.Certificate("kkt", 0.0, change, True, self.objective_)

    def certify(self, X):
        """The Eckart–Young certificate on the table the model was fitted to, at whatever cost."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            if not certify.can_bound(objective, self._sentence):
                return self.certificate_
            _, losses = self._nearest(objective, self.cluster_centers_)
            self.certificate_ = certify.eckart_young(objective, self._sentence, float(losses.sum()))
        return self.certificate_

    def _nearest(self, objective, Z):
        """Label and half squared distance of every row."""
        if isinstance(objective, Dense) and objective.complete:
            labels, squares = assign(objective.X, np.ascontiguousarray(Z, dtype=objective.dtype))
            return labels, 0.5 * squares.astype(np.float64)
        return nearest_labels(objective, Z.astype(objective.dtype, copy=False))

    def predict(self, X):
        """The nearest centre of every row: the left half-step."""
        check_is_fitted(self)
        with single_blas():
            return self._nearest(reopen_table(self, X, self.missing, self._learned), self.cluster_centers_)[0]

    def transform(self, X):
        """Distance of every row to every centre (over the observed entries)."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            return _distances(objective, self.cluster_centers_.astype(objective.dtype, copy=False))

    def inverse_transform(self, U, *, linear: bool = False):
        """The centre of each one-hot code (as in ``codes_``)."""
        return super().inverse_transform(U, linear=linear)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Minus the inertia of X: higher is better."""
        check_is_fitted(self)
        with single_blas():
            _, losses = self._nearest(reopen_table(self, X, self.missing, self._learned), self.cluster_centers_)
        weights = np.ones(len(losses)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return -2 * float(losses @ weights)

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block: centres are the means of all rows they have won so far."""
        from unweave.group.streaming import add_block

        add_block(self, X, sample_weight)
        return self


class _LloydScheme:
    """Accelerated Lloyd as a scheme of the one loop."""

    def __init__(self, objective: Dense, k: int, weights):
        self.lloyd, self.left = Lloyd(objective.X, k, weights), Nearest()
        self.start, self.step, self.settled = self.lloyd.start, self.lloyd.step, self.lloyd.converged


def _one_hot(labels, k: int, dtype):
    n = len(labels)
    return sp.csr_array((np.ones(n, dtype), labels.astype(np.int32), np.arange(n + 1)), shape=(n, k))


def _distances(objective, Z):
    """Square roots of twice the loss to every centre; dense rows are taken about the centres' mean, for accuracy."""
    if isinstance(objective, Dense) and objective.complete:
        middle = Z.mean(axis=0)
        X, C = objective.X - middle, Z - middle
        squares = (X * X).sum(axis=1, keepdims=True) - 2 * matmul(X, C.T) + (C * C).sum(axis=1)
        return np.sqrt(np.maximum(squares, 0))
    columns = []
    for centre in Z:
        one = np.ascontiguousarray(centre[None])
        model = objective.rows_given(one)
        losses = model.row_values(np.ones((objective.shape[0], 1), dtype=objective.dtype))
        if model.kind == "quadratic":
            losses = losses + 0.5 * model.row_norms()
        columns.append(np.sqrt(np.maximum(2 * losses, 0)))
    return np.column_stack(columns).astype(objective.dtype)
