"""Factorise data of any sign with non-negative codes (semi-NMF)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.explain.parts.base import NonNegativeModel, group_labels, indicator
from unweave.losses import get_loss
from unweave.penalties import Free, NonNegative
from unweave.solve.alternate import Alternate, Extrapolated, half_step, transform_effort
from unweave.solve.in_blocks import AheadInBlocks, InBlocks, VisitAhead
from unweave.solve.plan import Plan, make_plan
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.updates import Coordinate, LeastSquares

_EXACT = 64  # components up to which exact codes cost no more than the products with the table
_SWEEPS = 20  # of coordinate descent before, which find most of what is zero


class SemiNMF(NonNegativeModel):
    """X ≈ U·Z with U ≥ 0 and Z free: k-means with the memberships relaxed, for data of any sign.

    Minimises ½‖X − U·Z‖² (or another loss). Components are found by least squares, codes by coordinate descent and an
    exact active-set method, both looking ahead, which reaches the objective of the published multiplicative rule in a
    few iterations. The start is k-means, so the objective is never above that of :class:`unweave.KMeans` with as many
    clusters and the same seed.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes the number with the least error at hidden entries, see :func:`unweave.select.choose`.
    loss : str or Loss, default="squared"
    missing, solver, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.
    init : str, array or (codes, components), default="auto"
        "auto" begins at k-means where the loss is squared and everything is observed, else at singular vectors;
        otherwise as in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_, codes_, objective_, reconstruction_err_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SemiNMF
    >>> X = np.array([[1, -1, 0.0], [2, -2, 0], [-1, 0, 3], [-2, 0, 6]])
    >>> model = SemiNMF(2, tol=1e-9).fit(X)
    >>> bool(model.codes_.min() >= 0), bool(model.components_.min() < 0), bool(model.objective_ < 1e-6)
    (True, True, True)

    References
    ----------
    Ding, Li and Jordan (2010), Convex and semi-nonnegative matrix factorizations. Ang and Gillis (2019), Accelerating
    nonnegative matrix factorization algorithms using extrapolation.
    """

    def __init__(
        self,
        n_components=2,
        *,
        loss="squared",
        missing=None,
        solver="auto",
        init="auto",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.loss = loss
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _loss(self):
        if get_loss(self.loss).nonnegative:
            raise ValueError(f"loss={self.loss!r} needs components that are not negative: use NMF")
        return self.loss

    def _problem(self, loss, shape, mixed):
        return Problem(self._number(), loss, NonNegative(), Free(), offset=mixed)

    def _plan(self, objective, problem, rng):
        from_groups = objective.squared and objective.complete
        if not (from_groups and isinstance(self.init, str) and self.init == "auto"):
            return look_ahead(*super()._plan(objective, problem, rng))
        k, some = problem.n_components, objective.standing()
        labels = group_labels(some.X, min(k, some.shape[0]), rng)
        U = indicator(labels, k, some.dtype)
        sizes = np.maximum(U.sum(axis=0, dtype=np.float64), 1)
        Z = (some.columns_given(U).cross / sizes).T
        plan, scheme, state = make_plan(objective, problem, self.solver, Z if objective.in_blocks else (U, Z), rng)
        plan.start = "k-means"
        plan.reasons.append(
            "start: codes of one cluster each are allowed, so the fit begins at the best of these found"
        )
        return look_ahead(plan, scheme, state)


class FreeComponentsExtrapolated(Extrapolated):
    """:class:`Extrapolated` with free components: codes are cut at zero when carried on, components are not.

    The start counts as a value already reached, so that the fit never ends above it. Codes are found exactly as long as
    that is cheap: the components of semi-NMF drift towards one another, where coordinate descent hardly moves, and a
    fit that stands still there ends with huge components and a higher objective.
    """

    def start(self, U: NDArray | None, Z: NDArray) -> dict:
        state = super().start(U, Z)
        value = self.objective.accurate_value(state["codes"], state["components"])
        return {**state, "value": value + self.penalties(state["codes"], np.ascontiguousarray(state["components"].T))}

    def improve_codes(self, U: NDArray, Z: NDArray) -> NDArray:
        if U.shape[1] > _EXACT:
            return super().improve_codes(U, Z)
        effort = replace(transform_effort(U.dtype), sweeps=_SWEEPS)
        return half_step(self.objective.rows_given(Z), U, self.code_half, self.left, effort, self.problem.held_codes)

    def carry_components(self, new: NDArray, former: NDArray, beta: float) -> NDArray:
        return new + new.dtype.type(beta) * (new - former)


class _ExactAhead(VisitAhead):
    """The visit of :class:`FreeComponentsInBlocks`: codes are found exactly as long as that is cheap."""

    def effort(self, block, U):
        return super().effort(block, U) if U.shape[1] > _EXACT else replace(transform_effort(U.dtype), sweeps=_SWEEPS)


class FreeComponentsInBlocks(AheadInBlocks):
    """:class:`FreeComponentsExtrapolated` on a table in blocks, one visit an iteration."""

    def _visit(self):
        return _ExactAhead(self.problem, self.left, self.sums)

    def carry_components(self, new, former, beta):
        return new + new.dtype.type(beta) * (new - former)


def look_ahead(plan: Plan, scheme: FactorScheme, state: dict) -> tuple[Plan, FactorScheme, dict]:
    """The plan with an extrapolated scheme, where both halves are those of semi-NMF on a table fully observed."""
    if not (type(scheme) is Alternate or type(scheme) is InBlocks) or not scheme.objective.complete:
        return plan, scheme, state
    if not (isinstance(scheme.left, Coordinate) and type(scheme.right) is LeastSquares):
        return plan, scheme, state
    plan.solver = "alternating half-steps that look ahead (extrapolated)"
    if isinstance(scheme, InBlocks):
        blocked = FreeComponentsInBlocks(scheme.objective, scheme.problem, scheme.left, scheme.right)
        return plan, blocked, blocked.from_state(state)
    ahead = FreeComponentsExtrapolated(scheme.objective, scheme.problem, scheme.left, scheme.right)
    return plan, ahead, ahead.start(state["codes"], state["components"])
