"""Soft clusters: every row a mixture of centres."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.factorization.base import BaseFactorization
from unweave.factorization.door import reopen_table
from unweave.factorization.settings import number
from unweave.group.counting import Counting, chooses
from unweave.group.soft_penalty import Centres, NearSimplex, Relaxed
from unweave.parallel import single_blas
from unweave.penalties import Free, Simplex
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem

SOLVERS = {"auto": "auto", "projected": "proximal", "mirror": "mirror", "penalty": "proximal"}


class SoftClustering(Counting, ClusterMixin, BaseFactorization):
    """X ≈ U·Z with every row of U on the simplex: k-means whose rows may belong to several centres.

    Minimises ½‖X − U·Z‖² with u_ij ≥ 0 and Σ_j u_ij = 1: each row is approximated by a point of the convex hull of the
    centres, and its code says how much of each there is in it. Use it where rows are blends (memberships, compositions)
    rather than noisy copies; centres then lie at the corners of the data and not in the middle of groups. Codes and
    centres alternate; the centres given the codes are least squares.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number with the best silhouette (:func:`unweave.select.auto_count`), kept as ``choice_``.
    solver : {"auto", "projected", "mirror", "penalty"}, default="auto"
        How codes are found. "projected": gradient steps projected on the simplex, accelerated (what "auto" takes).
        "mirror": u ← u·exp(−step·gradient) / Σ, multiplicative weights. "penalty": the sum is not held but drawn to
        one by ½·strength·(Σ_j u_ij − 1)², which keeps codes of rows far outside the hull honest.
    strength : float, default=1.0
        Of that penalty, in units of the mean squared length of a row of X.
    missing, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    cluster_centers_ : array (k, m)
        Also ``components_``.
    codes_ : array (n, k)
        The memberships; ``labels_`` is the largest of each row.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SoftClustering
    >>> shares = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.25, 0.75]])
    >>> model = SoftClustering(2, tol=1e-10, max_iter=2000).fit(shares @ [[0.0, 4.0], [8.0, 0.0]])
    >>> bool(model.objective_ < 1e-6), model.predict_proba([[4.0, 2.0]]).sum().round(6)
    (True, np.float64(1.0))

    References
    ----------
    Beck and Teboulle (2003), Mirror descent. Duchi et al. (2008), Efficient projections onto the ℓ1-ball. Cutler and
    Breiman (1994), Archetypal analysis, for the variant whose centres lie in the hull of the data.
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        solver="auto",
        strength=1.0,
        missing=None,
        init="auto",
        max_iter=300,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.solver = solver
        self.strength = strength
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None):
        """Fit the factorisation; parameters as in :class:`unweave.Factorization`."""
        return super().fit(X)

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_clusters={k}")
        if self.solver == "penalty":
            if not hasattr(self, "_unit"):
                raise ValueError("solver='penalty' needs the whole table: call fit, or partial_fit with 'projected'")
            return Problem(k, loss, NearSimplex(self._unit * number(self.strength, "strength")), Centres())
        return Problem(k, loss, Simplex(), Free())

    def _fit_objective(self, objective, learned):
        if not isinstance(self.solver, str) or self.solver not in SOLVERS:
            raise ValueError(f"solver={self.solver!r} is not known; use one of {', '.join(SOLVERS)}")
        # Any positive number would do for a table of zeros.
        self._unit = float(2 * objective.half_norm / max(1, objective.shape[0])) or 1.0
        return super()._fit_objective(objective, learned)

    def _plan(self, objective, problem, rng):
        init = "k-means++" if isinstance(self.init, str) and self.init == "auto" else self.init
        if objective.in_blocks and isinstance(self.init, str) and self.init == "auto":
            init = "rows"
        solver, tol = SOLVERS[self.solver], number(self.tol, "tol")
        scheme: Any
        plan, scheme, state = make_plan(objective, problem, solver, init, rng, tol)
        if self.solver == "penalty":
            scheme.left, plan.codes = Relaxed(), Relaxed.title
        return plan, scheme, state

    def _finish(self, objective, problem, scheme, state):
        codes = super()._finish(objective, problem, scheme, state)
        self.labels_ = None if codes is None else codes.argmax(axis=1)
        return codes

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.cluster_centers_ = self.components_

    def predict_proba(self, X) -> NDArray:
        """Memberships of every row: its code, brought to the sum one (they have it already but for "penalty")."""
        codes = np.asarray(self.transform(X))
        total = codes.sum(axis=1, keepdims=True)
        return np.where(total > 0, codes / np.where(total > 0, total, 1), codes.dtype.type(1 / codes.shape[1]))

    def predict(self, X) -> NDArray[np.int64]:
        """The centre with the largest share in each row."""
        return np.asarray(self.transform(X)).argmax(axis=1)

    def anomaly_score(self, X) -> NDArray[np.float64]:
        """How strange rows are: the distance to their mixture of centres, over the entries seen; higher is stranger."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            losses = objective.row_values(self._codes(objective), self._full_components)
        return np.sqrt(2 * np.maximum(np.asarray(losses, dtype=np.float64), 0))
