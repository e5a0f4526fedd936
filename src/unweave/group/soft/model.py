"""Cluster rows softly: every row is a mixture of centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number
from unweave.data.table import joined_blocks
from unweave.factorization.base import BaseFactorization, HalfStep, penalties
from unweave.factorization.run import fitting
from unweave.group.soft.codes import FreeCentres, NearSimplex, Relaxed, Shares
from unweave.objectives import Objective
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free, Simplex
from unweave.select.auto import chooses
from unweave.solve import certificate as certify
from unweave.solve.alternate import left_half_step
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem

SOLVERS = {"auto": "auto", "projected": "proximal", "mirror": "mirror", "penalty": "proximal"}


class SoftClustering(ClusterMixin, BaseFactorization):
    """Let rows belong to several centres: X ≈ U·Z with every row of U on the simplex.

    Minimises ½‖X − U·Z‖² with u_ij ≥ 0 and Σ_j u_ij = 1: each row is approximated by a point of the convex hull of the
    centres, and its code says how much of each there is in it. Use it where rows are blends (memberships, compositions)
    rather than noisy copies; centres then lie at the corners of the data and not in the middle of groups. Codes and
    centres alternate; the centres given the codes are least squares. Both are found on the table less its mean m, so
    that the origin does not matter: X + c has the centres Z + c. (A sparse table whose zeros are data stays as it is.)

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number that :class:`unweave.select.Groups` finds, kept as ``choice_``.
    solver : {"auto", "projected", "mirror", "penalty"}, default="auto"
        How codes are found. "projected": gradient steps projected on the simplex, accelerated (what "auto" takes).
        "mirror": u ← u·exp(−step·gradient) / Σ, multiplicative weights. "penalty": the sum is not held but drawn to
        one by ½·strength·(Σ_j u_ij − 1)², which keeps codes of rows far outside the hull honest; the prediction is then
        m + U·(Z − m).
    strength : float, default=1.0
        Of that penalty, in units of the mean squared distance of a row of X from the mean of all.
    missing, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    cluster_centers_ : array (k, m)
        Also ``components_``.
    codes_ : array (n, k)
        The memberships; ``labels_`` is the largest of each row.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SoftClustering
    >>> shares = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.25, 0.75]])
    >>> model = SoftClustering(2, tol=1e-10, max_iter=2000).fit(shares @ [[0.0, 4.0], [8.0, 0.0]])
    >>> bool(model.objective_ < 1e-6), model.predict_proba([[4.0, 2.0]]).sum().round(6)
    (True, np.float64(1.0))

    References
    ----------
    Beck and Teboulle (2003), Mirror descent. Duchi et al. (2008), Efficient projections onto the ℓ1-ball. Cutler and
    Breiman (1994), Archetypal analysis, for the variant whose centres lie in the hull of the data.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        solver="auto",
        strength=1.0,
        missing=None,
        init="auto",
        max_iter=300,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.solver = solver
        self.strength = strength
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None, *, client=None):
        """Fit the factorisation; parameters as in :class:`unweave.Factorization`."""
        return super().fit(X, client=client)

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_clusters={k}")
        if self.solver == "penalty":
            return Problem(k, loss, NearSimplex(self._unit * number(self.strength, "strength")), FreeCentres())
        return Problem(k, loss, Simplex(), Free())

    def _fit_objective(self, objective, learned):
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise ValueError(f"solver={self.solver!r} is not known; use one of {', '.join(SOLVERS)}")
        # Shares that sum to one do not care where the origin is, but rounding and step sizes do: X ≈ U·Z says the same
        # as X − 1mᵀ ≈ U·(Z − 1mᵀ) for any row m.
        self._middle = _middle_of(objective)
        objective = objective.shifted(self._middle)
        # Learned: the unit of `strength`. Any positive number would do for a table of equal rows.
        some = objective.standing()
        self._unit = some.squares() / max(1, some.shape[0]) or 1.0
        return super()._fit_objective(objective, learned)

    def _plan(self, objective, problem, rng):
        init = "k-means++" if isinstance(self.init, str) and self.init == "auto" else _moved(self.init, self._middle)
        solver, tol = SOLVERS[self.solver], number(self.tol, "tol")
        scheme: Any
        plan, scheme, state = make_plan(objective, problem, solver, init, rng, tol)
        if self.solver == "penalty":
            scheme.left, plan.codes = Relaxed(), Relaxed.title
        elif self.solver != "mirror":
            scheme.left, plan.codes = Shares(), Shares.title
        return plan, scheme, state

    def _finish(self, objective, problem, scheme, state):
        Z = state["components"] + self._middle
        # The centres that `transform` will work with: the sum has rounded them.
        codes = super()._finish(objective, problem, scheme, {**state, "components": Z - self._middle})
        self._full_components = Z
        self._publish(problem, Z)
        self.labels_ = None if codes is None else codes.argmax(axis=1)
        return codes

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.cluster_centers_ = self.components_

    def _opened(self, X) -> tuple[Objective, NDArray]:
        """Open new rows: they and the centres, both less the middle."""
        check_is_fitted(self)
        return reopen_table(self, X, self.missing, self._learned).shifted(self._middle), self._centred()

    def _centred(self) -> NDArray:
        return self._full_components - self._middle

    def _coder(self):
        return LessMiddle(HalfStep(self._sentence, self._left, self._centred()), self._middle)

    def _shares(self, objective: Objective, Z: NDArray) -> NDArray:
        return left_half_step(objective, self._sentence, self._left, Z)

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows, as :class:`unweave.Factorization` does; codes are then those of the block.

        "penalty" needs the whole table and refuses.
        """
        if self.solver == "penalty":
            raise ValueError("solver='penalty' needs the whole table: call fit, or partial_fit with 'projected'")
        with fitting(self):
            super().partial_fit(X)
            if not hasattr(self, "_middle"):
                self._middle = self._full_components.mean(axis=0)
            objective, Z = self._opened(X)
            self.codes_ = self._shares(objective, Z)
            self.objective_ = objective.accurate_value(self.codes_, Z)
            self.labels_ = self.codes_.argmax(axis=1)
            self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
            self.certificate_ = certify.Certificate.none(self.objective_)
        return self

    def certify(self, X):
        """Compute the Eckart–Young certificate, or the KKT residual, on the table the model was fitted to."""
        with single_blas():
            objective, Z = self._opened(X)
            problem, U = self._sentence, self._shares(objective, Z)
            value = objective.accurate_value(U, Z) + penalties(problem, U, Z)
            if certify.can_bound(objective, problem):
                self.certificate_ = certify.eckart_young(objective, problem, value)
            else:
                self.certificate_ = certify.stationarity(objective, problem, U, Z, value)
        return self.certificate_

    def inverse_transform(self, U, *, linear: bool = False):
        """Return the mixtures with shares U: U·Z, and for "penalty" m + U·(Z − m) unless ``linear=True``."""
        rows = super().inverse_transform(U, linear=linear)
        if linear or self.solver != "penalty":
            return rows
        return rows + (1 - np.asarray(joined_blocks(U)).sum(axis=1, keepdims=True)) * self._middle

    def score(self, X, y=None) -> float:
        """Return minus the mean loss of an observed entry, after the best codes for X: higher is better."""
        found = self._losses(X)
        return -float(sum(losses.sum() for losses, _ in found)) / max(1.0, sum(seen for _, seen in found))

    def _losses(self, X) -> list[tuple[NDArray, int]]:
        """Compute the loss of each row under its best code and how many entries were seen, for each block."""
        with single_blas():
            objective, Z = self._opened(X)
            return objective.answers(_row_losses, HalfStep(self._sentence, self._left, Z))

    def predict_proba(self, X) -> NDArray:
        """Find the memberships of every row: its code, brought to the sum one (which only "penalty" leaves open)."""
        codes = np.asarray(self.transform(X))
        total = codes.sum(axis=1, keepdims=True)
        return np.where(total > 0, codes / np.where(total > 0, total, 1), codes.dtype.type(1 / codes.shape[1]))

    def fit_predict(self, X, y=None, *, client=None) -> NDArray[np.int64]:
        """Fit, and return the centre with the largest share in each row; `client` as in :meth:`fit`."""
        labels = self.fit(X, client=client).labels_
        return self.predict(X) if labels is None else labels

    def predict(self, X) -> NDArray[np.int64]:
        """Find the centre with the largest share in each row."""
        return np.asarray(self.transform(X)).argmax(axis=1)

    def anomaly_score(self, X) -> NDArray[np.float64]:
        """Score how strange rows are: the distance to their mixture over the entries seen (higher is stranger)."""
        losses = np.concatenate([losses for losses, _ in self._losses(X)])
        return np.sqrt(2 * np.maximum(losses.astype(np.float64, copy=False), 0))


@dataclass(frozen=True)
class LessMiddle:
    """Codes of rows in memory, found on the rows less the middle."""

    coder: HalfStep
    middle: NDArray

    def __call__(self, rows: Objective) -> NDArray:
        return self.coder(rows.shifted(self.middle))


def _row_losses(rows: Objective, coder: HalfStep, own: None) -> tuple[tuple[NDArray, int], None]:
    return (rows.row_values(coder(rows), coder.components), rows.n_observed), None


def _middle_of(objective: Objective) -> NDArray:
    """Find the mean of the entries seen in each column; zeros where a sparse table would fill up."""
    if objective.fills_if_shifted:
        return np.zeros(objective.shape[1], objective.dtype)
    sums, counts = objective.standing().column_sums()
    return (sums / np.maximum(counts, 1.0)).astype(objective.dtype)


def _moved(init, middle: NDArray):
    """Shift a start that the user gave by the middle; what cannot be moved is left for the planner to refuse."""
    if isinstance(init, tuple) and len(init) == 2:
        return init[0], _moved(init[1], middle)
    if isinstance(init, str) or np.ndim(init) != 2 or np.shape(init)[1] != len(middle):
        return init
    return np.asarray(init, dtype=np.float64) - middle
