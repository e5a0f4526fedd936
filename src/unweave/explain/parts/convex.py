"""Factorise a table into mixtures of its own rows (convex NMF)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unweave.data.storage import as_dense
from unweave.explain.parts.base import NonNegativeModel, group_labels
from unweave.explain.parts.gram import (
    MOST_ROWS,
    GramMixtures,
    check_kernel,
    check_kernel_model,
    codes_of,
    fit_kernel,
    gram_plan,
    group_start,
    kernel_score,
)
from unweave.explain.parts.semi import SemiNMF
from unweave.linalg.products import matmul
from unweave.penalties import Cone, Hull, NonNegative
from unweave.solve.alternate import AlternateMixtures
from unweave.solve.plan import describe
from unweave.solve.problem import Problem

START = "start: means of clusters are mixtures of rows, so the fit begins at k-means"
KINDS = {"hull": Hull, "cone": Cone}


class ConvexNMF(NonNegativeModel):
    """X ≈ U·W·X with U ≥ 0 and W ≥ 0: every component Z = W·X is a mixture of rows of the table.

    Minimises ½‖X − U·W·X‖². Components lie among the data, so they read as centroids of soft clusters, for data of any
    sign. Only inner products of rows matter, so with a `kernel` the same is done for rows mapped to its feature space.
    Codes and weights are improved by coordinate descent on the table of inner products; tables of more than 8192 rows
    take proximal steps on W instead. The fit begins at k-means and never costs more.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes the number that suits semi-NMF best by error at hidden entries (not with a kernel).
    kind : {"hull", "cone"}, default="hull"
        Weights that sum to one (convex mixtures), or any non-negative weights, scaled to components of norm one. The
        codes carry the scale, so both have the same best objective.
    kernel : None, "precomputed", str or callable, default=None
        A name such as "rbf" (scikit-learn's pairwise kernels with their defaults), a function of two tables, or
        "precomputed": then X is the table of inner products (in `transform`: of new rows with the training rows).
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    row_weights_ : array (k, n)
        W.
    components_ : array (k, m)
        W·X; not with a kernel, where components are ``row_weights_`` of the training rows in feature space.
    codes_, objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import ConvexNMF
    >>> X = np.array([[1, -1, 0.0], [2, -2, 0], [-1, 0, 3], [-2, 0, 6]])
    >>> model = ConvexNMF(2).fit(X)
    >>> model.row_weights_.sum(axis=1).round(6).tolist(), bool(model.objective_ < 1e-6)
    ([1.0, 1.0], True)

    References
    ----------
    Ding, Li and Jordan (2010), Convex and semi-nonnegative matrix factorizations.
    """

    missing = None
    loss = "squared"
    init = solver = "auto"
    _takes_blocks = False  # components are mixtures of all rows
    _former_names = {"mixing_": "row_weights_"}

    def __init__(
        self,
        n_components=2,
        *,
        kind="hull",
        kernel=None,
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.kind = kind
        self.kernel = kernel
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def mixing_(self):
        """The weights by their former name, which is that of ICA's mixing matrix."""
        warnings.warn(
            "mixing_ of ConvexNMF is called row_weights_ now, and the old name goes with the next release: use "
            "row_weights_",
            FutureWarning,
            stacklevel=2,
        )
        return self.row_weights_

    @property
    def partial_fit(self):
        raise AttributeError("components are mixtures of all rows: ConvexNMF needs the whole table; use fit")

    def _stand_in(self):
        if self.kernel is not None:
            raise ValueError("n_components='auto' needs kernel=None: entries of a feature space cannot be hidden")
        return SemiNMF(random_state=self.random_state), "n_components"

    def _problem(self, loss, shape, mixed):
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} is not known; use 'hull' or 'cone'")
        k = self._number()
        if k > shape[0]:
            raise ValueError(f"n_samples={shape[0]} should be >= n_components={k}: components are mixtures of rows")
        return Problem(k, loss, NonNegative(), KINDS[self.kind]())

    def _fit(self, X, weights=None):
        check_kernel(self.kernel)
        if self.kernel is None:
            return super()._fit(X, weights)
        if self.n_components == "auto":
            self._stand_in()  # says why not
        return fit_kernel(self, X)

    def _plan(self, objective, problem, rng):
        X, k = objective.X, problem.n_components
        labels = group_labels(X, k, rng)
        if objective.shape[0] > MOST_ROWS:
            plan, scheme, _ = super()._plan(objective, problem, rng)
            assert isinstance(scheme, AlternateMixtures)
            U, W = group_start(labels, k, objective.dtype)
            plan.start, plan.reasons = "k-means", [START]
            return plan, scheme, scheme.start_mixing(W, U)
        K = matmul(X, X.T) if objective.is_array else as_dense(X @ X.T)
        mixtures = GramMixtures(np.ascontiguousarray(K), labels, k)
        return gram_plan(describe(objective, problem), objective.shape[0]), mixtures, mixtures.begin()

    def _finish(self, objective, problem, scheme, state):
        W = state["mixing"]
        Z = np.ascontiguousarray(np.asarray(W @ objective.X))
        if self.kind == "cone":
            norms = np.linalg.norm(Z, axis=1, keepdims=True)
            norms[norms == 0] = 1
            W, Z = W / norms, Z / norms
        self.row_weights_ = W
        return super()._finish(objective, problem, scheme, {"codes": state["codes"], "components": Z})

    def _transform(self, X, weights=None):
        if self.kernel is None:
            return super()._transform(X, weights)
        check_is_fitted(self)
        return codes_of(self, X)[0]

    def score(self, X, y=None) -> float:
        """Minus the mean loss of an entry (with a kernel: of a row), after the best codes for X: higher is better."""
        if self.kernel is None:
            return super().score(X)
        check_is_fitted(self)
        return kernel_score(self, X)

    def inverse_transform(self, U, *, linear: bool = False):
        """The prediction U·Z; with a kernel there is none in data units, but weights of rows: ``U @ row_weights_``."""
        if self.kernel is not None:
            raise ValueError(
                "with a kernel predictions live in its feature space: use codes @ model.row_weights_, the weights"
            )
        return super().inverse_transform(U, linear=linear)

    def certify(self, X):
        """As in :class:`unweave.Factorization`; with a kernel the certificate of the fit."""
        check_is_fitted(self)
        return super().certify(X) if self.kernel is None else self.certificate_

    @property
    def _check_loaded(self):
        if self.kernel is None:
            return None
        return lambda looked_at: check_kernel_model(self, looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags
