"""How good an answer provably is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.linalg.entries import predict_entries
from unweave.linalg.sparse import SparseProduct
from unweave.objectives import Blocks, Dense, Objective, Observed, Sparse
from unweave.objectives.models import Quadratic, RowModel
from unweave.solve.alternate import sides
from unweave.solve.closed import decompose
from unweave.solve.problem import Problem
from unweave.solve.spectrum import spectrum_tail, tail_flops
from unweave.solve.svd import truncated_svd
from unweave.updates import Half

_MOST_RESIDUAL = 1 << 26  # entries of a residual that is made dense


@dataclass(frozen=True)
class Certificate:
    """What is known about the distance to the best answer; prints as a sentence.

    Attributes
    ----------
    kind : {"eckart-young", "duality", "dual", "kkt", "none"}
        How it was found.
    lower_bound : float
        No allowed answer can have an objective below this (0 where only a residual is known: no loss is negative).
    gap : float
        For a bound: by what fraction of it the objective lies above. For "kkt": the residual, 0 at a stationary point.
    exact : bool
        False where the bound itself is an estimate.
    objective : float
        The objective it speaks of.
    """

    kind: str
    lower_bound: float
    gap: float
    exact: bool
    objective: float

    def __str__(self) -> str:
        if self.kind == "kkt":
            return (
                f"Stationary to a residual of {self.gap:.2g} (scaled projected gradient); nothing is said about other "
                "answers."
            )
        if self.kind == "none":
            return "Nothing is certified about this answer."
        if self.kind == "dual":
            about = "" if self.exact else " (an estimate)"
            return (
                f"No matrix that agrees with the observed entries has an objective below {self.lower_bound:.6g}{about}"
                f"; this one has {self.objective:.6g} and misses them by {self.gap:.2g} of their norm."
            )
        about = "" if self.exact else " (the bound is an estimate)"
        if self.gap < 1e-6:
            kind = "objective" if self.kind == "duality" else "factorisation of this rank"
            return f"No {kind} can be better by more than rounding{about}."
        if self.kind == "duality":
            return f"Within {100 * self.gap:.2g} % of the best possible objective, by a duality gap{about}."
        return f"Within {100 * self.gap:.2g} % of the best that any factorisation of this rank could do{about}."

    def as_dict(self) -> dict:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def bounded(kind: str, bound: float, objective: float, scale: float, exact: bool = True) -> Certificate:
    """A certificate from a lower bound; rounding may not lift the bound above the objective.

    `scale` is the objective of predicting nothing: a bound below its rounding counts as zero there.
    """
    bound = float(min(max(bound, 0.0), objective))
    floor = max(bound, 1e-14 * scale, np.finfo(np.float64).tiny)
    return Certificate(kind, bound, max(0.0, (objective - bound) / floor), exact, float(objective))


# -- Eckart and Young --------------------------------------------------------------------------------------------------


def tails_of(problem: Problem) -> list[tuple[int, bool]]:
    """(rank, centred) pairs whose tail bounds the objective: no U·Z of this form has more rank than that.

    One-hot codes lie in the simplex, so their prediction minus its mean has rank k − 1 at most: the centred tail of
    rank k − 1 bounds them too. An offset makes it the centred tail of rank k, biases of rank k + 1.
    """
    k = problem.n_components
    if problem.biases:
        return [(k + 1, True)]
    if problem.offset:
        return [(k, True)]
    if problem.codes.name in ("one-hot", "simplex"):
        return [(k, False), (max(0, k - 1), True)]
    return [(k, False)]


def can_bound(objective: Objective, problem: Problem) -> bool:
    """Whether the Eckart–Young bound holds: squared loss, every entry once."""
    return objective.squared and objective.complete and problem.loss.name == "squared"


def eckart_young(objective: Objective, problem: Problem, value: float) -> Certificate:
    """½ Σ of the squared singular values that rank k must leave, exact for a shorter side up to 2000."""
    best, exact = 0.0, True
    for rank, centred in tails_of(problem):
        tail, sure = _tail(objective, rank, centred)
        if 0.5 * tail > best:
            best, exact = 0.5 * tail, sure
    return bounded("eckart-young", best, value, objective.half_norm, exact)


def _tail(objective: Objective, rank: int, centred: bool) -> tuple[float, bool]:
    if isinstance(objective, Blocks):
        return decompose(objective, min(rank, objective.shape[1]), "mean" if centred else None).tail, True
    assert isinstance(objective, Dense | Sparse)
    X = objective.product if isinstance(objective, Sparse) else objective.X
    shift = "mean" if centred else None
    if min(objective.shape) <= 2000:
        return float(spectrum_tail(X, [min(rank, *objective.shape)], shift=shift)[0]), True
    return truncated_svd(X, min(rank, *objective.shape), shift=shift, codes=False).tail, False


def bound_is_cheap(objective: Objective, problem: Problem, n_iter: int) -> bool:
    """Whether the bound costs at most a tenth of the fit, counted in operations so that the answer never varies."""
    n, m = objective.shape
    entries = objective.X.nnz if isinstance(objective, Sparse) else n * m
    fit = n_iter * (4.0 * entries * problem.n_components + 16.0 * (n + m) * problem.n_components**2)
    return tail_flops(n, m) * len(tails_of(problem)) <= max(0.1 * fit, 2e7)


# -- duality -----------------------------------------------------------------------------------------------------------


def duality(objective: Objective, problem: Problem, U: NDArray, Z: NDArray, value: float) -> Certificate | None:
    """A duality gap where the problem is convex: components fixed, or the nuclear norm; None elsewhere."""
    if objective.in_blocks:
        return None
    scale = float(objective.row_values(np.zeros_like(U), Z).sum())
    if problem.components.name == "fixed" and problem.codes.convex:
        gap = _codes_gap(objective, problem, U, Z)
        return None if gap is None else bounded("duality", value - gap, value, scale)
    if problem.codes.name == problem.components.name == "ridge" and objective.squared and not problem.biases:
        return _nuclear_gap(objective, problem, U, Z, value, scale)
    return None


def _codes_gap(objective: Objective, problem: Problem, U: NDArray, Z: NDArray) -> float | None:
    """Σ over rows of ⟨∇, f⟩ − min over the constraint (Frank–Wolfe), or Fenchel's gap for the lasso."""
    model = objective.rows_given(Z)
    name = problem.codes.name
    if name in ("simplex", "l1-ball", "l2-ball"):
        g, U64 = model.gradient(U).astype(np.float64), U.astype(np.float64)
        inner = (g * U64).sum(axis=1)
        if name == "simplex":
            best = g.min(axis=1)
        else:
            best = -problem.codes.radius * np.linalg.norm(g, ord=np.inf if name == "l1-ball" else 2, axis=1)
        return float(np.maximum(inner - best, 0).sum())
    terms = problem.codes.separable_terms()
    if terms is None or not isinstance(model, Quadratic) or not terms[0]:
        return None
    return _lasso_gap(model, U, *terms)


