"""Explicit ratings: fill in a table of which little is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.complete.choosing import alternating, choose, start_of
from unweave.complete.counted import POWERS, CountedAlternate
from unweave.complete.features_guided import GuidedAlternate
from unweave.complete.growing import Growing
from unweave.complete.held_out import observed
from unweave.complete.sampled import BIASES_ALONE, SWEEPS
from unweave.complete.sgd import Descent, how_to_descend
from unweave.complete.units import Units
from unweave.data.atomic import need_place
from unweave.factorization.settings import whole
from unweave.penalties import Ridge
from unweave.solve.alternate import Alternate, left_half_step
from unweave.solve.certificate import stationarity
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem, check_size


class MatrixCompletion(Growing):
    """x_ij ≈ mean + a_i + b_j + u_i·z_j over the observed entries, with ridge: ratings by alternating least squares.

    Minimises ½ Σ (x_ij − prediction)² + ½ Σ_i λ·n_i^p (σ‖u_i‖² + a_i²) + ½ Σ_j λ·n_j^p (σ‖z_j‖² + b_j²), where n counts
    the ratings of a user or an item and σ is the standard deviation of all of them. So λ is a pure number: the fit
    works on ratings brought to mean 0 and spread 1, and ``fit(a·X + b)`` predicts ``a·p + b`` whatever the solver.
    Each half-step solves one small least-squares problem a row, exactly.
    Sparse means unobserved here: stored entries are ratings, the rest is unknown (``missing="auto"``), and so is NaN
    in a dense table.

    Biases ride as extra code columns: a code is (u, a, 1) and its components are (z, 1, mean + b), so the prediction is
    ``inverse_transform(transform(X))``.

    Parameters
    ----------
    n_components : int or "auto", default=10
        "auto" doubles a rank of 8 while held-out entries are predicted clearly better, or else halves it while they
        are predicted no worse.
    ridge : float or "auto", default="auto"
        λ, for ratings of spread 1 (one λ means the same for stars and for percents); "auto" takes what does
        best on a tenth of the entries that is held out, then fits on all: a ridge of the biases first, then a falling
        row from where vectors begin to matter. Where vectors do not do clearly better than biases alone, the model is
        biases alone (``n_components_`` is 0, and ``plan_`` says so).
    bias_ridge : float, optional
        λ of the biases a and b; None takes `ridge`, or finds one of their own when ridge="auto".
    weighting : "root", "plain" or "count", default="root"
        How the ridge of a user or an item grows with the number n of its ratings: λ√n, λ, or λn.
    time_bins : int or "auto", default="auto"
        Stretches of time, with equally many ratings, in which the bias of an item is constant, for a fit with
        timestamps; "auto" takes the number of least error on held-out entries.
    time_ridge : float, default=20
        An item's bias in a stretch, or the drift of a user, with so many ratings is shrunk to half.
    solver : "auto", "gibbs", "sgd", an :class:`SGD`, or the name of an update, default="auto"
        "gibbs" samples the Bayesian form of the model instead of minimising: more accurate, slower, and
        :meth:`predict_std` says how sure it is. `ridge` then plays no part
        (but where it is a number, vectors are not asked whether they pay). Its codes and components are those of the
        draws side by side (100 at most), so that their product is the mean prediction. Features move the prior means
        of the vectors; drift is found first, beside biases alone, and taken off the ratings. "sgd" is
        stochastic gradient descent, with early stopping; an :class:`SGD` object sets its rate, momentum and schedule.
    max_iter : int, default=None
        Most sweeps; None is 50, 200 for "sgd", and 300 for "gibbs", which makes them all.
    missing, init, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.

    Attributes
    ----------
    components_ : array (k + 2, m)
    codes_ : array (n, k + 2)
    ridge_ : float
        The λ used, and ``bias_ridge_`` that of the biases.
    n_components_ : int
    mean_ : float
        Mean of the observed entries; ``spread_`` is their standard deviation.
    draws_ : dict of arrays
        What was drawn, in units of ``spread_``, when solver="gibbs"; ``noise_`` is the standard deviation of a single
        rating.
    ridge_path_ : dict
        Held-out error (root mean square) for every λ tried, when ridge="auto".
    rank_path_ : dict
        Least held-out error for every rank tried, 0 being biases alone; ``choice_`` is the same with
        ``plot()``, when n_components="auto".
    drift_ : dict of arrays
        How biases drift, after ``fit(X, timestamps=...)``; ``bins_path_`` is the held-out error by `time_bins`.
    user_features_, item_features_ : dict of arrays
        The map from features to vectors, after ``fit(X, user_features=..., item_features=...)``.

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
    Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems. Salakhutdinov and Mnih
    (2008), Bayesian probabilistic matrix factorization using Markov chain Monte Carlo.
    """

    _takes_blocks = False

    def __init__(
        self,
        n_components=10,
        *,
        ridge="auto",
        bias_ridge=None,
        weighting="root",
        time_bins="auto",
        time_ridge=20.0,
        missing="auto",
        solver="auto",
        init="auto",
        max_iter=None,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.bias_ridge = bias_ridge
        self.weighting = weighting
        self.time_bins = time_bins
        self.time_ridge = time_ridge
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
        if self._draws:
            return self._gibbs_plan(objective, problem, rng)
        how = how_to_descend(self.solver)
        table = objective if how is None else observed(objective)
        init = start_of(self, self._rank, objective.shape[1])
        plan, scheme, state = make_plan(table, problem, "auto" if how else self.solver, init, rng)
        plan.reasons += self._said()
        assert isinstance(scheme, Alternate)
        counted, state = alternating(scheme, self._strengths(), self._guide, state, self._units.square)
        if how is None:
            plan.reasons += self._reasons()
            return plan, counted, state
        plan.solver, plan.codes, plan.components = "stochastic gradient descent", "", ""
        descent = Descent(counted, how, rng)
        plan.start += ", made small"
        return plan, descent, descent.begin(state)

    def _said(self) -> list[str]:
        """What a plan says of the rank and the ridges."""
        power = f"·n^{self._power():g} with n ratings" if self._power() else ""
        said = [f"ridge, for ratings of spread 1: {self.ridge_:.3g}{power}; of the biases {self.bias_ridge_:.3g}"]
        return [*BIASES_ALONE, *said] if self._rank == 0 else said

    def _default_max_iter(self) -> int:
        return SWEEPS if self._draws else 50 if how_to_descend(self.solver) is None else 200

    def _row_ridge(self, n_ratings):
        """In the units of the data: that of each entry of a vector, and last that of the bias."""
        return self.ridge_ * max(n_ratings, 1) ** self._power() * self._units.of_ridge(self._sentence.width)

    def _fit(self, X, weights=None):
        self._given = X
        try:
            return super()._fit(X, weights)
        finally:
            del self._given

    def _fit_objective(self, objective, learned):
        need_place(self.checkpoint, "the checkpoint")  # before the searches, which may take long
        auto = self.n_components == "auto"
        self._rank = 1 if auto else whole(self.n_components, "n_components", 1)  # decided below, with the ridges
        self.ridge_ = self.bias_ridge_ = 0.0
        check_size(self._problem(learned.loss, objective.shape, learned.mixed), *objective.shape)
        self._guide = self._gathered(self._given, objective)
        objective = objective if self._guide is None else observed(objective)
        units = Units.of(objective)
        self.mean_, self.spread_ = units.mean, units.spread
        standard = units.inward(objective)
        if self._draws:
            standard = self._prepare_draws(standard, learned.loss)
            self._rank, self.ridge_, self.bias_ridge_ = self._drawn_rank(standard, learned.loss), 0.0, 0.0
        else:
            self._rank, self.ridge_, self.bias_ridge_ = choose(self, standard, learned.loss)
            self._guide = self._with_bins(self._guide, standard, learned.loss)
        codes = super()._fit_objective(standard, learned, *self._known)
        self._left = getattr(self._left, "plain", self._left)
        self._remember(self._given, objective)
        return codes

    def _finish(self, objective, problem, scheme, state):
        """Publish in the units of the data; `objective` is the standardised table."""
        if self._draws:
            return self._finish_draws(objective, state)
        table, units = objective, self._units
        if isinstance(scheme, GuidedAlternate):
            table = self._publish_guide(scheme, state, table)
        self._full_components = units.components_out(state["components"])
        self._publish(problem, self._full_components)
        Z = self._standard_components()  # what `transform` has to work with
        rows = table.rows_given(Z)
        U = left_half_step(table, problem, scheme.left, Z, rows, self._code_half(table))
        loss = float(table.accurate_value(U, Z, rows))
        self.reconstruction_err_ = units.spread * float(np.sqrt(2 * loss))
        self.codes_ = units.codes_out(U)
        self.certificate_ = self._stationarity(table, problem, scheme, U, loss)
        return self.codes_

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.item_bias_ = Z[-1] - Z.dtype.type(self.mean_)

    def _stationarity(self, table, problem, scheme, U, loss):
        """The objective, in units of the data, and how far the fit is from settled."""
        units, counted = self._units, scheme
        if not isinstance(scheme, CountedAlternate):
            counted = CountedAlternate(Alternate(table, problem, scheme.left, scheme.right), self._strengths())
        Z, U = units.components_in(self._full_components), U.copy()
        U[:, problem.held_codes] = counted.held
        value = loss + counted.penalties(U, np.ascontiguousarray(Z.T)) + counted.paid
        self.objective_ = value * units.square
        found = stationarity(table, problem, U, Z, value, halves=(counted.code_half, counted.component_half))
        return replace(found, objective=self.objective_)

    def certify(self, X):
        """The KKT residual of the fit (the problem is not convex, and no bound holds for missing entries)."""
        return self.certificate_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
