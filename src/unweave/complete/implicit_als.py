"""Implicit feedback: what people bought, played or clicked, and what they might next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete.counted import POWERS
from unweave.complete.found_pairs import held_out_generator
from unweave.complete.implicit_batch import take_batch
from unweave.complete.implicit_scheme import (
    TITLES,
    AlternateImplicit,
    Interactions,
    choose_solver,
    exact_method,
    interactions,
)
from unweave.complete.implicit_search import choose_ridge, compare_ease
from unweave.complete.implicit_users import ImplicitUsers
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import number, whole
from unweave.linalg.products import gram
from unweave.losses.squared import Squared
from unweave.objectives.opening import Learned
from unweave.parallel import single_blas
from unweave.penalties import Ridge
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem


class ImplicitALS(ImplicitUsers, BaseFactorization):
    """p_ij ≈ u_i·z_j over all entries, with confidence: recommendations from purchases, plays or clicks.

    Minimises ½ Σ_ij c_ij (p_ij − u_i·z_j)² + ½λ(‖U‖² + ‖Z‖²). A stored entry r_ij > 0 says that something happened:
    p_ij = 1, c_ij = 1 + α·r_ij. What is not stored (or 0) did not happen: p_ij = 0, c_ij = 1. So here, unlike in
    :class:`MatrixCompletion`, unstored entries are data, of little weight. The sum over all of them needs only UᵀU and
    ZᵀZ, so a sweep costs what the stored entries cost.

    Parameters
    ----------
    n_components : int, default=64
        Never more than the longer side of the table are used.
    ridge : float or "auto", default="auto"
        λ. "auto" takes the one that finds a tenth of the pairs, held out, best (NDCG@10). The search takes
        about the time of a fit: each λ goes on from where a weaker one ended.
    alpha : float, default=1.0
        α > 0: how much more an interaction counts than an absence. For play counts give log1p of them, or a small α.
    weighting : "root", "plain" or "count", default="root"
        How the ridge of a user or an item grows with the number n of its entries: λ√n, λ, or λn.
    solver : {"auto", "cholesky", "cg", "subspace"}, default="auto"
        An exact solve of each row, a few preconditioned conjugate-gradient steps, or exact solves over blocks of 32
        components (for many components and very uneven confidences). "auto" decides by k and the confidences.
    missing : "zeros"
        There is no other meaning of what is not stored; NaN is refused.
    max_iter : int, default=15
        Sweeps.
    tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_ : array (k, n_items)
    codes_ : array (n_users, k)
    ridge_ : float
        The λ used.
    ridge_path_ : dict
        NDCG@10 on held-out pairs of every λ tried; empty where λ was given, or there were too few pairs. `ridge_` is
        the top of a parabola through the best three, less what the pairs held out will add.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the certificate is the KKT residual.
    seen_, user_ids_, item_ids_
        As in :class:`unweave.complete.recommend.Recommends`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.complete.implicit_als import ImplicitALS
    >>> X = np.array([[1.0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    >>> ImplicitALS(2).fit(X).recommend(0, n=1)[0]
    array([2])

    References
    ----------
    Hu, Koren and Volinsky (2008), Collaborative filtering for implicit feedback datasets. Rendle, Krichene, Zhang and
    Koren (2021), iALS++: Speeding up matrix factorization with subspace optimization.
    """

    def __init__(
        self,
        n_components=64,
        *,
        ridge="auto",
        alpha=1.0,
        weighting="root",
        solver="auto",
        missing="zeros",
        max_iter=15,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.alpha = alpha
        self.weighting = weighting
        self.solver = solver
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    def _fit(self, X, weights=None):
        self._check_words()
        table = interactions(self, X, reset=True)
        if not table.nnz:
            raise ValueError("X has no interaction: nothing above zero is stored in it")
        self.ridge_ = 0.0 if isinstance(self.ridge, str) else number(self.ridge, "ridge")
        self.ridge_path_, self._why_ridge = {}, []
        objective = self._interactions(table)
        if isinstance(self.ridge, str):
            self._search(objective)
        codes = self._fit_objective(objective, Learned(Squared(), {}, False))
        self._remember(X, table)
        return codes

    def _search(self, objective: Interactions) -> None:
        k, rng = self._width(objective.shape), held_out_generator(self.random_state)
        self.ridge_, search = choose_ridge(objective, k, rng)
        objective.ridge = self.ridge_
        if search is not None:
            self.ridge_path_ = search.path
            self._why_ridge = [
                f"about that ridge held-out pairs were found best: NDCG@10 {max(search.path.values()):.4f}"
            ]
            self._why_ridge += compare_ease(search)

    def _check_words(self) -> None:
        if not isinstance(self.missing, str) or self.missing != "zeros":
            raise ValueError(
                f"missing={self.missing!r}: only 'zeros' has a meaning here, what is not stored did not happen"
            )
        if not isinstance(self.weighting, str) or self.weighting not in POWERS:
            raise ValueError(f"weighting={self.weighting!r} is not known; use one of {', '.join(POWERS)}")
        if isinstance(self.ridge, str) and self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} must be a number or 'auto'")

    def _interactions(self, table) -> Interactions:
        alpha = number(self.alpha, "alpha")
        if alpha == 0:
            raise ValueError("alpha must be above 0: it is how much more an interaction counts than an absence")
        return Interactions(table, alpha, self.ridge_, POWERS[self.weighting])

    def _problem(self, loss, shape, mixed):
        ridge = Ridge(strength=self.ridge_)
        return Problem(self._width(shape), loss, ridge, ridge)

    def _width(self, shape) -> int:
        """The number of components: beyond the longer side further ones would be zero."""
        return min(whole(self.n_components, "n_components", 1), max(shape))

    def _plan(self, objective, problem, rng):
        k, (n, m) = problem.n_components, objective.shape
        solver, why = choose_solver(objective, k, self.solver)
        self._exact = exact_method(objective, k)
        text = (
            f"{n}×{m} interactions ({objective.X.nnz} stored, confidence up to {objective.most:.3g}) ≈ codes (ridge) "
        )
        text += f"· {k} components (ridge), squared loss over all entries"
        plan = Plan(text, "alternating half-steps", TITLES[solver], TITLES[solver], "random", [why])
        plan.reasons.append(f"the ridge of a row with n entries is {self.ridge_:.3g}·n^{objective.power:g}")
        plan.reasons += self._why_ridge
        scheme = AlternateImplicit(objective, solver)
        return plan, scheme, scheme.start(k, rng)

    def _finish(self, objective, problem, scheme, state):
        Z = self._full_components = state["components"]
        self._publish(problem, Z)
        items = np.ascontiguousarray(Z.T)
        self._gram = gram(items, dtype=np.float64)
        self.codes_, self.certificate_ = self._settled(objective, items)
        self.objective_ = self.certificate_.objective
        people = np.count_nonzero(np.diff(objective.X.indptr))
        self._average = (self.codes_.sum(axis=0, dtype=np.float64) / max(people, 1)).astype(items.dtype)
        return self.codes_

    def _settled(self, objective: Interactions, items: NDArray) -> tuple[NDArray, Certificate]:
        """Exact codes given the items, and how far from stationary both are together."""
        codes, values = objective.codes(items, self._exact)
        value = float(values.sum()) + objective.cost(items, objective.by_column)
        return codes, Certificate("kkt", 0.0, objective.residual(codes, items), True, value)

    def certify(self, X) -> Certificate:
        """The KKT residual on the table the model was fitted to (the problem is not convex, so there is no bound)."""
        check_is_fitted(self)
        with single_blas():
            _, self.certificate_ = self._settled(self._reopen(X), np.ascontiguousarray(self.components_.T))
        return self.certificate_

    def partial_fit(self, X, y=None, *, users=None):
        """Take new interactions of old and new users; the first call fits.

        Parameters
        ----------
        X : table of users × items, or :func:`unweave.ratings`, with the items of the model
            Counts of a pair that was seen before are added to it.
        users : list of ids, optional
            Whose rows these are, by id when ids are known, by position otherwise; what is not known is new. Tables
            that bring ids (``ratings``) need none. Without any, all rows are new users.

        Rows that changed are solved with the items as they are, then the items get one half-step on everything seen so
        far, then all users theirs: one sweep instead of a fit.
        """
        if not hasattr(self, "components_"):
            return self.fit(X)
        with single_blas():
            take_batch(self, X, users)
        return self

    # -- using ---------------------------------------------------------------------------------------------------

    def _reopen(self, X) -> Interactions:
        table = interactions(self, X, reset=False)
        return self._interactions(table.astype(self.components_.dtype, copy=False))

    def _transform(self, X, weights=None):
        check_is_fitted(self)
        with single_blas():
            return self._reopen(X).codes(np.ascontiguousarray(self.components_.T), self._exact)[0]

    def score(self, X, y=None) -> float:
        """Minus the mean weighted squared error of an entry, after the best codes for X: higher is better."""
        check_is_fitted(self)
        with single_blas():
            objective = self._reopen(X)
            codes, values = objective.codes(np.ascontiguousarray(self.components_.T), self._exact)
            loss = float(values.sum()) - objective.cost(codes, objective.by_row)
        return -2 * loss / max(1, objective.shape[0] * objective.shape[1])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.positive_only = True
        return tags
