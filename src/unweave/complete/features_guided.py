"""Alternating least squares with side information: biases that drift, vectors pulled towards a map of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.counted import CountedAlternate, Strengths
from unweave.complete.drift import Calendar, Drift, drift_at
from unweave.complete.features_side import Side, Towards
from unweave.linalg.entries import predict_entries
from unweave.objectives import Observed
from unweave.solve.alternate import Alternate


@dataclass(frozen=True)
class Guide:
    """What is known besides the ratings of a table: any of features of users, of items, and times of the ratings.

    `times` belong to the stored entries of the table in order; `calendar` and `scale` are those of a former fit, if
    there was one.
    """

    users: Side | None = None
    items: Side | None = None
    times: NDArray | None = None
    n_bins: int = 1
    ridge: float = 0.0
    calendar: Calendar | None = None
    scale: float | None = None

    def take(self, pick: NDArray) -> Guide:
        """The same for some of the entries."""
        return self if self.times is None else replace(self, times=self.times[pick])


class GuidedAlternate(CountedAlternate):
    """A sweep: the drift of what the factors leave, the maps from the features, then both half-steps.

    Each part is improved with all others fixed, so the objective never rises. The state holds besides the factors
    `bins` and `slopes` (see :class:`Drift`), `user_map` and `item_map` (see :class:`Side`).
    """

    def __init__(self, plain: Alternate, strengths: Strengths, guide: Guide, unit: float = 1.0):
        super().__init__(plain, strengths, unit)
        self.left, self.right, self.guide = Towards(plain.left), Towards(plain.right), guide
        assert isinstance(self.objective, Observed)
        self.table = self.objective
        self.weights = tuple(
            np.where(np.diff(table.indptr) > 0, half.ridges, 0.0)
            for table, half in ((self.table.by_row, self.code_half), (self.table.by_column, self.component_half))
        )
        self.drift = None if guide.times is None else self._drift(guide)

    def _drift(self, guide: Guide) -> Drift:
        t = self.table.by_row
        rows = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
        assert guide.times is not None
        calendar = Calendar.of(guide.times, guide.n_bins) if guide.calendar is None else guide.calendar
        return Drift(
            rows, t.indices.astype(np.int64), guide.times, self.table.shape, calendar, guide.ridge, guide.scale
        )

    @cached_property
    def _column_order(self) -> NDArray:
        X = self.table.X
        return sp.csr_array((np.arange(X.nnz), X.indices, X.indptr), shape=X.shape).T.tocsr().data

    def begin(self, first: dict) -> dict:
        """A first state of the plain scheme, with no drift and no effect of features."""
        width = self.problem.width - 1
        more = {} if self.drift is None else self.drift.start()
        if self.guide.users is not None:
            more["user_map"] = self.guide.users.start(width)
        if self.guide.items is not None:
            more["item_map"] = self.guide.items.start(width)
        return {**super().begin(first), **more}

    def step(self, state: dict) -> tuple[dict, float]:
        U, Z = state["codes"], state["components"]
        new = {**state, **self._improved(state)}
        self.heed(new)
        factors, value = super().step({"codes": U, "components": Z})
        return {**new, **factors}, value

    def _improved(self, state: dict) -> dict:
        U, Z = state["codes"], state["components"]
        new: dict[str, NDArray] = {}
        if self.drift is not None:
            t = self.table.by_row
            fitted = predict_entries(t.indptr, t.indices, np.ascontiguousarray(Z.T), np.ascontiguousarray(U))
            new |= self.drift.improve(t.data.astype(np.float64) - fitted, state)
        if self.guide.users is not None:
            new["user_map"] = self.guide.users.learn(np.delete(U, self.problem.held_codes, axis=1), self.weights[0])
        if self.guide.items is not None:
            F = np.delete(Z, self.problem.held_components, axis=0).T
            new["item_map"] = self.guide.items.learn(F, self.weights[1])
        return new

    def heed(self, state: dict) -> None:
        """Set the table, both halves and what is paid to what a state says of drift and features."""
        dtype = self.table.dtype
        if self.drift is not None:
            self.objective = Less(self.table, self.drift.at_entries(state), self._column_order)
        if self.guide.users is not None:
            towards = np.ascontiguousarray(self.guide.users.towards(state["user_map"]), dtype=dtype)
            self.code_half = replace(self.code_half, towards=towards)
        if self.guide.items is not None:
            towards = np.ascontiguousarray(self.guide.items.towards(state["item_map"]), dtype=dtype)
            self.component_half = replace(self.component_half, towards=towards)
        self.paid = self._paid(state)

    def _paid(self, state: dict) -> float:
        total = 0.0 if self.drift is None else self.drift.penalty(state)
        if self.guide.users is not None:
            total += self.guide.users.penalty(state["user_map"], self.weights[0])
        if self.guide.items is not None:
            total += self.guide.items.penalty(state["item_map"], self.weights[1])
        return total

    def undrifted(self, state: dict, test: Observed, times: NDArray | None) -> Observed:
        """Held-out entries less the drift at their own times."""
        if self.drift is None or times is None:
            return test
        t = test.by_row
        rows = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
        return Less(test, drift_at(self.drift.published(state), rows, t.indices, times))


class Less(Observed):
    """The entries of a table less something, entry by entry.

    With `order` (where each entry of the layout by column is in that by row) that layout is not made anew.
    """

    def __init__(self, table: Observed, off: NDArray, order: NDArray | None = None):
        X = table.X
        data = X.data - off.astype(X.dtype)
        super().__init__(sp.csr_array((data, X.indices, X.indptr), shape=X.shape), table.loss)
        self.by_row = table.by_row.with_data(data)
        if order is not None:
            self.by_column = table.by_column.with_data(data[order])
