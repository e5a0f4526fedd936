"""Recommend from what people bought, played or clicked: weighted least squares with factors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete.implicit.batch import take_batch
from unweave.complete.implicit.held_out_pairs import held_out_generator
from unweave.complete.implicit.in_blocks import (
    InteractionBlocks,
    SweepBlocks,
    certified,
    codes_of_blocks,
    loss_of_rows,
    losses_of_blocks,
    open_interactions,
)
from unweave.complete.implicit.scheme import (
    TITLES,
    AlternateImplicit,
    Interactions,
    choose_solver,
    exact_method,
    interactions,
)
from unweave.complete.implicit.search import Choice, choose_ridge, compare_ease
from unweave.complete.recommending.answers import Recommends
from unweave.complete.recommending.ridge import POWERS
from unweave.data.arguments import number, whole
from unweave.data.table import is_blocks
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import Run, fitting
from unweave.linalg.products import gram
from unweave.losses.squared import Squared
from unweave.objectives.opening import Learned
from unweave.parallel import single_blas
from unweave.penalties import Ridge
from unweave.scale.door import as_blocks
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem


class ImplicitALS(Recommends, BaseFactorization):
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
        λ. "auto" takes the one that finds a tenth of the pairs, held out, best, judged by lists of 50 items. Each λ
        tried goes on from where a weaker one ended, and the fit from there too; of many users some are asked.
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
        Sweeps. Those that the items had in the search for a ridge count, up to half of them.
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
        the top of a parabola through the best three (in lists of 50), less what the pairs held out will add.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the certificate is the KKT residual.
    seen_, user_ids_, item_ids_
        As in :class:`unweave.complete.recommending.answers.Recommends`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.complete.implicit.als import ImplicitALS
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

    def _cost_family(self, complete):
        return "implicit"

    def _fit(self, X, weights=None):
        with fitting(self):
            self._check_words()
            X = as_blocks(X)
            if is_blocks(X):
                return self._fit_blocks(X)
            table = interactions(self, X, reset=True)
            if not table.nnz:
                raise ValueError("X has no interaction: nothing above zero is stored in it")
            objective, k = self._interactions(table, 0.0), self._width(table.shape)
            choice = self._choice(objective, k)
            run = Run(self, objective, max_iter=self._sweeps_left(choice.sweeps))
            self.ridge_ = objective.ridge = choice.ridge
            self.ridge_path_ = choice.path
            solver, why = choose_solver(objective.most, k, self.solver)
            scheme = AlternateImplicit(objective, solver, k, choice.items)
            state = run.through(scheme, self._plan_in_words(objective, k, solver, [why, *choice.in_words()]))
            if choice.search is not None:
                self.plan_.reasons += compare_ease(choice.search, objective, self.n_iter_)
            self._know(objective, k, scheme.left, state["components"])
            certificate = self._settle(objective)
            run.close(certificate.objective, certificate)
            self._remember(X, table)
        return self.codes_

    def _fit_blocks(self, X) -> None:
        """Fit to blocks of users, from both sides; no codes are kept."""
        table = self._blocks(X, reset=True)
        if not table.nnz:
            raise ValueError("X has no interaction: nothing above zero is stored in it")
        k = self._width(table.shape)
        choice = (
            table.choose_ridge(k, self.random_state)
            if isinstance(self.ridge, str)
            else Choice(number(self.ridge, "ridge"))
        )
        run = Run(self, table.sides.rows.digest, max_iter=self._sweeps_left(choice.sweeps))
        self.ridge_ = table.ridge = choice.ridge
        self.ridge_path_ = choice.path
        solver, why = choose_solver(table.most, k, self.solver)
        scheme = SweepBlocks(table, solver, k, choice.items)
        said = "the table comes in blocks: a sweep reads those of the users once and those of the items once"
        state = run.through(scheme, self._plan_in_words(table, k, solver, [why, said, *choice.in_words()]))
        self._know(table, k, scheme.left, state["components"])
        items = np.ascontiguousarray(self.components_.T)
        codes, certificate = certified(scheme, items, self._exact)
        self.codes_ = None
        self._average = (codes / max(table.sides.rows.notes["people"], 1)).astype(items.dtype)
        run.close(certificate.objective, certificate)
        self._remember(X, sp.csr_array(table.shape, dtype=table.dtype))

    def _blocks(self, X, *, reset: bool) -> InteractionBlocks:
        return InteractionBlocks(open_interactions(self, X, reset=reset), self._confidence(), POWERS[self.weighting])

    def _choice(self, objective: Interactions, k: int) -> Choice:
        """The ridge: as given, or the one that finds held-out pairs best."""
        if isinstance(self.ridge, str):
            return choose_ridge(objective, k, held_out_generator(self.random_state))
        return Choice(number(self.ridge, "ridge"))

    def _sweeps_left(self, had: int) -> int:
        """Most sweeps of a fit whose first items have had some: at least half of all."""
        most = whole(self.max_iter, "max_iter", 1)
        return max(most - had, (most + 1) // 2)

    def _check_words(self) -> None:
        if not isinstance(self.missing, str) or self.missing != "zeros":
            raise ValueError(
                f"missing={self.missing!r}: only 'zeros' has a meaning here, what is not stored did not happen"
            )
        if not isinstance(self.weighting, str) or self.weighting not in POWERS:
            raise ValueError(f"weighting={self.weighting!r} is not known; use one of {', '.join(POWERS)}")
        if isinstance(self.ridge, str) and self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} must be a number or 'auto'")

    def _interactions(self, table, ridge: float) -> Interactions:
        return Interactions(table, self._confidence(), ridge, POWERS[self.weighting])

    def _confidence(self) -> float:
        alpha = number(self.alpha, "alpha")
        if alpha == 0:
            raise ValueError("alpha must be above 0: it is how much more an interaction counts than an absence")
        return alpha

    def _width(self, shape) -> int:
        """The number of components: beyond the longer side further ones would be zero."""
        return min(whole(self.n_components, "n_components", 1), max(shape))

    def _plan_in_words(
        self, objective: Interactions | InteractionBlocks, k: int, solver: str, reasons: list[str]
    ) -> Plan:
        n, m = objective.shape
        text = f"{n}×{m} interactions ({objective.nnz} stored, confidence up to {objective.most:.3g}) ≈ codes (ridge) "
        text += f"· {k} components (ridge), squared loss over all entries"
        ridge = f"the ridge of a row with n entries is {self.ridge_:.3g}·n^{objective.power:g}"
        first, *others = reasons
        title = TITLES[solver]
        return Plan(text, "alternating half-steps", title, title, "random", [first, ridge, *others])

    def _know(self, objective: Interactions | InteractionBlocks, k: int, left, components: NDArray) -> None:
        """Keep components, and what `transform` has to know."""
        self._learned, self._left = Learned(Squared(), {}, False), left
        self._exact = exact_method(objective.most, k)
        ridge = Ridge(strength=self.ridge_)
        self._sentence = Problem(k, self._learned.loss, ridge, ridge)
        self._keep_items(components)

    def _keep_items(self, components: NDArray) -> None:
        self._full_components = components
        self._publish(self._sentence, components)
        self._gram = gram(np.ascontiguousarray(components.T), dtype=np.float64)

    def _settle(self, objective: Interactions) -> Certificate:
        """Keep the exact codes given the components, and what follows from them."""
        items = np.ascontiguousarray(self.components_.T)
        self.codes_, certificate = self._certified(objective, items)
        people = np.count_nonzero(np.diff(objective.X.indptr))
        self._average = (self.codes_.sum(axis=0, dtype=np.float64) / max(people, 1)).astype(items.dtype)
        return certificate

    def _certified(self, objective: Interactions, items: NDArray) -> tuple[NDArray, Certificate]:
        """Exact codes given the items, and how far from stationary both are together."""
        codes, values = objective.codes(items, self._exact)
        value = float(values.sum()) + objective.cost(items, objective.by_column)
        return codes, Certificate("kkt", 0.0, objective.residual(codes, items), True, value)

    def certify(self, X) -> Certificate:
        """The KKT residual on the table the model was fitted to (the problem is not convex, so there is no bound)."""
        check_is_fitted(self)
        with single_blas():
            items = np.ascontiguousarray(self.components_.T)
            if is_blocks(X):
                table = self._blocks(X, reset=False)
                table.ridge = self.ridge_
                _, self.certificate_ = certified(SweepBlocks(table, self._exact, len(items.T)), items, self._exact)
            else:
                _, self.certificate_ = self._certified(self._reopen(X), items)
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
        if self.codes_ is None:
            raise ValueError(
                "partial_fit goes on from the interactions that a fit has seen, and a fit in blocks keeps none: fit "
                "again with the new blocks as well"
            )
        with fitting(self):
            take_batch(self, X, users)
        return self

    # -- using ---------------------------------------------------------------------------------------------------

    def _reopen(self, X) -> Interactions:
        table = interactions(self, X, reset=False)
        return self._interactions(table.astype(self.components_.dtype, copy=False), self.ridge_)

    def _transform(self, X, weights=None):
        check_is_fitted(self)
        with single_blas():
            X = as_blocks(X)
            if is_blocks(X):
                return np.concatenate(list(codes_of_blocks(self, X)))
            return self._reopen(X).codes(np.ascontiguousarray(self.components_.T), self._exact)[0]

    def score(self, X, y=None) -> float:
        """Minus the mean weighted squared error of an entry, after the best codes for X: higher is better."""
        check_is_fitted(self)
        with single_blas():
            if is_blocks(X):
                loss, entries = np.sum(list(losses_of_blocks(self, X)), axis=0)
            else:
                objective = self._reopen(X)
                loss, entries = loss_of_rows(objective, np.ascontiguousarray(self.components_.T), self._exact)
        return -2 * float(loss) / max(1, int(entries))

    # -- one user ------------------------------------------------------------------------------------------------
    # A user without any interaction has the code 0 by least squares, and with it every item the score 0. `recommend`
    # and `predict` give such a user the average code of all others instead: the average score of an item over the
    # users, which ranks by (smoothed) popularity.

    def _blank_code(self):
        return self._average.copy()

    def _codes_at(self, positions):
        if self.codes_ is None:
            return super()._codes_at(positions)  # which says so
        blank = self.seen_.indptr[positions + 1] == self.seen_.indptr[positions]
        codes = super()._codes_at(positions)
        return np.where(blank[:, None], self._average, codes) if blank.any() else codes

    def _row_ridge(self, n_ratings: int) -> float:
        return self.ridge_ * max(n_ratings, 1) ** POWERS[self.weighting]

    def _row_system(self, items: NDArray, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """(A, H, c): the row's code is A⁻¹ Σ_j c_j h_j over its entries."""
        if (np.asarray(values) < 0).any():
            raise ValueError("Negative values in data passed to ImplicitALS: leave out what was disliked")
        H = self.components_[:, items].T.astype(np.float64)
        a = float(self.alpha) * np.asarray(values, np.float64)
        return self._gram + self._row_ridge(len(items)) * np.eye(len(self._gram)) + (H.T * a) @ H, H, 1 + a

    def _row_code(self, items, values):
        kept = np.asarray(values) != 0
        if not kept.any():
            return self._blank_code()
        A, H, c = self._row_system(np.asarray(items)[kept], np.asarray(values)[kept])
        return np.linalg.lstsq(A, H.T @ c, rcond=None)[0].astype(self.components_.dtype)

    def _influence(self, items, values, item):
        """Hu, Koren and Volinsky (2008), section 5: the score is Σ_j z'A⁻¹h_j·c_j."""
        if not np.any(values):
            return np.zeros(len(items)), float(self._average.astype(np.float64) @ self.components_[:, item])
        A, H, c = self._row_system(items, values)
        pull = np.linalg.lstsq(A, self.components_[:, item].astype(np.float64), rcond=None)[0]
        return (H @ pull) * c * (np.asarray(values) > 0), 0.0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.positive_only = True
        return tags
