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
    noise = "discrete"
    predicts_names = True

    @property
    def width(self) -> int:
        return len(self._learned("levels_"))

    @property
    def curvature(self) -> float:
        # diag(q) - q q^T has no eigenvalue above 1/2 (Boehning, 1992).
        return 0.5

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        q, own = self._by_level(x, p)
        ahead = q - np.where(own, q, 0).sum(axis=0)
        top = ahead.max(axis=0)
        others = np.where(own, 0, np.exp(ahead - top)).sum(axis=0)
        # log(e^-top + others), written so that a confident right prediction (top = 0, others tiny) keeps its digits.
        return top + np.log1p(others + np.expm1(-top))

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        q, own = self._by_level(x, p)
        shares = np.exp(q - q.max(axis=0))
        shares /= shares.sum(axis=0)
        # The own level's slope is minus what the others hold: its share - 1 would lose digits as the share nears 1.
        shares[own] = 0
        slopes = np.where(own, -shares.sum(axis=0), shares)
        return np.moveaxis(slopes, 0, -1).reshape(p.shape)

    def predict(self, p: np.ndarray) -> np.ndarray:
        return self._learned("levels_")[self._split(p).argmax(axis=-1)]

    def _by_level(self, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Predictions, and whether they are of the entry's own level; levels come first, (width, ..., m), for speed."""
        q = np.ascontiguousarray(np.moveaxis(self._split(p), -1, 0))
        levels = np.arange(self.width, dtype=x.dtype).reshape(-1, *(1,) * x.ndim)
        return q, x == levels

    def _constant(self, x: np.ndarray) -> np.ndarray:
        counts = np.bincount(x.astype(np.intp), minlength=self.width).astype(np.float64)
        scores = np.log(np.maximum(counts, 0.5))
        return scores - scores.mean()
