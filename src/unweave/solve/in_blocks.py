"""Alternate half-steps on a table in blocks with one visit to each block an iteration.

A visit improves the codes where the rows are, keeps them there, and hands back sums
(:mod:`unweave.objectives.column_sums`). The half-step on the components needs nothing else, so it is done by who holds
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.objectives.column_sums import ColumnSums, Crosses, Curves, Grams, Tangents, column_sums_of
from unweave.objectives.models import RowModel
from unweave.scale.kept import Kept
from unweave.solve.alternate import half_step, left_half_step, sides
from unweave.solve.certificate import Certificate, of_gram, unrest, unrest_parts
from unweave.solve.problem import Problem, ones_held
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import choose_start, make_start, moved_to_worst, reseeds
from unweave.updates import Effort, Update, first_rows
from unweave.updates.reweighted import Summed

# Sweeps over the second order of all columns, and the least share of an entry that a step leaves. Set on two planted
# tables of 10000×200 (smooth, and Poisson counts of mean 2), where shares of 0, 0.1 and 0.3 were tried.
_NEWTON_SWEEPS, _SHRINK = 10, 0.3


def why_not_one_visit(objective: Objective, problem: Problem) -> str | None:
    """Why an iteration needs several visits to a table in blocks, in words; None when one is enough."""
    if not problem.codes.separable:
        return f"codes={problem.codes.name!r} tie rows together: the codes of all rows are held in memory"
    if problem.components.is_fixed or sums_for(objective, problem) is not None:
        return None
    return (
        f"loss={problem.loss.name!r} with components={problem.components.name!r} takes several gradients for a "
        "half-step: every one is a visit to all blocks"
    )


def sums_for(objective: Objective, problem: Problem) -> ColumnSums | None:
    """What a visit has to hand back for the components of this problem."""
    codes, components = (half.terms is not None and half.terms[2] for half in sides(problem))
    found = column_sums_of(objective, problem.width, components)
    if isinstance(found, Curves) and not codes:  # Newton's steps go with codes that are carried on entry by entry
        return Tangents(found.power)
    return found


def right_update(sums: ColumnSums | None, chosen: Update) -> Update:
    """The update of the components: the planner's, or the one that Grams of columns ask for."""
    return Summed() if isinstance(sums, Grams) else chosen


@dataclass(frozen=True)
class Visit:
    """What is done at a block: the left half-step, then the sums. Travels to where the rows are."""

    problem: Problem
    left: Update
    sums: ColumnSums | None

    def __call__(self, block: Objective, state: dict, own: dict | None) -> tuple[dict, dict]:
        codes = None if own is None else own["codes"]
        U = self.improved(block, codes, state["components"])
        return self.summary(block, U, state["components"]), {"codes": U}

    def improved(self, block: Objective, U: NDArray | None, Z: NDArray) -> NDArray:
        """Codes at least as good as U; where there are none, first those that each row's own data say."""
        problem, half = self.problem, sides(self.problem)[0]
        if problem.codes.is_fixed:
            assert U is not None, "fixed codes are given"
            return U
        model = block.rows_given(Z)
        if U is None:
            U = np.zeros((block.shape[0], problem.width), dtype=block.dtype)
            ones_held(problem, U, Z)
            free = [t for t in range(problem.width) if t not in problem.held_codes]
            U[:, free] = first_rows(model.hold(U, problem.held_codes), half, self.left)
        return half_step(model, U, half, self.left, self.effort(block, U), problem.held_codes)

    def effort(self, block: Objective, U: NDArray) -> Effort:
        """How long the left half-step may work."""
        return self.left.fit_effort(block)

    def summary(self, block: Objective, U: NDArray, Z: NDArray) -> dict:
        """The sums for the components, the penalty of the codes, and the loss where the sums do not tell it."""
        sums = {} if self.sums is None else self.sums.of(block, U, Z)
        if "value" not in sums and (self.sums is None or not self.sums.exact):
            sums["value"] = block.value(U, Z)
        return {**sums, "penalty": code_penalty(self.problem, U)}


