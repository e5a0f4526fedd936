"""Alternate two half-steps, on the codes and on the components: the scheme behind most fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.objectives.models import Mixed, RowModel
from unweave.solve.problem import Problem, ones_held
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import choose_start, make_start, reseed, spread_rows
from unweave.solve.svd import truncated_svd
from unweave.updates import Effort, Half, Update, first_rows


def transform_effort(dtype) -> Effort:
    """Work until each row settles: what `transform` and the end of every fit do."""
    return Effort(sweeps=2000, tol=1e-9 if np.dtype(dtype) == np.float64 else 1e-6)


def half_step(model: RowModel, F: NDArray, half: Half, update: Update, effort: Effort, held: list[int]) -> NDArray:
    """Improve the columns of F that are not held, in float64 where the model needs it."""
    if not held:
        model = model.resolved()
        return update(model, F.astype(model.dtype, copy=False), half, effort).astype(F.dtype, copy=False)
    free = [t for t in range(F.shape[1]) if t not in held]
    new, model = F.copy(), model.hold(F, held).resolved()
    new[:, free] = update(model, np.ascontiguousarray(F[:, free], dtype=model.dtype), half, effort)
    return new


def sides(problem: Problem) -> tuple[Half, Half]:
    """The two halves of a problem; the offset row of Z answers to no penalty."""
    exempt: tuple[int, ...] = ()
    if problem.offset and not problem.biases:
        exempt = (problem.n_components,)
    return Half(problem.codes), Half(problem.components, transposed=True, exempt=exempt)


@dataclass
class Alternate(FactorScheme):
    """Left half-step on the codes, right half-step on the components, again and again."""

    objective: Objective
    problem: Problem
    left: Update
    right: Update

    def __post_init__(self):
        self.code_half, self.component_half = sides(self.problem)

    def begin(self, rng=None) -> dict:
        """The state at the start that suits the problem."""
        name, _ = choose_start(self.objective, self.problem)
        return self.start(*make_start(self.objective, self.problem, name, np.random.default_rng(rng)))

    def start(self, U: NDArray | None, Z: NDArray) -> dict:
        """The state at these factors; codes that are not given follow from the components."""
        Z = np.ascontiguousarray(Z)
        if U is None:
            U = self.first_codes(Z)
        ones_held(self.problem, U, Z)
        return {"codes": np.ascontiguousarray(U), "components": Z, "value": np.inf}

    def first_codes(self, Z: NDArray) -> NDArray:
        """Codes to begin with: a fixed point of each row's own data."""
        held = self.problem.held_codes
        U = np.zeros((self.objective.shape[0], self.problem.width), dtype=self.objective.dtype)
        ones_held(self.problem, U, Z)
        free = [t for t in range(U.shape[1]) if t not in held]
        U[:, free] = first_rows(self.objective.rows_given(Z).hold(U, held), self.code_half, self.left)
        return U

    def step(self, state: dict) -> tuple[dict, float]:
        U, Z = state["codes"], state["components"]
        if not self.problem.codes.is_fixed:
            U = self.improve_codes(U, Z)
        if self.problem.components.is_fixed:
            return {"codes": U, "components": Z}, self.objective.accurate_value(U, Z) + self._code_penalty(U)
        Z, value = self.improve_components(U, Z)
        Z = reseed(self.objective, self.problem, U, Z)
        return {"codes": U, "components": Z, "value": value, "still": self._still(state, value)}, value

    def settled(self, state: dict) -> bool:
        """Whether the objective moved by no more than rounding: summaries in float32 are coarse where a fit is good."""
        return state.get("still", False)

    def _still(self, state: dict, value: float) -> bool:
        return abs(value - state.get("value", np.inf)) <= self._slack

    def improve_codes(self, U: NDArray, Z: NDArray) -> NDArray:
        """The left half-step."""
        model, effort = self.objective.rows_given(Z), self.left.fit_effort(self.objective)
        return half_step(model, U, self.code_half, self.left, effort, self.problem.held_codes)

    def improve_components(self, U: NDArray, Z: NDArray) -> tuple[NDArray, float]:
        """The right half-step, and the full objective after it, from the summaries that it used."""
        model, effort = self.objective.columns_given(U), self.right.fit_effort(self.objective)
        F = np.ascontiguousarray(Z.T)
        F = half_step(model, F, self.component_half, self.right, effort, self.problem.held_components)
        Z = np.ascontiguousarray(F.T)
        loss, self._slack = self.objective.step_value(model, F, U, Z)
        return Z, loss + self.penalties(U, F)

    def _code_penalty(self, U: NDArray) -> float:
        return self.code_half.value(U[:, : self._free_codes])

    @property
    def _free_codes(self) -> int:
        return self.problem.width - len(self.problem.held_codes)

    def penalties(self, U: NDArray, F: NDArray) -> float:
        """Penalty of the codes and of the components (F = Zᵀ), without the columns that are held."""
        F = np.delete(F, self.problem.held_components, axis=1) if self.problem.held_components else F
        return self._code_penalty(U) + self.component_half.value(F)


