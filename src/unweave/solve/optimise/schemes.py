"""The optimisers as schemes: an epoch of mini-batches a step, or a step of L-BFGS on all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.solve.iterate import Loop
from unweave.solve.optimise.pairs import direction, no_pairs, remembered
from unweave.solve.optimise.rules import Rule
from unweave.solve.optimise.schedules import Schedule
from unweave.solve.scheme import Scheme, State

_ENOUGH = 1e-4  # of the fall that the slope promises, by which a step must lower the value (Armijo)
_HALVINGS = 40


class Smooth(ABC):
    """A function of one flat array with a gradient, maybe a mean over rows."""

    n_rows: int | None = None  # rows that a mini-batch is drawn of; None where there are none

    @abstractmethod
    def value_and_gradient(self, x: NDArray, rows: NDArray | None = None) -> tuple[float, NDArray]:
        """The function and its gradient at x: over all rows, or as these few estimate it."""


class Epochs(Scheme):
    """One pass over shuffled mini-batches a step; the objective is that of all rows at the end of it."""

    rises = True

    def __init__(self, problem: Smooth, rule: Rule, schedule: Schedule, batch_size: int, first: NDArray):
        self.problem, self.rule, self.schedule, self.batch_size, self.first = problem, rule, schedule, batch_size, first
        self.epochs = 100

    def adapt(self, loop: Loop) -> Loop:
        # A batch of luck is no end: all epochs are done, and the schedule is made for so many.
        self.epochs = loop.max_iter
        return replace(loop, tol=0.0)

    def begin(self, rng=None) -> State:
        memory = {f"rule_{name}": value for name, value in self.rule.begin(self.first).items()}
        return {"x": self.first, "epoch": 0, "rng": np.random.default_rng(rng), **memory}

    def step(self, state: State) -> tuple[State, float]:
        x, rng, epoch = state["x"], state["rng"], state["epoch"]
        memory = {name.removeprefix("rule_"): value for name, value in state.items() if name.startswith("rule_")}
        share = self.schedule(epoch, self.epochs)
        for rows in self._batches(rng):
            _, gradient = self.problem.value_and_gradient(x, rows)
            x, memory = self.rule.move(x, gradient, memory, share)
        value, _ = self.problem.value_and_gradient(x)
        if not np.isfinite(value):
            raise ValueError(f"the steps of {type(self.rule).__name__} led to infinity: give a smaller step=")
        kept = {f"rule_{name}": value for name, value in memory.items()}
        return {"x": x, "epoch": epoch + 1, "rng": rng, **kept}, value

    def _batches(self, rng):
        n = self.problem.n_rows
        if n is None or self.batch_size >= n:
            return [None]
        return np.array_split(rng.permutation(n), -(-n // self.batch_size))


class QuasiNewton(Scheme):
    """L-BFGS on all rows, halving each step until the value falls enough; `tol` is on the gradient's largest entry."""

    ending = "the gradient is as good as zero"

    def __init__(self, problem: Smooth, first: NDArray, tol: float, memory: int = 10):
        self.problem, self.first, self.tol, self.memory = problem, first, tol, memory

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> State:
        return {**self._at(self.first), "still": False, **no_pairs(len(self.first))}

    def step(self, state: State) -> tuple[State, float]:
        x, value, gradient = state["x"], state["value"], state["gradient"]
        for pairs in (state, no_pairs(len(x))):  # without what is remembered, where that misleads
            way = direction(gradient, pairs)
            slope = float(way @ gradient)
            if slope >= 0:
                continue
            first = len(pairs["steps"]) == 0
            length = min(1.0, 1.0 / max(float(np.linalg.norm(gradient)), 1e-300)) if first else 1.0
            for i in range(_HALVINGS):
                step = 0.5**i * length * way
                new = self._at(x + step)
                if _better(new, state, _ENOUGH * 0.5**i * length * slope):
                    kept = remembered(pairs, step, new["gradient"] - gradient, self.memory)
                    return {**new, "still": False, **kept}, new["value"]
        return {**state, "still": True}, value

    def settled(self, state: State) -> bool:
        return bool(np.abs(state["gradient"]).max(initial=0.0) <= self.tol)

    def fixed(self, state: State) -> bool:
        return bool(state["still"])

    def _at(self, x: NDArray) -> State:
        value, gradient = self.problem.value_and_gradient(x)
        return {"x": x, "value": float(value), "gradient": gradient}


def _better(new: State, old: State, promised: float) -> bool:
    """Tell whether a step is worth taking; where values are alike to all digits, the gradient is a tenth shorter."""
    if new["value"] > old["value"] + promised:
        return False
    shorter = np.linalg.norm(new["gradient"]) < 0.9 * np.linalg.norm(old["gradient"])
    return bool(new["value"] < old["value"] or shorter)
