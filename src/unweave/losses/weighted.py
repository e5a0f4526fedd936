"""Squared loss with a weight for each column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unweave.losses.base import Loss, as_floats


class Weighted(Loss):
    """l(x, p) = w_j/2 (x - p)^2 for an entry of column j.

    Use it when columns (or entries) are known to differ in precision: w = 1/variance makes it the Gaussian likelihood.
    Weights of single entries belong to the data and are passed to `fit`; they multiply those given here.
    Reference: Srebro and Jaakkola, "Weighted low-rank approximations", ICML 2003.

    Parameters
    ----------
    by_column : (m,) array of weights >= 0, or None for ones

    >>> Weighted([1.0, 10.0]).value(np.zeros((1, 2)), np.ones((1, 2)))
    array([[0.5, 5. ]])
    """

    name = "weighted"
    in_data_units = True
    is_squared = True
    any_number = True
    takes_weights = True
    degree = 2.0

    def __init__(self, by_column: Any = None) -> None:
        self.by_column = by_column

    def validate(self) -> Self:
        if self.by_column is not None:
            try:
                w = np.asarray(self.by_column, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError("loss='weighted': by_column must be a list of numbers or None") from None
            if w.ndim != 1 or w.size == 0 or not np.isfinite(w).all() or w.min() < 0 or w.max() == 0:
                raise ValueError(
                    "loss='weighted': by_column must be a list of finite weights >= 0, one for each column, not all 0"
                )
        return self

    def prepare(self, X: np.ndarray) -> Self:
        ready = super().prepare(X)
        if np.ndim(X) == 2:
            ready.column_weights(np.shape(X)[1])
        return ready

    def column_weights(self, m: int) -> np.ndarray:
        """The weights of `m` columns, shape (m,), float64."""
        if self.by_column is None:
            return np.ones(m)
        w = np.asarray(self.by_column, dtype=np.float64)
        if w.shape != (m,):
            raise ValueError(f"loss='weighted': by_column has {w.size} weights, the data have {m} columns")
        return w

    @property
    def curvature(self) -> float:
        return 1.0 if self.by_column is None else float(np.max(self.by_column))

    def column_curvature(self, m: int) -> np.ndarray:
        return self.column_weights(m)

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        r = p - x
        return 0.5 * self._like(p) * r * r

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return self._like(p) * (p - x)

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.ones_like(p) * self._like(p)

    def _like(self, p: np.ndarray) -> np.ndarray:
        return self.column_weights(p.shape[-1]).astype(as_floats(p).dtype)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([x.mean(dtype=np.float64)])

    def _key(self) -> tuple:
        # Weights of its own tie a loss to its place among the columns, so it never joins a group.
        return (type(self), None if self.by_column is None else id(self))
