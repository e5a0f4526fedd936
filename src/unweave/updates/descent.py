"""The shared inner loop of gradient updates: rows move on their own, with their own step and their own end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models import RowModel
from unweave.updates.base import Effort

Move = Callable[[NDArray, NDArray, NDArray], NDArray]


def descend(
    model: RowModel, F: NDArray, move: Move, effort: Effort, *, tied: bool, accelerate: bool, distance=None
) -> NDArray:
    """Repeat F ← move(Y, ∇f(Y), step), Y extrapolated (FISTA with restarts) when `accelerate`.

    The step is 1/L for a loss with bounded curvature L, otherwise found by backtracking on
    f(F) ≤ f(Y) + ⟨∇f(Y), F − Y⟩ + D(F, Y)/step, where D is half the squared distance unless `distance` gives another.
    Rows have their own steps, momentum and end unless `tied`, so the result for a row does not depend on its
    neighbours.
    """
    return _Descent(model, F, move, effort, tied, accelerate, distance or _half_squared).run()


def _half_squared(new: NDArray, old: NDArray) -> NDArray:
    return 0.5 * np.square(new - old).sum(axis=1, dtype=np.float64)


def curvature_along(model: RowModel, F: NDArray, gradient: NDArray, together: bool) -> NDArray[np.float64]:
    """Curvature of the loss of each row along its own slope, or of all as one, for losses that have no bound."""
    size, slope = _norms(F, together), _norms(gradient, together)
    tiny = np.finfo(F.dtype).tiny
    little = gradient * (1e-3 * np.maximum(size, tiny) / np.maximum(slope, tiny)).astype(F.dtype)
    there = np.maximum(F - little, 0) if model.nonnegative else F - little
    change, way = _norms(model.gradient(there) - gradient, together), _norms(there - F, together)
    found = np.divide(change, way, out=np.ones_like(change), where=way > 0)
    return np.where(np.isfinite(found) & (found > 0), found, 1.0)


def _norms(F: NDArray, together: bool) -> NDArray[np.float64]:
    """Length of each row, or of all as one, as a column."""
    squares = np.square(F, dtype=np.float64).sum(axis=1, keepdims=True)
    return np.sqrt(squares.sum(keepdims=True) if together else squares)


class _Descent:
    def __init__(self, model, F, move, effort, tied, accelerate, distance):
        self.model, self.move, self.effort, self.distance = model, move, effort, distance
        self.together = tied or not model.separable
        self.accelerate = accelerate
        self.answer = F.copy()
        self.rows = np.arange(len(F))  # positions in the answer of the rows at hand
        self.active = np.ones(len(F), dtype=bool)
        self.F, self.Y = F.copy(), F.copy()
        self.momentum = np.ones((len(F), 1))
        bound = model.lipschitz
        self.fixed_step = bound is not None
        if bound is None:
            bound = curvature_along(model, F, model.gradient(F), self.together)
        if self.together:
            bound = bound.max(keepdims=True)
        self.L = np.broadcast_to(np.asarray(bound, dtype=np.float64), (len(F), 1)).copy()
        self.least = 1e-10 * self.L  # in whatever units the table is
        self.rounding = 1e-12 if F.dtype == np.float64 else float(np.finfo(F.dtype).eps)

    def run(self) -> NDArray:
        for _ in range(self.effort.sweeps):
            new = self._step()
            new[~self.active] = self.F[~self.active]
            moved = np.abs(new - self.F).max(axis=1, initial=0)
            size = np.abs(new).max(axis=1, initial=0)
            self._extrapolate(new)
            self.answer[self.rows] = new
            if self.effort.tol > 0 and self._finished(moved, size):
                break
        return self.answer

    def _step(self) -> NDArray:
        gradient = self.model.gradient(self.Y)
        if self.fixed_step:
            return self.move(self.Y, gradient, self._steps())
        here = self.model.row_values(self.Y)
        self.L = np.maximum(0.7 * self.L, self.least)  # let steps grow again
        for _ in range(120):
            new = self.move(self.Y, gradient, self._steps())
            shift = np.einsum("ij,ij->i", gradient, new - self.Y, dtype=np.float64)
            allowed = here + shift + self.L[:, 0] * self.distance(new, self.Y)
            there = self.model.row_values(new)
            slack = self.rounding * np.abs(here) + 1e-16 * self.L[:, 0] * np.square(self.Y).sum(axis=1)
            if self.together:
                failed = np.full(len(new), there.sum() > allowed.sum() + slack.sum())
            else:
                failed = ~(there <= allowed + slack)
            if not failed.any():
                break
            self.L[failed] *= 2
        return new

    def _steps(self) -> NDArray:
        if self.together:
            return np.asarray(1 / self.L[:1], dtype=self.F.dtype).reshape(())
        return (1 / self.L).astype(self.F.dtype)

    def _extrapolate(self, new: NDArray) -> None:
        if not self.accelerate:
            self.F = self.Y = new
            return
        # Restart where the step points against the momentum (O'Donoghue and Candès 2015).
        against = ((self.Y - new) * (new - self.F)).sum(axis=1, keepdims=True)
        if self.together:
            against = np.full_like(against, against.sum())
        theta = np.where(against > 0, 1.0, self.momentum)
        self.momentum = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        self.Y = new + (((theta - 1) / self.momentum).astype(new.dtype)) * (new - self.F)
        if self.model.nonnegative:
            self.Y = np.maximum(self.Y, 0)
        self.F = new

    def _finished(self, moved: NDArray, size: NDArray) -> bool:
        """Freeze the rows that have settled, so that no answer depends on its neighbours; True when none is left."""
        if self.together:
            return bool(moved.max(initial=0) <= self.effort.tol * max(float(size.max(initial=0)), 1e-300))
        self.active &= moved > self.effort.tol * np.maximum(size, np.finfo(self.F.dtype).tiny)
        left = np.flatnonzero(self.active)
        if len(left) and len(left) <= 0.5 * len(self.active) and (smaller := self.model.take(left)) is not None:
            self.model, self.rows, self.active = smaller, self.rows[left], self.active[left]
            self.F, self.Y, self.momentum, self.L = self.F[left], self.Y[left], self.momentum[left], self.L[left]
            self.least = self.least[left]
        return not len(left)
