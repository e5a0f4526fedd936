"""Fit ratings in blocks by alternating least squares: users where their rows are, items where their columns are.

A sweep visits every block of users once and every block of items once. Of either side the other needs its vectors with
what is held beside them, (z, held), and its biases, which are taken off the ratings. Those of the items (m × k) are
sent to the blocks of users. Those of the users (n × k) are in files that are named by their paths: a block of users
writes its rows, a block of items reads the rows that its entries touch, as a memory map. So the driver holds m × k
numbers, a worker those and one block, and the scratch folder twice n × k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ratings.choice import choose, given_ridges
from unweave.complete.ratings.least_squares import CountedHalf, Strengths, Task, counted_half
from unweave.complete.ratings.sgd import how_to_descend
from unweave.complete.ratings.side_information import SideInformation
from unweave.complete.ratings.units import Units
from unweave.complete.recommending.ridge import power_of
from unweave.data.storage import n_stored, observed_entries
from unweave.data.table import Table
from unweave.losses.base import Loss
from unweave.objectives import Observed
from unweave.objectives.models import Entries
from unweave.objectives.observed import observed
from unweave.scale.rows import Part, Side, answers_of_blocks
from unweave.scale.scratch import Sheet, sheet_of
from unweave.scale.two_sides import Sides, open_sides
from unweave.solve.alternate import Alternate, transform_effort
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem, check_size, well_posed
from unweave.solve.scheme import Scheme, State
from unweave.updates import ConjugateGradient, LeastSquares, Update

_SAMPLED = 2_000_000  # entries of the users that a start, and a search for rank and ridge, look at
SOLVERS = ("auto", LeastSquares.name, ConjugateGradient.name)


# -- opening -----------------------------------------------------------------------------------------------------------


def open_ratings(estimator, X, missing) -> Sides:
    """Check ratings in blocks, and turn them over unless they come from both sides."""
    return open_sides(estimator, X, missing, seen_entries, _noted, reset=True)


def seen_entries(table: Table) -> sp.csr_array:
    """The entries of a checked block that were observed."""
    if table.seen is None and n_stored(table.values) < table.shape[0] * table.shape[1]:
        raise ValueError("sparse blocks need missing='auto' or 'zeros': what is not stored is unknown")
    return observed_entries(table.values, table.seen if isinstance(table.seen, np.ndarray) else None)


def _noted(X: sp.csr_array) -> dict[str, list]:
    x = X.data.astype(np.float64)
    if not len(x):
        return {"moments": []}
    mean = float(x[0]) + float(np.mean(x - x[0]))
    return {"moments": [(len(x), mean, float(np.square(x - mean).sum()), float(x.min()), float(x.max()))]}


def units_of(side: Side) -> Units:
    """Mean and spread of all entries, from those of every block; see :meth:`Units.of`."""
    counts, means, squares, least, most = np.array(side.notes["moments"]).T
    mean = float(means[0] + np.average(means - means[0], weights=counts))
    far = max(float(most.max()) - mean, mean - float(least.min()))
    if far <= 8 * np.finfo(side.dtype).eps * max(abs(float(most.max())), abs(float(least.min()))):
        return Units(mean, 1.0)
    total = float(squares.sum() + (counts * np.square(means - mean)).sum())
    return Units(mean, float(np.sqrt(total / counts.sum())))


def range_of(side: Side) -> tuple[float, float]:
    """The least and the largest rating."""
    _, _, _, least, most = np.array(side.notes["moments"]).T
    return float(least.min()), float(most.max())


# -- one side given the other ------------------------------------------------------------------------------------------


class How(NamedTuple):
    """What a task needs to know: units, strengths, the loss, and the update of either side."""

    units: Units
    strengths: Strengths
    loss: Loss
    update: Update

    def table(self, X: sp.csr_array) -> Observed:
        """A block, standardised."""
        return observed(self.units.inward(Observed(X, self.loss)))

    def half(self, table: Observed) -> CountedHalf:
        """The ridge of the rows of a block."""
        return counted_half(table, self.strengths.ridge, self.strengths.power, transposed=False)


def model_of(table: Observed, other: Given, held: float) -> Entries:
    """The squared loss of the rows of a block, (vector, bias) each, given those of the other side."""
    t, (vectors, biases) = table.by_row, other.arrays()
    return Entries(t.with_data(t.data - held * biases[t.indices]), vectors)


class Given(NamedTuple):
    """One side for the other: (vector, held) and bias of each; files where it is the users."""

    vectors: NDArray | Sheet
    biases: NDArray | Sheet

    def arrays(self) -> tuple[NDArray, NDArray]:
        """Both as arrays, read from files as they are looked at."""
        return as_array(self.vectors), as_array(self.biases).reshape(-1)

    def own(self, start: int, stop: int) -> NDArray:
        """(vector, bias) of some rows."""
        vectors, biases = self.arrays()
        return np.column_stack([vectors[start:stop, :-1], biases[start:stop]])


def as_array(table: NDArray | Sheet) -> NDArray:
    return table.array() if isinstance(table, Sheet) else table


def solve_users(part: Part, told: tuple, own):
    """The users of a block given the items: written to their files; their loss and penalty handed back."""
    how, items, former, to, exact = told
    table, stop = how.table(part.table), part.start + part.table.shape[0]
    model, half = model_of(table, items, how.strengths.held), how.half(table)
    if isinstance(former, Given):
        F = former.own(part.start, stop)
    else:
        F = first_users(table, how, half, former)
    effort = transform_effort(table.dtype) if exact else how.update.fit_effort(table)
    F = how.update(model, np.ascontiguousarray(F, dtype=table.dtype), half, effort).astype(table.dtype, copy=False)
    held = np.full((len(F), 1), how.strengths.held, F.dtype)
    to.vectors.write(part.start, np.hstack([F[:, :-1], held]))
    to.biases.write(part.start, np.ascontiguousarray(F[:, -1:]))
    return {"loss": float(model.row_values(F).sum()) if exact else 0.0, "penalty": half.value(F)}, None


def first_users(table: Observed, how: How, half: CountedHalf, start: tuple[Problem, NDArray] | None) -> NDArray:
    """Codes of the rows of a block to begin with: those of the first components, or zeros where nobody asks."""
    if start is None:
        return np.zeros((table.shape[0], 0), table.dtype)
    problem, Z = start
    state = Alternate(table, problem, how.update, how.update).start(None, Z)
    return np.delete(state["codes"], problem.held_codes, axis=1)


def solve_items(part: Part, told: tuple, own):
    """The items of a block given the users that its entries touch: (vector, bias) each, their loss and penalty."""
    how, users, former = told
    table, stop = how.table(part.table), part.start + part.table.shape[0]
    model, half = model_of(table, users, how.strengths.held), how.half(table)
    F = np.ascontiguousarray(former.own(part.start, stop), dtype=table.dtype)
    F = how.update(model, F, half, how.update.fit_effort(table)).astype(table.dtype, copy=False)
    return {"items": [F], "loss": float(model.row_values(F).sum()), "penalty": half.value(F)}, None


def unrest_of_items(part: Part, told: tuple, own):
    """How far a step moves the items of a block, and by how much the objective falls if they are solved anew."""
    how, users, items = told
    table, stop = how.table(part.table), part.start + part.table.shape[0]
    model, half = model_of(table, users, how.strengths.held), how.half(table)
    F = np.ascontiguousarray(items.own(part.start, stop), dtype=table.dtype)
    step = (1 / model.lipschitz).astype(F.dtype)
    moved = half.prox(F - step * model.gradient(F), step) - F
    fall = float(model.most_fall(F, half.ridges, False).sum())
    squares = (float(np.square(one, dtype=np.float64).sum()) for one in (moved, F))
    return {"moved": next(squares), "size": next(squares), "penalty": half.value(F), "fall": max(fall, 0.0)}, None


# -- the scheme --------------------------------------------------------------------------------------------------------


class SweepRatings(Scheme):
    """Users given items, then items given users, each block by block; the objective comes with the second visit.

    The state holds the components, and vectors and biases of the users as memory maps of their files.
    """

    def __init__(self, sides: Sides, how: How, problem: Problem, first: NDArray):
        self.sides, self.how, self.problem, self.first = sides, how, problem, first
        self.left = how.update

    def begin(self, rng=None) -> State:
        Z = self.first.copy()
        Z[self.problem.held_components] = self.how.strengths.held
        return {"components": Z, "vectors": None, "biases": None}

    def items(self, Z: NDArray) -> Given:
        """The items as the blocks of users need them."""
        k = self.problem.n_components
        return Given(np.ascontiguousarray(Z[: k + 1].T), np.ascontiguousarray(Z[k + 1]))

    def step(self, state: State) -> tuple[State, float]:
        items, former, files = self.items(state["components"]), self._former(state), self.new_files()
        users = Given(*files)
        begin = (self.problem, self.first) if former is None else former
        found = self.sides.rows.total(solve_users, (self.how, items, begin, users, False))
        new = self.sides.columns.total(solve_items, (self.how, users, items))
        F = np.concatenate(new["items"])
        Z = np.full_like(state["components"], self.how.strengths.held)
        Z[: self.problem.n_components], Z[-1] = F[:, :-1].T, F[:, -1]
        value = (new["loss"] + new["penalty"] + found["penalty"]) * self.how.units.square
        return {"components": Z, "vectors": files[0].held(), "biases": files[1].held()}, value

    def _former(self, state: State) -> Given | None:
        """The files of the users of a state, which are there as long as it is; none before the first sweep."""
        if state["vectors"] is None:
            return None
        return Given(*(sheet_of(state[name], self.sides.scratch) for name in ("vectors", "biases")))

    def new_files(self) -> tuple[Sheet, Sheet]:
        """Files for the vectors and the biases of all users."""
        n, scratch, dtype = self.sides.shape[0], self.sides.scratch, self.sides.rows.dtype
        return scratch.sheet((n, self.problem.n_components + 1), dtype), scratch.sheet((n, 1), dtype)

    def certified(self, Z: NDArray) -> tuple[float, Certificate]:
        """The loss under the exact codes of all users, and how far from settled the items are: one visit to each side.

        The users were solved exactly, so they rest.
        """
        files, items, how = self.new_files(), self.items(Z), self.how
        users = Given(*files)
        found = self.sides.rows.total(solve_users, (how, items, None, users, True))
        rest = self.sides.columns.total(unrest_of_items, (how, users, items))
        for sheet in files:
            sheet.remove()
        value = found["loss"] + found["penalty"] + rest["penalty"]
        moved = float(np.sqrt(rest["moved"] / max(rest["size"], np.finfo(np.float64).tiny)))
        fall = min(1.0, rest["fall"] / max(value, np.finfo(np.float64).tiny))
        return found["loss"], Certificate("kkt", 0.0, max(moved, fall), True, value * how.units.square)


# -- a fit -------------------------------------------------------------------------------------------------------------


def refuse_more(model, timestamps, features: tuple) -> None:
    """Raise where a fit in blocks is asked for what it cannot do."""
    name = model.solver if isinstance(model.solver, str) else type(model.solver).__name__
    if name not in SOLVERS or how_to_descend(model.solver) is not None:
        raise ValueError(
            f"solver={name!r} needs X as one table in memory, not as a sequence of blocks: use solver='auto' "
            "(alternating least squares), or stack them (scipy.sparse.vstack)"
        )
    if timestamps is not None or any(one is not None for one in features):
        raise ValueError(
            "timestamps and features need X as one table in memory, not as a sequence of blocks: leave them out, or "
            "stack the blocks (scipy.sparse.vstack)"
        )


class Prepared(NamedTuple):
    """A scheme and its plan, and what was chosen on the way."""

    scheme: SweepRatings
    plan: Plan
    chosen: Any
    looked_at: int


def prepare(model, sides: Sides, loss: Loss, rng) -> Prepared:
    """Choose rank, ridge, solver and start on a sample of the users, which one visit reads."""
    units, power, rows = units_of(sides.rows), power_of(model.weighting), sides.rows
    share = min(1.0, _SAMPLED / max(sides.nnz, 1))
    drawn = np.random.default_rng(0)  # which users are looked at is no part of what a random_state decides
    X = rows.some(np.arange(rows.shape[0]) if share == 1 else rows.drawn(drawn, share))
    table = Observed(X, loss)
    task = Task(units.inward(table), loss, units, SideInformation(), power, model.init, model.random_state)
    chosen = choose(task, model.n_components, given_ridges(model.ridge, model.bias_ridge))
    problem = well_posed(task.problem(chosen.rank, chosen.ridge))
    check_size(problem, *sides.shape)
    plan, plain, first = task.plan(task.table, problem, rng, model.solver)
    how = How(units, Strengths(chosen.ridge, chosen.bias_ridge, power), loss, plain.left)
    return Prepared(SweepRatings(sides, how, problem, first["components"]), plan, chosen, X.shape[0])


def explained(plan: Plan, sides: Sides, chosen, power: float, looked_at: int) -> Plan:
    """The plan with the table told as it is, and what was chosen and how."""
    (n, m), growth = sides.shape, f"·n^{power:g} with n ratings" if power else ""
    plan.problem = f"{n}×{m} ratings ({sides.nnz} stored) ≈ codes (ridge) · {chosen.rank} components (ridge), biases"
    plan.reasons += [
        f"ridge, for ratings of spread 1: {chosen.ridge:.3g}{growth}; of the biases {chosen.bias_ridge:.3g}",
        f"the table comes in {len(sides.rows.load)} blocks: a sweep reads those of the users once and those of the "
        f"items once; the start, and whatever was to be chosen, is that of {looked_at} of the {n} users",
    ]
    return plan


def learned_of(scheme: SweepRatings, state: State) -> tuple[dict[str, Any], Certificate]:
    """What a fit in blocks has learned, in the units of the data, and how far it is from settled."""
    units = replace(scheme.how.units, held=scheme.how.strengths.held)
    Z = units.components_out(state["components"])
    loss, certificate = scheme.certified(units.components_in(Z))
    learned = {
        "_full_components": Z,
        "_sentence": scheme.problem,
        "_left": scheme.left,
        "codes_": None,
        "item_bias_": Z[-1] - Z.dtype.type(units.mean),
        "reconstruction_err_": units.spread * float(np.sqrt(2 * loss)),
        "_range": range_of(scheme.sides.rows),
    }
    return learned, certificate


def codes_of_blocks(model, X) -> Iterator[NDArray]:
    """Codes of the rows of every block, block after block: `transform` of a fitted model."""
    answers = model._answers
    told = answers, model._learned.loss
    return answers_of_blocks(model, X, model.missing, model.components_.dtype, seen_entries, _codes_of_block, told)


def _codes_of_block(X: sp.csr_array, told: tuple, own):
    answers, loss = told
    return answers.codes(answers.units.inward(Observed(X, loss))), None
