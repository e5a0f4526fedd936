"""Fit a matrix under the nuclear norm to observed entries: shrinkage finds the rank, least squares moves fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.entries import descend_rows, solve_rows
from unweave.linalg.products import cross, gram, matmul
from unweave.objectives import Objective
from unweave.solve.certificate import dual_scale
from unweave.solve.closed import ridge_of
from unweave.solve.iterate import Loop
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.search import seed_of
from unweave.solve.sparse_plus_low_rank import LowRankMatrix, ObservedEntries, shrink, spectral_norm
from unweave.updates import LeastSquares

_PROBES = 8  # directions outside the present span that are looked at, at first
_MOST_PROBES = 64
_DEPTH, _DEEP = 2, 10  # multiplications by RᵀR that turn the probes to the largest part of the residual
_EXACT_RANK = 40  # up to this rank exact least squares, beyond it conjugate gradients (measured at 2000×2000)
_EARLY_GAP, _EARLY_STEPS = 1e-2, 5  # when an early strength of a path is left


class SoftImputeScheme(FactorScheme):
    """Minimise ½ Σ_observed (x − m)² + τ‖M‖₊ for one τ after the other, each from where the last one ended.

    A step has two halves, and neither lets the objective rise:

    1. *Shrinkage.* The holes are filled by M, and A = R + M is shrunk: the minimiser of ½‖A − M‖² + τ‖M‖₊ over all M
       whose rows lie in the span of V and of a few probes, the directions in which the residual R is largest. The
       present M is among them, so an inexact span never makes anything worse. Ranks grow and fall here.
    2. *Least squares.* τ‖M‖₊ is the least of ½τ(‖F‖² + ‖H‖²) over M = F·Hᵀ, so one sweep of alternating least squares
       from the balanced factors improves the same objective; it takes the place of dozens of shrinkages.

    M is optimal when no direction of R is longer than τ: the duality gap, from the largest singular value seen, decides
    when a strength has settled.

    References
    ----------
    Mazumder, Hastie and Tibshirani (2010), Spectral regularization algorithms for learning large incomplete matrices.
    Hastie, Mazumder, Lee and Zadeh (2015), Matrix completion and low-rank SVD via fast alternating least squares.
    Hsieh and Olsen (2014), Nuclear norm minimization via active subspace selection.
    """

    def __init__(self, entries: ObservedEntries, strengths, most: int, *, tol: float = 1e-4, seed: int = 0):
        self.entries, self.strengths, self.most, self.tol, self.seed = entries, list(strengths), most, tol, seed
        self.left = LeastSquares()
        self._seen: tuple[object, NDArray, NDArray] | None = None  # of the last state, so that nothing is done twice

    def adapt(self, loop: Loop) -> Loop:
        """Let the loop end when the scheme has settled: a small fall of the objective may only end a strength."""
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> dict:
        """Begin with M = 0 and random probes, drawn by the scheme's own seed, turned to the residual."""
        return self.state_at(LowRankMatrix.zero(self.entries.shape, self.entries.dtype))

    def state_at(self, M: LowRankMatrix) -> dict:
        """Make the state that goes on from a given M."""
        width = min(_PROBES, min(self.entries.shape))
        state = {
            "stage": 0, "steps": 0, "in_stage": 0, "value": np.inf, "gap": np.inf, "settled": False,
            "probes": self._random(width, 0), "path_rank": np.zeros(len(self.strengths), np.int64),
            "path_objective": np.zeros(len(self.strengths)),
        }  # fmt: skip
        return self._look({**state, "U": M.U, "s": M.s, "V": M.V})

    def step(self, state: dict) -> tuple[dict, float]:
        tau = self.strengths[state["stage"]]
        product = self._residual_and_product(state)[1]
        M = LowRankMatrix.of_state(state)
        Q = np.hstack([M.V, state["probes"]])
        if M.rank:  # (R + M)·Q
            product = product.copy()
            product[:, : M.rank] += M.U * M.s.astype(M.U.dtype)
        new = self._sweep(shrink(product, Q, tau, self.most), tau)
        moved = {**state, "U": new.U, "s": new.s, "V": new.V, "steps": state["steps"] + 1}
        moved["in_stage"] = state["in_stage"] + 1
        moved = self._judged(self._look(moved), state)
        if moved["settled"]:  # a second, deeper look: the probes may have missed a direction
            moved = self._judged(self._look(moved, _DEEP), state)
        return moved, moved["value"]

    def settled(self, state: dict) -> bool:
        return bool(state["settled"])

    def finish(self, state: dict) -> dict:
        """Add codes and components, balanced; drop directions too short to matter at this tolerance."""
        M = LowRankMatrix.of_state(state)
        tails = np.sqrt(np.cumsum(M.s[::-1] ** 2))[::-1]
        M = M.cut(int(np.count_nonzero(tails > 0.01 * self.tol * tails.max(initial=0.0))))
        codes, components = M.padded().halves()
        return {**state, **M._asdict(), "codes": codes, "components": components}

    # -- the two halves ------------------------------------------------------------------------------------------

    def _sweep(self, M: LowRankMatrix, tau: float) -> LowRankMatrix:
        """Do one sweep of alternating least squares from the balanced factors of M."""
        if not M.rank:
            return M
        rows, columns = ((t.indptr, t.indices, t.data) for t in (self.entries.by_row, self.entries.by_column))
        F, Z = M.halves()
        H = np.ascontiguousarray(Z.T)
        if M.rank <= _EXACT_RANK:
            F = solve_rows(*rows, None, H, F, tau)
            H = solve_rows(*columns, None, F, H, tau)
        else:
            for _ in range(2):
                F = descend_rows(*rows, None, H, F, tau, 3)
                H = descend_rows(*columns, None, F, H, tau, 3)
        new = LowRankMatrix.of_factors(F, H)
        # Directions that only rounding keeps alive cost time and no objective.
        kept = int(np.count_nonzero(new.s > np.finfo(self.entries.dtype).eps * new.s[0]))
        return new if kept == new.rank else new.cut(kept)

    # -- looking at the residual ---------------------------------------------------------------------------------

    def _residual_and_product(self, state: dict) -> tuple[NDArray, NDArray]:
        """Give the residual of a state and its product with [V, probes]: kept from `_look`, or found anew."""
        if self._seen is None or self._seen[0] is not state["U"]:
            residual = self.entries.residual(LowRankMatrix.of_state(state))
            Q = np.hstack([state["V"], state["probes"]])
            self._seen = (state["U"], residual, self.entries.dot(residual, Q))
        return self._seen[1:]

    def _look(self, state: dict, depth: int = _DEPTH) -> dict:
        """Turn the probes to the residual of a new M; with them come the objective and the duality gap."""
        tau, M = self.strengths[state["stage"]], LowRankMatrix.of_state(state)
        residual = self.entries.residual(M)
        probes, lengths = self._turned(residual, M, state["probes"], depth)
        product = self.entries.dot(residual, np.hstack([M.V, probes]))
        value, gap = self._gap(residual, M, tau, spectral_norm(product))
        self._seen = (M.U, residual, product)
        state = {**state, "probes": probes, "value": value, "gap": gap}
        return self._enough_probes(state, int(np.count_nonzero(lengths > tau)))

    def _turned(self, residual: NDArray, M: LowRankMatrix, probes: NDArray, depth: int) -> tuple[NDArray, NDArray]:
        """Find the directions beside M in which the residual is longest (in a Krylov space), and its lengths."""
        e, blocks = self.entries, [probes]
        for _ in range(depth):
            ahead = e.tdot(residual, _without(e.dot(residual, blocks[-1]), M.U))
            blocks.append(np.linalg.qr(_without(ahead, M.V))[0])
        K = _beside(M.V, np.hstack(blocks)[:, -(e.shape[1] - M.rank) :])
        squares, Y = np.linalg.eigh(gram(e.dot(residual, K)))
        Y = np.ascontiguousarray(Y[:, ::-1][:, : probes.shape[1]]).astype(K.dtype)
        lengths = np.sqrt(np.maximum(squares[::-1][: probes.shape[1]], 0))
        return matmul(K, Y), lengths

    def _gap(self, residual: NDArray, M: LowRankMatrix, tau: float, norm: float) -> tuple[float, float]:
        """Find the objective, and by what fraction of it a scaled residual shows it may lie above the best."""
        r = residual.astype(np.float64, copy=False)
        square, inner = float(r @ r), float(r @ self.entries.values)
        value = 0.5 * square + tau * float(M.s.sum())
        scale = dual_scale(inner, square, tau, norm)
        return value, (value - scale * inner + 0.5 * scale**2 * square) / max(value, np.finfo(np.float64).tiny)

    def _enough_probes(self, state: dict, wanted: int) -> dict:
        """Add probes when the residual is longer than τ in all of them, drop some when it is in few."""
        width = state["probes"].shape[1]
        room = min(self.entries.shape) - len(state["s"])
        # At full rank there is no room for any; when the rank falls again there must be a way back up.
        target = max(_PROBES, 2 * width if wanted == width else min(width, 2 * wanted))
        target = min(target, _MOST_PROBES, max(room, 0))
        if target == width:
            return state
        if target < width:
            probes = state["probes"][:, :target]
        else:
            more = self._random(target - width, state["steps"] + 1)
            probes = _beside(state["V"], np.hstack([state["probes"], more]))
        self._seen = None
        return {**state, "probes": np.ascontiguousarray(probes)}

    def _random(self, width: int, turn: int) -> NDArray:
        rng = np.random.default_rng((self.seed, turn))
        return rng.standard_normal((self.entries.shape[1], width)).astype(self.entries.dtype)

    # -- strengths -----------------------------------------------------------------------------------------------

    def _judged(self, state: dict, former: dict) -> dict:
        """Judge whether this strength has settled; then note it, and go on to the next one if there is one."""
        stage, last = state["stage"], state["stage"] == len(self.strengths) - 1
        fall = (former["value"] - state["value"]) / max(abs(former["value"]), np.finfo(np.float64).tiny)
        grew = len(state["s"]) > len(former["s"])
        # Where a smaller rank than the table's is all that is allowed the gap may never close, and the fall must tell.
        limited = len(state["s"]) >= self.most and self.most < min(self.entries.shape)
        tol = self.tol if last else _EARLY_GAP
        still = np.isfinite(fall) and fall <= (0.1 if limited else 0.01) * tol and state["in_stage"] > 1
        done = (state["gap"] <= tol and not grew) or still or (not last and state["in_stage"] >= _EARLY_STEPS)
        rank, objective = state["path_rank"].copy(), state["path_objective"].copy()
        rank[stage], objective[stage] = len(state["s"]), state["value"]
        state = {**state, "path_rank": rank, "path_objective": objective, "settled": bool(done and last)}
        return {**state, "stage": stage + 1, "in_stage": 0} if done and not last else state


