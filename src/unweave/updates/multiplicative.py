"""Multiplicative updates of non-negative factors."""

from __future__ import annotations

import numpy as np

from unweave.linalg import counts as kernels
from unweave.objectives.models import Counts
from unweave.updates.base import Update


class Multiplicative(Update):
    """f ← f · N / D where the gradient is D − N with D, N ≥ 0 (plus the slope of the penalty in D).

    The EM step of the KL loss, and Lee and Seung's rule for the squared one; where signs mix (semi-NMF), and for the
    Itakura–Saito loss, the ratio is under a root. Entries that are zero stay zero. On sparse counts one pass touches
    the stored entries only.

    References
    ----------
    Lee and Seung (2001), Algorithms for non-negative matrix factorization. Ding, Li and Jordan (2010), Convex and
    semi-nonnegative matrix factorizations.
    """

    name = "multiplicative"
    title = "multiplicative updates"
    multiplies = True

    def refuses(self, model, half):
        terms = half.terms
        if terms is None or not terms[2]:
            return f"multiplicative updates need a non-negative side, not {half.penalty.name!r}"
        if not model.nonnegative and model.kind not in ("quadratic", "entries"):
            return "multiplicative updates need the squared, the KL or the Itakura–Saito loss"
        return None

    def __call__(self, model, F, half, effort):
        l1, ridge, _ = half.terms
        if isinstance(model, Counts):
            t = model.table
            return kernels.kl_rows(
                t.indptr, t.indices, t.data, model.H, np.ascontiguousarray(F), model.column_sums,
                l1, ridge, effort.sweeps, effort.tol,
            )  # fmt: skip
        # KL takes one product with the data a sweep, so sweeps beyond a few buy little; the squared loss takes none.
        tiny = np.finfo(F.dtype).tiny
        active = np.ones(len(F), dtype=bool)
        for _ in range(effort.sweeps):
            below = model.denominator(F)
            above = np.maximum(below - model.gradient(F), 0)
            ratio = above / np.maximum(below + l1 + ridge * F, tiny)
            if not model.nonnegative and (model.kind == "entries" or _mixed(model)):
                ratio = np.sqrt(ratio)
            elif model.power != 1:
                # Under this root the step descends with ℓ1 and ridge too: with g the ratio taken, it gains at least
                # (D + l1 + ½·ridge·f)·f·(g − 1)².
                ratio = ratio**model.power
            new = np.where(active[:, None], F * ratio, F)
            moved, size = np.abs(new - F).max(axis=1, initial=0), np.abs(new).max(axis=1, initial=0)
            F = new
            active &= moved > effort.tol * size
            if effort.tol > 0 and not active.any():
                break
        return F


def _mixed(model) -> bool:
    """Whether summaries of both signs occur, so that the ratio must stand under a root."""
    return bool((model.cross < 0).any() or (model.gram < 0).any())
