"""Singular-value thresholding: the matrix of least nuclear norm that agrees with what was observed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.complete.nuclear_base import NuclearModel
from unweave.complete.nuclear_dual import DualAscent
from unweave.complete.nuclear_path import largest_strength
from unweave.complete.sparse_plus_low_rank import LowRank, Pattern, observed_entries
from unweave.factorization.settings import number
from unweave.penalties import Free, Ridge
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.solve.search import seed_of

_TIMES = 4.0  # τ over the largest singular value that X is likely to have


class SingularValueThresholding(NuclearModel):
    """min τ‖M‖₊ + ½‖M‖² subject to m_ij = x_ij where observed: completion of tables without noise.

    When to use it: the observed entries are right and the table has low rank. Then M is the whole table, to the
    tolerance asked for, as soon as there are enough entries (some n·rank·log n of them, spread at random). With noise
    take :class:`SoftImpute`, which need not reproduce it. A large τ makes the term ½‖M‖² negligible.

    Sparse means unobserved here: stored entries are known, the rest is not (``missing="auto"``), and so is NaN in a
    dense table. Ascent in the dual: `history_` holds minus the dual value, which falls. `transform` finds the codes of
    rows by least squares on the components (with a ridge too small to see, for rows with few entries).

    Parameters
    ----------
    tau : float or "auto", default="auto"
        "auto" is 4 times the norm of the observed table over the share of entries observed.
    step : float or "auto", default="auto"
        Length of the steps in the dual; "auto" takes it from the last two slopes (Barzilai and Borwein). The
        classical choice is 1.2 · n · m / (number of entries observed).
    missing, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.
    max_iter : int, default=500
    tol : float, default=1e-5
        The fit settles when M misses the observed entries by this fraction of their norm; 0 runs `max_iter` steps.

    Attributes
    ----------
    components_ : array (rank, m)
    codes_ : array (n, rank)
    rank_ : int
    singular_values_ : array (rank,)
        Of M, as the loop left it.
    tau_ : float
    residual_ : float
        By what fraction of their norm codes · components misses the observed entries.
    certificate_ : Certificate
        Kind "dual": `lower_bound` is the dual value, below which no M that agrees with the entries can lie, and `gap`
        is `residual_`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.complete.thresholding import SingularValueThresholding
    >>> X = np.outer([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4])
    >>> X[1, 2] = np.nan
    >>> model = SingularValueThresholding().fit(X)
    >>> round(float(model.inverse_transform(model.codes_)[1, 2]), 2), model.rank_
    (6.0, 1)

    References
    ----------
    Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion.
    """

    def __init__(
        self,
        tau="auto",
        *,
        step="auto",
        missing="auto",
        max_iter=500,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.tau = tau
        self.step = step
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        return Problem(min(shape), loss, Free(), Free())

    def _plan(self, objective, problem, rng):
        entries = observed_entries(objective).in_double()  # a dual point adds up hundreds of steps
        top, share = largest_strength(entries), entries.nnz / (entries.shape[0] * entries.shape[1])
        usual = _TIMES * top / share if top > 0 else 1.0
        self.tau_ = usual if _is_auto(self.tau, "tau") else _above_zero(self.tau, "tau")
        step = None if _is_auto(self.step, "step") else _above_zero(self.step, "step")
        scheme = DualAscent(entries, self.tau_, top, step=step, tol=number(self.tol, "tol"), seed=seed_of(rng))
        n, m = entries.shape
        plan = Plan(
            f"{n}×{m} table, {100 * share:.3g} % observed: least τ × nuclear norm + ½‖M‖² that agrees with the entries",
            "singular-value thresholding (dual ascent)", "", "", "kicked start",
            [f"τ = {self.tau_:.6g}", "the dual has a number for each observed entry, and M is of low rank"],
        )  # fmt: skip
        return plan, scheme, scheme.begin()

    def _finish(self, objective, problem, scheme, state):
        self.rank_, self.singular_values_ = len(state["s"]), state["s"]
        self._dual = float(state["dual"])
        least = float(state["s"][-1]) if self.rank_ else 1.0
        share = scheme.entries.nnz / (objective.shape[0] * objective.shape[1])
        # Rows with few entries leave their code open: a ridge far below the tolerance closes it.
        ridge = Ridge(strength=max(1e-3 * min(scheme.tol, 1e-5) * share * least, np.finfo(np.float64).tiny))
        components = np.ascontiguousarray(state["components"], dtype=objective.dtype)
        self._sentence = replace(problem, n_components=len(components), codes=ridge, components=ridge)
        return super()._finish(objective, self._sentence, scheme, {**state, "components": components})

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        return self._measured(scheme.entries, U, Z, scheme.exact)

    def _measured(self, entries: Pattern, U, Z, exact: bool) -> Certificate:
        """The primal objective, and the dual value with the residual of the constraint beside it."""
        M = LowRank.of_factors(U, np.ascontiguousarray(Z.T))
        self.objective_ = self.tau_ * float(M.s.sum()) + 0.5 * float(M.s @ M.s)
        size = float(np.linalg.norm(entries.values.astype(np.float64)))
        missed = float(np.linalg.norm(entries.residual(M).astype(np.float64)))
        self.residual_ = missed / max(size, np.finfo(np.float64).tiny)
        return Certificate("dual", self._dual, self.residual_, exact, self.objective_)

    def certify(self, X):
        """The dual value and the residual of the constraint: what the fit found, since nothing more can be had."""
        return self.certificate_


def _is_auto(value, name: str) -> bool:
    if isinstance(value, str) and value != "auto":
        raise ValueError(f"{name}={value!r} must be a number or 'auto'")
    return isinstance(value, str)


def _above_zero(value, name: str) -> float:
    if not number(value, name) > 0:
        raise ValueError(f"{name} must be above 0, got {value}")
    return float(value)