def _lasso_gap(model: Quadratic, U: NDArray, l1: float, ridge: float, nonnegative: bool) -> float:
    """Primal minus dual value of ½‖x − fZ‖² + l1‖f‖₁ + ½·ridge‖f‖², from products with the Gram only.

    The dual point is the residual, scaled by s ≤ 1 until its products with the components are allowed; ridge is data
    (√ridge·I appended to Z).
    """
    A, B, F = model.cross.astype(np.float64), model.gram + ridge * np.eye(len(model.gram)), U.astype(np.float64)
    slope = A - F @ B  # products of the residual with the components, ridge rows included
    reach = slope.max(axis=1) if nonnegative else np.abs(slope).max(axis=1)
    s = np.minimum(1, l1 / np.maximum(reach, np.finfo(np.float64).tiny))
    # P = ½‖r‖² + l1‖f‖₁ and D = s⟨r, x⟩ − ½s²‖r‖² with x = r + fZ, so P − D = ½(1 − s)²‖r‖² + l1‖f‖₁ − s⟨r, fZ⟩.
    fitted = (F * slope).sum(axis=1)
    residual = np.maximum(model.row_norms() - 2 * (F * A).sum(axis=1) + (F @ B * F).sum(axis=1), 0)
    gap = 0.5 * (1 - s) ** 2 * residual + l1 * np.abs(F).sum(axis=1) - s * fitted
    return float(np.maximum(gap, 0).sum())