@dataclass(frozen=True)
class VisitAhead(Visit):
    """The same for a fit that looks ahead: codes are improved at components carried on, then carried on themselves."""

    def __call__(self, block, state, own):
        U = self.improved(block, None if own is None else own["codes"], state["components"])
        former = U if own is None else own["former"]
        carried = np.maximum(U + U.dtype.type(state["beta"]) * (U - former), 0)
        return self.summary(block, carried, state["components"]), {"codes": carried, "former": U}


def code_penalty(problem: Problem, U: NDArray) -> float:
    """What the codes cost, without columns that are held."""
    half = sides(problem)[0]
    return half.value(np.delete(U, problem.held_codes, axis=1) if problem.held_codes else U)


@dataclass
class InBlocks(FactorScheme):
    """Half-steps in turns, one visit an iteration. Codes stay with their rows.

    Where the sums say the loss exactly, the objective of an iteration is that after both half-steps. Elsewhere it is
    that between them (new codes, old components), which a visit knows; neither rises.
    """

    objective: Objective
    problem: Problem
    left: Update
    right: Update
    sums: ColumnSums | None = field(init=False)

    def __post_init__(self):
        self.sums = None if self.problem.components.is_fixed else sums_for(self.objective, self.problem)
        self.right = right_update(self.sums, self.right)
        self.component_half = sides(self.problem)[1]

    def begin(self, rng=None) -> dict:
        """The state at the start that suits the problem."""
        name, _ = choose_start(self.objective, self.problem)
        return self.start(*make_start(self.objective, self.problem, name, np.random.default_rng(rng)))

    def start(self, U: NDArray | None, Z: NDArray) -> dict:
        """The state at these factors; codes that are not given follow from the components in the first visit."""
        kept = None
        if U is not None:
            ones_held(self.problem, U, Z)
            kept = Kept(self._own(np.ascontiguousarray(U)))
        return {"components": np.ascontiguousarray(Z), "kept": kept, "value": np.inf}

    def _own(self, U: NDArray) -> list[dict]:
        return [{"codes": U[a:b]} for a, b in pairwise(self.objective.bounds)]

    def step(self, state: dict) -> tuple[dict, float]:
        Z = state["components"]
        sums, kept = self.objective.visit(self._visit(), {"components": Z}, state["kept"])
        Z, value, slack = self._improve_components(sums, Z, kept)
        still = abs(value - state["value"]) <= slack
        return {"components": Z, "kept": kept, "value": value, "still": still}, value

    def _visit(self) -> Visit:
        return Visit(self.problem, self.left, self.sums)

    def _improve_components(self, sums: dict, Z: NDArray, kept: Kept | None) -> tuple[NDArray, float, float]:
        """The right half-step from the sums; new components, the objective, and how far rounding may put it off."""
        held = self.problem.held_components
        old = np.ascontiguousarray(Z.T)
        if self.sums is None:
            return Z, sums["value"] + sums["penalty"], 0.0
        model = self._model(sums, Z, kept)
        effort = Effort(1) if isinstance(self.sums, Tangents) else self.right.fit_effort(self.objective)
        new = half_step(model, old, self.component_half, self.right, effort, held)
        new = self._revived(self.sums.unused(sums), old, new)
        at = new if self.sums.exact else old
        cost = self.component_half.value(np.delete(at, held, axis=1) if held else at)
        loss, slack = (model.value(new), model.rounding(new)) if self.sums.exact else (sums["value"], 0.0)
        return np.ascontiguousarray(new.T), loss + cost + sums["penalty"], slack

    def _revived(self, unused: NDArray, old: NDArray, new: NDArray) -> NDArray:
        """Components that no row uses begin anew at rows that are fitted badly, of those that stand for the table.

        They add nothing to a prediction, so that nothing changes now; left alone, what is found for them is rounding.
        """
        problem = self.problem
        unused = np.setdiff1d(unused, [*problem.held_components, *problem.held_codes])
        if not unused.size or problem.components.is_penalty:
            return new
        new[:, unused] = old[:, unused]
        if reseeds(problem):
            some, Z = self.objective.standing(), np.ascontiguousarray(new.T)
            Z[unused] = 0
            U = left_half_step(some, problem, self.left, Z)
            U[:, unused] = 0
            new[:, unused] = moved_to_worst(some, problem, U, Z, unused.tolist())[unused].T
        return new

    def _model(self, sums: dict, Z: NDArray, kept: Kept | None) -> RowModel:
        assert self.sums is not None
        if not isinstance(self.sums, Crosses):
            return self.sums.model(sums, Z)
        return self.sums.model(sums, Z, lambda: self.objective.total(_crosses_in_double, None, kept))

    def settled(self, state: dict) -> bool:
        """Whether the objective moved by no more than rounding."""
        return state.get("still", False)