def _without(B: NDArray, basis: NDArray) -> NDArray:
    """Take from B its part in the span of orthonormal columns."""
    return B - matmul(basis, cross(basis, B).astype(B.dtype)) if basis.shape[1] else B


def _beside(basis: NDArray, B: NDArray) -> NDArray:
    """Find an orthonormal basis of what B adds to orthonormal columns, any directions where it adds nothing."""
    return np.ascontiguousarray(np.linalg.qr(np.hstack([basis, _without(B, basis)]))[0][:, basis.shape[1] :])


# -- as a solver of any factorisation ----------------------------------------------------------------------------------


class Shrinkage(SoftImputeScheme):
    """Fit X ≈ U·Z with ridges λ₁ on U and λ₂ on Z to what was observed: the nuclear norm of U·Z with τ = √(λ₁λ₂)."""

    def __init__(self, objective: Objective, problem: Problem, rng, tol: float | None = None):
        one, two = ridge_of(problem.codes), ridge_of(problem.components)
        assert one and two, "why_not_shrinkage asks for two ridges"
        self.tilt, tau = (two / one) ** 0.25, float(np.sqrt(one * two))
        accuracy = 1e-5 if tol is None else tol
        super().__init__(ObservedEntries.of(objective), [tau], problem.n_components, tol=accuracy, seed=seed_of(rng))

    def finish(self, state: dict) -> dict:
        """Add as many codes and components as were asked for, shared out so that both ridges cost the same."""
        codes, components = LowRankMatrix.of_state(state).padded(self.most).halves(self.tilt)
        return {"codes": codes, "components": components}


def why_not_shrinkage(objective: Objective, problem: Problem) -> str | None:
    """Say in words why soft-impute does not fit a problem; None when it does."""
    if not objective.squared or objective.in_blocks:
        return "singular-value shrinkage needs the squared loss on a table in memory"
    if not (ridge_of(problem.codes) and ridge_of(problem.components)):
        return "singular-value shrinkage needs the nuclear norm (or ridge on both sides)"
    if objective.complete or objective.weighted:
        return "singular-value shrinkage is for missing entries without weights"
    if problem.offset or problem.biases:
        return "singular-value shrinkage has no place for an offset or biases"
    if problem.n_components > min(objective.shape):
        return f"singular-value shrinkage has no more than {min(objective.shape)} components"
    return None
