"""Exact least squares, with or without ridge, and its projected form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg import entries as kernels
from unweave.linalg.products import matmul
from unweave.objectives.models import Entries, Quadratic, RowModel
from unweave.updates.base import Half, Update, no_worse
from unweave.updates.proximal import Proximal

_REFINED = 1e-8  # least over largest eigenvalue of a Gram below which its inverse is good to a correction only


def solve(model: RowModel, ridge: float | NDArray) -> NDArray:
    """The rows that minimise the squared loss plus ½·ridge·‖f‖²; of several, the one of least norm."""
    if isinstance(model, Entries):
        t = model.table
        rows = np.zeros(model.shape, dtype=model.dtype)
        return kernels.solve_rows(t.indptr, t.indices, t.data, t.weights, model.H, rows, ridge)
    assert isinstance(model, Quadratic)
    values, vectors = np.linalg.eigh(model.gram)
    values = np.maximum(values, 0) + ridge
    floor = model.flat * max(float(values.max(initial=0)), np.finfo(np.float64).tiny)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > floor)
    whole = ((vectors * inverse) @ vectors.T).astype(model.dtype)
    rows = matmul(model.cross, whole)
    if model.dtype == np.float64 and values.min(initial=np.inf) < _REFINED * values.max(initial=0.0):
        rows += matmul(model.cross - matmul(rows, model.gram) - ridge * rows, whole)
    return rows


class LeastSquares(Update):
    """F = (X·Gᵀ)(G·Gᵀ + λI)⁻¹ for every row (its own Gram where entries are missing or weighted): half of ALS.

    Rows that are not determined get the solution of least norm; a row with no entry observed gets zeros.
    """

    name = "least-squares"
    title = "exact least squares"

    def refuses(self, model, half):
        terms = half.terms
        if model.kind not in ("quadratic", "entries"):
            return "least squares needs the squared loss (or 'reweighted' for Huber and absolute)"
        if terms is None or terms[0] or terms[2]:
            return f"least squares cannot keep {half.penalty.name!r}: it needs a free side or ridge"
        return None

    def __call__(self, model, F, half, effort):
        return solve(model, half.terms[1])


class ProjectedLeastSquares(Update):
    """Least squares without the constraint, then the projection: projected ALS.

    A cheap way to a rough answer. The projection of the unconstrained solution is not the constrained solution and may
    raise the objective; rows where it does take proximal steps instead, so the update never makes anything worse.
    """

    name = "projected-least-squares"
    title = "projected least squares"

    def refuses(self, model, half):
        if model.kind not in ("quadratic", "entries"):
            return "projected least squares needs the squared loss"
        return None

    def __call__(self, model, F, half: Half, effort):
        terms = half.terms
        guess = half.prox(solve(model, terms[1] if terms is not None else 0.0), 0.0)
        better = no_worse(model, F, guess, half)
        kept = (better == guess).all(axis=1)
        if kept.all():
            return guess
        new = Proximal()(model, better, half, effort)
        if not half.tied and model.separable:
            new[kept] = guess[kept]  # rows are on their own: only those that got worse take the other way
        return new


class ConjugateGradient(Update):
    """Take a few conjugate-gradient steps per row from its former code: ALS with many components and missing entries.

    Three steps cost 3k an entry where the exact solve costs k², and from a warm start an alternating fit falls as fast.
    Never raises the objective. `transform`, which has no former code, solves exactly.

    References
    ----------
    Takács, Pilászy and Tikk (2011), Applications of the conjugate gradient method for implicit feedback collaborative
    filtering.
    """

    name = "conjugate-gradient"
    title = "three conjugate-gradient steps"
    _LEAST, _STEPS = 32, 3

    def refuses(self, model, half):
        if model.kind != "entries":
            return "conjugate gradients need the squared loss with missing or weighted entries"
        if model.shape[1] < self._LEAST:
            return f"with fewer than {self._LEAST} components exact least squares is as fast"
        return LeastSquares().refuses(model, half)

    def __call__(self, model, F, half, effort):
        ridge = half.terms[1]
        if effort.tol > 0:
            return solve(model, ridge)
        t, F = model.table, np.ascontiguousarray(F)
        return kernels.descend_rows(t.indptr, t.indices, t.data, t.weights, model.H, F, ridge, self._STEPS)
