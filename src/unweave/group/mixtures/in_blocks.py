"""Read the rows of a table in blocks for a mixture: what is asked of all of them is asked in one visit.

A fit visits every block once for the start (rows that it is made from, and what forms must know of the numbers), once
in every step, which expects on the rows of a block and hands back statistics, and once for the labels.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.group.mixtures.rows import WeightedRows
from unweave.losses.squared import Squared
from unweave.objectives import Dense
from unweave.objectives.blocks import Blocks
from unweave.scale.kept import Kept


class RowsInBlocks(WeightedRows):
    """Ask the rows of a table in blocks where they are; parameters as in :class:`WeightedRows`."""

    objective: Blocks

    def __init__(self, objective: Blocks, weights: NDArray | None, read: Callable):
        super().__init__(objective, weights, read)
        self._look: Callable | None = None
        self._found: dict[str, list] = {}

    def add_up(self, summary, state):
        return self.objective.total(_summary, (summary, self.read, state), self._kept())

    def of_rows(self, answer, state):
        return self.objective.of_rows(_summary, (answer, self.read, state))

    def looked_at(self, look):
        """What `look` finds in each block; it goes along with the visit for the start, if there is one to come."""
        if not self._found:
            self._look = look

        def found() -> list:
            if self._look == look and self._found:
                return self._found["looks"]
            return self.add_up(_listed, look)

        return found

    def taken(self, chosen):
        """Some rows in order of their numbers, found in one visit; whoever asks again is given the same."""
        if not self._found:
            self._visit(chosen)
        return np.concatenate(self._found["tables"]), np.concatenate(self._found["masks"]), self._chosen

    def standing(self, chosen) -> WeightedRows:
        """Those rows as a table in memory, that starts are tried on; an entry not seen is the mean of its column."""
        X, seen, chosen = self.taken(chosen)
        weights = np.ones(len(X)) if self.weights is None else self.weights[chosen].astype(np.float64)
        known = weights @ seen
        means = (weights @ (X * seen)) / np.where(known > 0, known, 1.0)
        return WeightedRows(Dense(np.where(seen, X, means), Squared()), weights, _whole)

    def _visit(self, chosen: NDArray) -> None:
        bounds = self.objective.bounds
        own = [{"rows": chosen[slice(*np.searchsorted(chosen, ends))] - ends[0]} for ends in pairwise(bounds)]
        self._found = self.objective.total(_taken, (self._look, self.read), self._kept(own))
        self._chosen = chosen

    def _kept(self, own: list[dict] | None = None) -> Kept | None:
        """The weights of the rows of each block, and what else it is told."""
        if self.weights is None:
            return None if own is None else Kept(own)
        bounds = self.objective.bounds
        own = [{} for _ in bounds[1:]] if own is None else own
        for part, (low, high) in zip(own, pairwise(bounds), strict=True):
            part["weights"] = self.weights[low:high]
        return Kept(own)


def rows_of(objective: Any, weights: NDArray | None, read: Callable) -> WeightedRows:
    """Open the rows of a table, in memory or in blocks."""
    return (RowsInBlocks if objective.in_blocks else WeightedRows)(objective, weights, read)


def _rows_of(block, read: Callable, own: dict | None) -> WeightedRows:
    return WeightedRows(block, None if own is None else own.get("weights"), read)


def _summary(block, asked: tuple, own: dict | None) -> tuple[Any, None]:
    """Sum up a block, or answer for each of its rows."""
    summary, read, state = asked
    return summary(_rows_of(block, read, own), state), None


def _taken(block, asked: tuple, own: dict) -> tuple[dict[str, list], None]:
    """Take some rows of a block, and look at it."""
    look, read = asked
    rows = _rows_of(block, read, own)
    found = {"tables": [], "masks": [], "looks": _listed(rows, look) if look is not None else []}
    if len(own["rows"]):
        X, seen, _ = rows.taken(own["rows"])
        found["tables"], found["masks"] = [X], [seen]
    return found, None


def _listed(rows: WeightedRows, look: Callable) -> list:
    return [look(rows)]


def _whole(table, start: int, stop: int) -> tuple[NDArray, None]:
    return table.X[start:stop], None
