"""The side of :class:`MatrixCompletion` that draws instead of minimising (``solver="gibbs"``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete import posterior
from unweave.complete.centred import shifted
from unweave.complete.gibbs import Gibbs
from unweave.complete.held_out import observed
from unweave.complete.ids import find, refuse_unknown
from unweave.complete.recommend import Recommends, _paired
from unweave.complete.who import as_list
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import whole
from unweave.penalties import Free
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem

_RANK, SWEEPS = 16, 300


class Sampled(Recommends, BaseFactorization):
    """What differs when a model is a set of draws, kept in ``draws_``; everything else passes through."""

    # Set by the estimator.
    solver: Any
    n_components: Any
    max_iter: Any
    mean_: float
    _rank: int

    @property
    def _draws(self) -> bool:
        return self.solver == "gibbs"

    @property
    def _limits_shape(self) -> bool:
        """The draws that are kept are spread over all sweeps."""
        return self._draws

    @property
    def _ridge_rows(self) -> bool:  # type: ignore[override]
        return not self._draws

    def _gibbs_rank(self) -> tuple[int, float]:
        return _RANK if self.n_components == "auto" else whole(self.n_components, "n_components", 1), 0.0

    def _gibbs_plan(self, objective, problem, rng):
        sweeps = SWEEPS if self.max_iter is None else whole(self.max_iter, "max_iter", 1)
        scheme = Gibbs(observed(objective), self._rank, sweeps, rng)
        reasons = [f"{scheme.kept} draws are kept of {sweeps} sweeps; a prediction is their mean, with its spread"]
        title = "Gibbs sampling (Bayesian matrix factorisation)"
        return Plan(describe(objective, problem), title, "", "", "random", reasons), scheme, scheme.begin()

    def _finish_draws(self, table, state: dict) -> NDArray:
        """Publish the draws that were kept, as factors whose product is the mean prediction."""
        self.draws_ = posterior.kept(state)
        self._full_components = self.components_ = posterior.components(self.draws_, self.mean_, table.dtype)
        self.noise_ = float(np.sqrt(np.mean(1 / self.draws_["alphas"])))
        self.item_bias_ = self.draws_["draws"][:, :, -1].mean(axis=0).astype(table.dtype)
        self.n_components_, self._n_features_out = self._rank, len(self.components_)
        self._sentence = Problem(len(self.components_), self._learned.loss, Free(), Free())
        self.codes_ = self._codes(table)
        self.objective_ = float(table.value(self.codes_, self.components_))
        self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
        self.certificate_ = Certificate("none", 0.0, float("inf"), False, self.objective_)
        return self.codes_

    def _codes(self, objective):
        if not self._draws:
            return super()._codes(objective)
        return posterior.codes(self.draws_, observed(shifted(objective, self.mean_)))

    def _codes_out(self, U):
        return U if self._draws else super()._codes_out(U)

    def _blank_code(self):
        if not self._draws:
            return super()._blank_code()
        S, _, d = self.draws_["draws"].shape
        code = np.zeros((S, d + 1))
        code[:, :d], code[:, d] = self.draws_["means"], 1
        return (code.reshape(-1) / S).astype(self.components_.dtype)

    def _blank_item(self):
        if not self._draws:
            return super()._blank_item()
        S, _, d = self.draws_["draws"].shape
        item = np.zeros((S, d + 1))
        item[:, d - 1], item[:, d] = 1, self.mean_
        return item.reshape(-1).astype(self.components_.dtype)

    def _item_vectors(self):
        return self.components_[self._vector_rows()].T if self._draws else super()._item_vectors()

    def _user_vectors(self, codes):
        return codes[:, self._vector_rows()] if self._draws else super()._user_vectors(codes)

    def _vector_rows(self) -> NDArray:
        """Rows of the components that are vectors, not biases."""
        S, _, d = self.draws_["draws"].shape
        return np.flatnonzero(np.tile(np.arange(d + 1) < d - 1, S))

    def predict_std(self, users, items, *, rows: bool = False):
        """Standard deviation of ratings of pairs: how far the draws disagree, and the noise of a single rating.

        Arguments as in :meth:`predict`; needs ``solver="gibbs"``.
        """
        check_is_fitted(self)
        if not self._draws:
            raise ValueError("only solver='gibbs' gives standard deviations: fit with it")
        codes, user_at, one_user = self._pair_users(users, rows, "error")
        ids = None if rows else self.item_ids_
        listed, one_item = as_list(items, ids, "item")
        item_at = find(listed, ids, self.components_.shape[1], "item")
        refuse_unknown(listed, item_at, "item", "it has no draws")
        user_at, item_at = _paired(user_at, item_at, one_user, one_item)
        out = np.empty(len(user_at))
        for start in range(0, len(out), 4096):
            part = slice(start, start + 4096)
            out[part] = posterior.spread(self.draws_, codes[user_at[part]], self.components_[:, item_at[part]].T)
        return float(out[0]) if one_user and one_item else out
