"""Absolute loss, made smooth at zero."""

from __future__ import annotations

from typing import Self

import numpy as np

from unweave.losses.base import Loss, positive_number
from unweave.losses.huber import huber_centre


class Absolute(Loss):
    """l(x, p) = |r|, and its smooth bound r^2/(2 eps) + eps/2 for |r| <= eps, with r = x - p.

    Use it for data with many or large outliers: each column's best constant is its median. eps is `smoothing` times
    the mean absolute deviation of the data about their median, so it follows the units of the data; a smaller one is
    closer to |r| and slower to fit. Reference: Ke and Kanade, "Robust L1 norm factorization", CVPR 2005.

    Attributes
    ----------
    eps_ : the half-width of the smooth part, known after `prepare`

    >>> loss = Absolute(smoothing=0.1).prepare(np.array([-1.0, 0.0, 1.0, 2.0]))
    >>> loss.eps_, loss.value(np.zeros(2), np.array([0.0, -3.0]))
    (0.1, array([0.05, 3.  ]))
    """

    name = "absolute"
    reweights = True

    def __init__(self, smoothing: float = 1e-3) -> None:
        self.smoothing = smoothing

    def validate(self) -> Self:
        positive_number(self.smoothing, self.name, "smoothing")
        return self

    def _learn(self, values: np.ndarray) -> None:
        spread = largest = 0.0
        if values.size:
            spread = float(np.abs(values - np.median(values)).mean(dtype=np.float64))
            largest = float(np.abs(values).max())
        # Constant data have no spread of their own: their size, or 1, stands in for it.
        if spread <= 1e-12 * largest:
            spread = largest or 1.0
        self.eps_ = float(self.smoothing) * spread

    @property
    def curvature(self) -> float:
        return 1.0 / self._learned("eps_")

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        # With M = max(|r|, eps), (r^2/M + M)/2 is |r| outside and the bound inside.
        size = np.abs(p - x)
        floor = np.maximum(size, self._learned("eps_"))
        return 0.5 * (size * (size / floor) + floor)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        r = p - x
        return r / np.maximum(np.abs(r), self._learned("eps_"))

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return 1.0 / np.maximum(np.abs(p - x), self._learned("eps_"))

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([huber_centre(x, self._learned("eps_"))])

    def _key(self) -> tuple:
        return (type(self), self._learned("eps_"))
