"""Prove how good an answer is: lower bounds, duality gaps and residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.storage import scale_rows
from unweave.objectives import Objective
from unweave.objectives.models import RowModel
from unweave.parallel import chunks
from unweave.solve.alternate import sides, transform_effort
from unweave.solve.closed import MOST_BLOCK_COLUMNS, decompose
from unweave.solve.problem import Problem
from unweave.solve.search import SVDResult
from unweave.solve.spectrum import spectrum_tail, tail_flops
from unweave.solve.svd import truncated_svd
from unweave.updates import ActiveSet, Coordinate, Half, LeastSquares, Update
from unweave.updates.descent import curvature_along

_BLOCK = 1 << 22  # entries of the rows that are looked at together
_MOST_ROWS = 4096  # with a Gram of their own that are solved anew to see what there is to gain
_MOST_RESIDUAL = 1 << 26  # entries of a residual that is made dense

_LITTLE = 10.0  # a gap of so many times the bound is no percentage that anybody can use

_COUNTED = {
    "roles": "{:g} roles; at least {:g} are needed.",
    "errors": "Entries that differ cost {:g}; with this number of roles they cost at least {:g}.",
    "edges": "{:g} assignments of roles and permissions; at least {:g} are needed.",
}


@dataclass(frozen=True)
class Certificate:
    """What is known about the distance to the best answer; prints as a sentence.

    Attributes
    ----------
    kind : {"eckart-young", "duality", "dual", "kkt", "roles", "errors", "edges", "none"}
        How it was found; roles, errors and edges are bounds of what is counted.
    lower_bound : float
        No allowed answer can have an objective below this (0 where only a residual is known: no loss is negative).
    gap : float
        For a bound: by what fraction of it the objective lies above. For "kkt": the residual, 0 at a stationary point
        (how far a gradient step moves a factor, or by what fraction the objective falls if it is solved anew).
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

    @classmethod
    def none(cls, objective: float, lower_bound: float = float("-inf")) -> Certificate:
        """The certificate of an answer about which nothing is known."""
        return cls("none", lower_bound, float("inf"), False, float(objective))

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
        if self.kind in _COUNTED:
            return _COUNTED[self.kind].format(self.objective, self.lower_bound)
        about = "" if self.exact else " (the bound is an estimate)"
        if self.gap < 1e-6:
            kind = "objective" if self.kind == "duality" else "factorisation of this rank"
            return f"No {kind} can be better by more than rounding{about}."
        if self.gap > _LITTLE:
            best = "possible objective" if self.kind == "duality" else "that any factorisation of this rank could do"
            between = f"{self.lower_bound:.4g} and {self.objective:.4g}"
            return f"The best {best} lies between {between}, which says little{about}."
        if self.kind == "duality":
            return f"Within {100 * self.gap:.2g} % of the best possible objective, by a duality gap{about}."
        return f"Within {100 * self.gap:.2g} % of the best that any factorisation of this rank could do{about}."

    def as_dict(self) -> dict:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def counted(kind: str, bound: float, objective: float) -> Certificate:
    """A certificate of something that is counted, from a lower bound.

    >>> print(counted("roles", 34, 34))
    34 roles; at least 34 are needed.
    """
    bound = min(max(float(bound), 0.0), float(objective))
    return Certificate(kind, bound, (objective - bound) / max(bound, 1.0), True, float(objective))


def bounded(
    kind: str, bound: float, objective: float, scale: float, exact: bool = True, rounding: float = 0.0
) -> Certificate:
    """A certificate from a lower bound, less what rounding may have added to it, and never above the objective.

    `scale` is the objective of predicting nothing: a bound below its rounding counts as zero there.
    """
    bound = float(min(max(bound - rounding, 0.0), objective))
    floor = max(bound, rounding, 1e-14 * scale, np.finfo(np.float64).tiny)
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
    if problem.codes.sums_to_one:
        return [(k, False), (max(0, k - 1), True)]
    return [(k, False)]


def can_bound(objective: Objective, problem: Problem) -> bool:
    """Whether the Eckart–Young bound holds: squared loss, every entry once."""
    return objective.squared and objective.complete and problem.loss.is_squared


def eckart_young(
    objective: Objective, problem: Problem, value: float, row_weights: NDArray | None = None
) -> Certificate:
    """½ Σ of the squared singular values that rank k must leave, exact for a shorter side up to 2000.

    With weights w of the rows these are the singular values of √w_i·x_i: multiplying rows leaves the rank as it is.
    """
    best, exact = 0.0, True
    for rank, centred in tails_of(problem):
        tail, sure = (
            _tail(objective, rank, centred)
            if row_weights is None
            else _weighted_tail(objective, rank, centred, row_weights)
        )
        if 0.5 * tail > best:
            best, exact = 0.5 * tail, sure
    heaviest = 1.0 if row_weights is None else float(row_weights.max(initial=0.0))
    scale = heaviest * objective.half_norm
    return bounded("eckart-young", best, value, scale, exact, _rounding(min(objective.shape), scale))