class Extrapolated(Alternate):
    """Alternating coordinate descent that looks ahead: each factor is carried on along its last move.

    Codes U are improved at a point Z + β(Z − former Z), then carried on themselves, and the components improved there.
    A look ahead that raises the objective is dropped for a plain step from where the fit stood, and β is cut;
    otherwise it grows. So the objective never rises.

    References
    ----------
    Ang and Gillis (2019), Accelerating nonnegative matrix factorization algorithms using extrapolation.
    """

    def start(self, U, Z):
        state = super().start(U, Z)
        look = {"ahead": state["components"], "former_codes": state["codes"], "former_components": state["components"]}
        return {**state, **look, "beta": 0.5, "beta_most": 1.0}

    def step(self, state):
        beta = state["beta"]
        U = self.improve_codes(state["codes"], state["ahead"])
        carried = self.carry_codes(U, state["former_codes"], beta)
        Z, value = self.improve_components(carried, state["ahead"])
        if value > state["value"]:
            return self._plain_step(state)
        new = {"codes": carried, "components": Z, "ahead": self.carry_components(Z, state["former_components"], beta)}
        new |= {"former_codes": U, "former_components": Z, "value": value, "still": self._still(state, value)}
        new |= {"beta": min(state["beta_most"], 1.01 * beta), "beta_most": min(1.0, 1.005 * state["beta_most"])}
        return self._revived(new), value

    def _plain_step(self, state):
        U = self.improve_codes(state["codes"], state["components"])
        Z, value = self.improve_components(U, state["components"])
        still = self._still(state, value)
        if value > state["value"]:  # half-steps fall, so this is their rounding: nothing is gained any more
            U, Z, value, still = state["codes"], state["components"], state["value"], True
        new = {"codes": U, "components": Z, "ahead": Z, "former_codes": U, "former_components": Z, "value": value}
        new |= {"beta": state["beta"] / 1.5, "beta_most": state["beta"], "still": still}
        return self._revived(new), value

    def carry_codes(self, new, former, beta: float):
        """Codes carried on along their last move, kept non-negative."""
        return np.maximum(new + new.dtype.type(beta) * (new - former), 0)

    def carry_components(self, new, former, beta: float):
        """Components carried on along their last move, kept non-negative."""
        return np.maximum(new + new.dtype.type(beta) * (new - former), 0)

    def _revived(self, state: dict) -> dict:
        Z = reseed(self.objective, self.problem, state["codes"], state["components"])
        return state if Z is state["components"] else {**state, "components": Z, "ahead": Z, "former_components": Z}


def left_half_step(
    objective: Objective,
    problem: Problem,
    left: Update,
    Z: NDArray,
    model: RowModel | None = None,
    half: Half | None = None,
) -> NDArray:
    """Codes of a table given the components, each row on its own: from a fixed start until every row settles.

    `model` is ``objective.rows_given(Z)`` if the caller has it already; `half` the side of the codes, if it is not just
    their penalty.
    """
    if objective.in_blocks and half is None:
        return objective.of_rows(_codes_of_block, (problem, left, Z))
    model = objective.rows_given(Z) if model is None else model
    half = sides(problem)[0] if half is None else half
    held = problem.held_codes
    U = np.zeros((objective.shape[0], problem.width), dtype=objective.dtype)
    U[:, held] = 1
    free = [t for t in range(problem.width) if t not in held]
    rest = model.hold(U, held).resolved()
    U[:, free] = left(rest, first_rows(rest, half, left), half, transform_effort(rest.dtype))
    return U


def _codes_of_block(block: Objective, state: tuple, own: None) -> tuple[NDArray, None]:
    problem, left, Z = state
    return left_half_step(block, problem, left, Z), None


class AlternateMixtures(Alternate):
    """Components inside the cone or the hull of the data: Z = W·X, and the right half-step improves W.

    State `mixing` is W (k × n). Its rows are non-negative (cone) or weights that sum to one (hull).
    """

    def begin(self, rng=None):
        """The state at components that are rows which lie far apart."""
        k, n = self.problem.n_components, self.objective.shape[0]
        W = np.zeros((k, n), dtype=self.objective.dtype)
        W[np.arange(k), spread_rows(self.objective, k, np.random.default_rng(rng))] = 1
        return self.start_mixing(W)

    def start_mixing(self, W: NDArray, U: NDArray | None = None) -> dict:
        """The state at these weights of the rows."""
        return {**super().start(U, self._times(W)), "mixing": W}

    def _times(self, W: NDArray) -> NDArray:
        X = self.objective.X
        return np.ascontiguousarray(np.asarray(W @ X))

    def _back(self, R: NDArray) -> NDArray:
        X = self.objective.X
        return np.ascontiguousarray(np.asarray((X @ R.T).T))

    @cached_property
    def norm(self) -> float:
        """Upper bound of σ₁(X)²; found once."""
        top = truncated_svd(self.objective.matrix, 1, codes=False)
        bound = 1.05 * float(top.s[0]) ** 2 if top.s.size else 1.0
        return max(bound, np.finfo(np.float64).tiny)

    def step(self, state):
        U, Z, W = state["codes"], state["components"], state["mixing"]
        U = self.improve_codes(U, Z)
        model = Mixed(self.objective.columns_given(U), self._times, self._back, self.norm, W.shape)
        half = Half(self.problem.components)
        W = self.right(model, W, half, Effort(sweeps=20))
        Z = self._times(W)
        return {"codes": U, "components": Z, "mixing": W}, model.value(W) + self.code_half.value(U)
