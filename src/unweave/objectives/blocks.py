"""A table in row blocks that need not fit in memory together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from unweave.linalg.products import gram
from unweave.objectives.base import Objective
from unweave.objectives.models import OwnGrams, Quadratic


class Blocks(Objective):
    """A sequence of row blocks, each made into an objective of its own when it is its turn.

    Parameters
    ----------
    load : callable
        ``i -> Objective`` of block i; called once per pass, and nothing of it is kept.
    sizes : list of int
        Rows of each block.
    first : Objective
        Block 0, to tell loss, width and type.
    complete : bool
        Whether no block has a missing entry.
    """

    in_blocks = True

    def __init__(self, load: Callable[[int], Objective], sizes: list[int], first: Objective, complete: bool):
        self._load, self.bounds = load, np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.loss, self.dtype, self.complete = first.loss, first.dtype, complete
        self.shape = (int(self.bounds[-1]), first.shape[1])
        self.squared, self.reweights = first.squared, first.reweights
        self.fills_if_shifted = first.fills_if_shifted
        self._half_norm: float | None = None

    def __iter__(self) -> Iterator[tuple[int, int, Objective]]:
        """(start, stop, objective) of every block, in order."""
        for i in range(len(self.bounds) - 1):
            yield int(self.bounds[i]), int(self.bounds[i + 1]), self._load(i)

    def parts(self):
        return iter(self)

    def blocks(self):
        return iter(self)

    def each_block(self, change):
        def load(i: int) -> Objective:
            return change(self._load(i))

        return Blocks(load, np.diff(self.bounds).tolist(), load(0), self.complete)

    def column_sums(self):
        parts = [block.column_sums() for _, _, block in self]
        return np.sum([sums for sums, _ in parts], axis=0), np.sum([counts for _, counts in parts], axis=0)

    def column_gram(self, shift):
        """Summaries add: the Gram of the columns is a sum over blocks."""
        total = np.zeros((self.shape[1],) * 2)
        for _, _, block in self:
            total += block.column_gram(shift)
        return total

    def squares(self):
        return sum(block.squares() for _, _, block in self)

    def shifted(self, row):
        return self.each_block(lambda block: block.shifted(row)) if row.any() else self

    @property
    def half_norm(self) -> float:
        """½‖X‖²; one pass, then remembered."""
        if self._half_norm is None:
            self._half_norm = sum(block.half_norm for _, _, block in self)
        return self._half_norm

    @property
    def seen_quickly(self):
        return 0  # another pass would load every block

    def row_norms(self) -> np.ndarray:
        """‖x_i‖² of every row."""
        return np.concatenate([block.row_norms() for _, _, block in self])  # type: ignore[attr-defined]

    def rows_given(self, Z):
        if not (self.squared and self.complete):
            return super().rows_given(Z)
        cross = np.concatenate([block.rows_given(Z).cross for _, _, block in self])
        return Quadratic(
            cross, gram(Z.T, dtype=np.float64), self.half_norm, self.row_norms,
            lambda: np.concatenate([b.in_double().rows_given(Z.astype(np.float64)).cross for _, _, b in self]),
        )  # fmt: skip

    def columns_given(self, U):
        if not (self.squared and self.complete):
            return super().columns_given(U)
        parts = (block.columns_given(np.ascontiguousarray(U[a:b])) for a, b, block in self)
        cross = np.asarray(sum(part.cross.astype(np.float64) for part in parts), dtype=self.dtype)
        return Quadratic(cross, gram(U, dtype=np.float64), self.half_norm, precise=lambda: self._summed_crosses(U))

    def _summed_crosses(self, U) -> np.ndarray:
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
