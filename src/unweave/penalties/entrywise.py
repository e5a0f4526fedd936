"""Constraints on single entries: free, nonnegative, Boolean, fixed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import MATRIX, Penalty, tolerance


class Free(Penalty):
    """No constraint: value 0, prox the identity.

    >>> Free().prox(np.array([[1.0, -2.0]]))
    array([[ 1., -2.]])
    """

    name = "free"
    sign_blind = True
    scale_free = True

    def separable_terms(self) -> tuple[float, float, bool]:
        return 0.0, 0.0, False

    def _value(self, F: np.ndarray) -> float:
        return 0.0

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return F.copy()


class NonNegative(Penalty):
    """F >= 0: parts only add, nothing cancels. Prox max(F, 0).

    Reference: Lee and Seung, "Learning the parts of objects by non-negative matrix factorization", Nature 401, 1999.

    >>> NonNegative().prox(np.array([[1.0, -2.0]]))
    array([[1., 0.]])
    """

    name = "nonnegative"
    nonnegative = True
    scale_free = True

    def separable_terms(self) -> tuple[float, float, bool] | None:
        return 0.0, 0.0, True

    def _allows(self, F: np.ndarray) -> bool:
        return bool(F.min() >= -tolerance(F) * np.abs(F).max())

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return np.maximum(F, 0)


class Boolean(Penalty):
    """Every entry 0 or 1: a row has a component or has not. Prox: 1 where F > 1/2 (1/2 itself goes to 0).

    >>> Boolean().prox(np.array([[0.4, 0.9]]))
    array([[0., 1.]])
    """

    name = "boolean"
    nonnegative = True
    picks_components = True
    convex = False

    def _allows(self, F: np.ndarray) -> bool:
        return bool(np.abs(F - _rows.boolean(F)).max() <= tolerance(F))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.boolean(F)


class Fixed(Penalty):
    """F = values: a factor that is known and not fitted. With None, whatever F is at the start stays.

    >>> Fixed([[1.0, 0.0]]).prox(np.array([[5.0, 5.0]]))
    array([[1., 0.]])
    """

    name = "fixed"
    is_fixed = True
    acts = MATRIX

    def __init__(self, values: Any = None) -> None:
        self.values = values

    def validate(self) -> Self:
        if self.values is not None:
            try:
                values = np.asarray(self.values, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError("fixed: values must be a matrix of numbers or None") from None
            if values.ndim != 2 or not np.isfinite(values).all():
                raise ValueError("fixed: values must be a matrix of finite numbers or None")
        return self

    def _like(self, F: np.ndarray) -> np.ndarray:
        values = np.asarray(self.values)
        if values.shape != F.shape:
            raise ValueError(f"fixed: values have the shape {values.shape}, the factor has {F.shape}")
        return values.astype(F.dtype)

    def _allows(self, F: np.ndarray) -> bool:
        if self.values is None:
            return True
        values = self._like(F)
        return bool(np.abs(F - values).max() <= tolerance(F) * max(1.0, float(np.abs(values).max())))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return F.copy() if self.values is None else self._like(F)
