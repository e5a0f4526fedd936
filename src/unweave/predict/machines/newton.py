"""Newton's method for kernel logistic regression, in functions rather than in weights of rows.

Minimised is P(f, b) = Σ wᵢ ℓ(tᵢ, f(xᵢ) + b) + ½ρ‖f‖² over functions f = Σ αᵢ k(xᵢ, ·). The gradient at f has the
weights g = ρα − R with R = w(t − q), and the curvature is ρ + W·K, W = B·Bᵀ by rows. So the step is, by Woodbury,

    d = (−g − B·v) / ρ,     (ρI + BᵀKB) v = BᵀK(−g),

a symmetric system whose eigenvalues begin at ρ, for conjugate gradients; their preconditioner has F·Fᵀ in place of K
(randomly pivoted Cholesky). The intercept is at its best before each step, and B is projected so that it stays there.

R / ρ are weights of rows, too, and those of the dual problem: D = entropy(q) − RᵀKR / (2ρ) is below P for any shares q
that add up to the targets. Both meet at the optimum, and the distance is the certificate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from unweave.linalg.products import matmul
from unweave.predict.machines.losses import Shares
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme, State

_MOST_INNER = 2000
_HALVINGS = 30
_ENOUGH = 1e-4  # of the fall that the slope promises (Armijo)
_EPS, _EPS_SHORT = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)
_COARSE = 1e-2  # of the ridge that products in single precision may be off by


class Products(ABC):
    """Multiplication by the table of inner products of the training rows, however it is kept."""

    shape: tuple[int, int]
    factors: NDArray[np.float64] | None = None  # F with K ≈ F·Fᵀ, for the preconditioner

    @abstractmethod
    def times(self, V: NDArray) -> NDArray:
        """K·V."""

    def roughly_times(self, V: NDArray) -> NDArray:
        """K·V in single precision, for directions that are looked at again in double."""
        return self.times(V)


class WholeTable(Products):
    """All inner products; with factors, a copy in single precision where the ridge is above its rounding."""

    def __init__(self, K: NDArray[np.float64], factors: NDArray[np.float64] | None, ridge: float):
        self.K, self.factors, self.shape = K, factors, (len(K), len(K))
        self._short = None
        if factors is not None and np.linalg.norm(matmul(factors.T, factors), 2) * _EPS_SHORT < _COARSE * ridge:
            self._short = K.astype(np.float32)

    def times(self, V):
        return matmul(self.K, np.ascontiguousarray(V))

    def roughly_times(self, V):
        if self._short is None:
            return self.times(V)
        return matmul(self._short, np.ascontiguousarray(V, dtype=np.float32)).astype(np.float64)


class OfFeatures(Products):
    """Inner products of features (Nyström): Φ·(Φᵀ·V)."""

    def __init__(self, features: NDArray[np.float64]):
        self.features, self.shape = np.ascontiguousarray(features), (len(features), len(features))

    def times(self, V):
        return matmul(self.features, np.ascontiguousarray(matmul(self.features.T, np.ascontiguousarray(V))))


class KernelNewton(Scheme):
    """A step of Newton's method on the function, its length halved until the objective falls enough."""

    ending = "the duality gap is as small as asked"

    def __init__(self, products: Products, loss: Shares, ridge: float, intercept: bool, tol: float):
        self.products, self.loss, self.ridge, self.intercept, self.tol = products, loss, ridge, intercept, tol

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> State:
        alpha = np.zeros_like(self.loss.targets)
        b = self._best_intercept(alpha, np.zeros(self.loss.targets.shape[1]))
        value = self.loss.value(alpha + b)
        return {"alpha": alpha, "f": alpha, "b": b, "value": value, "bound": -np.inf, "still": False}

    def settled(self, state: State) -> bool:
        return bool(state["value"] - state["bound"] <= self.tol * abs(state["value"]))

    def fixed(self, state: State) -> bool:
        return bool(state["still"])

    def step(self, state: State) -> tuple[State, float]:
        rho, loss, alpha, f, b = self.ridge, self.loss, state["alpha"], state["f"], state["b"]
        q = loss.shares(f + b)
        bound, R, KR = self.dual(q)
        bound = max(bound, state["bound"])
        if state["value"] - bound <= 4 * _EPS * abs(state["value"]):
            return {**state, "bound": bound, "still": True}, state["value"]
        downhill, lifted = R - rho * alpha, KR - rho * f
        share = min(0.1, np.sqrt(max(state["value"] - bound, 0.0) / max(abs(state["value"]), 1e-300)))
        root = _Curvature(loss, q, self.intercept)
        v = self._solve(root, root.lift(lifted), float((downhill * lifted).sum()), share)
        way = (downhill - root(v)) / rho
        along = self.products.times(way)
        slope = -float((downhill * along).sum())
        if not -slope > 8 * _EPS * abs(state["value"]):  # what is left to gain is less than rounding
            return {**state, "bound": bound, "still": True}, state["value"]
        for i in range(_HALVINGS):
            length = 0.5**i
            new_alpha, new_f = alpha + length * way, f + length * along
            new_b = self._best_intercept(new_f, b)
            value = loss.value(new_f + new_b) + 0.5 * rho * float((new_alpha * new_f).sum())
            if value <= state["value"] + _ENOUGH * length * slope and value < state["value"]:
                new = {"alpha": new_alpha, "f": new_f, "b": new_b, "value": value, "bound": bound, "still": False}
                return new, value
        return {**state, "bound": bound, "still": True}, state["value"]

    def dual(self, q: NDArray) -> tuple[float, NDArray, NDArray]:
        """The dual objective at shares q, R and K·R."""
        loss = self.loss
        q = loss.balanced(q) if self.intercept else q
        R = loss.pull(q)
        KR = self.products.times(R)
        return loss.entropy(q) - 0.5 / self.ridge * float((R * KR).sum()), R, KR

    def finish(self, state: State) -> State:
        """The state with the bound of where it is, which no step has looked at yet."""
        bound = self.dual(self.loss.shares(state["f"] + state["b"]))[0]
        return {**state, "bound": max(bound, state["bound"])}

    def _best_intercept(self, f: NDArray, b: NDArray) -> NDArray:
        """The b that suits these scores best: Newton's method on a few numbers, halved where it goes too far."""
        if not self.intercept:
            return b
        loss, value = self.loss, self.loss.value(f + b)
        for _ in range(50):
            q = loss.shares(f + b)
            pull = loss.pull(q).sum(axis=0)
            way = np.linalg.lstsq(loss.curvature(q), pull, rcond=1e-12)[0]
            for i in range(_HALVINGS):
                new = b + 0.5**i * way
                new_value = loss.value(f + new)
                if new_value < value:
                    break
            else:
                return b
            small = float(pull @ way) <= 1e-20 * max(1.0, abs(value))
            b, value = new, new_value
            if small:
                return b
        return b

    def _solve(self, root: _Curvature, right: NDArray, square: float, share: float) -> NDArray:
        """Solve (ρI + BᵀKB) v = right by preconditioned conjugate gradients, as far as the step needs it.

        What the step loses against Newton's is at most ‖r‖² / (2ρ²), r the residual, and Newton's gains half of
        (⟨g, Kg⟩ − ⟨right, v⟩) / ρ: it ends where the first is a `share` of the second, squared. `square` is ⟨g, Kg⟩.
        This is a part of one step, and ends by itself.
        """
        guess = _Woodbury(self.products.factors, root, self.ridge)
        v, r = np.zeros_like(right), right
        z = guess(r)
        p, size, explained = z, float((r * z).sum()), 0.0
        for _ in range(_MOST_INNER):
            if float(np.square(r).sum()) <= share * share * self.ridge * (square - explained) or not size > 0:
                break
            Ap = self.ridge * p + root.lift(self.products.roughly_times(root(p)))
            curve = float((p * Ap).sum())
            if not curve > 0:
                break
            step = size / curve
            v, r, explained = v + step * p, r - step * Ap, explained + step * size
            z = guess(r)
            new = float((r * z).sum())
            p, size = z + (new / size) * p, new
        return v


