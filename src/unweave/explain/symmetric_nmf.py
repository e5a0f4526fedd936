"""Symmetric NMF: clusters of a similarity graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.explain.nonneg_base import NonNegativeModel
from unweave.explain.nonneg_symmetric import SymmetricDescent, similarity
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import NonNegative
from unweave.solve import certificate as certify
from unweave.solve.plan import Plan, check_init, describe, given_start
from unweave.solve.problem import Problem
from unweave.solve.start import make_start


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
        scheme = SymmetricDescent(objective)
        U, start = self._begin(objective, problem, rng)
        title = "coordinate descent on U, quartic in each entry"
        plan = Plan(describe(objective, problem), title, "", "", start, ["both factors are the same: A ≈ U·Uᵀ"])
        return plan, scheme, scheme.start(U)

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
