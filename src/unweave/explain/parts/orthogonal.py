"""Factorise a table so that every row belongs to one half-line (orthogonal NMF)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.explain.parts.base import NonNegativeModel, group_labels, indicator
from unweave.objectives import Objective
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free, Orthonormal
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem, check_size
from unweave.solve.scheme import FactorScheme
from unweave.updates import LeastSquares

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
        k = problem.n_components
        labels = group_labels(objective.X.T if self.side == "components" else objective.X, k, rng)
        scheme = HalfLineScheme(objective, self.side, labels, k)
        titles = ("the best half-line of each", "sums of what lies on each half-line")
        why = f"non-negative orthonormal {self.side} have one entry a row: clusters, each a half-line"
        titles = titles if self.side == "codes" else titles[::-1]
        plan = Plan(describe(objective, problem), "alternating, both halves exact", *titles, "k-means", [why])
        return plan, scheme, scheme.begin()

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
        return certify.Certificate.none(self.objective_, lower_bound=0.0)

    def certify(self, X):
        """The Eckart–Young certificate of the objective that was reached, at whatever cost."""
        with single_blas():
            objective = reopen_table(self, X, None, self._learned)
            self.certificate_ = certify.eckart_young(objective, self._sentence, self.objective_)
        return self.certificate_

    def _coder(self):
        return AlongLines(self._full_components, self.side)


@dataclass(frozen=True)
class AlongLines:
    """The nearest half-line of every row in memory and how far along it; for components the projections on all."""

    lines: NDArray
    side: str

    def __call__(self, rows: Objective) -> NDArray:
        Z = self.lines.astype(rows.dtype, copy=False)
        if self.side == "components":
            return rows.rows_given(Z).cross
        lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z, dtype=np.float64))
        along = nearest_line(rows.rows_given(unit_rows(Z)).cross)
        return (along / np.where(lengths > 0, lengths, 1)).astype(rows.dtype)


@dataclass
class HalfLineScheme(FactorScheme):
    """½‖X − F·Fᵀ·X‖² over F ≥ 0 with FᵀF = I, for F on the side of the rows or of the columns of X.

    Non-negative columns that are orthogonal share no row, so each row of F has one entry at most: rows are projected
    on half-lines d_c (the directions), each takes the line that leaves least of it, and f_c = the projections of its
    rows, at norm one. The new direction is Xᵀf_c. Both halves maximise Σ‖Xᵀf_c‖², so the objective never rises.
    Row c of ``lines`` is ‖·‖ times its direction: the other factor.
    """

    objective: Objective
    side: str
    labels: NDArray  # the clusters that the fit begins at
    n_components: int
    left = LeastSquares()

    def begin(self, rng=None) -> dict:
        """The state at the clusters: f_c = 1/√n_c on its rows has the objective of their means."""
        F = unit_columns(indicator(self.labels, self.n_components, self.objective.dtype))
        return {"factor": F, "lines": self._across(F), "moved": np.inf}

    def step(self, state: dict) -> tuple[dict, float]:
        F = unit_columns(nearest_line(self._along(unit_rows(state["lines"]))))
        F = self._revived(F)
        lines = self._across(F)
        kept = float(np.einsum("ij,ij->", lines, lines, dtype=np.float64))
        moved = float(np.abs(F - state["factor"]).max(initial=0))
        return {"factor": F, "lines": lines, "moved": moved}, max(0.0, self.objective.half_norm - 0.5 * kept)

    def settled(self, state: dict) -> bool:
        """Whether the factor stays where it is: in float32 the objective is too coarse to tell."""
        return state["moved"] <= 10 * np.finfo(self.objective.dtype).eps

    def fixed(self, state: dict) -> bool:
        return state["moved"] == 0

    def finish(self, state: dict) -> dict:
        F, lines = state["factor"], state["lines"]
        if self.side == "codes":
            return {"codes": F, "components": lines}
        return {"codes": np.ascontiguousarray(lines.T), "components": np.ascontiguousarray(F.T)}

    def _along(self, D: NDArray) -> NDArray:
        """Inner products of the rows (or columns) of X with each direction."""
        given = self.objective.rows_given if self.side == "codes" else self._columns_given
        return given(D).cross

    def _columns_given(self, D: NDArray):
        return self.objective.columns_given(np.ascontiguousarray(D.T))

    def _across(self, F: NDArray) -> NDArray:
        """Fᵀ·X (or Fᵀ·Xᵀ)."""
        if self.side == "codes":
            return np.ascontiguousarray(self.objective.columns_given(F).cross.T)
        return np.ascontiguousarray(self.objective.rows_given(np.ascontiguousarray(F.T)).cross.T)

    def _revived(self, F: NDArray) -> NDArray:
        """F with a row that lies on no line given to each line that has none, as far as there are such rows."""
        counts = np.count_nonzero(F, axis=0)
        for c in np.flatnonzero(counts == 0):
            free = np.flatnonzero(~F.any(axis=1))
            if len(free):
                F[free[0], c] = 1
        return F


def nearest_line(S: NDArray) -> NDArray:
    """Of the projections of every row on each line the largest, where it is positive; zeros elsewhere."""
    best = S.argmax(axis=1)
    rows = np.arange(len(S))
    F = np.zeros_like(S)
    F[rows, best] = np.maximum(S[rows, best], 0)
    return F


def unit_columns(F: NDArray) -> NDArray:
    """Columns at norm one; empty ones stay."""
    norms = np.sqrt(np.einsum("ij,ij->j", F, F, dtype=np.float64))
    return (F / np.where(norms > 0, norms, 1)).astype(F.dtype)


def unit_rows(lines: NDArray) -> NDArray:
    """Rows at norm one; empty ones stay."""
    return np.ascontiguousarray(unit_columns(lines.T).T)
