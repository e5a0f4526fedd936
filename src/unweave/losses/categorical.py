"""Categorical loss: softmax cross-entropy."""

from __future__ import annotations

import numpy as np

from unweave.losses.levels import Levelled


class Categorical(Levelled):
    """l(x, p) = log(sum_l e^p_l) - p_x, with levels 0..L-1 and p in R^L.

    Use it for kinds without an order (country, colour): P(x = l) is proportional to e^p_l, and `predict` gives the
    most probable level (the smallest on ties). Reference: Udell, Horn, Zadeh and Boyd, "Generalized low rank models",
    2016, section 6.

    >>> loss = Categorical().prepare(np.array([[7.0], [8.0], [9.0]]))
    >>> loss.width, loss.predict(np.array([[0.0, 2.0, 1.0]]))
    (3, array([[8.]]))
    """

    name = "categorical"

    @property
    def width(self) -> int:
        return len(self._learned("levels_"))

    @property
    def curvature(self) -> float:
        # diag(q) - q q^T has no eigenvalue above 1/2 (Boehning, 1992).
        return 0.5

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        shifted = self._relative(x, p)
        best = shifted.argmax(axis=-1)[..., None]
        top = np.take_along_axis(shifted, best, axis=-1)
        rest = np.exp(shifted - top)
        np.put_along_axis(rest, best, 0, axis=-1)
        return top[..., 0] + np.log1p(rest.sum(axis=-1))

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        q = self._split(p)
        odds = np.exp(q - q.max(axis=-1, keepdims=True))
        own = self._own(x)
        odds /= odds.sum(axis=-1, keepdims=True)
        # The own level's slope is minus what the others hold: q_x - 1 would lose its digits as q_x nears 1.
        np.put_along_axis(odds, own, 0, axis=-1)
        np.put_along_axis(odds, own, -odds.sum(axis=-1, keepdims=True), axis=-1)
        return odds.reshape(p.shape)

    def predict(self, p: np.ndarray) -> np.ndarray:
        return self._learned("levels_")[self._split(p).argmax(axis=-1)]

    def _own(self, x: np.ndarray) -> np.ndarray:
        return x[..., None].astype(np.intp)

    def _relative(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """p_l - p_x: (..., m, width)."""
        q = self._split(p)
        return q - np.take_along_axis(q, self._own(x), axis=-1)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        counts = np.bincount(x.astype(np.intp), minlength=self.width).astype(np.float64)
        scores = np.log(np.maximum(counts, 0.5))
        return scores - scores.mean()
