"""Squared loss."""

from __future__ import annotations

import numpy as np

from unweave.losses.base import Loss


class Squared(Loss):
    """l(x, p) = 1/2 (x - p)^2.

    Use it for measurements with errors of one size; with everything observed it has the fastest updates and, without
    constraints, a closed form (Eckart and Young, 1936). One outlier can dominate it: see `Huber`.

    >>> Squared().value(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    array([0., 2.])
    """

    name = "squared"
    noise = "gaussian"
    in_data_units = True
    is_squared = True
    any_number = True
    degree = 2.0

    @property
    def curvature(self) -> float:
        return 1.0

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        r = p - x
        return 0.5 * r * r

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return p - x

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.ones_like(p)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([x.mean(dtype=np.float64)])
