"""Say what a table imputer asks of every fitted model."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.imputer.columns import EncodedTable, TableLayout

_BLOCK = 1 << 13  # numbers in a block of rows that is predicted at once


class FittedModel(ABC):
    """Predict cells, say how sure the predictions are, and draw parameters from what the data leave open."""

    @abstractmethod
    def predict(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        """Give mean and variance of every answer."""

    @abstractmethod
    def redraw(self, layout: TableLayout, rng: np.random.Generator) -> FittedModel:
        """Draw the parameters from their approximate posterior."""

    @abstractmethod
    def arrays(self, layout: TableLayout) -> list[tuple[NDArray, tuple[int, ...]]]:
        """List the arrays of the model, each with the shape it must have for this layout."""

    def residual_ranks(self, table: EncodedTable, rng: np.random.Generator) -> NDArray:
        """Draw uniform numbers, one per cell, as dependent within a row as the residuals of the model are."""
        return rng.random(table.seen.shape)

    def factors(self, table: EncodedTable) -> tuple[NDArray, NDArray, NDArray] | None:
        """Give codes, components and offset of a linear model; None for any other."""
        return None


def predict_in_blocks(predict_rows, table: EncodedTable, width: int) -> tuple[NDArray, NDArray]:
    """Call ``predict_rows(table)`` block after block; a row takes `width` numbers beside its answers."""
    mean, variance = np.empty_like(table.answers), np.empty_like(table.answers)

    def block(start: int, stop: int) -> None:
        own = slice(start, stop)
        mean[own], variance[own] = predict_rows(table.take(own))

    parallel.run(block, len(table), max(64, _BLOCK // (width + table.answers.shape[1])))
    return mean, variance