def _crosses_in_double(block: Objective, state, own) -> tuple[NDArray, dict]:
    """XᵀU in float64: one more visit, where float32 does not tell components apart."""
    return block.in_double().columns_given(own["codes"].astype(np.float64)).cross, own


class AheadInBlocks(InBlocks):
    """As :class:`~unweave.solve.alternate.Extrapolated`: one visit an iteration, and one more after a look too far."""

    def start(self, U, Z):
        return self.from_state(super().start(U, Z))

    def from_state(self, state: dict) -> dict:
        """The first state of a fit that looks ahead, at that of one that does not."""
        kept, Z = state["kept"], state["components"]
        if kept is not None:
            found = map(kept.own, range(len(kept)))
            kept = Kept([{**own, "former": own["codes"]} for own in found if own is not None])
        return {**state, "kept": kept, "ahead": Z, "former_components": Z, "beta": 0.5, "beta_most": 1.0}

    def _visit(self):
        return VisitAhead(self.problem, self.left, self.sums)

    def step(self, state):
        beta = state["beta"]
        kept, Z, bold, value, slack = self._look(state, state["ahead"], beta)
        if value > state["value"]:
            return self._plain_step(state)
        ahead = self.carry_components(bold, state["former_components"], beta)
        new = {"components": Z, "kept": kept, "ahead": ahead, "former_components": bold, "value": value}
        new |= {"beta": min(state["beta_most"], 1.01 * beta), "beta_most": min(1.0, 1.005 * state["beta_most"])}
        return {**new, "still": abs(value - state["value"]) <= slack}, value

    def _look(self, state: dict, Z: NDArray, beta: float) -> tuple[Kept | None, NDArray, NDArray, float, float]:
        """Visit with components Z: what is kept, better components, bolder ones, the objective and its slack."""
        sums, kept = self.objective.visit(self._visit(), {"components": Z, "beta": beta}, state["kept"])
        safe, value, slack = self._improve_components(sums, Z, kept)
        return kept, safe, self._bold(sums, Z, safe, state), value, slack

    def _bold(self, sums: dict, Z: NDArray, safe: NDArray, state: dict) -> NDArray:
        """Components to look ahead from: the better ones."""
        return safe

    def carry_components(self, new: NDArray, former: NDArray, beta: float) -> NDArray:
        """Components carried on along their last move, kept non-negative."""
        return np.maximum(new + new.dtype.type(beta) * (new - former), 0)

    def _plain_step(self, state):
        kept, Z, bold, value, slack = self._look(state, state["components"], 0.0)
        still = abs(value - state["value"]) <= slack
        if value > state["value"]:  # half-steps fall, so this is their rounding: nothing is gained any more
            kept, Z, value, still = state["kept"], state["components"], state["value"], True
            bold = Z
        new = {"components": Z, "kept": kept, "ahead": bold, "former_components": bold, "value": value, "still": still}
        return {**new, "beta": state["beta"] / 1.5, "beta_most": state["beta"]}, value


