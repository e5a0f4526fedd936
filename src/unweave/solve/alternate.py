"""Alternating two half-steps: the scheme behind most fits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..objectives import Objective
from ..objectives.models import Mixed, RowModel
from ..updates import Effort, Half, Update, first_rows
from .problem import Problem, ones_held
from .reseed import reseed

FIT = Effort(sweeps=8)


def transform_effort(dtype) -> Effort:
    """Work until each row settles: what `transform` and the end of every fit do."""
    return Effort(sweeps=2000, tol=1e-9 if np.dtype(dtype) == np.float64 else 1e-6)


def half_step(
    model: RowModel, F: NDArray, half: Half, update: Update, effort: Effort, held: list[int]
) -> NDArray:
    """Improve the columns of F that are not held."""
    if not held:
        return update(model, F, half, effort)
    free = [t for t in range(F.shape[1]) if t not in held]
    new = F.copy()
    new[:, free] = update(model.hold(F, held), np.ascontiguousarray(F[:, free]), half, effort)
    return new


def sides(problem: Problem) -> tuple[Half, Half]:
    """The two halves of a problem; the offset row of Z answers to no penalty."""
    exempt: tuple[int, ...] = ()
    if problem.offset and not problem.biases:
        exempt = (problem.n_components,)
    return Half(problem.codes), Half(problem.components, transposed=True, exempt=exempt)


@dataclass
class Alternate:
    """Left half-step on the codes, right half-step on the components, again and again."""

    objective: Objective
    problem: Problem
    left: Update
    right: Update
    one_shot = False

    def __post_init__(self):
        self.code_half, self.component_half = sides(self.problem)

    def start(self, U: NDArray | None, Z: NDArray) -> dict:
        Z = np.ascontiguousarray(Z)
        if U is None:
            U = self.first_codes(Z)
        ones_held(self.problem, U, Z)
        return {"codes": np.ascontiguousarray(U), "components": Z}

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
        if self.problem.codes.name != "fixed":
            model = self.objective.rows_given(Z)
            U = half_step(model, U, self.code_half, self.left, FIT, self.problem.held_codes)
        if self.problem.components.name == "fixed":
            value = self.objective.value(U, Z) if self.problem.codes.name == "fixed" else model.value(U)
            return {"codes": U, "components": Z}, value + self.code_half.value(U[:, : self._free_codes])
        model = self.objective.columns_given(U)
        F = half_step(
            model, np.ascontiguousarray(Z.T), self.component_half, self.right, FIT, self.problem.held_components
        )
        value = model.value(F) + self.penalties(U, F)
        Z = reseed(self.objective, self.problem, U, np.ascontiguousarray(F.T))
        return {"codes": U, "components": Z}, value

    @property
    def _free_codes(self) -> int:
        return self.problem.width - len(self.problem.held_codes)

    def penalties(self, U: NDArray, F: NDArray) -> float:
        """Penalty of the codes and of the components (F = Zᵀ), without the columns that are held."""
        F = np.delete(F, self.problem.held_components, axis=1) if self.problem.held_components else F
        return self.code_half.value(U[:, : self._free_codes]) + self.component_half.value(F)


def left_half_step(
    objective: Objective, problem: Problem, left: Update, Z: NDArray, model: RowModel | None = None
) -> NDArray:
    """Codes of a table given the components, each row on its own: from a fixed start until every row settles.

    `model` is ``objective.rows_given(Z)`` if the caller has it already.
    """
    model = objective.rows_given(Z) if model is None else model
    half = sides(problem)[0]
    held = problem.held_codes
    U = np.zeros((objective.shape[0], problem.width), dtype=objective.dtype)
    U[:, held] = 1
    free = [t for t in range(problem.width) if t not in held]
    rest = model.hold(U, held)
    U[:, free] = left(rest, first_rows(rest, half, left), half, transform_effort(objective.dtype))
    return U


class AlternateMixtures(Alternate):
    """Components inside the cone or the hull of the data: Z = W·X, and the right half-step improves W.

    State `mixing` is W (k × n). Its rows are non-negative (cone) or weights that sum to one (hull).
    """

    def start(self, U, Z):
        raise NotImplementedError("use start_mixing: the start of Z = W·X is a W")

    def start_mixing(self, W: NDArray) -> dict:
        state = super().start(None, self._times(W))
        return {**state, "mixing": W}

    def _times(self, W: NDArray) -> NDArray:
        X = self.objective.X  # type: ignore[attr-defined]
        return np.ascontiguousarray(np.asarray(W @ X))

    def _back(self, R: NDArray) -> NDArray:
        X = self.objective.X  # type: ignore[attr-defined]
        return np.ascontiguousarray(np.asarray((X @ R.T).T))

    @property
    def norm(self) -> float:
        """Upper bound of σ₁(X)²; found once."""
        if not hasattr(self, "_norm"):
            from .svd import truncated_svd

            X = self.objective.X if self.objective.__class__.__name__ == "Dense" else self.objective.product
            top = truncated_svd(X, 1, codes=False)
            self._norm = 1.05 * float(top.s[0]) ** 2 if top.s.size else 1.0
        return max(self._norm, np.finfo(np.float64).tiny)

    def step(self, state):
        U, Z, W = state["codes"], state["components"], state["mixing"]
        U = half_step(self.objective.rows_given(Z), U, self.code_half, self.left, FIT, [])
        model = Mixed(self.objective.columns_given(U), self._times, self._back, self.norm, W.shape)
        half = Half(self.problem.components)
        W = self.right(model, W, half, Effort(sweeps=20))
        Z = self._times(W)
        return {"codes": U, "components": Z, "mixing": W}, model.value(W) + self.code_half.value(U)