def can_sum_gram(objective: Objective, problem: Problem) -> bool:
    """Whether XᵀX of a table in blocks bounds the objective, and fits."""
    fits = objective.shape[1] <= MOST_BLOCK_COLUMNS
    return fits and can_bound(objective, problem) and not problem.components.is_fixed


def of_gram(gram: NDArray, sums: NDArray, objective: Objective, problem: Problem, value: float) -> Certificate:
    """The Eckart–Young certificate from XᵀX and the sums of the columns, which add up over blocks."""
    best, scale, n = 0.0, 0.5 * float(np.trace(gram)), objective.shape[0]
    for rank, centred in tails_of(problem):
        left = np.linalg.eigvalsh(gram - np.outer(sums, sums) / n if centred else gram)[: max(0, len(gram) - rank)]
        best = max(best, 0.5 * float(np.maximum(left, 0.0).sum()))
    eps = float(np.finfo(objective.dtype).eps)  # blocks of a Gram in float32 are multiplied in float32
    rounding = max(_rounding(sum(objective.shape), scale), eps * scale if objective.dtype == np.float32 else 0.0)
    return bounded("eckart-young", best, value, scale, True, rounding)


def of_spectrum(svd: SVDResult, objective: Objective, value: float) -> Certificate:
    """The Eckart–Young certificate from the decomposition that was the fit itself."""
    scale = 0.5 * svd.total
    rounding = _rounding(min(objective.shape), scale)
    if svd.method == "gram" and objective.dtype == np.float32:
        rounding = float(np.finfo(np.float32).eps) * scale  # blocks of such a Gram are multiplied in float32
    return bounded("eckart-young", 0.5 * svd.tail, value, scale, svd.exact, rounding)


def _rounding(side: int, scale: float) -> float:
    """How far sums over a table of this side, or of its squared singular values, may be off in double precision."""
    return side * float(np.finfo(np.float64).eps) * scale


def _tail(objective: Objective, rank: int, centred: bool) -> tuple[float, bool]:
    if objective.in_blocks:
        svd = decompose(objective, min(rank, objective.shape[1]), "mean" if centred else None)
        return svd.tail, svd.exact
    return _table_tail(objective.matrix, rank, centred)


def _table_tail(X, rank: int, centred: bool) -> tuple[float, bool]:
    shift = "mean" if centred else None
    if min(X.shape) <= 2000:
        return float(spectrum_tail(X, [min(rank, *X.shape)], shift=shift)[0]), True
    return truncated_svd(X, min(rank, *X.shape), shift=shift, codes=False).tail, False


def _weighted_tail(objective: Objective, rank: int, centred: bool, weights: NDArray) -> tuple[float, bool]:
    """As :func:`_tail` for weighted rows; of a sparse table about its mean nothing is said."""
    if objective.in_blocks:
        raise ValueError(
            "a certificate with weights needs X as one table in memory, not as a sequence of blocks: stack them "
            "(numpy.vstack)"
        )
    if centred and (objective.is_sparse or not weights.sum() > 0):
        return 0.0, True
    X = objective.X - np.average(objective.X, axis=0, weights=weights) if centred else objective.X
    return _table_tail(scale_rows(X, np.sqrt(weights.astype(np.float64))), rank, False)


def bound_is_cheap(objective: Objective, problem: Problem, n_iter: int) -> bool:
    """Whether the bound costs at most a tenth of the fit, counted in operations so that the answer never varies."""
    n, m = objective.shape
    fit = n_iter * (4.0 * objective.n_multiplied * problem.n_components + 16.0 * (n + m) * problem.n_components**2)
    return tail_flops(n, m) * len(tails_of(problem)) <= max(0.1 * fit, 2e7)


# -- duality -----------------------------------------------------------------------------------------------------------


def duality(objective: Objective, problem: Problem, U: NDArray, Z: NDArray, value: float) -> Certificate | None:
    """A duality gap where the problem is convex: components fixed, or the nuclear norm; None elsewhere.

    All of it is found in double precision: any dual point proves its bound, whatever rounding made of U and Z.
    """
    if objective.in_blocks:
        return None
    if problem.components.is_fixed:
        return _codes_bound(objective, problem, U, Z, value)
    nuclear = problem.is_nuclear and not problem.held_codes
    return _nuclear_gap(objective, problem, U, Z, value) if nuclear and objective.squared else None


