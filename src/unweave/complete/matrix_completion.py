"""Explicit ratings: fill in a table of which little is known."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.complete.counted import POWERS, CountedAlternate, counted_half
from unweave.complete.held_out import RANKS, SHARE, STRENGTHS, hold_out, observed, ridge_path, spread
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import generator, number, whole
from unweave.objectives import Blocks, Dense, Objective, Observed
from unweave.penalties import Ridge
from unweave.solve.alternate import Alternate
from unweave.solve.certificate import stationarity
from unweave.solve.history import History
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem, check_size


class MatrixCompletion(BaseFactorization):
    """x_ij ≈ mean + a_i + b_j + u_i·z_j over the observed entries, with ridge: ratings by alternating least squares.

    Minimises ½ Σ (x_ij − prediction)² + ½ Σ_i λ·n_i^p (‖u_i‖² + a_i²) + ½ Σ_j λ·n_j^p (‖z_j‖² + b_j²), where n counts
    the ratings of a user or an item. Each half-step solves one small least-squares problem a row, exactly.
    Sparse means unobserved here: stored entries are ratings, the rest is unknown (``missing="auto"``), and so is NaN
    in a dense table.

    Biases ride as extra code columns: a code is (u, a, 1) and its components are (z, 1, mean + b), so the prediction is
    ``inverse_transform(transform(X))``.

    Parameters
    ----------
    n_components : int or "auto", default=10
        "auto" takes the rank (and with it the ridge) of least error on held-out entries.
    ridge : float or "auto", default="auto"
        λ; "auto" takes the best of a rising row on a tenth of the entries that is held out, then fits on all.
    weighting : "root", "plain" or "count", default="root"
        How the ridge of a user or an item grows with the number n of its ratings: λ√n, λ, or λn.
    missing, solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.

    Attributes
    ----------
    components_ : array (k + 2, m)
    codes_ : array (n, k + 2)
    ridge_ : float
        The λ used.
    n_components_ : int
    mean_ : float
        Mean of the observed entries.
    ridge_path_ : dict
        Held-out error (root mean square) for every λ tried, when ridge="auto".
    rank_path_ : dict
        Least held-out error for every rank tried, when n_components="auto".

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.add.outer([1.0, 2, 3, 4], [0.0, 1, 2])
    >>> X[1, 2] = np.nan
    >>> model = unweave.MatrixCompletion(1, ridge=0.01).fit(X)
    >>> round(float(model.inverse_transform(model.codes_)[1, 2]), 1)
    4.0

    References
    ----------
    Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems.
    """

    def __init__(
        self,
        n_components=10,
        *,
        ridge="auto",
        weighting="root",
        missing="auto",
        solver="auto",
        init="auto",
        max_iter=50,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.weighting = weighting
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        return Problem(self._rank, loss, Ridge(strength=self.ridge_), Ridge(strength=self.ridge_), biases=True)

    def _power(self) -> float:
        if self.weighting not in POWERS:
            raise ValueError(f"weighting={self.weighting!r} is not known; use one of {', '.join(POWERS)}")
        return POWERS[self.weighting]

    def _plan(self, objective, problem, rng):
        plan, scheme, state = make_plan(objective, problem, self.solver, self.init, rng)
        if self._power():
            plan.reasons.append(f"the ridge grows with the number n of ratings: {self.ridge_:.3g}·n^{self._power():g}")
        assert isinstance(scheme, Alternate)
        return plan, CountedAlternate(scheme, self.ridge_, self._power()), state

    def _code_half(self, objective):
        return counted_half(objective, self.ridge_, self._power(), transposed=False)

    def _fit_objective(self, objective, learned):
        if isinstance(objective, Blocks):
            raise ValueError("MatrixCompletion.fit needs one table in memory; feed blocks to partial_fit")
        auto = self.n_components == "auto"
        self._rank, self.ridge_ = 1 if auto else whole(self.n_components, "n_components", 1), 0.0  # decided below
        check_size(self._problem(learned.loss, objective.shape, learned.mixed), *objective.shape)
        self.mean_ = _mean(objective)
        centred = _shifted(objective, self.mean_)
        self._choose(centred, learned.loss, auto)
        self._table = objective
        codes = super()._fit_objective(centred, learned)
        del self._table
        return codes

    def _choose(self, objective: Objective, loss, auto: bool) -> None:
        """Settle the rank and the ridge, on held-out entries where they are not given."""
        given = None if isinstance(self.ridge, str) else number(self.ridge, "ridge")
        if given is None and self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} must be a number or 'auto'")
        if given is not None and not auto:
            self.ridge_ = given
            return
        rng = generator(self.random_state if not isinstance(self.random_state, np.random.RandomState) else 0)
        train, test = hold_out(observed(objective), rng, SHARE)
        if test is None:
            self._rank, self.ridge_ = self._rank, 1.0 if given is None else given
            return
        unit = spread(train) / float(train.X.nnz / max(train.shape)) ** self._power()
        strengths = STRENGTHS * unit if given is None else [given]
        self.rank_path_ = {}
        least = np.inf
        for rank in [r for r in RANKS if r <= min(objective.shape)] if auto else [self._rank]:
            path = self._errors(train, test, loss, rank, strengths, rng)
            strength = min(path, key=lambda value: path[value])
            self.rank_path_[rank] = path[strength]
            if path[strength] < least * (1 - 1e-4):
                least, best, self.ridge_path_ = path[strength], (rank, strength), path
            elif path[strength] > 1.005 * least:
                break
        self._rank, self.ridge_ = best

    def _errors(self, train: Observed, test: Observed, loss, rank: int, strengths, rng) -> dict[float, float]:
        def begin(strength: float):
            self._rank, self.ridge_ = rank, strength
            problem = self._problem(loss, train.shape, False)
            _, scheme, first = make_plan(train, problem, "auto", self.init, rng)
            assert isinstance(scheme, Alternate)
            return CountedAlternate(scheme, strength, self._power()), first

        return ridge_path(begin, strengths, test)

    def _finish(self, objective, problem, scheme, state):
        Z = state["components"].copy()
        Z[problem.width - 1] += Z.dtype.type(self.mean_)
        return super()._finish(self._table, problem, scheme, {**state, "components": Z})

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.item_bias_ = Z[-1] - self.mean_

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        # On the centred table, where the penalty of the biases was paid.
        shifted = Z.copy()
        shifted[-1] -= Z.dtype.type(self.mean_)
        centred = _shifted(objective, self.mean_)
        counted = CountedAlternate(Alternate(centred, problem, scheme.left, scheme.right), self.ridge_, self._power())
        F = np.ascontiguousarray(shifted.T)
        self.objective_ = float(objective.accurate_value(U, Z, rows)) + counted.penalties(U, F)
        halves = (counted.code_half, counted.component_half)
        return stationarity(centred, problem, U, shifted, self.objective_, halves=halves)

    def certify(self, X):
        """The KKT residual of the fit (the problem is not convex, and no bound holds for missing entries)."""
        return self.certificate_

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows (users); the first call sets mean and ridge."""
        if not hasattr(self, "components_"):
            self.fit(X)
            self.history_ = History()
            return self
        return super().partial_fit(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _mean(objective: Objective) -> float:
    """Mean of the observed entries."""
    if isinstance(objective, Dense) and objective.weights is None:
        return float(objective.X.mean(dtype=np.float64))
    if isinstance(objective, Dense):
        return float(objective.X.sum(dtype=np.float64) / max(1, objective.n_observed))
    return (
        float(objective.X.data.mean(dtype=np.float64)) if isinstance(objective, Observed) else float(objective.X.mean())
    )


def _shifted(objective: Objective, mean: float) -> Objective:
    """The same entries less their mean."""
    if isinstance(objective, Dense):
        X = objective.X - objective.dtype.type(mean)
        return Dense(
            X if objective.weights is None else np.where(objective.weights != 0, X, 0),
            objective.loss,
            objective.weights,
        )
    assert isinstance(objective, Observed), "sparse tables are partly observed here"
    X = objective.X
    return Observed(sp.csr_array((X.data - X.dtype.type(mean), X.indices, X.indptr), shape=X.shape), objective.loss)
