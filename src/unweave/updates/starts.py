"""Where a half-step begins when there is no former factor: a fixed point of each row's own data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models import RowModel
from unweave.updates.base import Half, Update
from unweave.updates.least_squares import solve
from unweave.updates.multiplicative import Multiplicative

_MOST_STEPS = 60  # on the way to the size of the data, √eps each at least


def first_rows(model: RowModel, half: Half, update: Update) -> NDArray:
    """An allowed F that depends on the model alone, row by row.

    Least squares projected on the constraint where the loss is squared, otherwise the projection of zero; positive
    everywhere for multiplicative updates, which cannot leave zero.
    """
    zeros = np.zeros(model.shape, dtype=model.dtype)
    if update.from_zero:
        return _allowed(half, zeros)
    if model.nonnegative:
        even = np.full_like(zeros, 1 / max(1, model.shape[1]))
        return _allowed(half, _sized(model, even) if half.penalty.scale_free or half.penalty.is_penalty else even)
    if model.kind not in ("quadratic", "entries"):
        return _allowed(half, zeros)
    guess = solve(model, _slight_ridge(model))
    if isinstance(update, Multiplicative):
        floor = np.abs(guess).mean(axis=1, keepdims=True) * 0.01 + np.finfo(model.dtype).tiny
        guess = np.maximum(guess, floor)
    return _allowed(half, guess)


def _sized(model: RowModel, F: NDArray) -> NDArray:
    """Each row at the size that its own data ask for: steps that multiply would need many to get there.

    With the slope D − N the best size of a row is f·N / f·D times its own (KL: Σx/Σp; Itakura–Saito: the mean of x/p).
    N is a difference that keeps no digits far above the data, so a row comes down by steps.
    """
    least, F = float(np.sqrt(np.finfo(F.dtype).eps)), F.copy()
    rows, moving = np.arange(len(F)), np.ones(len(F), dtype=bool)
    for _ in range(_MOST_STEPS):
        f = F[rows]
        D = model.denominator(f)
        rising = (f * D).sum(axis=1, dtype=np.float64)
        falling = (f * np.maximum(D - model.gradient(f), 0)).sum(axis=1, dtype=np.float64)
        ratio = np.divide(falling, rising, out=np.ones(len(f)), where=rising > 0)
        ratio = np.where(moving & np.isfinite(ratio), np.maximum(ratio, least), 1.0)
        F[rows] = f * ratio[:, None].astype(F.dtype)
        moving &= np.abs(np.log(ratio)) > np.log(2)
        left = np.flatnonzero(moving)
        if not left.size:
            break
        if (smaller := model.take(left)) is not None:
            model, rows, moving = smaller, rows[left], moving[left]
    return F


def _slight_ridge(model: RowModel) -> float | NDArray:
    """Keeps a start bounded when a Gram is nearly singular, by each row's own scale; too small to matter otherwise."""
    bound = model.lipschitz
    if bound is None:
        return 0.0
    return 1e-6 * bound.ravel() if bound.size > 1 else 1e-6 * float(bound.max(initial=0.0))


def _allowed(half: Half, F: NDArray) -> NDArray:
    return half.prox(F, 0.0)
