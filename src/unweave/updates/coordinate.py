"""Coordinate descent on each row (HALS): exact in one coordinate at a time."""

from __future__ import annotations

import numpy as np

from unweave.linalg import coordinate as shared
from unweave.linalg import entries as kernels
from unweave.objectives.models import Entries
from unweave.updates.base import Update


class Coordinate(Update):
    """f_t ← (f_t + (a_t − b_t·f − l1)/(b_tt + λ))₊ for t = 1…k, again and again, without touching X.

    For non-negative sides and ℓ1 (lasso) or elastic-net penalties under squared loss. Known as HALS when it alternates
    between the two factors of NMF. A sweep costs k² a row, far below the product with X that set it up, so several
    are made.

    References
    ----------
    Cichocki and Phan (2009), Fast local algorithms for large scale nonnegative matrix and tensor factorizations.
    Gillis and Glineur (2012), Accelerated multiplicative updates and hierarchical ALS algorithms for NMF.
    """

    name = "coordinate"
    title = "coordinate descent (HALS)"

    def refuses(self, model, half):
        if model.kind not in ("quadratic", "entries"):
            return "coordinate descent needs the squared loss"
        if half.terms is None:
            return f"coordinate descent needs a penalty on single entries, not {half.penalty.name!r}"
        return None

    def __call__(self, model, F, half, effort):
        l1, ridge, nonnegative = half.terms
        F = np.ascontiguousarray(F)
        if isinstance(model, Entries):
            t = model.table
            return kernels.coordinate_rows(
                t.indptr, t.indices, t.data, t.weights, model.H, F, l1, ridge, nonnegative, effort.sweeps, effort.tol
            )
        new, _ = shared.coordinate_rows(
            model.cross, model.gram_cast, F, l1, ridge, nonnegative, effort.sweeps, effort.tol, effort.drop
        )
        return new
