"""Data and loss together: the only thing that knows how a table is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.losses.base import Loss
from unweave.objectives.models import Entries, OwnGrams, RowModel, SmoothColumns, SmoothRows
from unweave.parallel import run
from unweave.scale.kept import Kept
from unweave.scale.visits import Task

BLOCK_ENTRIES = 1 << 18  # entries of a row block that is held densely while a loss looks at it
_MOST_ENTRIES = 1 << 28  # entries beyond which a loss from summaries is not looked at again
# A loss from summaries is taken if it is so many times what rounding may have done to it. Summaries cancel where codes
# are large and components nearly dependent: an objective is promised to 1e-6 in float64, in float32 to 1e-5 at the end.
_TRUST = {np.dtype(np.float32): 1e5, np.dtype(np.float64): 1e7}
_TRUST_AT_THE_END = {np.dtype(np.float32): 1e6, np.dtype(np.float64): 1e7}


class Objective:
    """Loss of the prediction U·Z against a table.

    Subclasses say how rows are read (:meth:`dense_rows`) and override what their storage does faster. Every number
    that needs the whole table is a sum over row blocks, added in order, so it does not depend on the threads.
    """

    X: Any  # the table as stored (a table in blocks has none)
    half_norm: Any  # ½‖X‖², where the loss is squared
    loss: Loss
    shape: tuple[int, int]
    dtype: np.dtype
    complete = True  # every entry counts once: no missing entries, no weights
    squared = False  # the loss is ½(x − p)², weighted or not
    reweights = False
    in_blocks = False
    fills_if_shifted = False  # the table leaves out its zeros, and would be an array once a row is taken off it

    # -- what a storage must say ---------------------------------------------------------------------------------

    def dense_rows(self, start: int, stop: int) -> tuple[NDArray, NDArray | None]:
        """Rows ``start:stop`` as an array, and their weights (None: all ones; 0: not observed)."""
        raise NotImplementedError("an objective defines dense_rows")

    def take(self, rows: NDArray) -> Objective | None:
        """The objective of some rows only, or None when that is not cheaper."""
        return None

    def in_double(self) -> Objective:
        """The same objective with its numbers in float64: for proofs, which rounding must not touch."""
        raise NotImplementedError("this objective is not held in memory")

    # -- what other rooms ask of a table, however it is stored ---------------------------------------------------

    @property
    def is_array(self) -> bool:
        """Whether the table is one array in memory with every entry observed and no weights."""
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether only some of the entries are stored."""
        return False

    @property
    def n_multiplied(self) -> int:
        """Entries that a product with the table goes through."""
        return self.shape[0] * self.shape[1]

    @property
    def matrix(self):
        """The table as something to multiply vectors by: an array, or a sparse product."""
        return self.X

    def blocks(self) -> Iterator[tuple[int, int, Objective]]:
        """(start, stop, objective in memory) of stretches of rows: the blocks of a table in blocks, else all rows."""
        yield 0, self.shape[0], self

    @property
    def bounds(self) -> NDArray:
        """Where the blocks of :meth:`visit` begin, and where the last one ends."""
        return np.array([0, self.shape[0]])

    def visit(self, task: Task, state: Any = None, kept: Kept | None = None) -> tuple[Any, Kept | None]:
        """Visit every block once: ``task(block, state, what its rows keep)``; the sum, and what rows keep now."""
        total, own = task(self, state, None if kept is None else kept.own(0))
        return total, None if own is None else Kept([own])

    def total(self, task: Task, state: Any = None, kept: Kept | None = None) -> Any:
        """The sum of what a visit to every block hands back, where its rows keep nothing from it."""
        return self.visit(task, state, kept)[0]

    def answers(self, task: Task, state: Any = None) -> list:
        """What a visit has to say of each block, in order."""
        return [task(self, state, None)[0]]

    def of_rows(self, task: Task, state: Any = None) -> NDArray:
        """What a visit has to say of every row, in order."""
        return task(self, state, None)[0]

    def each_block(self, change: Callable[[Objective], Objective]) -> Objective:
        """The table with `change` applied to what lies in memory: at once, or to every block when it is its turn."""
        return change(self)

    def standing(self) -> Objective:
        """What a start may look at: the table, or where it comes in blocks some rows of all of them, in memory."""
        return self

    def column_sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sum and number of the entries seen in each column."""
        raise NotImplementedError("an objective defines column_sums")

    def column_means(self) -> NDArray[np.float64]:
        """Mean of the entries seen in each column, 0 where there is none."""
        sums, counts = self.column_sums()
        return np.divide(sums, counts, out=np.zeros(len(sums)), where=counts > 0)

    def column_gram(self, shift: NDArray | None, weights: NDArray | None = None) -> NDArray[np.float64]:
        """(X − shift)ᵀ·diag(weights)·(X − shift) of a table with every entry observed, in float64."""
        raise NotImplementedError("an objective with every entry observed defines column_gram")

    def kept_weights(self, weights: NDArray | None) -> Kept | None:
        """Weights of all rows as what each block keeps, under the name "weights"; None stays None."""
        return None if weights is None else Kept([{"weights": weights}])

    def weighted_residual(self, U: NDArray, Z: NDArray) -> tuple[Any, float, float, float]:
        """w∘r with r = X − U·Z (sparse where few entries are seen), ⟨w∘r, X⟩, Σ w·r² and ½Σ w·x², all in float64."""
        raise NotImplementedError("this objective is not held in memory")

    def squares(self) -> float:
        """The sum of squares of the entries seen."""
        return float(2 * self.half_norm)

    def row_norms(self) -> NDArray[np.float64]:
        """The sum of squares of every row."""
        raise NotImplementedError("this objective does not know the sizes of its rows")

    def row_residuals(self, Z: NDArray, mean: NDArray) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """‖c − c·Zᵀ·Z‖² and ‖c‖² of every row x = mean + c of a table with every entry observed, for orthonormal Z."""
        raise NotImplementedError("this objective is not held in memory")

    def shifted(self, row: NDArray) -> Objective:
        """The table less a row, where it was seen; a sparse table becomes an array unless that row is zero."""
        raise NotImplementedError("an objective defines shifted")

    @property
    def weighted(self) -> bool:
        """Whether some entries that were seen weigh other than one."""
        return False

    def rows_divided(self, numbers: NDArray) -> Objective:
        """The table with every row divided by a number of its own."""
        raise NotImplementedError("this objective does not divide its rows")

    def values_and_seen(self) -> tuple[Any, Any]:
        """The table and the weights of what is seen (0 = not seen; None: all ones), stored as the table is, float64."""
        raise NotImplementedError("this objective is not held in memory")

    def entries(self) -> Any:
        """The entries seen as a CSR matrix of the table's shape, zeros that were seen stored."""
        raise NotImplementedError("this objective is not held in memory")

    def seen_values(self) -> NDArray:
        """The numbers that were seen, as a list."""
        raise NotImplementedError("this objective is not held in memory")

    def mapped(self, change: Callable[[NDArray], NDArray]) -> Objective:
        """The table with every number that was seen changed; what was not seen stays so."""
        raise NotImplementedError("this objective is not held in memory")

    def parts(self) -> Iterator[tuple[int, int, Objective]]:
        """(start, stop, objective) of stretches of rows that a half-step on the codes may do one after the other."""
        yield 0, self.shape[0], self

    # -- row models ----------------------------------------------------------------------------------------------

    def rows_given(self, Z: NDArray) -> RowModel:
        """The loss of each row's code with the components fixed."""
        return SmoothRows(self, Z)

    def columns_given(self, U: NDArray) -> RowModel:
        """The loss of each prediction column (a row of F = Zᵀ) with the codes fixed."""
        return SmoothColumns(self, U)

    # -- totals --------------------------------------------------------------------------------------------------

    @property
    def n_predictions(self) -> int:
        """Prediction columns: more than data columns when a loss is wider than one."""
        return self.loss.prediction_columns(self.shape[1])

    @cached_property
    def curvature(self) -> NDArray[np.float64] | None:
        """Upper bound of the loss's second derivative in each prediction column, or None."""
        bound = self.loss.column_curvature(self.shape[1])
        return None if bound is None else np.asarray(bound, dtype=np.float64)

    @property
    def heaviest(self) -> float:
        """The largest weight."""
        return 1.0

    def value(self, U: NDArray, Z: NDArray) -> float:
        """Total loss."""
        return float(self.row_values(U, Z).sum())

    def accurate_value(self, U: NDArray, Z: NDArray, rows: RowModel | None = None) -> float:
        """Total loss to full accuracy; `rows` is ``rows_given(Z)`` if the caller has it."""
        if not (self.squared and self.complete) or self.in_blocks:
            return self.value(U, Z) if rows is None or rows.kind == "quadratic" else rows.value(U)
        model = self.rows_given(Z) if rows is None else rows
        value, _, sure = self._from_summaries(model, U, _MOST_ENTRIES, _TRUST_AT_THE_END)
        return value if sure else float(self._row_values(U, Z, np.float64).sum())

    def step_value(self, model: RowModel, F: NDArray, U: NDArray, Z: NDArray) -> tuple[float, float]:
        """Total loss after a half-step on F, from the summaries of its `model`, and how far rounding may put it off.

        Entry by entry where the summaries would cancel and another look at the table costs little beside a half-step.
        """
        value, slack, sure = self._from_summaries(model, F, self.seen_quickly, _TRUST)
        return (value, slack) if sure else (self.value(U, Z), 0.0)

    @property
    def seen_quickly(self) -> int:
        """Entries of a table for which the loss of every one takes no longer than a half-step."""
        return _MOST_ENTRIES

    def _from_summaries(self, model: RowModel, F: NDArray, most: int, trust: dict) -> tuple[float, float, bool]:
        """The loss from summaries, its rounding, and whether to take it: few digits cancel, or the table is large."""
        value, slack = model.value(F), model.rounding(F)
        large = self.shape[0] * self.shape[1] > most
        return value, slack, large or value >= trust[np.dtype(self.dtype)] * slack

    @property
    def n_observed(self) -> int:
        """Number of entries that count."""
        return self.shape[0] * self.shape[1]

    def row_values(self, U: NDArray, Z: NDArray) -> NDArray[np.float64]:
        """Loss of each row."""
        return self._row_values(U, Z, self.dtype)

    def _row_values(self, U: NDArray, Z: NDArray, dtype) -> NDArray[np.float64]:
        """Loss of each row, predicted in this precision: float32 loses digits where codes are large and cancel."""
        Z = Z.astype(dtype, copy=False)

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            loss = self.loss.value(x.astype(dtype, copy=False), U[start:stop].astype(dtype, copy=False) @ Z)
            return (loss if w is None else loss * w).sum(axis=1, dtype=np.float64)

        return np.concatenate(self._over_rows(task) or [np.zeros(0)])

    def column_values(self, U: NDArray, Z: NDArray) -> NDArray[np.float64]:
        """Loss of each data column."""

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            loss = self.loss.value(x, U[start:stop] @ Z)
            return (loss if w is None else loss * w).sum(axis=0, dtype=np.float64)

        return _sum_in_order(self._over_rows(task))

    def gradient(self, U: NDArray, Z: NDArray, side: str) -> NDArray:
        """Derivative by U (side "rows": n × k) or by Zᵀ (side "columns": columns × k)."""
        return self._summed(self.loss.gradient, U, Z, side)

    def rising(self, U: NDArray, Z: NDArray, side: str) -> NDArray:
        """The part D of the gradient D − N with D, N ≥ 0, for losses of non-negative predictions."""
        if self.loss.power == 1:
            return self.visible(Z.T, side) if side == "rows" else self.visible(U, side)
        return self._summed(self.loss.rising, U, Z, side)

    def _summed(self, slope_of, U: NDArray, Z: NDArray, side: str) -> NDArray:
        """Σ over the entries of each row (or column) of their slope times the other factor."""
        back = np.ascontiguousarray(Z.T)

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            slope = slope_of(x, U[start:stop] @ Z)
            if w is not None:
                slope *= self.expand(w)
            return slope @ back if side == "rows" else (slope.T @ U[start:stop]).astype(np.float64)

        parts = self._over_rows(task)
        return np.concatenate(parts) if side == "rows" else _sum_in_order(parts).astype(self.dtype)

    def majorise(self, U: NDArray, Z: NDArray, side: str) -> OwnGrams | Entries:
        """Weighted least squares that bounds the loss and touches it at U·Z."""
        return self.majorise_by_sums(U, Z, side)

    def majorise_by_sums(self, U: NDArray, Z: NDArray, side: str) -> OwnGrams:
        """The same from sums that add up over rows, for a table whose entries are not all at hand."""
        back = np.ascontiguousarray(Z.T)

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            bound = np.asarray(self.loss.weights(x, U[start:stop] @ Z), dtype=self.dtype)
            bound = bound if w is None else bound * w
            if side == "rows":
                return OwnGrams.of(x, bound, back)
            return OwnGrams.of(np.ascontiguousarray(x.T), np.ascontiguousarray(bound.T), U[start:stop])

        return (OwnGrams.joined if side == "rows" else OwnGrams.summed)(self._over_rows(task))

    def bend_by_sums(self, U: NDArray, Z: NDArray) -> NDArray[np.float64]:
        """Second derivative by each column of Z: Σ_i l''(x_ij, p_ij) u_i·u_iᵀ, (columns, k, k)."""
        k = U.shape[1]
        above = np.triu_indices(k)  # each half of a symmetric matrix says all

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            u = U[start:stop]
            bend = self.loss.bend(x, u @ Z)
            bend = bend if w is None else bend * w
            return (bend.T @ (u[:, above[0]] * u[:, above[1]])).astype(np.float64)

        size = max(1, BLOCK_ENTRIES // max(self.n_predictions, len(above[0])))
        half = _sum_in_order(run(task, self.shape[0], size))
        grams = np.empty((self.n_predictions, k, k))
        grams[:, above[0], above[1]] = grams[:, above[1], above[0]] = half
        return grams

    def visible(self, other: NDArray, side: str) -> NDArray:
        """Σ of the other factor over the entries seen: W·Zᵀ (side "rows", other = Zᵀ) or Wᵀ·U (side "columns")."""
        if self.complete:
            total = other.sum(axis=0, dtype=np.float64).astype(self.dtype)
            count = self.shape[0] if side == "rows" else self.n_predictions
            return np.broadcast_to(total, (count, other.shape[1]))

        def task(start, stop):
            x, w = self.dense_rows(start, stop)
            seen = np.ones_like(x) if w is None else w.astype(self.dtype)
            seen = self.expand(seen)
            return seen @ other if side == "rows" else (seen.T @ other[start:stop]).astype(np.float64)

        parts = self._over_rows(task)
        return np.concatenate(parts) if side == "rows" else _sum_in_order(parts).astype(self.dtype)

    def expand(self, weights: NDArray) -> NDArray:
        """Weights of data columns repeated for the prediction columns they own."""
        widths = getattr(self.loss, "widths_", None)
        if widths is not None:
            return np.repeat(weights, widths, axis=1)
        return weights if self.loss.width == 1 else np.repeat(weights, self.loss.width, axis=1)

    def _over_rows(self, task) -> list:
        size = max(1, BLOCK_ENTRIES // max(1, self.n_predictions))
        return run(task, self.shape[0], size)


def _sum_in_order(parts: list[NDArray]) -> NDArray:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total
