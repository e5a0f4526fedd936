"""Epochs of mini-batches that end early where held-out rows are predicted no better, as a scheme of the one loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.predict.networks.problem import Trained
from unweave.solve.iterate import Loop
from unweave.solve.optimise.rules import Rule
from unweave.solve.optimise.schedules import Schedule
from unweave.solve.optimise.schemes import Epochs
from unweave.solve.scheme import State


class Training(Epochs):
    """One pass over shuffled mini-batches a step; the objective is the mean loss of the batches when they came.

    Parameters
    ----------
    problem : Trained
    rule, schedule, batch_size, first
        As of :class:`Epochs`.
    held_out : Trained or None
        The same network on rows that it is not trained on. With these the weights of the best epoch are kept.
    patience : int
        Epochs without a better one after which it ends.
    """

    ending = "held-out rows are predicted no better any more"

    def __init__(
        self, problem: Trained, rule: Rule, schedule: Schedule, batch_size: int, first: NDArray,
        held_out: Trained | None = None, patience: int = 5,
    ):  # fmt: skip
        super().__init__(problem, rule, schedule, batch_size, first)
        self.network, self.held_out, self.patience = problem, held_out, patience

    def adapt(self, loop: Loop) -> Loop:
        self.epochs = loop.max_iter
        return replace(loop, tol=None, ending="all epochs are done")

    def begin(self, rng=None) -> State:
        state = super().begin(rng)
        return {**state, "best": self.first, "best_loss": np.inf, "waited": 0, "held_out": np.empty(0)}

    def step(self, state: State) -> tuple[State, float]:
        x, rng, epoch = state["x"], state["rng"], state["epoch"]
        memory = {name.removeprefix("rule_"): value for name, value in state.items() if name.startswith("rule_")}
        share = self.schedule(epoch, self.epochs)
        self.network.draw(int(rng.integers(2**62)))
        total, seen = 0.0, 0
        for rows in self._batches(rng):
            value, gradient = self.network.value_and_gradient(x, rows)
            x, memory = self.rule.move(x, gradient, memory, share)
            n = self.network.n_rows if rows is None else len(rows)
            total, seen = total + n * value, seen + n
        if not np.isfinite(total) or not np.isfinite(x).all():
            raise ValueError(f"the steps of {type(self.rule).__name__} led to infinity: give a smaller step=")
        kept = {f"rule_{name}": value for name, value in memory.items()}
        return {**state, **self._watched(state, x), "x": x, "epoch": epoch + 1, **kept}, total / seen

    def settled(self, state: State) -> bool:
        return self.held_out is not None and state["waited"] >= self.patience

    def finish(self, state: State) -> State:
        return state if self.held_out is None else {**state, "x": state["best"]}

    def _watched(self, state: State, x: NDArray) -> State:
        """What held-out rows say of new weights."""
        if self.held_out is None:
            return {}
        loss = self.held_out.value(x)
        better = loss < state["best_loss"]
        return {
            "held_out": np.append(state["held_out"], loss),
            "best": x if better else state["best"],
            "best_loss": min(loss, state["best_loss"]),
            "waited": 0 if better else state["waited"] + 1,
        }
