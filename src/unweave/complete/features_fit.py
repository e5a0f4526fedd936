"""The side of :class:`MatrixCompletion` that knows more than ratings: when they were given, by whom, of what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from unweave.complete.choosing import Trial, choose_bins
from unweave.complete.drift_first import level_ridge, take_off
from unweave.complete.drift_times import entry_times
from unweave.complete.features import table_of
from unweave.complete.features_answers import Informed
from unweave.complete.features_guided import Guide, GuidedAlternate, Less
from unweave.complete.features_join import ids_of, joined
from unweave.complete.features_side import Side
from unweave.complete.gibbs_sides import DrawnSide
from unweave.complete.gibbs_trial import vectors_pay
from unweave.complete.held_out import observed
from unweave.complete.ratings import refuse_triples
from unweave.complete.sgd import how_to_descend
from unweave.factorization.settings import number, whole
from unweave.objectives import Objective, Observed


class Known(NamedTuple):
    """What `fit` was given besides the table."""

    timestamps: Any = None
    user_features: Any = None
    item_features: Any = None


class Guided(Informed):
    """Fitting with drift and features; without any of them everything passes through.

    Attributes
    ----------
    drift_ : dict of arrays, after a fit with timestamps
    user_features_, item_features_ : dict of arrays, after a fit with features
    """

    ridge: Any
    time_bins: Any
    time_ridge: Any
    _guide: Guide | None = None
    _known: Known = Known()
    _columns: tuple = (None, None)
    _dates: bool = False

    def fit(self, X, y=None, *, timestamps=None, user_features=None, item_features=None):
        """Fit the factorisation, with what is known besides the ratings.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Ratings
            Users × items.
        y : ignored
        timestamps : array, optional
            When each rating was given (numbers or dates, in any order): one for each stored entry of a sparse X (for
            :func:`unweave.ratings`, its ``times``), or an array of X's shape. Then biases drift.
        user_features, item_features : array, sparse matrix, frame of numbers or Features, optional
            One row for each row (column) of X; or what :func:`unweave.complete.features.features` returned, matched
            by id, whose other ids join as users (items) without a rating.
        """
        refuse_triples(X)
        for name in ("drift_", "user_features_", "item_features_", "bins_path_"):
            self.__dict__.pop(name, None)
        self._known = Known(timestamps, user_features, item_features)
        try:
            return super().fit(joined(X, user_features, item_features))
        finally:
            self._forget()

    def fit_transform(self, X, y=None, *, timestamps=None, user_features=None, item_features=None):
        """Fit, and the codes of X."""
        self.fit(X, timestamps=timestamps, user_features=user_features, item_features=item_features)
        assert self.codes_ is not None
        return self.codes_[: X.shape[0]] if hasattr(X, "shape") else self.codes_

    def _forget(self) -> None:
        """Drop what only a fit under way needs."""
        for name in ("_known", "_guide", "_columns", "_dates", "_towards", "_sides"):
            self.__dict__.pop(name, None)

    def _gathered(self, X, objective: Objective) -> Guide | None:
        """What `fit` was given, checked and put beside the entries of the table."""
        known = self._known
        if all(given is None for given in known):
            return None
        if how_to_descend(self.solver) is not None:
            raise ValueError(
                f"timestamps and features need alternating least squares or 'gibbs', not solver={self.solver!r}"
            )
        table = observed(objective)
        given = zip(known[1:], table.shape, ("user", "item"), strict=True)
        read = [(None, None) if g is None else table_of(g, size, ids_of(X, what), what) for g, size, what in given]
        users, items = (None if features is None else Side(features) for features, _ in read)
        self._columns = tuple(names for _, names in read)
        if known.timestamps is None:
            return Guide(users, items)
        times, self._dates = entry_times(X, known.timestamps, table.X)
        bins = 1 if self.time_bins == "auto" else whole(self.time_bins, "time_bins", 1)
        return Guide(users, items, times, bins, number(self.time_ridge, "time_ridge"))

    def _reasons(self) -> list[str]:
        """What a plan says of drift and features."""
        guide, reasons = self._guide, []
        if guide is not None and guide.times is not None:
            bins = "" if guide.n_bins == 1 else f", those of items in {guide.n_bins} stretches of time"
            reasons.append(f"timestamps were given: the biases of users drift{bins}")
        for side, what in () if guide is None else ((guide.users, "users"), (guide.items, "items")):
            if side is not None:
                reasons.append(f"{what} are pulled towards a map of their {len(side.mean)} features, not towards 0")
        return reasons

    def _with_bins(self, guide: Guide | None, centred: Objective, loss) -> Guide | None:
        if guide is None or guide.times is None or self.time_bins != "auto":
            return guide
        return replace(guide, n_bins=choose_bins(self, centred, loss))

    def _prepare_draws(self, standard: Objective, loss) -> Objective:
        """The table that a sampler works on, less its drift; sets ``drift_`` and the sides that have features."""
        guide = self._guide
        if guide is None:
            return standard
        sides = {"users": guide.users, "items": guide.items}
        self._sides = {name: DrawnSide(side) for name, side in sides.items() if side is not None}
        if guide.times is None:
            return standard
        table, ridge = observed(standard), level_ridge(self, observed(standard), loss)
        self._rank, self.ridge_, self.bias_ridge_ = 0, ridge, ridge  # for the search of the bins
        self._guide = self._with_bins(guide, table, loss)
        assert self._guide is not None
        less, drift = take_off(self, table, loss, self._guide, ridge)
        for name in ("bins", "slopes", "levels"):
            drift[name] = drift[name] * self.spread_
        self.drift_ = {**drift, "dates": self._dates}
        return less

    def _drawn_rank(self, standard: Objective, loss) -> int:
        """The rank of a sampler: 0 where vectors do not pay at held-out ratings, unless a ridge was given."""
        rank = self._gibbs_rank()
        trial = Trial.of(self, standard, loss) if self.ridge == "auto" else None
        return rank if trial is None or vectors_pay(trial, rank, self._sides) else 0

    def _publish_guide(self, scheme: GuidedAlternate, state: dict, table: Observed) -> Observed:
        """Keep what newcomers and other times need, in units of the data; `table` less its drift, standardised."""
        width = self._units.of_free(scheme.problem.width)
        sides = (scheme.guide.users, scheme.guide.items)
        for name, side, names in zip(("user", "item"), sides, self._columns, strict=True):
            if side is not None:
                setattr(self, f"{name}_features_", side.published(state[f"{name}_map"] * width, names))
        scheme.heed(state)
        self._towards = scheme.code_half.towards
        if scheme.drift is None:
            return table
        parts = scheme.drift.settle(state["bins"], lambda off: self._left_over(Less(table, off), state["components"]))
        scheme.heed({**state, **parts})
        told = {name: parts[name] * self.spread_ for name in parts}
        self.drift_ = {**scheme.drift.published(told), "dates": self._dates}
        return Less(table, scheme.drift.at_entries(parts))