def _codes_bound(objective: Objective, problem: Problem, U: NDArray, Z: NDArray, value: float) -> Certificate | None:
    """Σ over rows of objective − gap, a block of rows at a time; None where no gap is known.

    Any codes prove a bound. Under the squared loss with penalties on single entries the best ones in double precision
    do, so that the gap is what the codes of the fit, in their own precision, really leave.
    """
    if not (problem.codes.convex and objective.loss.convex):
        return None
    half, held = sides(problem)[0], problem.held_codes
    free, Z = [t for t in range(U.shape[1]) if t not in held], Z.astype(np.float64)
    bound = scale = 0.0
    for start, stop in chunks(len(U), max(1, _BLOCK // max(1, objective.shape[1]))):
        rows = objective.take(np.arange(start, stop))
        assert rows is not None, "tables in memory can be taken apart"
        rows, F = rows.in_double(), U[start:stop].astype(np.float64)
        model = rows.rows_given(Z).hold(F, held)
        F[:, free] = part = _polished(model, np.ascontiguousarray(F[:, free]), half)
        losses = rows.row_values(F, Z)
        gaps = row_gaps(model, part, half, losses)
        if gaps is None:
            return None
        bound += float(np.maximum(losses + half.row_values(part) - gaps, 0).sum())
        scale += float(rows.row_values(np.zeros_like(F), Z).sum())
    if not bound > 0 and value > _rounding(sum(objective.shape), scale):
        return None
    return bounded("duality", bound, value, scale, rounding=_rounding(sum(objective.shape), scale))


def _polished(model: RowModel, F: NDArray, half: Half) -> NDArray:
    """The exact rows where a quadratic loss meets terms on single entries, otherwise the rows as they are."""
    terms = half.terms
    if terms is None or model.kind not in ("quadratic", "entries"):
        return F
    update: Update = Coordinate() if terms[0] or terms[2] else LeastSquares()
    update = ActiveSet() if ActiveSet().refuses(model, half) is None else update
    return update(model, F, half, transform_effort(np.float64))


def row_gaps(model: RowModel, F: NDArray, half: Half, losses: NDArray) -> NDArray | None:
    """How far each row can lie above its best, at most: Frank and Wolfe's gap, Fenchel's, or that of the quadratic."""
    terms = half.terms
    if half.penalty.acts == "rows":
        slope = model.gradient(F)
        best = half.penalty.least_along(slope)
        return None if best is None else np.maximum((slope * F).sum(axis=1) - best, 0)
    if terms is None or model.kind not in ("quadratic", "entries"):
        return None
    return _lasso_gaps(model, F, losses, *terms) if terms[0] else model.most_fall(F, terms[1], terms[2])


def _lasso_gaps(model: RowModel, F: NDArray, losses: NDArray, l1: float, ridge: float, nonnegative: bool) -> NDArray:
    """Primal minus dual value of ½Σ w(x − fZ)² + l1‖f‖₁ + ½·ridge‖f‖² for each row f, from its loss and slope.

    The dual point is w∘r, r the residual, scaled by s ≤ 1 until its products with the components are allowed; ridge is
    data (√ridge·I appended to Z).
    """
    slope = -(model.gradient(F) + ridge * F)  # products of w∘r with the components, ridge rows included
    reach = slope.max(axis=1) if nonnegative else np.abs(slope).max(axis=1)
    s = np.minimum(1, l1 / np.maximum(reach, np.finfo(np.float64).tiny))
    # P = ½Σwr² + l1‖f‖₁ and D = s⟨w∘r, x⟩ − ½s²Σwr² with x = r + fZ: P − D = ½(1 − s)²Σwr² + l1‖f‖₁ − s⟨w∘r, fZ⟩.
    fitted = (F * slope).sum(axis=1)
    square = 2 * losses + ridge * np.square(F).sum(axis=1)
    return np.maximum(0.5 * (1 - s) ** 2 * square + l1 * np.abs(F).sum(axis=1) - s * fitted, 0)


def _nuclear_gap(objective, problem: Problem, U, Z, value: float) -> Certificate | None:
    """w∘r, scaled into the spectral ball of radius τ, is a point of the dual of ½Σ w(x − m)² + τ‖M‖₊.

    The dual is max ⟨Y, X⟩ − ½Σ y²/w over ‖Y‖₂ ≤ τ; Y = c·w∘r makes it c⟨w∘r, X⟩ − ½c²Σ w·r². None for a large sparse
    table with zeros as data, whose residual would be a dense one.
    """
    if objective.is_sparse and objective.complete and objective.shape[0] * objective.shape[1] > _MOST_RESIDUAL:
        return None
    tau = float(np.sqrt(problem.codes.strength * problem.components.strength))
    slope, inner, square, scale = objective.weighted_residual(U, Z)
    svd = truncated_svd(slope, 1, codes=False)
    # A Krylov value may lie a little below the largest singular value: then the bound is an estimate, and says so.
    c = dual_scale(inner, square, tau, float(svd.s[0]) * (1 + (1e-7 if svd.exact else 1e-3)))
    bound, rounding = c * inner - 0.5 * c * c * square, _rounding(sum(objective.shape), scale)
    return bounded("duality", bound, value, scale, svd.exact, rounding)


def dual_scale(inner: float, square: float, tau: float, norm: float) -> float:
    """The c for which c·R is the best dual point: it maximises c⟨R, X⟩ − ½c²‖R‖² subject to c‖R‖₂ ≤ τ."""
    tiny = np.finfo(np.float64).tiny
    return max(0.0, min(inner / max(square, tiny), tau / max(norm, tiny)))


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
    """How far one proximal step of length 1/L moves each factor, relative to the factor: 0 at a stationary point.

    Such a step hardly moves along directions in which the loss is flat. So where a factor is found by least squares it
    counts, too, by what fraction the objective would fall if that factor alone were solved anew.
    """
    code_half, component_half = sides(problem) if halves is None else halves
    residual = 0.0
    if not problem.codes.is_fixed:
        residual = _unrest(rows or objective.rows_given(Z), U, code_half, problem.held_codes, value)
    if not (problem.components.is_fixed or problem.components.mixes_rows):
        F, model = np.ascontiguousarray(Z.T), objective.columns_given(U)
        residual = max(residual, _unrest(model, F, component_half, problem.held_components, value))
    return Certificate("kkt", 0.0, residual, True, float(value))


def _unrest(model: RowModel, F: NDArray, half: Half, held: list[int], value: float) -> float:
    """The larger of both: how far a step moves F, and by what fraction the objective can fall with F alone."""
    return unrest(unrest_parts(model, F, half, held), value)


def unrest_parts(model: RowModel, F: NDArray, half: Half, held: list[int]) -> tuple[float, float, float]:
    """Squares of what a step moves, squares of F, and how far least squares could fall: sums over rows."""
    free = [t for t in range(F.shape[1]) if t not in held]
    model = model.hold(F, held).resolved()
    F = np.ascontiguousarray(F[:, free], dtype=model.dtype)
    moved, size = float(np.linalg.norm(_moves(model, F, half))), float(np.linalg.norm(F))
    # Sums of squares of the norms, so that numbers near the ends of float32 neither vanish nor overflow.
    return moved**2, size**2, _fall(model, F, half)


def unrest(parts: tuple[float, float, float], value: float) -> float:
    """How far a factor is from rest, of what :func:`unrest_parts` found in all its rows."""
    moved, size, fall = parts
    tiny = np.finfo(np.float64).tiny
    share = min(1.0, fall / max(value, tiny)) if fall > 0 else 0.0
    return max(float(np.sqrt(moved)) / max(float(np.sqrt(size)), tiny), share)


def _fall(model: RowModel, F: NDArray, half: Half) -> float:
    """What least squares could still gain; of many rows with own entries some stand for all."""
    terms = half.terms
    if model.kind not in ("quadratic", "entries") or terms is None or terms[0] or terms[2]:
        return 0.0
    share, ridge = 1.0, np.asarray(terms[1])  # one number, or one per row
    model, F = half.about_zero(model, F)
    if model.kind == "entries" and len(F) > _MOST_ROWS:
        some = np.linspace(0, len(F) - 1, _MOST_ROWS).astype(int)
        ridge = ridge[some] if ridge.ndim else ridge
        share, F, smaller = len(F) / _MOST_ROWS, F[some], model.take(some)
        assert smaller is not None
        model = smaller
    return share * float(model.most_fall(F, ridge, False).sum())


def _moves(model, F: NDArray, half: Half) -> NDArray:
    """What one proximal step of length 1/L adds to F."""
    gradient = model.gradient(F)
    terms = half.terms
    if model.nonnegative and terms is not None and terms[2]:
        # The natural scale of a multiplicative problem: each entry's own step f/D, D the positive part of the slope.
        slope = gradient + terms[0] + terms[1] * F
        return F * slope / np.maximum(model.denominator(F) + terms[0] + terms[1] * F, np.finfo(F.dtype).tiny)
    bound = model.lipschitz
    if bound is None:
        bound = curvature_along(model, F, gradient, together=True)
    if half.tied or not model.separable:
        bound = bound.max(keepdims=True)
    step = (1 / bound).astype(F.dtype)
    step = step.reshape(()) if step.size == 1 else step
    return half.prox(F - step * gradient, step) - F
