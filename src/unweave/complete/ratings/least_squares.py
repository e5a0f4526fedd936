"""Fit ratings by alternating least squares under a ridge that grows with the number of ratings.

Besides the factors there may be biases that drift and vectors that are pulled towards a map of features; each is one
more block of the same sweep, improved with all others fixed, so the objective never rises.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.complete.ratings.drift import drift_at
from unweave.complete.ratings.side_information import SideInformation, SideRecords
from unweave.complete.ratings.units import Units
from unweave.complete.recommending.ridge import counted_ridges
from unweave.linalg.entries import predict_entries
from unweave.losses.base import Loss
from unweave.objectives import Objective, Observed
from unweave.objectives.models import Entries
from unweave.objectives.observed import observed
from unweave.penalties import Ridge
from unweave.solve.alternate import Alternate, left_half_step
from unweave.solve.certificate import Certificate, stationarity
from unweave.solve.plan import Plan, make_plan
from unweave.solve.problem import Problem
from unweave.solve.scheme import Scheme, State
from unweave.updates import Half, Update


@dataclass(frozen=True)
class Task:
    """Carry all that a running fit works on; nothing of it is kept on the estimator.

    Parameters
    ----------
    table : Objective
        The standardised ratings.
    loss : Loss
    units : Units
        Those of the data.
    side : SideInformation
    power : float
        With which the ridge grows with the number of ratings.
    init, random_state
        As the estimator has them.
    """

    table: Objective
    loss: Loss
    units: Units
    side: SideInformation
    power: float
    init: Any
    random_state: Any

    def problem(self, rank: int, ridge: float) -> Problem:
        """State the problem of a rank: biases, and one ridge on either side."""
        return Problem(rank, self.loss, Ridge(strength=ridge), Ridge(strength=ridge), biases=True)

    def plan(self, table: Objective, problem: Problem, rng, solver="auto") -> tuple[Plan, Alternate, State]:
        """Plan plain alternating half-steps on a table: the plan in words, the scheme, and its first state."""
        init = self.init if problem.n_components else np.zeros((0, table.shape[1]))
        plan, scheme, first = make_plan(table, problem, solver, init, rng)
        assert isinstance(scheme, Alternate)
        return plan, scheme, first


@dataclass(frozen=True)
class Strengths:
    """Hold the ridges of vectors and of biases, and the power of the number of entries with which both grow.

    Both sides of a problem have one ridge for all their entries, so a bias with a ridge of its own is told in other
    units: beside it stands `held` instead of one, and (held·b)·(ridge/held²) costs what b costs.
    """

    ridge: float
    biases: float
    power: float

    @property
    def held(self) -> float:
        """Tell what is held beside a bias: 1 where its ridge is that of the vectors."""
        return 1.0 if self.ridge == self.biases else float(np.sqrt(self.ridge / self.biases))


# -- half-steps ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountedHalf(Half):
    """Describe one side of a problem whose ridge is a number for each row of F, about zero or about given vectors."""

    ridges: NDArray | float = 0.0
    towards: NDArray | float = 0.0

    @property
    def terms(self):
        return 0.0, self.ridges, False

    def about_zero(self, model, F):
        if np.ndim(self.towards) == 0:
            return model, F
        t = model.table
        towards = np.ascontiguousarray(self.towards, dtype=model.dtype)
        known = predict_entries(t.indptr, t.indices, model.H, towards)
        return Entries(t.with_data(t.data - known), model.H), F - towards

    def prox(self, F: NDArray, step) -> NDArray:
        return self.towards + (F - self.towards) / (1 + step * np.reshape(self.ridges, (-1, 1)).astype(F.dtype))

    def value(self, F: NDArray) -> float:
        return float(self.row_values(F).sum())

    def row_values(self, F: NDArray) -> NDArray[np.float64]:
        return 0.5 * np.square(F - self.towards, dtype=np.float64).sum(axis=1) * self.ridges


def counted_half(objective: Any, strength: float, power: float, *, transposed: bool) -> CountedHalf:
    """Describe the side of the codes, or of the components (`transposed`), of a table."""
    n, m = objective.shape
    if objective.complete:
        ridges: NDArray | float = strength * float(n if transposed else m) ** power
    else:
        table = objective.by_column if transposed else objective.by_row
        ridges = counted_ridges(np.diff(table.indptr), strength, power)
    return CountedHalf(Ridge(strength=strength), transposed, (), ridges)


@dataclass(frozen=True)
class PulledUpdate(Update):
    """Use any update for ridge about zero as one about ``half.towards``: what that predicts is taken off the data."""

    plain: Update

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.plain.name

    def fit_effort(self, objective):
        return self.plain.fit_effort(objective)

    def refuses(self, model, half):
        return self.plain.refuses(model, half)

    def __call__(self, model, F, half, effort):
        if np.ndim(half.towards) == 0:
            return self.plain(model, F, half, effort)
        model, F = half.about_zero(model, F)
        return half.towards + self.plain(model, F, half, effort)


# -- schemes -------------------------------------------------------------------------------------------------------


class CountedAlternate(Alternate):
    """Alternate least squares under a ridge that grows with the number of entries.

    Parameters
    ----------
    plain : Alternate
        The scheme whose table, problem and updates these are.
    first : dict
        Its first state.
    strengths : Strengths
    unit : float
        What one unit of the loss is in units of the data.
    """

    code_half: CountedHalf
    component_half: CountedHalf

    def __init__(self, plain: Alternate, first: State, strengths: Strengths, unit: float = 1.0):
        super().__init__(plain.objective, plain.problem, plain.left, plain.right)
        self.first, self.unit, self.held = first, unit, strengths.held
        self.paid = 0.0  # penalties besides those of codes and components
        ridge, power = strengths.ridge, strengths.power
        self.code_half = counted_half(self.objective, ridge, power, transposed=False)
        self.component_half = counted_half(self.objective, ridge, power, transposed=True)

    def begin(self, rng=None) -> State:
        """Begin with the first state of the plain scheme, and with what is held beside the biases in its place."""
        U, Z = self.first["codes"].copy(), self.first["components"].copy()
        U[:, self.problem.held_codes] = self.held
        Z[self.problem.held_components] = self.held
        return {**self.first, "codes": U, "components": Z}

    def step(self, state: State) -> tuple[State, float]:
        state, value = super().step(state)
        return state, (value + self.paid) * self.unit

    def resumed(self, records: SideRecords, units: Units) -> State:
        """Begin where a former fit ended: its factors are the first state already."""
        return self.begin()

    def at(self, state: State) -> CountedAlternate:
        """Return the scheme whose table and halves are those of a state; here the same for all."""
        return self

    def undrifted(self, state: State, test: Observed, times: NDArray | None) -> Observed:
        """Take the drift off held-out entries; here there is none."""
        return test

    def records(self, state: State, units: Units) -> SideRecords:
        """Tell what was learned of features and drift; here nothing."""
        return SideRecords()

    def about(self, objective: Objective, pulls: tuple, paid: float) -> CountedAlternate:
        """Return the same for another table with the same entries seen, its vectors pulled towards `pulls`."""
        other = copy(self)
        other.objective, other.paid = objective, paid
        other.left, other.right = PulledUpdate(self.left), PulledUpdate(self.right)
        other.code_half = replace(self.code_half, towards=pulls[0])
        other.component_half = replace(self.component_half, towards=pulls[1])
        return other

    def certificate(self, U: NDArray, Z: NDArray, loss: float) -> Certificate:
        """Tell how far factors are from settled, and their objective, in units of the standardised table."""
        U = U.copy()
        U[:, self.problem.held_codes] = self.held
        value = loss + self.penalties(U, np.ascontiguousarray(Z.T)) + self.paid
        halves = (self.code_half, self.component_half)
        return stationarity(self.objective, self.problem, U, Z, value, halves=halves)


class InformedAlternate(Scheme):
    """Sweep over the drift of what the factors leave, the maps from the features, then both half-steps.

    The state holds besides the factors `bins` and `slopes` (see :class:`Drift`), `user_map` and `item_map` (see
    :class:`FeatureMap`). :meth:`at` says what these make of the table and of both halves.
    """

    def __init__(self, counted: CountedAlternate, side: SideInformation):
        self.counted, self.side, self.problem = counted, side, counted.problem
        self.table = observed(counted.objective)
        self.weights = tuple(
            np.where(np.diff(table.indptr) > 0, half.ridges, 0.0)
            for table, half in ((self.table.by_row, counted.code_half), (self.table.by_column, counted.component_half))
        )
        self.drift = side.drift(self.table)

    def begin(self, rng=None) -> State:
        """Begin with the first state of the plain scheme, no drift and no effect of features."""
        width = self.problem.width - 1
        more = {} if self.drift is None else self.drift.start()
        if self.side.users is not None:
            more["user_map"] = self.side.users.start(width)
        if self.side.items is not None:
            more["item_map"] = self.side.items.start(width)
        return {**self.counted.begin(rng), **more}

    def step(self, state: State) -> tuple[State, float]:
        new = {**state, **self._improved(state)}
        factors, value = self.at(new).step({"codes": state["codes"], "components": state["components"]})
        return {**new, **factors}, value

    def settled(self, state: State) -> bool:
        return self.counted.settled(state)

    def _improved(self, state: State) -> dict[str, NDArray]:
        """Improve drift and maps, the factors fixed."""
        U, Z = state["codes"], state["components"]
        new: dict[str, NDArray] = {}
        if self.drift is not None:
            new |= self.drift.improve(left_over(self.table, U, Z), state)
        if self.side.users is not None:
            new["user_map"] = self.side.users.learn(np.delete(U, self.problem.held_codes, axis=1), self.weights[0])
        if self.side.items is not None:
            F = np.delete(Z, self.problem.held_components, axis=0).T
            new["item_map"] = self.side.items.learn(F, self.weights[1])
        return new

    def at(self, state: State) -> CountedAlternate:
        """Return the scheme of the factors alone, given what a state says of drift and features."""
        table = self.table if self.drift is None else self.table.less(self.drift.at_entries(state))
        paid = 0.0 if self.drift is None else self.drift.penalty(state)
        pulls: list[NDArray | float] = [0.0, 0.0]
        for i, (side, name) in enumerate(((self.side.users, "user_map"), (self.side.items, "item_map"))):
            if side is not None:
                pulls[i] = np.ascontiguousarray(side.towards(state[name]), dtype=self.table.dtype)
                paid += side.penalty(state[name], self.weights[i])
        return self.counted.about(table, tuple(pulls), paid)

    def undrifted(self, state: State, test: Observed, times: NDArray | None) -> Observed:
        """Take the drift at their own times off held-out entries."""
        if self.drift is None or times is None:
            return test
        t = test.by_row
        return test.less(drift_at(self.drift.published(state), t.rows, t.indices, times))

    def finish(self, state: State) -> State:
        """Find the slopes anew, together with the codes and from the rows alone, as `transform` does."""
        if self.drift is None:
            return state
        at, Z = self.at(state), state["components"].copy()
        Z[self.problem.held_codes] *= Z.dtype.type(self.counted.held)  # these codes end in a one

        def residual(off: NDArray) -> NDArray:
            table = self.table.less(off)
            return left_over(table, left_half_step(table, self.problem, at.left, Z, half=at.code_half), Z)

        return {**state, **self.drift.settle(state["bins"], residual)}

    def resumed(self, records: SideRecords, units: Units) -> State:
        """Begin where a former fit ended: its drift, its maps, and codes for newcomers, who have no drift yet."""
        state = self.begin()
        for name in ("bins", "slopes") if self.drift is not None else ():
            known = records.timed()[name]
            state[name][: len(known)] = known / units.spread
        for what in ("user", "item"):
            if f"{what}_map" in state:
                state[f"{what}_map"] = records.features(what)["map"] / units.of_free(self.problem.width)
        return {**state, "codes": self.at(state).improve_codes(state["codes"], state["components"])}

    def records(self, state: State, units: Units) -> SideRecords:
        """Tell what newcomers and other times need, in units of the data."""
        side, width = self.side, units.of_free(self.problem.width)
        users = None if side.users is None else side.users.published(state["user_map"] * width, side.columns[0])
        items = None if side.items is None else side.items.published(state["item_map"] * width, side.columns[1])
        if self.drift is None:
            return SideRecords(users, items)
        told = {name: state[name] * units.spread for name in ("bins", "slopes")}
        return SideRecords(users, items, {**self.drift.published(told), "dates": side.dates})


def alternating(
    plain: Alternate, first: State, strengths: Strengths, side: SideInformation, unit: float = 1.0
) -> CountedAlternate | InformedAlternate:
    """Choose the scheme: alternating least squares under the counted ridge, with side information if there is any."""
    counted = CountedAlternate(plain, first, strengths, unit)
    return counted if side.nothing else InformedAlternate(counted, side)


def left_over(table: Observed, U: NDArray, Z: NDArray) -> NDArray[np.float64]:
    """Compute what factors leave of the entries."""
    t = table.by_row
    H, U = np.ascontiguousarray(Z.T), np.ascontiguousarray(U)
    return t.data.astype(np.float64) - predict_entries(t.indptr, t.indices, H, U)
