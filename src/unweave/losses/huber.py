"""Huber's loss."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.optimize import brentq

from unweave.losses.base import Loss, positive_number


def huber_centre(x: np.ndarray, delta: float) -> float:
    """The c that minimises the Huber losses of x - c: the root of their summed slopes, found between min and max."""
    x = np.asarray(x, dtype=np.float64)
    low, high = float(x.min()), float(x.max())
    if low == high:
        return low

    def slope(c: float) -> float:
        return float(np.clip(c - x, -delta, delta).sum())

    return brentq(slope, low, high, xtol=1e-300, maxiter=200, disp=False)


class Huber(Loss):
    """l(x, p) = r^2/2 for |r| <= delta, and delta (|r| - delta/2) beyond, with r = x - p.

    Use it for measurements with some outliers: squared for errors up to `delta` (in units of the data), linear beyond.
    Reference: Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35, 1964.

    >>> Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 10.0]))
    array([0.125, 9.5  ])
    """

    name = "huber"
    in_data_units = True
    any_number = True
    reweights = True

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = delta

    def validate(self) -> Self:
        positive_number(self.delta, self.name, "delta")
        return self

    @property
    def curvature(self) -> float:
        return 1.0

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        size = np.abs(p - x)
        inside = np.minimum(size, float(self.delta))
        return inside * (size - 0.5 * inside)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.clip(p - x, -float(self.delta), float(self.delta))

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return float(self.delta) / np.maximum(np.abs(p - x), float(self.delta))

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([huber_centre(x, float(self.delta))])
