"""Where the answers and the outputs of every column are, and a table written as them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.complete.imputer_columns import Column, Raw


@dataclass
class Layout:
    """All columns and where their answers and outputs are."""

    columns: list[Column]

    def _slices(self, widths: list[int]) -> list[slice]:
        stops = np.cumsum(widths)
        return [slice(int(stop - width), int(stop)) for stop, width in zip(stops, widths)]

    @cached_property
    def answers(self) -> list[slice]:
        return self._slices([c.width for c in self.columns])

    @cached_property
    def outputs(self) -> list[slice]:
        return self._slices([c.n_outputs for c in self.columns])

    @cached_property
    def owner(self) -> NDArray:
        """The column of each answer."""
        return np.repeat(np.arange(len(self.columns)), [c.width for c in self.columns])

    @cached_property
    def numeric(self) -> NDArray:
        """Which answers are numbers."""
        return np.array([self.columns[j].numeric for j in self.owner])

    def __getstate__(self) -> dict:
        return {"columns": self.columns}

    def encode(self, raws: list[Raw]) -> tuple[NDArray, NDArray]:
        """(answers n×q, seen n×m)."""
        parts = [column.answers(raw) for column, raw in zip(self.columns, raws)]
        return np.hstack([a for a, _ in parts]), np.column_stack([s for _, s in parts])


def losses_of(loss, names: list[str]) -> list[str | None]:
    """The loss asked for each column; None where it is left to the kind of the column."""
    if isinstance(loss, str) and loss == "auto":
        return [None] * len(names)
    if not isinstance(loss, Mapping):
        raise ValueError(f"loss must be 'auto' or a dict of column names, got {loss!r}")
    asked = {str(name): word for name, word in loss.items()}
    unknown = [name for name in asked if name not in names]
    if unknown:
        raise ValueError(f"loss names columns that X does not have: {', '.join(unknown)}")
    return [asked.get(name) for name in names]