class _Curvature:
    """B, and Bᵀ, projected so that the intercept stays at its best: W̃ = W − W1(1ᵀW1)⁻¹1ᵀW = B·P·Bᵀ."""

    def __init__(self, loss: Shares, q: NDArray, intercept: bool):
        self.loss, self.q, self.spread = loss, q, loss.spread(q)
        self.inverse = np.linalg.pinv(loss.curvature(q), rcond=1e-12, hermitian=True) if intercept else None

    def _projected(self, V: NDArray) -> NDArray:
        if self.inverse is None:
            return V
        held = self.inverse @ self.loss.root(self.q, V).sum(axis=0)
        return V - self.loss.root(self.q, np.broadcast_to(held, V.shape), transposed=True)

    def __call__(self, V: NDArray) -> NDArray:
        """B·P·v."""
        return self.loss.root(self.q, self._projected(V))

    def lift(self, V: NDArray) -> NDArray:
        """P·Bᵀ·v."""
        return self._projected(self.loss.root(self.q, V, transposed=True))


class _Woodbury:
    """(ρI + D·F·Fᵀ·D)⁻¹ for each class on its own, D the roots of the curvature of its rows."""

    def __init__(self, factors: NDArray | None, root: _Curvature, ridge: float):
        self.factors, self.spread, self.ridge = factors, root.spread, ridge
        self.solved = []
        if factors is None:
            return
        for c in range(self.spread.shape[1]):
            scaled = self.spread[:, c, None] * factors
            inner = matmul(scaled.T, scaled)
            inner[np.diag_indices_from(inner)] += ridge
            self.solved.append(cho_factor(inner, lower=True, check_finite=False, overwrite_a=True))

    def __call__(self, R: NDArray) -> NDArray:
        if self.factors is None:
            return R / self.ridge
        left = matmul(self.factors.T, np.ascontiguousarray(self.spread * R))
        for c, solved in enumerate(self.solved):
            left[:, c] = cho_solve(solved, left[:, c], check_finite=False)
        return (R - self.spread * matmul(self.factors, left)) / self.ridge
