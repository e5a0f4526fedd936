"""Weights between items, learned at once: recommendations from purchases, plays or clicks without factors."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.complete.ease_users import EaseUsers
from unweave.complete.ease_weights import choose_strength, crowd, inverse, ones, together, weights
from unweave.complete.found_pairs import HeldOut, held_out_generator
from unweave.complete.implicit_batch import merged
from unweave.complete.implicit_scheme import interactions
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import make_loop, number
from unweave.losses.squared import Squared
from unweave.objectives.opening import Learned
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate, bounded
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan

MOST_ITEMS = 20_000  # a table of items × items in float64 has 3.2 GB then
_USUAL = 4.0  # times the users of a pair's item: where nothing can be held out
_BLOCK = 256  # rows whose residual is made dense together


class EASE(EaseUsers, BaseFactorization):
    """x_u ≈ x_u·B with diag B = 0: each item predicted from the others that a user has, weights in closed form.

    Minimises ½‖X − X·B‖² + ½λ‖B‖² over the items × items matrix B with zeros on its diagonal, for the table X of zeros
    and ones that says what happened (a stored entry above zero counts 1, whatever its size). With P = (XᵀX + λI)⁻¹ the
    answer is B = I − P·diag(1/diag P). There is nothing to tune but λ, and no rank: on tables with few items and many
    users it is hard to beat. It inverts items × items, so it is for thousands of items, not millions;
    :class:`ImplicitALS` takes any number.

    The codes of a user are the user's own row, the components are B, so the score is
    ``codes_[user] @ components_[:, item]`` as for every recommender.

    Parameters
    ----------
    ridge : float or "auto", default="auto"
        λ, in users. "auto" takes the one that finds a tenth of the pairs, held out, best (NDCG@10), among the half of
        the items that most users have; ``ridge_path_`` has what was tried.
    missing : "zeros"
        There is no other meaning of what is not stored; NaN is refused.
    random_state : int, generator or None
        Which pairs are held out.
    callback, verbose
        As in :class:`unweave.Factorization`; the fit is one step.

    Attributes
    ----------
    components_ : array (n_items, n_items)
        B.
    codes_ : CSR array (n_users, n_items)
        What each user has, as ones.
    ridge_ : float
        The λ used.
    ridge_path_ : dict
        NDCG@10 on held-out pairs of every λ tried; empty where λ was given, or there were too few pairs.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the problem is convex, so the certificate is a bound.
    seen_, user_ids_, item_ids_
        As in :class:`unweave.complete.recommend.Recommends`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import EASE
    >>> X = np.array([[1.0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    >>> EASE().fit(X).recommend(0, n=1)[0]
    array([2])

    References
    ----------
    Steck (2019), Embarrassingly shallow autoencoders for sparse data.
    """

    # One closed form: there is nothing to limit, and nothing to resume.
    max_iter, tol, checkpoint = 1, 0.0, None

    def __init__(self, ridge="auto", *, missing="zeros", random_state=None, callback=None, verbose=False):
        self.ridge = ridge
        self.missing = missing
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    def _fit(self, X, weights=None):
        if not isinstance(self.missing, str) or self.missing != "zeros":
            raise ValueError(
                f"missing={self.missing!r}: only 'zeros' has a meaning here, what is not stored did not happen"
            )
        table = interactions(self, X, reset=True)
        if not table.nnz:
            raise ValueError("X has no interaction: nothing above zero is stored in it")
        if table.shape[1] > MOST_ITEMS:
            raise ValueError(
                f"X has {table.shape[1]} items, and EASE inverts a table of items × items: beyond {MOST_ITEMS} it "
                "would not fit; use ImplicitALS, or leave out the items that few users have"
            )
        self._settle(table, self._strength(table))
        self._remember(X, table)
        return self.codes_

    def _strength(self, table: sp.csr_array) -> float:
        self.ridge_path_: dict[float, float] = {}
        if not isinstance(self.ridge, str):
            ridge = number(self.ridge, "ridge")
            if ridge == 0:
                raise ValueError("ridge must be above 0: items that nobody has, or the same users, have no weights")
            return ridge
        if self.ridge != "auto":
            raise ValueError(f"ridge={self.ridge!r} must be a number or 'auto'")
        held = HeldOut.of(table, held_out_generator(self.random_state))
        held = None if held is None else held.among(int(np.clip(table.shape[1] // 2, 300, 1500)))
        if held is None:
            return _USUAL * crowd(table)
        ridge, self.ridge_path_ = choose_strength(held)
        return ridge

    def _settle(self, table: sp.csr_array, ridge: float) -> None:
        """Solve for the weights under a ridge, and keep what follows."""
        self.ridge_, self.codes_ = ridge, ones(table, table.dtype)
        loop = make_loop(self, table.data, table.indices, table.indptr)
        state, self.history_ = iterate(self._solve, {}, loop)
        self.components_, bound = state["components"], state["bound"]
        self._learned, self.n_iter_ = Learned(Squared(), {}, False), 1
        self.n_components_ = self._n_features_out = table.shape[1]
        self._average = np.asarray(self.codes_.mean(axis=0)).astype(table.dtype)
        self.objective_ = self._objective(self.codes_)
        scale = 0.5 * table.nnz
        self.certificate_ = bounded("duality", bound, self.objective_, scale, True, 1e-9 * scale)
        self.plan_ = self._plan_in_words(table)

    def _solve(self, state: dict) -> tuple[dict, float]:
        """The whole fit: B, and what no B can be below, ½ Σ_j (1/P_jj − λ), which is what the best B has."""
        P = inverse(together(self.codes_, np.float64), self.ridge_)
        bound = 0.5 * float(np.sum(1 / np.diag(P) - self.ridge_))
        return {"components": weights(P).astype(self.codes_.dtype), "bound": bound}, bound

    def _plan_in_words(self, table: sp.csr_array) -> Plan:
        n, m = table.shape
        text = f"{n}×{m} interactions ({table.nnz} stored, as ones) ≈ themselves · {m}×{m} weights, zero diagonal "
        why = [f"convex: weights by the inverse of items × items under the ridge {self.ridge_:.4g}"]
        if self.ridge_path_:
            why.append(f"that ridge found held-out pairs best: NDCG@10 {max(self.ridge_path_.values()):.4f}")
        return Plan(text + "(ridge), squared loss", "closed form", "", "", "none needed", why)

    def _objective(self, codes: sp.csr_array) -> float:
        """½‖X − X·B‖² + ½λ‖B‖², a block of rows at a time."""
        loss = sum(self._residuals(codes))
        return 0.5 * loss + 0.5 * self.ridge_ * float(np.sum(self.components_**2, dtype=np.float64))

    def _residuals(self, codes: sp.csr_array) -> list[float]:
        def block(start: int, stop: int) -> float:
            left = codes[start:stop].toarray() - codes[start:stop] @ self.components_
            return float(np.sum(left**2, dtype=np.float64))

        return parallel.run(block, codes.shape[0], _BLOCK)

    def certify(self, X) -> Certificate:
        """How far the weights are from the best ones for the table that the model was fitted to."""
        check_is_fitted(self)
        with single_blas():
            codes = self._ones_of(X)
            P = inverse(together(codes, np.float64), self.ridge_)
            bound, scale = 0.5 * float(np.sum(1 / np.diag(P) - self.ridge_)), 0.5 * codes.nnz
            self.certificate_ = bounded("duality", bound, self._objective(codes), scale, True, 1e-9 * scale)
        return self.certificate_

    def partial_fit(self, X, y=None, *, users=None):
        """Take new interactions of old and new users; the first call fits.

        Arguments as in :meth:`ImplicitALS.partial_fit`. The weights are solved anew on everything seen so far, under
        the ridge of the first fit.
        """
        if not hasattr(self, "components_"):
            return self.fit(X)
        with single_blas():
            seen, ids = merged(self, X, users)
            self._settle(seen, self.ridge_)
            self.seen_, self.user_ids_ = seen, ids
        return self

    # -- using ---------------------------------------------------------------------------------------------------

    def _ones_of(self, X) -> sp.csr_array:
        return ones(interactions(self, X, reset=False), self.components_.dtype)

    def transform(self, X) -> sp.csr_array:
        """Codes of X: what each row has, as ones."""
        check_is_fitted(self)
        return self._ones_of(X)

    def inverse_transform(self, U, *, linear: bool = False) -> NDArray:
        """Scores of every item for codes U; they are linear in any case."""
        check_is_fitted(self)
        if U.shape[1] != len(self.components_):
            raise ValueError(f"U must have {len(self.components_)} columns, one for each item, got {U.shape}")
        return np.asarray(U @ self.components_)

    def score(self, X, y=None) -> float:
        """Minus the mean squared error of an entry of X, each row predicted from itself: higher is better."""
        check_is_fitted(self)
        codes = self._ones_of(X)
        return -sum(self._residuals(codes)) / max(1, codes.shape[0] * codes.shape[1])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.positive_only = True
        return tags
