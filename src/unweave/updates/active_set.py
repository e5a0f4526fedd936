"""Exact lasso codes on large dictionaries: an active set for each row."""

from __future__ import annotations

from unweave.linalg import nnls as exact
from unweave.linalg.lasso import lasso_rows
from unweave.objectives.models import Entries
from unweave.updates.base import Update

_FEW = 32  # components below which sweeps over all of them, many rows side by side, take as long


class ActiveSet(Update):
    """f ← argmin ½‖x − f·Z‖² + λ‖f‖₁ (f ≥ 0 or not), exactly, from the support that f has.

    The component that is pulled off zero most enters, the minimiser on the support is found in closed form, and what
    would change its sign leaves. A row that uses s of k components costs about s²·k/2, so it is for many components
    and few used.

    References
    ----------
    Osborne, Presnell and Turlach (2000), A new approach to variable selection in least squares problems. Lee, Battle,
    Raina and Ng (2007), Efficient sparse coding algorithms.
    """

    name = "active-set"
    title = "active set (exact lasso)"
    from_zero = True

    def refuses(self, model, half):
        if model.kind not in ("quadratic", "entries"):
            return "an active set needs the squared loss"
        if half.terms is None or not half.terms[0]:
            return f"an active set needs an ℓ1 penalty, not {half.penalty.name!r}"
        if model.shape[1] < _FEW:
            return f"with fewer than {_FEW} components coordinate sweeps are as fast"
        return None

    def __call__(self, model, F, half, effort):
        l1, ridge, nonnegative = half.terms
        if isinstance(model, Entries):
            t = model.table
            return exact.exact_entries(t.indptr, t.indices, t.data, t.weights, model.H, F, l1, ridge, nonnegative)
        return lasso_rows(model.cross, model.gram_cast, F, l1, nonnegative, ridge)
