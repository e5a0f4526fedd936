"""Shares of every row, compiled: the half-step of soft clusters on a table with every entry observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.shares import shares
from unweave.objectives.models import Quadratic
from unweave.updates import Proximal

_SWEEPS, _TOL = 100, 1e-6  # within a fit: compiled sweeps are cheap against the rest of a step, and most rows end early
_WORK = 1 << 19  # multiplications of one kernel call, if every row took all the sweeps of a fit


class Shares(Proximal):
    """Accelerated projected gradient on the simplex, row by row in one compiled loop.

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
    """The largest curvature of a quadratic along the simplex: the top eigenvalue of its Gram about the mean.

    >>> round(curvature(np.array([[101.0, 99.0], [99.0, 101.0]])), 6)
    2.0
    """
    middle = gram - gram.mean(axis=0)
    middle = middle - middle.mean(axis=1, keepdims=True)
    rounding = len(gram) * float(np.finfo(np.float64).eps) * float(np.abs(gram).max(initial=0.0))
    return float(np.linalg.eigvalsh(0.5 * (middle + middle.T))[-1]) * (1 + 1e-12) + rounding or 1.0
