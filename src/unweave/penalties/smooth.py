"""Keep neighbours along a row alike: curves instead of scatter."""

from __future__ import annotations

from numbers import Integral
from typing import Self

import numpy as np
from scipy.fft import dct, idct

from unweave.penalties.base import ROWS, Penalty


class Smooth(Penalty):
    """strength/2 * sum over rows y of ||D^order y||^2, D the differences of neighbours: rows that are smooth curves.

    order 1 pulls rows towards constants, 2 (differences of differences, mirrored at the ends) towards straight lines
    that end flat. Cosines diagonalise both: prox divides the discrete cosine transform of F by
    1 + step*strength*(2 - 2 cos(pi j/n))^order.

    Use it for the factor of an ordered side: wavelengths, time, depth. Reference: Whittaker, "On a new method of
    graduation", 1923; Eilers, "A perfect smoother", Analytical Chemistry 75, 2003.

    >>> Smooth(strength=1.0, order=1).value(np.array([[0.0, 1.0, 3.0]]))
    2.5
    """

    name = "smooth"
    acts = ROWS
    is_penalty = True

    def __init__(self, strength: float = 1.0, order: int = 2) -> None:
        self.strength = strength
        self.order = order

    def validate(self) -> Self:
        self._need_number("strength")
        if not isinstance(self.order, Integral) or isinstance(self.order, bool) or self.order not in (1, 2):
            raise ValueError(f"smooth: order must be 1 or 2, got {self.order!r}")
        return self

    def bends(self, n: int) -> np.ndarray:
        """The cost of each cosine of unit length in a row of n numbers."""
        return float(self.strength) * (2 - 2 * np.cos(np.pi * np.arange(n) / n)) ** int(self.order)

    def row_costs(self, F: np.ndarray) -> np.ndarray:
        if F.size == 0:
            return np.zeros(len(F))
        waves = dct(F.astype(np.float64), axis=1, norm="ortho")
        return 0.5 * (np.square(waves) @ self.bends(F.shape[1]))

    def _value(self, F: np.ndarray) -> float:
        return float(self.row_costs(F).sum())

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        waves = dct(F.astype(np.float64), axis=1, norm="ortho")
        waves /= 1 + step.astype(np.float64) * self.bends(F.shape[1])
        return idct(waves, axis=1, norm="ortho").astype(F.dtype)
