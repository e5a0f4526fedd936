"""Huber and absolute loss by repeated weighted least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models import OwnGrams, RowModel
from unweave.updates.base import Effort, Half, Update, no_worse
from unweave.updates.coordinate import Coordinate
from unweave.updates.least_squares import LeastSquares
from unweave.updates.proximal import Proximal

_INNER = 5  # sweeps over one bound
# Residuals near zero weigh thousands of times as much as others, so gradient steps crawl: a bound that is wanted to its
# end gets more of them. Grams of rows make them cheap up to some width. Both bound work alone; 100 was set on one 18×9
# table.
_SETTLING, _FEW = 100, 32


class Summed(Update):
    """Rows with Grams of their own: solved where nothing bends, else coordinate by coordinate, all rows at once.

    Rows whose vectors are constrained as a whole are solved where the free answer is allowed, and else improved by
    gradient steps.
    """

    title = "least squares with a Gram for each row"

    def refuses(self, model, half):
        return None if isinstance(model, OwnGrams) else "it needs Grams that are summed up"

    def __call__(self, model, F, half, effort):
        if half.terms is None:
            return _confined(model, F, half, effort)
        l1, ridge, nonnegative = half.terms
        if not l1 and not nonnegative:
            return _solved(model, ridge)
        F = F.astype(np.float64)
        for _ in range(effort.sweeps):
            for t in range(F.shape[1]):
                bend = model.grams[:, t, t] + ridge
                pull = model.cross[:, t] - np.einsum("ij,ij->i", model.grams[:, t], F) + model.grams[:, t, t] * F[:, t]
                pull = np.maximum(pull - l1, 0) + (0 if nonnegative else np.minimum(pull + l1, 0))
                F[:, t] = np.divide(pull, bend, out=F[:, t].copy(), where=bend > 0)
        return F.astype(model.dtype)


def _solved(model: OwnGrams, ridge: float) -> NDArray:
    """The rows of least loss; of several, those of least norm."""
    values, vectors = np.linalg.eigh(model.grams)
    values = np.maximum(values, 0) + ridge
    floor = values.shape[1] * np.finfo(np.float64).eps * values.max(axis=1, keepdims=True, initial=0)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > floor)
    along = inverse * np.einsum("ijk,ij->ik", vectors, model.cross)
    return np.einsum("ijk,ik->ij", vectors, along).astype(model.dtype)


def _confined(model: RowModel, F: NDArray, half: Half, effort: Effort) -> NDArray:
    """Rows whose vectors are constrained: solved where the free answer is allowed, else by gradient steps."""
    if half.tied or half.penalty.is_penalty or not isinstance(model, OwnGrams):
        return Proximal()(model, F, half, effort)
    new = _solved(model, 0.0)
    rest = np.flatnonzero((half.prox(new, 0.0) != new).any(axis=1))
    if rest.size:
        new[rest] = Proximal()(model.take(rest), F[rest], half, effort)
    return no_worse(model, F, new, half)


class Reweighted(Update):
    """Bound the loss at the present residuals by weighted squares, improve that, and bound again.

    |r| ≤ (r²/c + c)/2 with equality at |r| = c, so each round lowers the loss itself. Converges in far fewer rounds
    than gradient steps, whose length is set by the sharp corner of the loss.

    References
    ----------
    Hunter and Lange (2004), A tutorial on MM algorithms.
    """

    name = "reweighted"
    title = "reweighted least squares"
    _inner = (LeastSquares(), Coordinate(), Summed(), Proximal())

    def refuses(self, model, half):
        return None if model.reweights else "reweighting needs the Huber or the absolute loss"

    def __call__(self, model, F, half, effort):
        if half.tied:
            return self._improved(model, F, half, effort)
        return np.concatenate([self._improved(part, F[a:b], half, effort) for a, b, part in model.parts()])

    def _improved(self, model: RowModel, F: NDArray, half: Half, effort: Effort) -> NDArray:
        answer, rows = F.copy(), np.arange(len(F))  # rows that still move, and where they stand in the answer
        for _ in range(max(1, effort.sweeps)):
            new = self._round(model, F, half, effort)
            answer[rows] = new
            if effort.tol > 0:
                moved, size = np.abs(new - F).max(axis=1, initial=0), np.abs(new).max(axis=1, initial=0)
                moving = moved > effort.tol * np.maximum(size, np.finfo(F.dtype).tiny)
                if half.terms is None:  # gradient steps: along a valley they go on moving when nothing is gained
                    fall, value = model.row_values(F), model.row_values(new)
                    moving &= fall - value > effort.tol * np.abs(value)
                left = np.flatnonzero(moving)
                if not left.size:
                    break
                if len(left) < len(new) and not half.tied and (smaller := model.take(left)) is not None:
                    model, rows, new = smaller, rows[left], new[left]
            F = new
        return answer

    def _round(self, model: RowModel, F: NDArray, half: Half, effort: Effort) -> NDArray:
        """Bound the loss at F and improve the bound; by gradient steps where vectors are constrained as a whole."""
        if half.terms is None and F.shape[1] <= _FEW:
            sweeps = _SETTLING if effort.tol > 0 else _INNER
            return _confined(model.majorise_by_sums(F), F, half, Effort(sweeps, effort.tol))
        bound = model.majorise(F)
        inner = next(u for u in self._inner if u.refuses(bound, half) is None)
        return inner(bound, F, half, Effort(_INNER, effort.tol))
