"""Factorise a table of similarities into soft clusters (symmetric NMF)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.table import Table, refuse_blocks
from unweave.explain.parts.base import NonNegativeModel
from unweave.kernels.nonneg import symmetric_dense_range, symmetric_sparse_range
from unweave.linalg.products import gram
from unweave.objectives import Objective
from unweave.objectives.opening import make_objective, reopen_table
from unweave.parallel import chunks, single_blas
from unweave.penalties import NonNegative
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, check_init, describe, given_start
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import make_start
from unweave.updates import Coordinate

_PIECE = 100_000_000  # multiply-adds in one call: a tenth of a second, so that Ctrl-C is heard


class SymmetricNMF(NonNegativeModel):
    """A ≈ U·Uᵀ with U ≥ 0 for a symmetric table A of similarities: soft clusters of a graph.

    Minimises ½‖A − U·Uᵀ‖². A column of U says how much each node belongs to one cluster; with orthonormal columns
    it would be spectral clustering, here non-negativity makes clusters readable without k-means at the end.
    Similarities should be scaled by their degrees (D^−½AD^−½) where these vary much. Dense or sparse; entries may be
    negative.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes the number of clusters of the rows of A with the best silhouette.
    init : {"auto", "nndsvd", "random"} or array (n, k), default="auto"
        "auto" is the non-negative double SVD of A.
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    codes_ : array (n, k)
        U; ``components_`` is Uᵀ.
    labels_ : array (n,)
        The largest entry of each row of U.
    objective_, reconstruction_err_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`. `transform` takes similarities of new nodes to the training nodes, and
        gives the v ≥ 0 that minimises ‖a − v·Uᵀ‖².

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SymmetricNMF
    >>> A = np.kron(np.eye(2), np.ones((3, 3)))
    >>> model = SymmetricNMF(2).fit(A)
    >>> bool(model.objective_ < 1e-9), len(set(model.labels_[:3])), bool(model.labels_[0] != model.labels_[3])
    (True, 1, True)

    References
    ----------
    Kuang, Yun and Park (2015), SymNMF: nonnegative low-rank approximation of a similarity matrix for graph clustering.
    Vandaele, Gillis, Lei, Zhong and Dhillon (2016), Efficient and non-convex coordinate descent for symmetric
    nonnegative matrix factorization.
    """

    missing = None
    solver = "auto"
    _takes_blocks = False

    def __init__(
        self,
        n_components=2,
        *,
        init="auto",
        max_iter=300,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def partial_fit(self):
        raise AttributeError("similarities tie all rows: SymmetricNMF needs the whole table; use fit")

    def _stand_in(self):
        from unweave.group.kmeans import KMeans

        return KMeans(random_state=self.random_state), "n_clusters"

    def _problem(self, loss, shape, mixed):
        return Problem(self._number(), loss, NonNegative(), NonNegative())

    def _fit_objective(self, objective, learned):
        return super()._fit_objective(similarity(objective), learned)

    def _plan(self, objective, problem, rng):
        U, start = self._begin(objective, problem, rng)
        scheme = SymmetricDescent(objective, U)
        title = "coordinate descent on U, quartic in each entry"
        plan = Plan(describe(objective, problem), title, "", "", start, ["both factors are the same: A ≈ U·Uᵀ"])
        return plan, scheme, scheme.begin()

    def _begin(self, objective, problem, rng) -> tuple[NDArray, str]:
        if not isinstance(self.init, str):
            given = np.asarray(self.init)
            check_init(given)
            Z = given_start(objective, problem, given.T)[1]
            if Z.min(initial=0) < 0:
                raise ValueError("init must not hold negative numbers")
            return Z.T, "given"
        names = {"auto": "nndsvd", "nndsvd": "nndsvd", "random": "random"}
        if self.init not in names:
            raise ValueError(f"init={self.init!r} is not known; use auto, nndsvd, random or an array (n × k)")
        U, Z = make_start(objective, problem, names[self.init], rng)
        return Z.T if U is None else 0.5 * (U + Z.T), names[self.init]

    def _finish(self, objective, problem, scheme, state):
        U, Z = state["codes"], state["components"]
        self._full_components = Z
        self._publish(problem, Z)
        self.codes_, self.labels_ = U, U.argmax(axis=1)
        self.objective_ = objective.accurate_value(U, Z)
        self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
        self.certificate_ = self._certificate(objective, problem, scheme, U, Z, None)
        return None

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        if certify.bound_is_cheap(objective, problem, self.n_iter_):
            return certify.eckart_young(objective, problem, self.objective_)
        return certify.Certificate("kkt", 0.0, scheme.residual(U), True, self.objective_)

    def certify(self, X):
        """The Eckart–Young certificate of the similarities the model was fitted to, at whatever cost."""
        check_is_fitted(self)
        refuse_blocks(self, X)
        with single_blas():
            objective = similarity(reopen_table(self, X, self.missing, self._learned))
            codes, components = self.codes_, self._full_components
            assert codes is not None and components is not None
            value = objective.accurate_value(codes, components)
            self.certificate_ = certify.eckart_young(objective, self._sentence, value)
        return self.certificate_

    def fit_predict(self, X, y=None):
        """Fit, and the cluster of every node."""
        return self.fit(X).labels_

    def predict(self, X):
        """The cluster of every node, from its similarities to the training nodes."""
        return self.transform(X).argmax(axis=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


@dataclass
class SymmetricDescent(FactorScheme):
    """½‖A − U·Uᵀ‖² over U ≥ 0: in one entry of U it is a quartic, minimised exactly; entries go round in order."""

    objective: Objective
    first: NDArray  # U to begin at, scaled as suits A best
    left = Coordinate()

    def begin(self, rng=None) -> dict:
        U = np.ascontiguousarray(self.first, dtype=self.objective.dtype)
        inner, square = self._products(U)
        scale = np.sqrt(max(inner, 0.0) / square) if square > 0 else 0.0
        return {"codes": U * U.dtype.type(scale or 1.0), "moved": np.inf}

    def step(self, state: dict) -> tuple[dict, float]:
        U = state["codes"].copy()
        G, A = gram(U), self.objective.X
        n, k = U.shape
        rows = max(1, _PIECE * n // max(1, k * self.objective.n_multiplied))
        for start, stop in chunks(n, rows):
            if self.objective.is_sparse:
                t = self.objective.by_row  # type: ignore[attr-defined]
                symmetric_sparse_range(t.indptr, t.indices, t.data, U, G, start, stop)
            else:
                symmetric_dense_range(A, U, G, start, stop)
        inner, square = self._products(U)
        moved = float(np.abs(U - state["codes"]).max(initial=0)) / max(float(U.max(initial=0)), 1e-300)
        return {"codes": U, "moved": moved}, max(0.0, self.objective.half_norm - inner + 0.5 * square)

    def settled(self, state: dict) -> bool:
        """Whether U stays where it is: in float32 the objective is too coarse to tell."""
        return state["moved"] <= 100 * np.finfo(self.objective.dtype).eps

    def fixed(self, state: dict) -> bool:
        return state["moved"] == 0

    def finish(self, state: dict) -> dict:
        return {"codes": state["codes"], "components": np.ascontiguousarray(state["codes"].T)}

    def _products(self, U: NDArray) -> tuple[float, float]:
        """⟨A, U·Uᵀ⟩ and ‖U·Uᵀ‖²."""
        cross = self.objective.rows_given(np.ascontiguousarray(U.T)).cross
        return float(np.einsum("ij,ij->", U, cross, dtype=np.float64)), float(np.square(gram(U)).sum())

    def residual(self, U: NDArray) -> float:
        """How far a projected gradient step moves U, relative to U; its length is 1/(3·curvature) of each column."""
        cross, G = self.objective.rows_given(np.ascontiguousarray(U.T)).cross, gram(U)
        slope = U @ G.astype(U.dtype) - cross
        moved = np.maximum(U - slope / max(3 * float(np.linalg.norm(G, 2)), 1e-300), 0) - U
        return float(np.linalg.norm(moved) / max(float(np.linalg.norm(U)), 1e-30))


def similarity(objective: Objective) -> Objective:
    """The objective of the mean of A and Aᵀ, or an error if these differ beyond rounding."""
    A = objective.X
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"X must be a square table of similarities, got the shape {A.shape}")
    gap, size = abs(A - A.T).max(), abs(A).max()
    if gap > 1e-5 * size:
        raise ValueError("X must be symmetric: similarities do not depend on the order; pass (X + X.T) / 2")
    return make_objective(Table(0.5 * (A + A.T), None), objective.loss)
