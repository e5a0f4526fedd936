"""Hinge loss for data of 0 and 1, made smooth at its corner."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.optimize import brentq

from unweave.losses.base import Loss, positive_number
from unweave.losses.logistic import check_binary


class Hinge(Loss):
    """l(x, p) = max(0, 1 - y p) with y = 2x - 1 for x in {0, 1}; a parabola joins the pieces.

    With d = max(0, 1 - y p) and s = `smoothing` it is d^2/(2s) for d <= s and d - s/2 beyond. Use it for yes/no data
    when only the class matters: entries predicted with a margin of 1 cost nothing. `predict` gives 0 or 1.
    Reference: Srebro, Rennie and Jaakkola, "Maximum-margin matrix factorization", NIPS 2004.

    >>> Hinge(smoothing=0.1).value(np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 1.0]))
    array([0.  , 0.95, 1.95])
    """

    name = "hinge"
    predicts_names = True

    def __init__(self, smoothing: float = 0.1) -> None:
        self.smoothing = smoothing

    def validate(self) -> Self:
        positive_number(self.smoothing, self.name, "smoothing")
        return self

    @property
    def curvature(self) -> float:
        return 1.0 / float(self.smoothing)

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        s = float(self.smoothing)
        short = np.maximum(1 - (2 * x - 1) * p, 0)
        inside = np.minimum(short, s)
        return inside * (short - 0.5 * inside) / s

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        s = float(self.smoothing)
        y = 2 * x - 1
        return -y * np.clip(1 - y * p, 0, s) / s

    def predict(self, p: np.ndarray) -> np.ndarray:
        return (p > 0).astype(p.dtype)

    def _check(self, values: np.ndarray) -> None:
        check_binary(values, self.name)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        share = np.count_nonzero(x) / x.size
        both = np.array([0.0, 1.0])

        def slope(p: float) -> float:
            return float(np.dot([1 - share, share], self.gradient(both, np.array([p, p]))))

        # Beyond a margin of 1 on either side nothing improves, so the slopes there have opposite signs.
        return np.array([brentq(slope, -1.0, 1.0)])