def _nuclear_gap(objective, problem: Problem, U, Z, value: float, scale: float) -> Certificate | None:
    """The residual, scaled into the spectral ball of radius τ, is a point of the dual of ½‖X − M‖² + τ‖M‖₊.

    None for a large sparse table with zeros as data, whose residual would be a dense one.
    """
    if isinstance(objective, Sparse) and objective.shape[0] * objective.shape[1] > _MOST_RESIDUAL:
        return None
    tau = float(np.sqrt(problem.codes.strength * problem.components.strength))
    R, inner, norm = _residual(objective, U, Z)
    svd = truncated_svd(R, 1, codes=False)
    # A Krylov value may lie a little below the largest singular value: then the bound is an estimate, and says so.
    top = float(svd.s[0]) * (1 + (1e-7 if svd.exact else 1e-3))
    s = min(1.0, tau / max(top, np.finfo(np.float64).tiny))
    return bounded("duality", s * inner - 0.5 * s * s * norm, value, scale, svd.exact)


def _residual(objective, U, Z):
    """R = X − U·Z where observed (sparse if X is partly observed), ⟨R, X⟩ and ‖R‖²."""
    if isinstance(objective, Observed):
        t = objective.by_row
        r = t.data.astype(np.float64) - predict_entries(t.indptr, t.indices, np.ascontiguousarray(Z.T), U)
        R = sp.csr_array((r, t.indices, t.indptr), shape=objective.shape)
        return SparseProduct(R), float(np.vdot(r, t.data)), float(np.vdot(r, r))
    X = objective.X.toarray() if isinstance(objective, Sparse) else objective.X
    R = (X - U @ Z).astype(np.float64)
    R = R if objective.complete else R * objective.weights
    return R, float(np.vdot(R, X)), float(np.vdot(R, R))


# -- stationarity ------------------------------------------------------------------------------------------------------


def stationarity(
    objective: Objective,
    problem: Problem,
    U: NDArray,
    Z: NDArray,
    value: float,
    rows: RowModel | None = None,
    halves: tuple[Half, Half] | None = None,
) -> Certificate:
    """How far one proximal step of length 1/L moves each factor, relative to the factor: 0 at a stationary point."""
    code_half, component_half = sides(problem) if halves is None else halves
    residual = 0.0
    if problem.codes.name != "fixed":
        residual = _movement(rows or objective.rows_given(Z), U, code_half, problem.held_codes)
    if problem.components.name not in ("fixed", "hull", "cone"):
        F = np.ascontiguousarray(Z.T)
        residual = max(residual, _movement(objective.columns_given(U), F, component_half, problem.held_components))
    return Certificate("kkt", 0.0, residual, True, float(value))


def _movement(model, F: NDArray, half: Half, held: list[int]) -> float:
    free = [t for t in range(F.shape[1]) if t not in held]
    model, F = model.hold(F, held), np.ascontiguousarray(F[:, free])
    gradient = model.gradient(F)
    terms = half.terms
    if model.nonnegative and terms is not None and terms[2]:
        # The natural scale of a multiplicative problem: each entry's own step f/D, D the positive part of the slope.
        slope = gradient + terms[0] + terms[1] * F
        moved = F * slope / np.maximum(model.denominator(F) + terms[0] + terms[1] * F, np.finfo(F.dtype).tiny)
        return float(np.linalg.norm(moved) / max(float(np.linalg.norm(F)), 1e-30))
    bound = model.lipschitz
    if bound is None:
        bound = _curvature_along(model, F, gradient)
    if half.tied or not model.separable:
        bound = bound.max(keepdims=True)
    step = (1 / bound).astype(F.dtype)
    step = step.reshape(()) if step.size == 1 else step
    moved = half.prox(F - step * gradient, step) - F
    return float(np.linalg.norm(moved) / max(float(np.linalg.norm(F)), 1e-30))


def _curvature_along(model, F: NDArray, gradient: NDArray) -> NDArray:
    """Curvature of the loss along its own slope, for losses that have no bound."""
    size = float(np.linalg.norm(gradient))
    if size == 0:
        return np.ones((1, 1))
    little = gradient * (1e-3 * max(float(np.linalg.norm(F)), 1e-30) / size)
    here, there = F, np.maximum(F - little, 0) if model.nonnegative else F - little
    change = float(np.linalg.norm(model.gradient(there) - gradient)) / max(float(np.linalg.norm(there - here)), 1e-30)
    return np.array([[max(change, 1e-30)]])
