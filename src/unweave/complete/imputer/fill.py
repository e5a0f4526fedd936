"""Fill cells with what fitted models say: combine them, say how sure each cell is, and draw several imputations.

A draw (multiple imputation) perturbs the models by what the data leave open, predicts, and adds a residual as they were
on held-out cells; the residuals of one row go together as the linear model says. Reference: Rubin (1987), Multiple
imputation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.complete.imputer.columns import EncodedTable, TableLayout
from unweave.complete.imputer.model import FittedModel
from unweave.complete.imputer.search import QUANTILES
from unweave.data.mixed import ReadColumn


@dataclass
class Fitted:
    """Hold all that filling needs: columns, models, the trust of each column in them, and what they missed."""

    layout: TableLayout
    models: list[FittedModel]
    weights: NDArray  # columns × models
    residuals: NDArray  # columns × 101: quantiles of standardised residuals on held-out cells
    base: NDArray  # means of columns, shares of levels

    def combined(self, table: EncodedTable, rng: np.random.Generator | None = None) -> tuple[NDArray, NDArray]:
        """Combine the models into mean and variance of every answer; with `rng` for a draw of the models."""
        trust = self.weights[self.layout.owner]
        mean = np.tile(self.base, (len(table), 1))
        variance = np.tile(np.maximum(1 - trust.sum(axis=1), 0) + 1e-12, (len(mean), 1))
        for e, model in enumerate(self.models):
            one = model if rng is None else model.redraw(self.layout, rng)
            found, doubt = one.predict(table)
            mean += trust[:, e] * (found - self.base)
            variance += trust[:, e] * doubt
        for column, own in zip(self.layout.columns, self.layout.answers, strict=True):
            if not column.numeric:
                shares = np.maximum(mean[:, own], 1e-9)
                mean[:, own] = shares / shares.sum(axis=1, keepdims=True)
        return mean, variance

    def uncertainty(self, table: EncodedTable, read: list[ReadColumn]) -> NDArray:
        """Give the standard deviation, or the probability of the level chosen, for every hole; NaN elsewhere."""
        mean, variance = self.combined(table)
        out = np.full((len(mean), len(read)), np.nan)
        for j, (column, own, one) in enumerate(zip(self.layout.columns, self.layout.answers, read, strict=True)):
            if column.numeric:
                # Held-out residuals say by how much the models are too sure or too modest.
                wide = float(np.sqrt(np.mean(self.residuals[j] ** 2))) or 1.0
                found = wide * np.sqrt(variance[:, own.start]) * (column.scale if column.high > column.low else 0.0)
            else:
                found = mean[:, own].max(axis=1)
            out[one.holes, j] = found[one.holes]
        return out

    def fills(
        self, table: EncodedTable, read: list[ReadColumn], rng: np.random.Generator | None
    ) -> dict[int, list | NDArray]:
        """Find what goes into the holes of each column: the best guess, or with `rng` a draw."""
        rows = np.flatnonzero(np.column_stack([one.holes for one in read]).any(axis=1))
        part = table.take(rows)
        mean, variance = self.combined(part, rng)
        ranks = None if rng is None else self._residual_ranks(part, rng)
        out: dict[int, list | NDArray] = {}
        for j, (column, own, one) in enumerate(zip(self.layout.columns, self.layout.answers, read, strict=True)):
            holes = one.holes[rows]
            if not holes.any():
                continue
            answer = mean[holes][:, own]
            if ranks is not None and column.numeric:
                residual = np.interp(ranks[holes, j], QUANTILES, self.residuals[j])
                answer = answer + (residual * np.sqrt(variance[holes, own.start]))[:, None]
            if column.numeric:
                out[j] = column.value(answer)
            else:
                picked = column.value(answer) if ranks is None else pick_levels(answer, ranks[holes, j])
                out[j] = [column.levels[i] for i in picked]
        return out

    def _residual_ranks(self, table: EncodedTable, rng: np.random.Generator) -> NDArray:
        """Draw uniform numbers, one per cell, as dependent within a row as the residuals of the linear model are."""
        return self.models[0].residual_ranks(table, rng) if self.models else rng.random(table.seen.shape)

    def factors(self, table: EncodedTable) -> tuple[NDArray, NDArray, NDArray]:
        """Give codes, components and offset of the linear model; empty ones where there is none."""
        found = self.models[0].factors(table) if self.models else None
        return (np.zeros((len(table), 0)), np.zeros((0, len(self.base))), self.base) if found is None else found

    def check(self, looked_at: bool) -> None:
        """Raise unless the parts of a model from a file fit together; `looked_at` means that arrays may be read."""
        q, m = len(self.layout.owner), len(self.layout.columns)
        shapes: list[tuple[NDArray, tuple[int, ...]]] = [
            (self.base, (q,)), (self.weights, (m, len(self.models))), (self.residuals, (m, len(QUANTILES))),
        ]  # fmt: skip
        for model in self.models:
            shapes += model.arrays(self.layout)
        for array, shape in shapes:
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"an array of the imputer should hold numbers in the shape {shape}")
            if looked_at and not np.isfinite(array).all():
                raise ValueError("the arrays of the imputer must be finite")


def pick_levels(probabilities: NDArray, rank: NDArray) -> NDArray:
    """Pick the level at each rank of the distribution in each row."""
    total = probabilities.cumsum(axis=1)
    return np.minimum((total < (rank * total[:, -1])[:, None]).sum(axis=1), probabilities.shape[1] - 1)
