"""Fit factors to implicit feedback in blocks: users where their rows are, items where their columns are.

A sweep visits every block of users once and every block of items once. The items (m × k) are sent to the blocks of
users. The users' factors (n × k) go into a file that is named by its path: a block of users writes its rows, a block of
items reads the rows that its entries touch, as a memory map. So the driver holds m × k numbers, a worker those and one
block, the scratch folder twice n × k; and a sweep is bounded by how fast workers read that file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.implicit.held_out_pairs import held_out_generator
from unweave.complete.implicit.scheme import Interactions, half_step, positive_entries
from unweave.complete.implicit.search import Choice, askable, choose_from, noise_of, share_asked
from unweave.complete.recommending.ridge import POWERS
from unweave.data.table import Table
from unweave.linalg.implicit import Basis, Rows, basis_of, slope_rows
from unweave.linalg.products import gram
from unweave.scale.rows import Part, answers_of_blocks, take_rows
from unweave.scale.scratch import Sheet, sheet_of
from unweave.scale.two_sides import Sides, open_sides
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme
from unweave.updates import LeastSquares

_BLOCK_ROWS = 1024  # rows that are rotated together


class How(NamedTuple):
    """What a task needs to know of a model: confidence, ridge, how the ridge grows, and the solver."""

    alpha: float
    ridge: float
    power: float
    solver: str

    def table(self, X: sp.csr_array) -> Interactions:
        """A block as an objective of its own."""
        return Interactions(X, self.alpha, self.ridge, self.power)


def open_interactions(estimator, X, *, reset: bool) -> Sides:
    """Check interactions in blocks, and turn them over unless they come from both sides."""
    return open_sides(estimator, X, None, partial(_entries, type(estimator).__name__), _noted, reset=reset)


def _entries(name: str, table: Table) -> sp.csr_array:
    return positive_entries(table.values, name)


def _noted(X: sp.csr_array) -> dict:
    counts = np.diff(X.indptr)
    return {"largest": [float(X.data.max(initial=0))], "askable": askable(counts), "people": np.count_nonzero(counts)}


class InteractionBlocks:
    """Interactions in blocks as the objective of one fit: what is asked of :class:`Interactions`, from visits."""

    def __init__(self, sides: Sides, alpha: float, power: float):
        self.sides, self.alpha, self.ridge, self.power = sides, alpha, 0.0, power
        self.shape, self.dtype = sides.shape, sides.rows.dtype
        self.most = 1 + alpha * max(sides.rows.notes["largest"])

    def how(self, solver: str) -> How:
        """What tasks need to know."""
        return How(self.alpha, self.ridge, self.power, solver)

    @property
    def nnz(self) -> int:
        return self.sides.nnz

    def cost_of_items(self, items: NDArray) -> float:
        """½ Σ ridge_j ‖z_j‖²."""
        ridges = self.ridge * np.maximum(self.sides.rows.counts, 1).astype(np.float64) ** self.power
        return 0.5 * float(np.sum(np.einsum("ij,ij->i", items, items, dtype=np.float64) * ridges))

    def choose_ridge(self, k: int, random_state) -> Choice:
        """The ridge that finds pairs of some users, held out, best; these users are read in one visit.

        The draws are those of a table in memory, so that the same users are asked.
        """
        rng, sides = held_out_generator(random_state), self.sides
        share = share_asked(sides.rows.notes["askable"])
        chosen = np.arange(self.shape[0]) if share == 1 else sides.rows.drawn(rng, share)
        told = sides.rows.counts, self.alpha, self.power, chosen
        found = sides.rows.total(_noise_and_rows, told)
        unit = noise_of(found["total"], sides.rows.notes["people"], int(np.count_nonzero(sides.rows.counts)))
        some = Interactions(sp.csr_array(sp.vstack(found["rows"])), self.alpha, 0.0, self.power)
        return choose_from(some, unit, k, rng, some.vanishing_ridge)


def _noise_and_rows(part: Part, told: tuple, own):
    counts, alpha, power, chosen = told
    each = np.diff(part.table.indptr)
    scale = np.repeat(np.maximum(each, 1.0) ** -power, each) * (np.maximum(counts, 1.0) ** -power)[part.table.indices]
    total = float(np.sum((1 + alpha * part.table.data.astype(np.float64)) ** 2 * scale))
    return {"total": total, "rows": take_rows(part, chosen, None)[0]}, None


class SweepBlocks(Scheme):
    """Users given items, then items given users, each block by block; the objective comes with the second visit.

    The state holds the items, and the users as a memory map of their file.
    """

    def __init__(self, table: InteractionBlocks, solver: str, k: int, items: NDArray | None = None):
        self.table, self.solver, self.k, self.items = table, solver, k, items
        self.left = LeastSquares()

    def begin(self, rng=None) -> dict:
        m, k, dtype = self.table.shape[1], self.k, self.table.dtype
        items = rng.standard_normal((m, k), dtype=np.float64) / np.sqrt(k) if self.items is None else self.items
        return {"codes": None, "items": items.astype(dtype, copy=False)}

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, ending=f"max_iter={loop.max_iter} sweeps done")

    def step(self, state: dict) -> tuple[dict, float]:
        sides, how = self.table.sides, self.table.how(self.solver)
        basis, former, sheet = basis_of(state["items"]), self._former(state), self.new_sheet()
        found = sides.rows.total(solve_users, (how, basis, former, sheet))
        sheet, turn, spectrum = self.turned(sheet, found["gram"])
        parts, value = sides.columns.total(solve_items, (how, sheet, turn, spectrum, basis.W))
        return {"codes": sheet.held(), "items": np.concatenate(parts)}, value + found["cost"]

    def turned(self, sheet: Sheet, total: NDArray) -> tuple[Sheet, NDArray, NDArray]:
        """The users in the basis in which their Gram is diagonal, that basis, and the diagonal."""
        spectrum, Q = np.linalg.eigh(total)
        Q = Q.astype(self.table.dtype)
        return self.table.sides.change(sheet, rotated, Q), Q, np.maximum(spectrum, 0).astype(self.table.dtype)

    def _former(self, state: dict) -> Sheet | None:
        """The file of the users of a state, which is there as long as it is; none before the first sweep."""
        return None if state["codes"] is None else sheet_of(state["codes"], self.table.sides.scratch)

    def new_sheet(self) -> Sheet:
        """A file for the factors of all users."""
        return self.table.sides.scratch.sheet((self.table.shape[0], self.k), self.table.dtype)

    def finish(self, state: dict) -> dict:
        return {"components": np.ascontiguousarray(state["items"].T)}


def solve_users(part: Part, told: tuple, own):
    """The users of a block given the items; they are written to the file, their Gram and their ridge handed back."""
    how, basis, former, sheet = told
    table, stop = how.table(part.table), part.start + part.table.shape[0]
    F = None if former is None else former.array()[part.start : stop]
    rows = table.by_row
    codes, _ = half_step(how.solver, rows, how.alpha, basis, F, table.ridges(rows), back=False)
    sheet.write(part.start, codes)
    return {"gram": gram_of(codes), "cost": table.cost(codes, rows)}, None


def solve_items(part: Part, told: tuple, own):
    """The items of a block given the users that its entries touch; the items, and the sum of their values."""
    how, sheet, turn, spectrum, former = told
    table = how.table(part.table)
    rows, basis = users_of(part, sheet, turn, spectrum)
    F = former[part.start : part.start + part.table.shape[0]]
    items, values = half_step(how.solver, rows, how.alpha, basis, F, table.ridges(rows), back=False)
    return ([items], float(values.sum())), None


def users_of(part: Part, sheet: Sheet, turn: NDArray, spectrum: NDArray) -> tuple[Rows, Basis]:
    """The entries of a block by item, and all users, of whom those are read that the entries touch."""
    X = part.table
    rows = Rows(X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), X.data)
    return rows, Basis(sheet.array(), turn, spectrum)


def rotated(H: NDArray, Q: NDArray) -> NDArray:
    """H·Q, written over H."""

    def rotate(start: int, stop: int) -> None:
        H[start:stop] = H[start:stop] @ Q

    parallel.run(rotate, len(H), _BLOCK_ROWS)
    return H


def gram_of(H: NDArray) -> NDArray:
    """HᵀH in float64, in small pieces."""
    return gram(H, shift=np.zeros(H.shape[1]), dtype=np.float64)


# -- the end of a fit --------------------------------------------------------------------------------------------------


def certified(scheme: SweepBlocks, items: NDArray, exact: str) -> tuple[NDArray, Certificate]:
    """The sum of the exact codes of all users, and how far from stationary they and the items are together.

    One visit to the users, one to the items.
    """
    table, sheet = scheme.table, scheme.new_sheet()
    how = table.how(exact)
    found: Any = table.sides.rows.total(exact_users, (how, items, sheet))
    sheet, turn, spectrum = scheme.turned(sheet, found["gram"])
    length = table.sides.columns.total(slopes, (how, sheet, turn, spectrum, items))
    sheet.remove()
    residual = float(np.sqrt(length) / max(float(np.linalg.norm(items)), 1e-30))
    return found["codes"], Certificate("kkt", 0.0, residual, True, found["value"] + table.cost_of_items(items))


def exact_users(part: Part, told: tuple, own):
    """Exact codes of the users of a block: written to the file; their sum, Gram and value."""
    how, items, sheet = told
    codes, values = how.table(part.table).codes(items, how.solver)
    sheet.write(part.start, codes)
    return {"gram": gram_of(codes), "codes": codes.sum(axis=0, dtype=np.float64), "value": float(values.sum())}, None


def slopes(part: Part, told: tuple, own):
    """How far the items of a block still want to move: the sum of squares."""
    how, sheet, turn, spectrum, items = told
    rows, basis = users_of(part, sheet, turn, spectrum)
    F = np.ascontiguousarray(items[part.start : part.start + part.table.shape[0]])
    step, _ = slope_rows(rows, how.alpha, basis.W, F, how.table(part.table).ridges(rows), basis)
    return float(np.square(step, dtype=np.float64).sum()), None


def codes_of_blocks(model, X) -> Iterator[NDArray]:
    """Exact codes of the rows of every block, block after block: `transform` of a fitted model."""
    return _asked_of_blocks(model, X, _codes_of_block)


def losses_of_blocks(model, X) -> Iterator[tuple[float, int]]:
    """The weighted squared error of every block under exact codes, and how many entries it has: `score`."""
    return _asked_of_blocks(model, X, _loss_of_block)


def _asked_of_blocks(model, X, task) -> Iterator:
    how = How(float(model.alpha), model.ridge_, POWERS[model.weighting], model._exact)
    items = np.ascontiguousarray(model.components_.T)
    entries = partial(_entries, type(model).__name__)
    return answers_of_blocks(model, X, None, items.dtype, entries, task, (how, items))


def _codes_of_block(block: sp.csr_array, told: tuple, own):
    how, items = told
    return how.table(block).codes(items, how.solver)[0], None


def _loss_of_block(block: sp.csr_array, told: tuple, own):
    how, items = told
    return loss_of_rows(how.table(block), items, how.solver), None


def loss_of_rows(table: Interactions, items: NDArray, solver: str) -> tuple[float, int]:
    """Half the weighted squared error of rows in memory under their exact codes, and how many entries they have."""
    codes, values = table.codes(items, solver)
    return float(values.sum()) - table.cost(codes, table.by_row), table.shape[0] * table.shape[1]
