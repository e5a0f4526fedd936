"""Where a half-step begins when there is no former factor: a fixed point of each row's own data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models import RowModel
from unweave.updates.base import Half, Update
from unweave.updates.least_squares import solve
from unweave.updates.multiplicative import Multiplicative


def first_rows(model: RowModel, half: Half, update: Update) -> NDArray:
    """An allowed F that depends on the model alone, row by row.

    Least squares projected on the constraint where the loss is squared, otherwise the projection of zero; positive
    everywhere for multiplicative updates, which cannot leave zero.
    """
    zeros = np.zeros(model.shape, dtype=model.dtype)
    if model.nonnegative:
        return _allowed(half, np.full_like(zeros, 1 / max(1, model.shape[1])))
    if model.kind not in ("quadratic", "entries"):
        return _allowed(half, zeros)
    guess = solve(model, _slight_ridge(model))
    if isinstance(update, Multiplicative):
        floor = np.abs(guess).mean(axis=1, keepdims=True) * 0.01 + np.finfo(model.dtype).tiny
        guess = np.maximum(guess, floor)
    return _allowed(half, guess)


def _slight_ridge(model: RowModel) -> float | NDArray:
    """Keeps a start bounded when a Gram is nearly singular, by each row's own scale; too small to matter otherwise."""
    bound = model.lipschitz
    if bound is None:
        return 0.0
    return 1e-6 * bound.ravel() if bound.size > 1 else 1e-6 * float(bound.max(initial=0.0))


def _allowed(half: Half, F: NDArray) -> NDArray:
    return half.prox(F, 0.0)
