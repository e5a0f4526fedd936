"""Ordinal loss: a yes/no question for each step between levels."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from unweave.losses.levels import Levelled
from unweave.losses.logistic import log_odds, softplus


class Ordinal(Levelled):
    """l(x, p) = sum over t < L-1 of log(1 + e^p_t) - [x > t] p_t, with levels 0..L-1 and p in R^(L-1).

    Use it for grades, stars and answers on a scale, where order means something and distances do not. p_t is the
    log-odds that x is above level t. `predict` gives the level of least loss, which is the most probable one under
    P(x = l) proportional to exp(p_0 + ... + p_(l-1)). Reference: Udell, Horn, Zadeh and Boyd, "Generalized low rank
    models", 2016, section 6.

    >>> loss = Ordinal().prepare(np.array([[1.0, 2.0], [5.0, np.nan]]))
    >>> loss.width, loss.predict(np.array([[3.0, -1.0, 2.0, 2.0]]))
    (2, array([[2., 5.]]))
    """

    name = "ordinal"
    _fewest = 2

    @property
    def width(self) -> int:
        return len(self._learned("levels_")) - 1

    @property
    def curvature(self) -> float:
        return 0.25

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        sign = self._signs(x, p)
        return softplus(sign * self._split(p)).sum(axis=-1)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        sign = self._signs(x, p)
        return (sign * expit(sign * self._split(p))).reshape(p.shape)

    def predict(self, p: np.ndarray) -> np.ndarray:
        gain = np.cumsum(self._split(p), axis=-1)
        best = np.where(gain.max(axis=-1) > 0, gain.argmax(axis=-1) + 1, 0)
        return self.levels_[best]

    def _signs(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """-1 where x is above level t, else 1: (..., m, width)."""
        above = x[..., None] > np.arange(self.width, dtype=x.dtype)
        return np.where(above, p.dtype.type(-1), p.dtype.type(1))

    def _constant(self, x: np.ndarray) -> np.ndarray:
        above = np.array([np.count_nonzero(x > t) for t in range(self.width)])
        return log_odds(above, x.size)
