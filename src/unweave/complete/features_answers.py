"""Answers of a model that was fitted with times or features: at a time, and for whoever has features but no ratings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.complete import posterior
from unweave.complete.counted import counted_half
from unweave.complete.drift import Calendar, Drift, drift_at
from unweave.complete.drift_first import less_levels
from unweave.complete.drift_times import entry_times, pair_times
from unweave.complete.features import row_of, rows_for, same_width, table_of
from unweave.complete.features_guided import Less
from unweave.complete.features_join import ids_of
from unweave.complete.features_side import Towards, from_features
from unweave.complete.gibbs_sides import shifts
from unweave.complete.held_out import observed
from unweave.complete.recommending.answers import paired
from unweave.complete.recommending.asked import NewUser, aligned, as_list, is_table, named, read_ratings
from unweave.complete.recommending.ids import find, refuse_unknown
from unweave.complete.sampled import Sampled
from unweave.factorization.door import reopen_table
from unweave.judge.matching import matched
from unweave.linalg.entries import predict_entries
from unweave.linalg.scores import pair_scores
from unweave.objectives import Observed
from unweave.parallel import single_blas
from unweave.solve.alternate import left_half_step
from unweave.solve.warn import warn_user


class Informed(Sampled):
    """Predicting with drift and features; a model without them answers as any recommender."""

    missing: Any
    drift_: dict
    user_features_: dict
    item_features_: dict
    _towards: NDArray | float = 0.0

    def predict(
        self,
        users,
        items=None,
        *,
        rows=False,
        unknown="error",
        clip=False,
        timestamps=None,
        user_features=None,
        item_features=None,
    ):
        """Ratings of pairs, ``predict(users, items)``; of a dense table all, as :meth:`complete` gives them.

        Parameters
        ----------
        users, items, rows, unknown
            As for every recommender: ids (positions with ``rows=True``), or a dense table; an unknown id is an error,
            or with ``unknown="mean"`` predicted from the mean and the bias of the other side.
        clip : bool
            Keep predictions within the range of the ratings of the fit.
        timestamps : one or one a pair, optional
            When the ratings are asked for, for a model fitted with timestamps. Without it a prediction is for the
            average time of the ratings of the user and of the item. Times before the first rating or after the last
            fall into the first or last stretch of an item's drift.
        user_features, item_features : optional
            One row for each of `users` or of `items` (an array, a list of dicts, a frame, or Features by id), for those
            who were not there in ``fit``; who was there is predicted from what was learned.
        """
        if timestamps is None and user_features is None and item_features is None:
            scores = super().predict(users, items, rows=rows, unknown=unknown)
        else:
            scores = self._informed(users, items, rows, unknown, timestamps, user_features, item_features)
        return self._in_range(scores) if clip else scores

    def complete(self, X, *, clip: bool = False) -> NDArray:
        """The whole table: the prediction for every entry, the known ones included, each row from its own entries.

        Parameters
        ----------
        X : table of ratings, dense or sparse, or :class:`Ratings`
        clip : bool
            Keep predictions within the range of the ratings of the fit.

        Returns
        -------
        array (n_rows, n_items), dense
        """
        scores = super().complete(X)
        return self._in_range(scores) if clip else scores

    def _in_range(self, scores):
        """Scores no lower and no higher than any rating of the fit."""
        kept = np.clip(scores, self.seen_.data.min(), self.seen_.data.max())
        return float(kept) if np.ndim(kept) == 0 else kept

    def _informed(self, users, items, rows: bool, unknown: str, timestamps, user_features, item_features):
        """Predictions of pairs at times, or of whoever is known by features alone."""
        check_is_fitted(self)
        if items is None:
            raise TypeError("timestamps and features go with pairs: predict(users, items, ...)")
        if user_features is not None or item_features is not None:
            scores = self._featured(users, items, rows, user_features, item_features)
        else:
            scores = np.asarray(super().predict(users, items, rows=rows, unknown=unknown))
        if timestamps is None:
            return float(scores) if np.ndim(scores) == 0 else scores
        if not hasattr(self, "drift_"):
            raise ValueError("the model was fitted without timestamps: it knows of no drift; leave timestamps out")
        user_at, one_user = self._places(users, "user", rows)
        item_at, one_item = self._places(items, "item", rows)
        user_at, item_at = paired(user_at, item_at, one_user, one_item)
        times = pair_times(timestamps, len(user_at), self.drift_["dates"])
        timed = np.reshape(scores, -1) + drift_at(self.drift_, user_at, item_at, times)
        return float(timed[0]) if one_user and one_item and np.ndim(timestamps) == 0 else timed

    def score(self, X, y=None) -> float:
        """Minus the mean loss of an observed entry, after the best codes for X: higher is better.

        Ratings with ids are matched with the items of the fit; a warning counts those of items that it did not have.
        """
        check_is_fitted(self)
        if is_table(X) and self.item_ids_ is not None:
            found = matched(X, None, list(self.item_ids_))
            if found.ratings:
                warn_user(found.said("the model"))
            X = named(self, aligned(self, found.table))
        return super().score(X)

    def fold_in(self, ratings, *, rows: bool = False, unknown: str = "error", features=None) -> NewUser:
        """A new user, from ratings and features and without a refit; `recommend`, `predict` and `explain` take it.

        Parameters
        ----------
        ratings, rows, unknown
            As for every recommender; no ratings at all (``{}``) are allowed.
        features : sequence of numbers, or dict of column → value, optional
            Of the user, as in ``fit``; without them the user is an average one before the ratings.
        """
        check_is_fitted(self)
        if features is None:
            return super().fold_in(ratings, rows=rows, unknown=unknown)
        prior = self._prior("user", row_of(features, self._record("user"), "user"))
        items, values = read_ratings(self, ratings, rows, unknown)
        with single_blas():
            return NewUser(self._code_about(prior, items, values), items, values)

    def transform(self, X, *, timestamps=None, user_features=None):
        """Codes of X: the left half-step with the components fixed, each row on its own.

        With the times and features that ``fit`` had, the codes are those of ``fit``; without them ratings count as
        given at the average time, and rows as those of average users.
        """
        check_is_fitted(self)
        if timestamps is None and not hasattr(self, "user_features_") and user_features is None:
            return super().transform(X)
        X = named(self, aligned(self, X)) if is_table(X) else X
        with single_blas():
            table = observed(reopen_table(self, X, self.missing, self._learned))
            if self._draws:
                table = observed(self._units.inward(table))
                shift = self._shift(user_features, X, table)
                table = table if timestamps is None else self._undrifted(X, timestamps, table)
                return posterior.codes(self.draws_, table, self._units, shift)
            self._towards = self._pull(user_features, X, table)
            try:
                table = observed(self._units.inward(table))
                table = table if timestamps is None else self._undrifted(X, timestamps, table)
                return self._units.codes_out(self._best_codes(table, self._standard_components()))
            finally:
                del self._towards

    # -- details -------------------------------------------------------------------------------------------------

    def _record(self, what: str) -> dict:
        if not hasattr(self, f"{what}_features_"):
            raise ValueError(f"the model was fitted without {what}_features: leave them out here")
        return getattr(self, f"{what}_features_")

    def _free(self, what: str) -> NDArray:
        """Entries of a code (of a component) that are not held."""
        held = self._sentence.held_codes if what == "user" else self._sentence.held_components
        return np.setdiff1d(np.arange(self._sentence.width), held)

    def _prior(self, what: str, row: NDArray | None) -> NDArray:
        """The code, or the components, that features alone suggest, the held entries in place; None: the average."""
        out = super()._blank_code() if what == "user" else super()._blank_item()
        out = out.astype(np.float64)
        if hasattr(self, f"{what}_features_"):
            rows = None if row is None else row[None, :]
            out[self._free(what)] += from_features(self._record(what), rows)[0]
        return out

    def _blank_code(self):
        return self._prior("user", None).astype(self.components_.dtype)

    def _blank_item(self):
        return self._prior("item", None).astype(self.components_.dtype)

    def _row_code(self, items, values):
        if self._draws or not hasattr(self, "user_features_"):
            return super()._row_code(items, values)
        return self._code_about(self._prior("user", None), items, values)

    def _code_about(self, prior: NDArray, items: NDArray, values: NDArray) -> NDArray:
        """The code of a row with these entries, pulled towards `prior`."""
        if not len(items):
            return prior.astype(self.components_.dtype)
        if self._draws:
            row = sp.csr_array((values, items, np.array([0, len(items)])), shape=(1, self.components_.shape[1]))
            table = observed(self._units.inward(Observed(row.astype(self.components_.dtype), self._learned.loss)))
            off = (prior - super()._blank_code())[None, :]
            return posterior.codes(
                self.draws_, table, self._units, shifts(off, len(self.draws_["alphas"]), self._units)
            )[0]
        free = np.zeros_like(prior)
        free[self._free("user")] = prior[self._free("user")]
        off = free @ self.components_[:, items].astype(np.float64)
        return (super()._row_code(items, values - off) + free).astype(self.components_.dtype)

    def _places(self, wanted, what: str, rows: bool) -> tuple[NDArray, bool]:
        """(positions, -1 for the unknown and for new users; whether one was asked for)."""
        if isinstance(wanted, NewUser):
            return np.array([-1]), True
        if is_table(wanted) or (isinstance(wanted, list | tuple) and any(isinstance(w, NewUser) for w in wanted)):
            return np.full(wanted.shape[0] if is_table(wanted) else len(wanted), -1), False
        ids = None if rows else getattr(self, f"{what}_ids_")
        listed, one = as_list(wanted, ids, what)
        return find(listed, ids, self.seen_.shape[0 if what == "user" else 1], what), one

    def _featured(self, users, items, rows: bool, user_features, item_features):
        """Predictions of pairs where whoever is unknown is predicted from features."""
        vectors, ones, at = [], [], []
        for wanted, what, given in ((users, "user", user_features), (items, "item", item_features)):
            listed, one = as_list(wanted, None if rows else getattr(self, f"{what}_ids_"), what)
            found, _ = self._places(wanted, what, rows)
            vectors.append(self._vectors(listed, found, what, given))
            ones.append(one)
            at.append(np.arange(len(found)))
        user_at, item_at = paired(at[0], at[1], *ones)
        Z = np.ascontiguousarray(vectors[1].T)
        scores = self._predicted(pair_scores(vectors[0], Z, user_at, item_at, Z[:, 0]))
        return scores[0] if all(ones) else scores

    def _vectors(self, listed, found: NDArray, what: str, given) -> NDArray:
        blank = self._blank_code() if what == "user" else self._blank_item()
        known = found[found >= 0]
        out = np.tile(blank, (len(found), 1))
        out[found >= 0] = self._codes_at(known) if what == "user" else self.components_[:, known].T
        strangers = np.flatnonzero(found < 0)
        if given is None or not len(strangers):
            refuse_unknown(listed, found, what, f"give {what}_features for it")
            return out
        for at, row in zip(strangers, rows_for(given, listed, strangers, self._record(what), what), strict=True):
            out[at] = self._prior(what, row)
        return out

    def _shift(self, given, X, table: Observed) -> NDArray | None:
        """What features add to the prior means of the rows of a table, in every draw; those of nobody add nothing."""
        if given is None:
            return None
        record = self._record("user")
        rows = same_width(table_of(given, table.shape[0], ids_of(X, "user"), "user")[0], record, "user")
        return shifts(from_features(record, rows), len(self.draws_["alphas"]), self._units)

    def _pull(self, given, X, table: Observed) -> NDArray | float:
        """What the codes of the rows of a table are pulled towards."""
        if given is None and not hasattr(self, "user_features_"):
            return 0.0
        record, n = self._record("user"), table.shape[0]
        rows = None if given is None else table_of(given, n, ids_of(X, "user"), "user")[0]
        pull = from_features(record, rows if rows is None else same_width(rows, record, "user"))
        pull = pull / self._units.of_free(self._sentence.width)
        return np.ascontiguousarray(np.broadcast_to(pull, (n, pull.shape[1])), dtype=table.dtype)

    def _undrifted(self, X, timestamps, table: Observed) -> Observed:
        """The entries of a standardised table less their drift, the slopes of its rows found from these entries."""
        if not hasattr(self, "drift_"):
            raise ValueError("the model was fitted without timestamps: it knows of no drift; leave timestamps out")
        drift, t = self.drift_, table.by_row
        times, _ = entry_times(X, timestamps, table.X)
        rows = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
        calendar = Calendar(drift["first"], drift["span"], drift["edges"])
        mine = Drift(rows, t.indices.astype(np.int64), times, table.shape, calendar, drift["ridge"], drift["scale"])
        if self._draws:
            levels = drift["levels"] / self.spread_
            left_over = less_levels(table, levels, drift["level_ridge"], self._power())
        else:
            Z = self._standard_components()

            def left_over(off):
                return self._left_over(Less(table, off), Z)

        parts = mine.settle(drift["bins"] / self.spread_, left_over)
        return Less(table, mine.at_entries(parts))

    def _influence_of(self, asked, items, values, item):
        """Of a known user the ratings count less their drift, and about what the features suggest."""
        place, Z = int(asked.places[0]), self.components_
        prior = np.zeros(len(Z))
        if hasattr(self, "user_features_"):
            record = self.user_features_
            of_user = record["table"][place] @ record["map"] if place >= 0 else from_features(record, None)[0]
            prior[self._free("user")] = of_user
        off = prior @ Z[:, items]
        if hasattr(self, "drift_") and place >= 0:
            times = self.drift_["times"][self.seen_.indptr[place] : self.seen_.indptr[place + 1]]
            off = off + drift_at(self.drift_, np.full(len(items), place), items, times)
        parts, baseline = self._influence(items, values - off, item)
        return parts, baseline + float(prior @ Z[:, item])

    def _code_half(self, objective):
        half = counted_half(objective, self.ridge_, self._power(), transposed=False)
        return half if np.ndim(self._towards) == 0 else replace(half, towards=self._towards)

    def _best_codes(self, table: Observed, Z: NDArray) -> NDArray:
        left = self._left if isinstance(self._left, Towards) else Towards(self._left)
        return left_half_step(table, self._sentence, left, Z, half=self._code_half(table))

    def _left_over(self, table: Observed, Z: NDArray) -> NDArray:
        """What the best codes leave of the entries."""
        U, t = self._best_codes(table, Z), table.by_row
        return t.data.astype(np.float64) - predict_entries(t.indptr, t.indices, np.ascontiguousarray(Z.T), U)
