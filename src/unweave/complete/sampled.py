"""The side of :class:`MatrixCompletion` that draws instead of minimising (``solver="gibbs"``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete import posterior
from unweave.complete.counted import Strengths
from unweave.complete.gibbs import Gibbs
from unweave.complete.gibbs_sides import DrawnSide, item_record, user_record
from unweave.complete.held_out import observed
from unweave.complete.recommending.answers import Recommends, paired
from unweave.complete.recommending.asked import as_list
from unweave.complete.recommending.ids import find, refuse_unknown
from unweave.complete.units import Units
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import whole
from unweave.linalg.entries import predict_entries
from unweave.objectives import Observed
from unweave.penalties import Free
from unweave.solve.alternate import left_half_step
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem

_RANK, SWEEPS = 16, 300
BIASES_ALONE = ["biases alone: vectors did not predict held-out ratings clearly better, so there are none"]


class Sampled(Recommends, BaseFactorization):
    """What differs when a model is a set of draws, kept in ``draws_``; everything else passes through."""

    # Set by the estimator.
    solver: Any
    n_components: Any
    max_iter: Any
    mean_: float
    user_features_: dict
    item_features_: dict
    _reasons: Any
    _columns: tuple
    _sides: dict[str, DrawnSide] = {}  # of a fit under way
    ridge_: float
    _power: Any
    spread_: float = 1.0  # that of files written before there was one,
    bias_ridge_: float | None = None  # when biases had the ridge of the vectors
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

    def _gibbs_rank(self) -> int:
        return _RANK if self.n_components == "auto" else whole(self.n_components, "n_components", 1)

    def _gibbs_plan(self, objective, problem, rng):
        sweeps = SWEEPS if self.max_iter is None else whole(self.max_iter, "max_iter", 1)
        scheme = Gibbs(observed(objective), self._rank, sweeps, rng, self._units.square, self._sides)
        reasons = [
            *(BIASES_ALONE if self._rank == 0 else []),
            *self._reasons(),
            f"{scheme.kept} draws are kept of {sweeps} sweeps; a prediction is their mean, with its spread",
        ]
        title = "Gibbs sampling (Bayesian matrix factorisation)"
        return Plan(describe(objective, problem), title, "", "", "random", reasons), scheme, scheme.begin()

    @property
    def _units(self) -> Units:
        return Units(self.mean_, self.spread_, self._strengths().held)

    def _strengths(self) -> Strengths:
        biases = self.ridge_ if self.bias_ridge_ is None else self.bias_ridge_
        return Strengths(self.ridge_, biases, 0.0 if self._draws else self._power())

    def _standard_components(self) -> NDArray:
        """The components in the units of the standardised table, for codes that end in a one."""
        return self._units.offsets_in(self._full_components)

    def _finish_draws(self, table, state: dict) -> NDArray:
        """Publish the draws that were kept, as factors whose product is the mean prediction."""
        self.draws_ = posterior.kept(state)
        self._full_components = self.components_ = posterior.components(self.draws_, self._units, table.dtype)
        self.noise_ = self.spread_ * float(np.sqrt(np.mean(1 / self.draws_["alphas"])))
        self.item_bias_ = (self.spread_ * self.draws_["draws"][:, :, -1].mean(axis=0)).astype(table.dtype)
        self.n_components_, self._n_features_out = self._rank, len(self.components_)
        self._sentence = Problem(len(self.components_), self._learned.loss, Free(), Free())
        self.codes_ = posterior.codes(self.draws_, observed(table), self._units, self._publish_maps())
        self.objective_ = self._units.square * self._mean_loss(observed(table))
        self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
        self.certificate_ = Certificate("none", 0.0, float("inf"), False, self.objective_)
        return self.codes_

    def _publish_maps(self) -> NDArray | None:
        """Keep what newcomers with features need; what the features of the rows of the fit add to their prior means."""
        columns = dict(zip(("users", "items"), self._columns, strict=True))
        maps = {name: self.draws_.pop(f"{name}_maps") for name in self._sides}
        if "items" in maps:
            means = self.draws_.pop("item_means")
            side = self._sides["items"]
            self.item_features_ = item_record(side, maps["items"], means, self._units, columns["items"])
        if "users" not in maps:
            return None
        side = self._sides["users"]
        self.user_features_ = user_record(side, maps["users"], self._units, columns["users"])
        S, p, d = maps["users"].shape
        return (side.F @ maps["users"].transpose(1, 0, 2).reshape(p, -1)).reshape(-1, S, d)

    def _mean_loss(self, table: Observed) -> float:
        """½ Σ (x − mean prediction)² over the entries of the standardised training table."""
        t = table.by_row
        predicted = predict_entries(t.indptr, t.indices, np.ascontiguousarray(self.components_.T), self.codes_)
        off = t.data - (predicted.astype(np.float64) - self.mean_) / self.spread_
        return 0.5 * float(off @ off)

    def _codes(self, objective):
        standard = self._units.inward(objective)
        if self._draws:
            return posterior.codes(self.draws_, observed(standard), self._units)
        half = self._code_half(standard)
        Z = self._standard_components()
        return self._units.codes_out(left_half_step(standard, self._sentence, self._left, Z, half=half))

    def _codes_out(self, U):
        return U if self._draws else super()._codes_out(U)

    def _blank_code(self):
        if not self._draws:
            return super()._blank_code()
        S, _, d = self.draws_["draws"].shape
        code = np.zeros((S, d + 1))
        code[:, :d], code[:, d] = self.draws_["means"] * self._units.of_free(d + 1), 1
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
        user_at, item_at = paired(user_at, item_at, one_user, one_item)
        out = np.empty(len(user_at))
        for start in range(0, len(out), 4096):
            part = slice(start, start + 4096)
            Z = self.components_[:, item_at[part]].T
            out[part] = posterior.spread(self.noise_, len(self.draws_["alphas"]), codes[user_at[part]], Z)
        return float(out[0]) if one_user and one_item else out
