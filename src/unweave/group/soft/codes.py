"""Find the codes of soft clusters: shares on the simplex, or shares whose sum is only drawn to one."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.shares import shares
from unweave.objectives.models import Quadratic
from unweave.penalties import Free
from unweave.penalties.base import ROWS, Penalty, tolerance
from unweave.updates import Proximal
from unweave.updates.descent import descend

_SWEEPS, _TOL = 100, 1e-6  # within a fit: compiled sweeps are cheap against the rest of a step, and most rows end early
_WORK = 1 << 19  # multiplications of one kernel call, if every row took all the sweeps of a fit


class Shares(Proximal):
    """Update codes on the simplex by accelerated projected gradient, row by row in one compiled loop.

    Steps are as long as the curvature along the simplex allows: only differences of shares matter there, so it is that
    of the Gram of the centres about their mean, however far from the origin they lie. Where rows have Grams of their
    own (missing entries), the generic update does the same.
    """

    title = "accelerated projected gradient, row by row"

    def __call__(self, model, F, half, effort):
        if not isinstance(model, Quadratic):
            return super().__call__(model, F, half, effort)
        n, k = F.shape
        A, B, new = np.ascontiguousarray(model.cross), np.ascontiguousarray(model.gram), np.empty_like(F)
        F, steepest = np.ascontiguousarray(F), curvature(B)
        sweeps, tol = max(_SWEEPS, effort.sweeps), effort.tol or _TOL
        parallel.run(
            lambda start, stop: shares(A, B, steepest, F, new, sweeps, tol, start, stop),
            n,
            max(16, _WORK // (k * k * _SWEEPS)),
        )
        return new


def curvature(gram: NDArray) -> float:
    """Find the largest curvature of a quadratic along the simplex: the top eigenvalue of its Gram about the mean.

    >>> round(curvature(np.array([[101.0, 99.0], [99.0, 101.0]])), 6)
    2.0
    """
    middle = gram - gram.mean(axis=0)
    middle = middle - middle.mean(axis=1, keepdims=True)
    rounding = len(gram) * float(np.finfo(np.float64).eps) * float(np.abs(gram).max(initial=0.0))
    return float(np.linalg.eigvalsh(0.5 * (middle + middle.T))[-1]) * (1 + 1e-12) + rounding or 1.0


class NearSimplex(Penalty):
    """Charge ½ strength (Σ y − 1)² for each row y ≥ 0: the simplex itself as strength grows.

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
        """Compute the cost of each row of an allowed F."""
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


class FreeCentres(Free):
    """Leave components free beside codes that nearly sum to one: these hold the scale, so that it cannot run away."""

    scale_free = False


class Relaxed(Proximal):
    """Update codes that nearly sum to one by accelerated proximal gradient; no row ends with a higher cost."""

    title = "accelerated proximal gradient on the penalised sum"

    def __call__(self, model, F, half, effort):
        def move(F, gradient, step):
            return half.prox(F - step * gradient, step)

        new = descend(model, F, move, effort, tied=False, accelerate=True)
        cost = half.penalty.row_values
        worse = model.row_values(new) + cost(new) > model.row_values(F) + cost(F)
        new[worse] = F[worse]
        return new


Centres = FreeCentres  # as models saved by earlier versions call it
