"""Coordinate descent on each row (HALS): exact in one coordinate at a time."""

from __future__ import annotations

import numpy as np

from unweave.linalg import coordinate as shared
from unweave.linalg import entries as kernels
from unweave.linalg import nnls as exact
from unweave.objectives.models import Entries
from unweave.updates.base import Effort, Update

_ROUGH = 20  # sweeps, and one for each component, after which the exact method is the faster way to go on


class Coordinate(Update):
    """f_t ← (f_t + (a_t − b_t·f − l1)/(b_tt + λ))₊ for t = 1…k, again and again, without touching X.

    For non-negative sides and ℓ1 (lasso) or elastic-net penalties under squared loss. Known as HALS when it alternates
    between the two factors of NMF. A sweep costs k² a row, far below the product with X that set it up, so several
    are made. Asked to work until rows settle, it hands what it found to an exact active-set method: sweeps take
    without end where components are nearly dependent.

    References
    ----------
    Cichocki and Phan (2009), Fast local algorithms for large scale nonnegative matrix and tensor factorizations.
    Gillis and Glineur (2012), Accelerated multiplicative updates and hierarchical ALS algorithms for NMF.
    """

    name = "coordinate"
    title = "coordinate descent (HALS)"
    looks_ahead = True

    def fit_effort(self, objective):
        return Effort(sweeps=2) if objective.is_sparse and objective.complete else Effort(sweeps=20, drop=0.01)

    def refuses(self, model, half):
        if model.kind not in ("quadratic", "entries"):
            return "coordinate descent needs the squared loss"
        if half.terms is None:
            return f"coordinate descent needs a penalty on single entries, not {half.penalty.name!r}"
        return None

    def __call__(self, model, F, half, effort):
        F, (l1, ridge, nonnegative) = np.ascontiguousarray(F), half.terms
        to_the_end = effort.tol > 0
        if isinstance(model, Entries):
            t = model.table
            new = kernels.coordinate_rows(
                t.indptr, t.indices, t.data, t.weights, model.H, F, l1, ridge, nonnegative, effort.sweeps, effort.tol
            )
            if not to_the_end:
                return new
            return exact.exact_entries(t.indptr, t.indices, t.data, t.weights, model.H, new, l1, ridge, nonnegative)
        sweeps = min(effort.sweeps, _ROUGH + F.shape[1]) if to_the_end else effort.sweeps
        new, _ = shared.coordinate_rows(
            model.cross, model.gram_cast, F, l1, ridge, nonnegative, sweeps, effort.tol, effort.drop
        )
        return exact.exact_rows(model.cross, model.gram, new, l1, ridge, nonnegative) if to_the_end else new
