"""Codes that nearly sum to one: the simplex relaxed to a penalty."""

from __future__ import annotations

from typing import Self

import numpy as np

from unweave.penalties import Free
from unweave.penalties.base import ROWS, Penalty, tolerance
from unweave.updates import Proximal
from unweave.updates.descent import descend


class NearSimplex(Penalty):
    """½ strength (Σ y − 1)² for each row y ≥ 0. The simplex itself as strength grows.

    prox: y = max(f − t, 0) with t = step·strength·(Σ y − 1), found by sorting as the projection on the simplex is.

    >>> NearSimplex(strength=1.0).prox(np.array([[2.0, 0.0]]))
    array([[1.5, 0. ]])
    """

    name = "near-simplex"
    acts = ROWS
    is_penalty = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def validate(self) -> Self:
        self._need_number("strength")
        return self

    def row_values(self, F: np.ndarray) -> np.ndarray:
        """The cost of each row of an allowed F."""
        return 0.5 * self.strength * np.square(F.sum(axis=1, dtype=np.float64) - 1)

    def _value(self, F: np.ndarray) -> float:
        allowed = F.size == 0 or F.min() >= -tolerance(F) * max(1.0, float(np.abs(F).max()))
        return float(self.row_values(F).sum()) if allowed else np.inf

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        pull = np.broadcast_to(step.reshape(-1, 1).astype(np.float64) * self.strength, (len(F), 1))
        largest = -np.sort(-F.astype(np.float64), axis=1)
        counts = np.arange(1, F.shape[1] + 1)
        level = pull * (np.cumsum(largest, axis=1) - 1) / (counts * pull + 1)  # t, if the largest 1, 2, … are kept
        kept = np.count_nonzero(largest > level, axis=1)[:, None]
        t = np.where(kept > 0, np.take_along_axis(level, np.maximum(kept - 1, 0), axis=1), np.inf)
        return np.maximum(F - t, 0).astype(F.dtype)


class Centres(Free):
    """Free components beside codes that nearly sum to one: these hold the scale, so that it cannot run away."""

    scale_free = False


class Relaxed(Proximal):
    """Accelerated proximal gradient for codes that nearly sum to one; no row ends with a higher cost, penalty
    included."""

    title = "accelerated proximal gradient on the penalised sum"

    def __call__(self, model, F, half, effort):
        def move(F, gradient, step):
            return half.prox(F - step * gradient, step)

        new = descend(model, F, move, effort, tied=False, accelerate=True)
        cost = half.penalty.row_values
        worse = model.row_values(new) + cost(new) > model.row_values(F) + cost(F)
        new[worse] = F[worse]
        return new
