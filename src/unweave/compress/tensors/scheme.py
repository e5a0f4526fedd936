"""Alternate over the sides of a tensor: the scheme behind CP, with a look ahead through the swamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models import RowModel
from unweave.objectives.tensors import Whole
from unweave.solve.alternate import half_step
from unweave.solve.plan import choose_update
from unweave.solve.scheme import Scheme, State
from unweave.updates import UPDATES, Effort, Half, Update

_EFFORT = Effort(sweeps=10, drop=0.01)
# Rounds before the first look ahead, which carries components past good places while they still look for them. Of 0, 5,
# 10 and 20 set on sparse tensors of 400³ with 20 planted blocks, ten random starts: with 0 six of ten ended higher.
_PLAIN = 10


@dataclass
class Sides(Scheme):
    """One half-step on the factor of each side in turn, from a point ahead along the last move.

    After some plain rounds factors are carried on by β times what the last round changed, and the round begins there. A
    look ahead that raises the objective is dropped for a plain round from where the fit stood, and β is cut; otherwise
    it grows. So the objective never rises, and the narrow valleys in which plain rounds creep (swamps) are run through.

    Where every side may be scaled at no cost the columns of one component have equal lengths on all sides.

    References
    ----------
    Ang, Cohen, Gillis and Hien (2020), Extrapolated alternating algorithms for approximate canonical polyadic
    decomposition. Mitchell, Ye and De Sterck (2020), Nesterov acceleration of alternating least squares for canonical
    tensor decomposition.
    """

    objective: Whole
    halves: Sequence[Half]
    first: Sequence[NDArray]
    updates: Sequence[Update]

    def __post_init__(self):
        self.balanced = all(half.penalty.scale_free for half in self.halves)
        self.ahead = all(half.penalty.convex for half in self.halves)

    def begin(self, rng=None) -> State:
        F = [np.ascontiguousarray(F, dtype=self.objective.dtype) for F in self.first]
        pace = {"beta": 0.5, "beta_most": 1.0, "plain": _PLAIN}
        return {**named("factor", F), **named("former", F), "value": np.inf, **pace}

    def step(self, state: State) -> tuple[State, float]:
        F, former = factors_of(state), factors_of(state, "former")
        beta = state["beta"] if self.ahead and not state["plain"] else 0.0
        state = {**state, "plain": max(0, state["plain"] - 1)}
        if beta:
            new, value, slack = self.round([self._carried(d, F[d], former[d], beta) for d in range(len(F))])
            if value <= state["value"]:
                grown = {"beta": min(state["beta_most"], 1.05 * beta), "beta_most": min(1.0, 1.01 * state["beta_most"])}
                return self._next(state, F, new, value, slack) | grown, value
        new, value, slack = self.round(F)
        cut = {"beta": state["beta"] / 1.5, "beta_most": state["beta"]} if beta else {}
        if value > state["value"]:  # half-steps fall, so this is their rounding: nothing is gained any more
            return {**state, **cut, "still": True}, state["value"]
        return self._next(state, F, new, value, slack) | cut, value

    def _next(self, state: State, F: list[NDArray], new: list[NDArray], value: float, slack: float) -> State:
        still = abs(value - state["value"]) <= slack
        return {**state, **named("former", F), **named("factor", new), "value": value, "still": still}

    def settled(self, state: State) -> bool:
        return state.get("still", False)

    def round(self, F: list[NDArray]) -> tuple[list[NDArray], float, float]:
        """A half-step on every side in turn: (factors, objective, how far rounding may put it off)."""
        F, model = list(F), None
        for d, model in self.objective.models(F):
            F[d] = half_step(model, F[d], self.halves[d], self.updates[d], _EFFORT, [])
        assert model is not None
        value = model.value(F[-1]) + self.penalties(F)
        slack = model.rounding(F[-1])
        return (balanced(F) if self.balanced else F), value, slack

    def penalties(self, F: Sequence[NDArray]) -> float:
        return sum(half.value(factor) for half, factor in zip(self.halves, F, strict=True))

    def _carried(self, d: int, new: NDArray, former: NDArray, beta: float) -> NDArray:
        ahead = new + new.dtype.type(beta) * (new - former)
        return ahead if self.halves[d].penalty.is_free else self.halves[d].prox(ahead, 0.0)


def named(word: str, factors: Sequence[NDArray]) -> State:
    return {f"{word} {d}": F for d, F in enumerate(factors)}


def factors_of(state: State, word: str = "factor") -> list[NDArray]:
    """The factors that a state holds, one for each side.

    >>> factors_of({"factor 0": 1, "factor 1": 2, "value": 0.0})
    [1, 2]
    """
    return [state[f"{word} {d}"] for d in range(sum(name.startswith(f"{word} ") for name in state))]


def lengths(factors: Sequence[NDArray]) -> NDArray[np.float64]:
    """Length of every column of every factor, (sides, components); neither too small nor too large for its type."""
    found = []
    for F in factors:
        top = np.abs(F).max(axis=0).astype(np.float64)
        safe = np.where(top > 0, top, 1.0)
        found.append(safe * np.sqrt(np.square(F / safe).sum(axis=0)) * (top > 0))
    return np.array(found)


def balanced(factors: Sequence[NDArray]) -> list[NDArray]:
    """The same sum of components, the columns of each of equal length on all sides."""
    sizes = lengths(factors)
    alive = (sizes > 0).all(axis=0)
    logs = np.log(np.where(sizes > 0, sizes, 1.0))
    scale = np.exp(logs.mean(axis=0) - logs)
    scale[:, ~alive] = 1.0
    return [np.ascontiguousarray((F * s).astype(F.dtype)) for F, s in zip(factors, scale, strict=True)]


def plan_updates(objective: Whole, halves: Sequence[Half], factors: Sequence[NDArray], solver: str) -> list[Update]:
    """An update for every side, the named one where it can; if it can do none its refusal is the error."""
    known = ("auto", *(update.name for update in UPDATES))
    if not isinstance(solver, str) or solver not in known:
        raise ValueError(f"solver={solver!r} is not known for tensors; use one of {', '.join(known)}")
    chosen: list[Update] = []
    refusals: list[str] = []
    probe: RowModel = objective.rows_given(factors, 0)
    for d, half in enumerate(halves):
        model = probe if d == 0 else objective.rows_given(factors, d)
        update = choose_update(solver, model, half)
        if isinstance(update, str):
            refusals.append(update)
            update = choose_update("auto", model, half)
        if isinstance(update, str):
            raise ValueError(f"factors: {half.penalty.name!r} cannot be solved along side {d}: {update}")
        chosen.append(update)
    if len(refusals) == len(halves):
        raise ValueError(f"solver={solver!r} cannot do this problem: {refusals[0]}")
    return chosen