class CurvedInBlocks(AheadInBlocks):
    """The same for a loss that is no square: it looks ahead from a step of Newton's.

    Where a look raises the loss, the fit goes on from the multiplicative step, which never does, and later steps of
    Newton's are cut. No entry shrinks below a share of itself in a step: where predictions fall towards zero, the
    second order says nothing of the logarithm.
    """

    def start(self, U, Z):
        return {**super().start(U, Z), "reach": 1.0}

    def _bold(self, sums, Z, safe, state):
        assert isinstance(self.sums, Curves)
        old = np.ascontiguousarray(Z.T)
        if not np.isfinite(sums["grams"]).all():  # of numbers so small that their inverse squares overflow
            return safe
        model = self.sums.curve(sums, Z)
        far = half_step(model, old, self.component_half, Summed(), Effort(_NEWTON_SWEEPS), self.problem.held_components)
        far = np.maximum(far, old.dtype.type(_SHRINK) * old).T
        return np.ascontiguousarray(safe + safe.dtype.type(state["reach"]) * (far - safe))

    def step(self, state):
        new, value = super().step(state)
        dropped = new["beta"] < state["beta"]
        return {**new, "reach": state["reach"] / 2 if dropped else min(1.0, 1.5 * state["reach"])}, value


def in_blocks(objective: Objective, problem: Problem, left: Update, right: Update, ahead: bool) -> InBlocks:
    """The scheme for a problem: one that looks ahead if `ahead`, or if the sums tell the second order of the loss."""
    plain = InBlocks(objective, problem, left, right)
    if isinstance(plain.sums, Curves) and right.multiplies:
        return CurvedInBlocks(objective, problem, left, right)
    return AheadInBlocks(objective, problem, left, right) if ahead else plain


# -- the end of a fit --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LastVisit:
    """The codes that `transform` finds, their loss, and how far both factors are from rest: one visit, nothing kept."""

    problem: Problem
    left: Update
    sums: ColumnSums | None
    bound: bool  # whether XᵀX is wanted, for a certificate

    def __call__(self, block: Objective, Z: NDArray, own: None) -> tuple[dict, None]:
        problem, model = self.problem, block.rows_given(Z)
        U = left_half_step(block, problem, self.left, Z, model)
        found: dict = {"loss": block.accurate_value(U, Z, model), "penalty": code_penalty(problem, U)}
        if not problem.codes.is_fixed:
            found["rest"] = unrest_parts(model, U, sides(problem)[0], problem.held_codes)
        if self.sums is not None:
            found["columns"] = self.sums.of(block, U, Z)
        if self.bound:
            found["gram"], found["totals"] = block.column_gram(None), block.column_sums()[0]
        return found, None


class Ended(NamedTuple):
    """How a fit of a table in blocks ended: its loss, its objective, and the certificate."""

    loss: float
    value: float
    certificate: Certificate


def last_visit(objective: Objective, problem: Problem, left: Update, Z: NDArray, bound: bool) -> Ended:
    """How good fitted components are, from one visit: a lower bound if `bound`, else how far they are from rest."""
    sums = None if problem.components.is_fixed else sums_for(objective, problem)
    found = objective.total(LastVisit(problem, left, sums, bound), Z)
    half, held, F = sides(problem)[1], problem.held_components, np.ascontiguousarray(Z.T)
    cost = half.value(np.delete(F, held, axis=1) if held else F)
    value = found["loss"] + found["penalty"] + cost
    if bound:
        return Ended(found["loss"], value, of_gram(found["gram"], found["totals"], objective, problem, value))
    residual = unrest(found["rest"], value) if "rest" in found else 0.0
    if sums is not None:
        moved, size, fall = unrest_parts(sums.model(found["columns"], Z), F, half, held)
        residual = max(residual, unrest((moved, size, fall if sums.exact else 0.0), value))
    return Ended(found["loss"], value, Certificate("kkt", 0.0, residual, True, float(value)))
