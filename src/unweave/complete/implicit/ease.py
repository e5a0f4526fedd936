"""Recommend from what people bought, played or clicked: weights between items, learned at once, without factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.complete.implicit.batch import merged
from unweave.complete.implicit.held_out_pairs import HeldOut, held_out_generator
from unweave.complete.implicit.item_weights import SolveWeights, choose_strength, ones, users_per_pair
from unweave.complete.implicit.scheme import interactions
from unweave.complete.recommending.answers import Recommends
from unweave.data.arguments import number
from unweave.data.table import joined_blocks
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import Run, fitting
from unweave.losses.squared import Squared
from unweave.objectives.opening import Learned
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate, bounded
from unweave.solve.plan import Plan

MOST_ITEMS = 20_000  # a table of items × items in float64 has 3.2 GB then
_USUAL = 4.0  # times the users of a pair's item: where nothing can be held out
_BLOCK = 256  # rows whose residual is made dense together


class EASE(Recommends, BaseFactorization):
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
        As in :class:`unweave.complete.recommending.answers.Recommends`.

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

    _takes_cluster = False

    # One closed form: there is nothing to limit, and nothing to resume.
    max_iter, tol, checkpoint = 1, 0.0, None

    codes_: Any

    def __init__(self, ridge="auto", *, missing="zeros", random_state=None, callback=None, verbose=False):
        self.ridge = ridge
        self.missing = missing
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    def _fit(self, X, weights=None):
        with fitting(self):
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
            return _USUAL * users_per_pair(table)
        ridge, self.ridge_path_ = choose_strength(held)
        return ridge

    def _settle(self, table: sp.csr_array, ridge: float) -> None:
        """Solve for the weights under a ridge, and keep what follows."""
        run = Run(self, table)
        self.ridge_, self.codes_ = ridge, ones(table, table.dtype)
        state = run.through(SolveWeights(self.codes_, ridge), self._plan_in_words(table))
        self.components_ = state["components"]
        self._learned = Learned(Squared(), {}, False)
        self.n_components_ = self._n_features_out = table.shape[1]
        self._average = np.asarray(self.codes_.mean(axis=0)).astype(table.dtype)
        certificate = self._certified(self.codes_, state["bound"])
        run.close(certificate.objective, certificate)

    def _certified(self, codes: sp.csr_array, bound: float) -> Certificate:
        """How far the weights are from a bound that no weights can be below."""
        scale = 0.5 * codes.nnz
        return bounded("duality", bound, self._objective(codes), scale, True, 1e-9 * scale)

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
            _, bound = SolveWeights(codes, self.ridge_).step({})
            self.certificate_ = self._certified(codes, bound)
        return self.certificate_

    def partial_fit(self, X, y=None, *, users=None):
        """Take new interactions of old and new users; the first call fits.

        Arguments as in :meth:`ImplicitALS.partial_fit`. The weights are solved anew on everything seen so far, under
        the ridge of the first fit.
        """
        if not hasattr(self, "components_"):
            return self.fit(X)
        with fitting(self):
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
        U = joined_blocks(U)
        if U.shape[1] != len(self.components_):
            raise ValueError(f"U must have {len(self.components_)} columns, one for each item, got {U.shape}")
        return np.asarray(U @ self.components_)

    def score(self, X, y=None) -> float:
        """Minus the mean squared error of an entry of X, each row predicted from itself: higher is better."""
        check_is_fitted(self)
        codes = self._ones_of(X)
        return -sum(self._residuals(codes)) / max(1, codes.shape[0] * codes.shape[1])

    # -- one user ------------------------------------------------------------------------------------------------
    # A user without any interaction has a row of zeros, and every item the score 0. `recommend` and `predict` give such
    # a user the average row of all instead, which ranks by (smoothed) popularity.

    def _blank_code(self):
        return self._average.copy()

    def _codes_at(self, positions):
        return self._filled(self.codes_[positions])

    def _codes_or_blank(self, positions):
        known = positions >= 0
        codes = self.codes_[np.where(known, positions, 0)]
        return self._filled(sp.csr_array(codes if known.all() else sp.diags_array(known.astype(codes.dtype)) @ codes))

    def _codes_of_rows(self, X, seen):
        self._refuse_negative(seen.data)
        kept = seen.copy()
        kept.eliminate_zeros()
        return self._filled(ones(kept, self.components_.dtype))

    def _filled(self, codes: sp.csr_array) -> sp.csr_array:
        """Rows without anything become the average row."""
        blank = (codes.sum(axis=1) == 0).astype(codes.dtype)
        if not blank.any():
            return codes
        return sp.csr_array(codes + sp.csr_array(blank[:, None]) @ sp.csr_array(self._average[None, :]))

    def _item_vectors(self):
        """An item by what predicts it, itself included: otherwise two that always go together would have nothing in
        common."""
        return self.components_.T + np.eye(len(self.components_), dtype=self.components_.dtype)

    def _user_vectors(self, codes):
        return sp.csr_array(codes)

    def _row_code(self, items, values):
        self._refuse_negative(values)
        kept = np.asarray(values) != 0
        if not kept.any():
            return self._blank_code()
        code = np.zeros(len(self.components_), self.components_.dtype)
        code[np.asarray(items)[kept]] = 1
        return code

    def _refuse_negative(self, values) -> None:
        if (np.asarray(values) < 0).any():
            raise ValueError(f"Negative values in data passed to {type(self).__name__}: leave out what was disliked")

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless a model from a file can be worked with."""
        B, n = self.components_, self.n_features_in_
        sound = isinstance(B, np.ndarray) and B.dtype in (np.float32, np.float64) and B.shape == (n, n)
        if not sound or (looked_at and not np.isfinite(B).all()):
            raise ValueError("the weights between items are no square table of numbers")
        for rows in (self.codes_, self.seen_):
            if not isinstance(rows, sp.csr_array) or rows.shape != (self.seen_.shape[0], n):
                raise ValueError("what users have does not fit the items")
        if np.shape(self._average) != (n,):
            raise ValueError("the average user does not fit the items")

    def _influence(self, items, values, item):
        """The score is the sum of the weights of what the user has."""
        has = np.asarray(values) > 0
        column = self.components_[:, item].astype(np.float64)
        if not has.any():
            return np.zeros(len(items)), float(self._average.astype(np.float64) @ column)
        return np.where(has, column[items], 0.0), 0.0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.input_tags.positive_only = True
        return tags
