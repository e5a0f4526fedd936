"""s-sparse codes: orthogonal matching pursuit."""

from __future__ import annotations

import numpy as np

from unweave.linalg.pursuit import greedy_rows, pursuit_gram
from unweave.objectives.models import Entries
from unweave.penalties import Sparse
from unweave.updates.base import Update, no_worse


class Pursuit(Update):
    """Greedily add the component that lowers the residual most together with those chosen, s times.

    A row keeps its former code where that is better, so the objective never rises.

    References
    ----------
    Pati, Rezaiifar and Krishnaprasad (1993), Orthogonal matching pursuit. Rebollo-Neira and Lowe (2002), Optimized
    orthogonal matching pursuit approach. Rubinstein, Zibulevsky and Elad (2008),
    Efficient implementation of the K-SVD algorithm using batch orthogonal matching pursuit.
    """

    name = "pursuit"
    title = "orthogonal matching pursuit"

    def refuses(self, model, half):
        if not isinstance(half.penalty, Sparse) or half.transposed:
            return f"matching pursuit needs s-sparse codes, not {half.penalty.name!r}"
        if model.kind not in ("quadratic", "entries"):
            return "matching pursuit needs the squared loss"
        return None

    def __call__(self, model, F, half, effort):
        s = int(half.penalty.nonzeros)
        if isinstance(model, Entries):
            t = model.table
            new = greedy_rows(t.indptr, t.indices, t.data, t.weights, model.H, s, True)
        else:
            new = pursuit_gram(model.cross, model.gram_cast, model.row_norms(), s, True)
        # Rows on which both tie must not depend on rounding: only keep a former code that is clearly better.
        return no_worse(model, F, new, half) if np.any(F) else new
