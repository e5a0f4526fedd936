"""Explicit ratings: fill in a table of which little is known."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import generator, number, whole
from unweave.objectives import Blocks, Dense, Objective, Observed
from unweave.penalties import Ridge
from unweave.solve.alternate import Alternate
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem, check_size

_STRENGTHS = np.geomspace(64, 0.5, 15)
_HELD_OUT = 0.1
_TRIAL_SWEEPS = 6


class MatrixCompletion(BaseFactorization):
    """x_ij ≈ mean + a_i + b_j + u_i·z_j over the observed entries, with ridge: ratings by alternating least squares.

    Minimises ½ Σ (x_ij − prediction)² + ½λ(‖U‖² + ‖a‖² + ‖Z‖² + ‖b‖²). Each half-step solves one small least-squares
    problem a row, exactly. Sparse means unobserved here: stored entries are ratings, the rest is unknown
    (``missing="auto"``), and so is NaN in a dense table.

    Biases ride as extra code columns: a code is (u, a, 1) and its components are (z, 1, mean + b), so the prediction is
    ``inverse_transform(transform(X))``.

    Parameters
    ----------
    n_components : int, default=10
    ridge : float or "auto", default="auto"
        λ; "auto" takes the best of a falling row on a tenth of the entries that is held out, then fits on all.
    missing, solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.

    Attributes
    ----------
    components_ : array (k + 2, m)
    codes_ : array (n, k + 2)
    ridge_ : float
        The λ used.
    mean_ : float
        Mean of the observed entries.
    ridge_path_ : dict
        Held-out error (root mean square) for every λ tried, when ridge="auto".

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
        k = whole(self.n_components, "n_components", 1)
        return Problem(k, loss, Ridge(strength=self.ridge_), Ridge(strength=self.ridge_), biases=True)

    def _fit_objective(self, objective, learned):
        if isinstance(objective, Blocks):
            raise ValueError("MatrixCompletion.fit needs one table in memory; feed blocks to partial_fit")
        self.ridge_ = 0.0  # decided below
        check_size(self._problem(learned.loss, objective.shape, learned.mixed), *objective.shape)
        self.mean_ = _mean(objective)
        centred = _shifted(objective, self.mean_)
        self.ridge_ = self._choose_ridge(centred, learned.loss)
        self._table = objective
        codes = super()._fit_objective(centred, learned)
        del self._table
        return codes

    def _choose_ridge(self, objective: Objective, loss) -> float:
        if not isinstance(self.ridge, str):
            return number(self.ridge, "ridge")
        if self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} must be a number or 'auto'")
        rng = generator(self.random_state if not isinstance(self.random_state, np.random.RandomState) else 0)
        train, test = hold_out(_observed(objective), rng, _HELD_OUT)
        if test is None:
            return 1.0
        self.ridge_path_ = self._held_out_errors(train, test, loss, rng)
        return min(self.ridge_path_, key=lambda strength: self.ridge_path_[strength])

    def _held_out_errors(self, train: Observed, test: Observed, loss, rng) -> dict[float, float]:
        """Error on the held-out entries for falling λ, each fit beginning where the last one ended."""
        unit = _noise_scale(train)
        errors: dict[float, float] = {}
        state = None
        for strength in _STRENGTHS * unit:
            self.ridge_ = float(strength)
            problem = self._problem(loss, train.shape, False)
            _, scheme, first = make_plan(train, problem, "auto", self.init if state is None else "random", rng)
            assert isinstance(scheme, Alternate)
            loop = Loop(max_iter=_TRIAL_SWEEPS, tol=0)
            state, _ = iterate(scheme.step, first if state is None else state, loop)
            errors[self.ridge_] = _root_mean_square(test, state["codes"], state["components"])
            if len(errors) > 2 and errors[self.ridge_] > 1.05 * min(errors.values()):
                break
        return errors

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
        self.objective_ = float(objective.accurate_value(U, Z, rows)) + _ridges(problem, U, shifted)
        return super()._certificate(_shifted(objective, self.mean_), problem, scheme, U, shifted, None)

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


def _ridges(problem: Problem, U, Z) -> float:
    from unweave.factorization.base import penalties

    return penalties(problem, U, Z)


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


def _observed(objective: Objective) -> Observed:
    """Entries as a list, whatever the storage."""
    if isinstance(objective, Observed):
        return objective
    assert isinstance(objective, Dense)
    t = objective.by_row
    return Observed(sp.csr_array((t.data, t.indices, t.indptr), shape=objective.shape), objective.loss)


def hold_out(objective: Observed, rng, share: float) -> tuple[Observed, Observed | None]:
    """Entries split at random into training and held out; None when there are too few to spare any."""
    X = objective.X
    if X.nnz < 20:
        return objective, None
    coo = X.tocoo()
    out = rng.random(X.nnz) < share
    parts = []
    for pick in (~out, out):
        entries = (coo.data[pick], (coo.row[pick], coo.col[pick]))
        parts.append(Observed(sp.csr_array(entries, shape=X.shape), objective.loss))
    return (parts[0], parts[1]) if parts[1].X.nnz and parts[0].X.nnz else (objective, None)


def _noise_scale(objective: Observed) -> float:
    """Variance of the entries over a typical one: a unit for λ that follows the units of the data."""
    return max(float(objective.X.data.var(dtype=np.float64)), 1e-12) ** 0.5


def _root_mean_square(test: Observed, U, Z) -> float:
    return float(np.sqrt(2 * test.value(U, Z) / test.X.nnz))
