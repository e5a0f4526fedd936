"""Orthogonal NMF."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.explain.nonneg_base import NonNegativeModel, group_labels
from unweave.explain.nonneg_lines import HalfLines, nearest_line, unit_rows
from unweave.objectives import Dense, Sparse
from unweave.penalties import Free, Orthonormal
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem, check_size

SIDES = ("codes", "components")


class OrthogonalNMF(NonNegativeModel):
    """X ≈ U·Z with U ≥ 0 and UᵀU = I (or the same for Z): k-means whose clusters may be half-lines.

    Minimises ½‖X − U·UᵀX‖². A non-negative orthonormal U has one entry a row at most, so every row belongs to one
    component and may be any positive multiple of it: clusters of direction. The normalised indicator of clusters
    (1/√n_c in cluster c) is allowed and costs what k-means costs, so the best orthogonal NMF never costs more than
    the best k-means; the fit begins at :class:`unweave.KMeans` and keeps that promise for what it finds. With
    ``side="components"`` the columns are grouped instead: each column belongs to one component.

    Data may have any sign; where they are non-negative, so are both factors.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes the number of clusters of k-means with the best silhouette (``side="codes"`` only).
    side : {"codes", "components"}, default="codes"
        Which factor is non-negative and orthonormal.
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    labels_ : array (n,) or (m,)
        The component of every row (or column).
    components_, codes_, objective_, reconstruction_err_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`. `transform` of new rows gives the nearest point of a half-line, which for
        training rows is ``codes_`` once the fit has settled.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import OrthogonalNMF
    >>> X = np.array([[1, 1, 0.0], [3, 3, 0], [0, 1, 2], [0, 2, 4]])
    >>> model = OrthogonalNMF(2).fit(X)
    >>> bool(model.objective_ < 1e-12), (model.codes_.T @ model.codes_).round(6).tolist()
    (True, [[1.0, 0.0], [0.0, 1.0]])

    References
    ----------
    Ding, Li, Peng and Park (2006), Orthogonal nonnegative matrix tri-factorizations for clustering. Pompili, Gillis,
    Absil and Glineur (2014), Two algorithms for orthogonal nonnegative matrix factorization with application to
    clustering.
    """

    missing = None
    init = solver = "auto"
    _takes_blocks = False  # an orthonormal factor ties all rows

    def __init__(
        self,
        n_components=2,
        *,
        side="codes",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.side = side
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def partial_fit(self):
        raise AttributeError("an orthonormal factor ties all rows: OrthogonalNMF needs the whole table; use fit")

    def _stand_in(self):
        from unweave.group.kmeans import KMeans

        if self.side != "codes":
            raise ValueError("n_components='auto' needs side='codes'; give a number")
        return KMeans(random_state=self.random_state), "n_clusters"

    def _problem(self, loss, shape, mixed):
        if not isinstance(self.side, str) or self.side not in SIDES:
            raise ValueError(f"side={self.side!r} is not known; use 'codes' or 'components'")
        free, bound = Free(), Orthonormal()
        return Problem(self._number(), loss, *((bound, free) if self.side == "codes" else (free, bound)))

    def _plan(self, objective, problem, rng):
        check_size(problem, *objective.shape)
        scheme = HalfLines(objective, self.side)
        labels = group_labels(_turned(objective) if self.side == "components" else objective, problem.n_components, rng)
        titles = ("the best half-line of each", "sums of what lies on each half-line")
        why = f"non-negative orthonormal {self.side} have one entry a row: clusters, each a half-line"
        titles = titles if self.side == "codes" else titles[::-1]
        plan = Plan(describe(objective, problem), "alternating, both halves exact", *titles, "k-means", [why])
        return plan, scheme, scheme.start(labels, problem.n_components)

    def _finish(self, objective, problem, scheme, state):
        bound = state["codes"] if self.side == "codes" else state["components"].T
        self.labels_ = bound.argmax(axis=1)
        U, Z = state["codes"], state["components"]
        self._full_components = Z
        self._publish(problem, Z)
        value = self.objective_ = objective.accurate_value(U, Z)
        self.reconstruction_err_ = float(np.sqrt(2 * value))
        self.certificate_ = self._certificate(objective, problem, scheme, U, Z, None)
        self.codes_ = U
        return None

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        if certify.bound_is_cheap(objective, problem, self.n_iter_):
            return certify.eckart_young(objective, problem, self.objective_)
        return certify.Certificate("none", 0.0, 0.0, False, self.objective_)

    def certify(self, X):
        """The Eckart–Young certificate of the objective that was reached, at whatever cost."""
        from unweave.objectives.opening import reopen_table
        from unweave.parallel import single_blas

        with single_blas():
            objective = reopen_table(self, X, None, self._learned)
            self.certificate_ = certify.eckart_young(objective, self._sentence, self.objective_)
        return self.certificate_

    def _codes(self, objective) -> NDArray:
        """The nearest half-line of every row and how far along it; on the other side the projections on all lines."""
        Z = self._full_components.astype(objective.dtype, copy=False)
        if self.side == "components":
            return objective.rows_given(Z).cross
        lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z, dtype=np.float64))
        along = nearest_line(objective.rows_given(unit_rows(Z)).cross)
        return (along / np.where(lengths > 0, lengths, 1)).astype(objective.dtype)


def _turned(objective):
    """The same table with rows and columns exchanged."""
    X = objective.X.T
    return (
        Sparse(X.tocsr(), objective.loss)
        if isinstance(objective, Sparse)
        else Dense(np.ascontiguousarray(X), objective.loss)
    )
