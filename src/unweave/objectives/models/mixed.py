"""Components that are mixtures of the data's rows: Z = W·X."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models.base import RowModel


class Mixed(RowModel):
    """The loss as a function of W (k × n) when Z = W·X: the chain rule on the model of the columns.

    Parameters
    ----------
    columns : RowModel
        The loss of F = Zᵀ with the codes fixed.
    times : callable
        ``(W) -> W·X`` (k × m).
    back : callable
        ``(R) -> R·Xᵀ`` (k × n).
    norm : float
        Upper bound of the largest squared singular value of X.
    """

    separable = False

    def __init__(self, columns: RowModel, times, back, norm: float, shape: tuple[int, int]):
        self.columns, self.times, self.back, self.norm = columns, times, back, norm
        self.shape, self.dtype, self.nonnegative = shape, columns.dtype, columns.nonnegative

    def _turned(self, W: NDArray) -> NDArray:
        return np.ascontiguousarray(self.times(W).T)

    def value(self, F):
        return self.columns.value(self._turned(F))

    def row_values(self, F):
        return np.array([self.value(F)] + [0.0] * (len(F) - 1))

    def gradient(self, F):
        return self.back(np.ascontiguousarray(self.columns.gradient(self._turned(F)).T))

    @property
    def lipschitz(self):
        bound = self.columns.lipschitz
        return None if bound is None else (bound.max(keepdims=True) * self.norm).astype(self.dtype)
