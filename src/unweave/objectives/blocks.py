"""A table in row blocks that need not fit in memory together, nor on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.table import Totals
from unweave.linalg.products import gram
from unweave.objectives.base import Objective
from unweave.objectives.joined import joined
from unweave.objectives.models import OwnGrams, Quadratic
from unweave.scale.kept import Kept
from unweave.scale.visits import Loader, Task, Visits

_FEWEST, _STANDING = 256, 4096  # rows that stand for a table,
_NUMBERS = 1 << 24  # and entries of them


class Blocks(Objective):
    """A sequence of row blocks, each made into an objective of its own when it is its turn.

    Every number that needs the whole table is the sum of what a visit to each block hands back. Sums over columns are
    small; what has a number for each row (codes, losses of rows) is gathered only where somebody asks for it.

    Parameters
    ----------
    load : Loader
        Makes the objective of block i; nothing of it is kept.
    sizes : list of int
        Rows of each block.
    first : Objective
        Block 0, to tell loss, width and type.
    complete : bool
        Whether no block has a missing entry.
    visits : Visits
        Who visits: this process, or a cluster.
    totals : Totals, optional
        What a look at every block has found; without one, as if every entry were seen, stored and not negative.
    """

    in_blocks = True

    def __init__(
        self,
        load: Loader,
        sizes: list[int],
        first: Objective,
        complete: bool,
        visits: Visits,
        totals: Totals | None = None,
    ):
        self._load, self._bounds = load, np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.loss, self.dtype, self.complete = first.loss, first.dtype, complete
        self.shape = (int(self._bounds[-1]), first.shape[1])
        entries = self.shape[0] * self.shape[1]
        self.totals = Totals(0.0, entries, entries) if totals is None else totals
        self._standing: Objective | None = None
        self.squared, self.reweights = first.squared, first.reweights
        self.fills_if_shifted = first.fills_if_shifted
        self.visits = visits
        self._half_norm: float | None = None

    # -- visits --------------------------------------------------------------------------------------------------

    @property
    def bounds(self):
        return self._bounds

    def visit(self, task: Task, state: Any = None, kept: Kept | None = None) -> tuple[Any, Kept | None]:
        return self.visits.each(self._load, task, state, kept)

    def total(self, task: Task, state: Any = None, kept: Kept | None = None) -> Any:
        return self.visits.total(self._load, task, state, kept)

    def of_rows(self, task: Task, state: Any = None) -> NDArray:
        return np.concatenate(self.answers(task, state))

    def answers(self, task: Task, state: Any = None) -> list:
        return list(self.visits.gather(self._load, task, state))

    def __iter__(self) -> Iterator[tuple[int, int, Objective]]:
        """(start, stop, objective) of every block, in order, in this process."""
        for i in range(len(self.bounds) - 1):
            yield int(self.bounds[i]), int(self.bounds[i + 1]), self._load(i)

    def parts(self):
        return iter(self)

    def blocks(self):
        return iter(self)

    def each_block(self, change):
        load = self._load.then(change)
        sizes = np.diff(self.bounds).tolist()
        changed = Blocks(load, sizes, load(0), self.complete, self.visits, self.totals)
        changed._standing = None if self._standing is None else change(self._standing)
        return changed

    def standing(self):
        """Some rows of all blocks as a table in memory, always the same ones: one visit, then remembered."""
        if self._standing is None:
            n, each = self.shape[0], max(1, self.totals.n_stored // max(1, self.shape[0]))
            many = max(_FEWEST, min(_STANDING, _NUMBERS // each))
            # Which rows these are is no part of what a random_state decides.
            chosen = np.arange(n) if n <= many else np.sort(np.random.default_rng(0).choice(n, many, replace=False))
            own = [{"rows": chosen[slice(*np.searchsorted(chosen, ends))] - ends[0]} for ends in pairwise(self.bounds)]
            self._standing = joined(self.total(_taken, None, Kept(own)))
        return self._standing

    @property
    def n_multiplied(self):
        return self.totals.n_stored

    # -- sums ----------------------------------------------------------------------------------------------------

    def column_sums(self):
        return self.total(lambda block, _, __: (block.column_sums(), None))

    def column_gram(self, shift, weights=None):
        return self.total(_gram_of_block, shift, self.kept_weights(weights))

    def kept_weights(self, weights: NDArray | None) -> Kept | None:
        """Weights of all rows as what each block keeps, under the name "weights"; None stays None."""
        if weights is None:
            return None
        return Kept([{"weights": weights[a:b]} for a, b in pairwise(self.bounds)])

    def squares(self):
        return self.total(lambda block, _, __: (block.squares(), None))

    def shifted(self, row):
        return self.each_block(lambda block: block.shifted(row)) if row.any() else self

    @property
    def half_norm(self) -> float:
        """½‖X‖²; one pass, then remembered."""
        if self._half_norm is None:
            self._half_norm = self.total(lambda block, _, __: (block.half_norm, None))
        return self._half_norm

    @property
    def n_observed(self) -> int:
        return self.totals.n_seen

    @property
    def seen_quickly(self):
        return 0  # another pass would load every block

    def row_norms(self) -> NDArray:
        """‖x_i‖² of every row."""
        return self.of_rows(lambda block, _, __: (block.row_norms(), None))

    # -- row models, for who holds the codes of all rows ---------------------------------------------------------

    def rows_given(self, Z):
        if not (self.squared and self.complete):
            return super().rows_given(Z)
        cross = self.of_rows(lambda block, Z, _: (block.rows_given(Z).cross, None), Z)

        def precise() -> NDArray:
            task = lambda block, Z, _: (block.in_double().rows_given(Z).cross, None)  # noqa: E731
            return self.of_rows(task, Z.astype(np.float64))

        return Quadratic(cross, gram(Z.T, dtype=np.float64), self.half_norm, self.row_norms, precise)

    def columns_given(self, U):
        if not (self.squared and self.complete):
            return super().columns_given(U)
        parts = (block.columns_given(np.ascontiguousarray(U[a:b])) for a, b, block in self)
        cross = np.asarray(sum(part.cross.astype(np.float64) for part in parts), dtype=self.dtype)
        return Quadratic(cross, gram(U, dtype=np.float64), self.half_norm, precise=lambda: self._summed_crosses(U))

    def _summed_crosses(self, U) -> NDArray:
        """XᵀU in float64: one more pass."""
        blocks = (block.in_double().columns_given(U[a:b].astype(np.float64)) for a, b, block in self)
        return np.asarray(sum(part.cross for part in blocks))

    def row_values(self, U, Z):
        return np.concatenate([block.row_values(U[a:b], Z) for a, b, block in self])

    def column_values(self, U, Z):
        return sum(block.column_values(U[a:b], Z) for a, b, block in self)

    def _summed(self, slope_of, U, Z, side):
        parts = (block._summed(slope_of, np.ascontiguousarray(U[a:b]), Z, side) for a, b, block in self)
        if side == "rows":
            return np.concatenate(list(parts))
        return np.asarray(sum(part.astype(np.float64) for part in parts), dtype=self.dtype)

    def majorise_by_sums(self, U, Z, side):
        parts = (block.majorise_by_sums(np.ascontiguousarray(U[a:b]), Z, side) for a, b, block in self)
        return (OwnGrams.joined if side == "rows" else OwnGrams.summed)(parts)

    def visible(self, other, side):
        if side == "rows":
            return np.concatenate([block.visible(other, side) for _, _, block in self])
        total = sum(np.asarray(block.visible(other[a:b], side), dtype=np.float64) for a, b, block in self)
        return np.asarray(total, dtype=self.dtype)


def _gram_of_block(block: Objective, shift: NDArray | None, own: dict | None) -> tuple[NDArray, None]:
    return block.column_gram(shift, None if own is None else own["weights"]), None


def _taken(block: Objective, state: None, own: dict) -> tuple[list[Objective], None]:
    """Some rows of a block: a task."""
    rows = own["rows"]
    taken = block.take(rows) if len(rows) else None
    return ([] if taken is None else [taken]), None


def _looked(name: str) -> Any:
    """An attribute that only a look at all blocks tells."""
    return property(lambda self: self._seen[name])


class NewRows(Blocks):
    """Blocks of new rows, of which nothing is known before their turn: what each row is asked on its own is one visit.

    What all rows together must tell (how many there are, whether anything is missing) is found out by a look at every
    block when somebody asks for it.

    Parameters
    ----------
    load : Loader
        Makes the objective of block i, None where it has no rows.
    opened : callable
        Looks at every block, and returns them as :class:`Blocks`.
    visits : Visits
    """

    def __init__(self, load: Loader, opened: Callable[[], Blocks], visits: Visits):
        self._unseen, self._opened, self.visits = load, opened, visits
        self._half_norm = self._standing = None

    @cached_property
    def _seen(self) -> dict[str, Any]:
        """What a look at every block has found."""
        return vars(self._opened())

    loss, dtype, shape, complete, totals = map(_looked, ("loss", "dtype", "shape", "complete", "totals"))
    squared, reweights, fills_if_shifted = map(_looked, ("squared", "reweights", "fills_if_shifted"))
    _load, _bounds = _looked("_load"), _looked("_bounds")

    def visit(self, task, state=None, kept=None):
        if kept is not None:
            return super().visit(task, state, kept)
        return self.visits.each(self._unseen, partial(_where_rows, task), state)

    def total(self, task, state=None, kept=None):
        return self.visit(task, state, kept)[0]

    def answers(self, task, state=None):
        found = self.visits.gather(self._unseen, partial(_where_rows, task), state)
        kept = [answer for answer in found if answer is not None]
        if not kept:
            raise ValueError("X has no rows in any block (0 samples), while a minimum of 1 is required: give some")
        return kept

    def each_block(self, change):
        unseen = self._unseen.then(partial(_changed, change))
        return NewRows(unseen, lambda: self._opened().each_block(change), self.visits)


def _where_rows(task: Task, block: Objective | None, state: Any, own: Any) -> tuple[Any, Any]:
    """Run a task, or nothing where a block has no rows."""
    return (None, None) if block is None else task(block, state, own)


def _changed(change: Callable[[Objective], Objective], block: Objective | None) -> Objective | None:
    return None if block is None else change(block)
