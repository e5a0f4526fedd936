"""More ratings for a fitted recommender: of users it knows and of new ones, for items it knows and new ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.choosing import alternating
from unweave.complete.drift import Calendar
from unweave.complete.drift_times import entry_times
from unweave.complete.features import same_width, table_of
from unweave.complete.features_fit import Guided
from unweave.complete.features_guided import Guide, GuidedAlternate
from unweave.complete.features_join import ids_of, joined
from unweave.complete.features_side import Side, with_constant
from unweave.complete.held_out import observed
from unweave.complete.recommending.asked import entries
from unweave.complete.recommending.ids import find, objects
from unweave.factorization.door import reopen_table
from unweave.objectives import Observed
from unweave.parallel import single_blas
from unweave.solve.alternate import Alternate
from unweave.solve.iterate import Loop, iterate

_MORE_SWEEPS = 3


class Grown(NamedTuple):
    """All entries so far, and the ids of rows and columns (None when positions are the ids)."""

    seen: sp.csr_array
    user_ids: NDArray | None
    item_ids: NDArray | None


def grow(seen: sp.csr_array, user_ids, item_ids, new: sp.csr_array, new_users, new_items) -> Grown:
    """Entries seen before with new ones added; a new rating of a known pair takes the place of the old one.

    With ids on both sides rows and columns are matched by id. Without ids the rows of `new` are new users, and its
    columns are the known items.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> old = sp.csr_array(np.array([[5.0, 0.0]]))
    >>> grown = grow(old, objects(["ann"]), objects(["tea", "jam"]), old, objects(["bob"]), objects(["jam", "pie"]))
    >>> grown.seen.toarray().tolist(), grown.user_ids.tolist(), grown.item_ids.tolist()
    ([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]], ['ann', 'bob'], ['tea', 'jam', 'pie'])
    """
    rows, users = _matched(user_ids, new_users, seen.shape[0], new.shape[0], "user", appended=True)
    columns, items = _matched(item_ids, new_items, seen.shape[1], new.shape[1], "item", appended=False)
    shape = (max(seen.shape[0], int(rows.max(initial=-1)) + 1), max(seen.shape[1], int(columns.max(initial=-1)) + 1))
    coo, more = seen.tocoo(), new.tocoo()
    i, j = np.concatenate([coo.row, rows[more.row]]), np.concatenate([coo.col, columns[more.col]])
    values = np.concatenate([coo.data, more.data.astype(coo.data.dtype)])
    order = np.lexsort((np.arange(len(i)), j, i))  # of equal pairs the newest is last
    i, j, values = i[order], j[order], values[order]
    last = np.append((np.diff(i) != 0) | (np.diff(j) != 0), True) if len(i) else np.zeros(0, dtype=bool)
    return Grown(sp.csr_array((values[last], (i[last], j[last])), shape=shape), users, items)


def _matched(known, given, n_known: int, n_given: int, what: str, *, appended: bool) -> tuple[NDArray, NDArray | None]:
    """Where each given row (or column) goes, and all ids afterwards."""
    if (known is None) != (given is None):
        has, lacks = ("the model", "the new ratings") if given is None else ("the new ratings", "the model")
        raise ValueError(f"{has} have {what} ids and {lacks} have none: give ids both times, or never")
    if known is None:
        if not appended and n_given != n_known:
            raise ValueError(f"X has {n_given} columns, but the model knows {n_known} items")
        return np.arange(n_given) + (n_known if appended else 0), None
    at = find(list(given), known, n_known, what)
    fresh = np.flatnonzero(at < 0)
    at[fresh] = n_known + np.arange(len(fresh))
    return at, objects([*known, *(given[k] for k in fresh)])


class Growing(Guided):
    """`partial_fit` of a recommender: a few sweeps over all that is known, from where the model stands."""

    def partial_fit(self, X, y=None, *, timestamps=None, user_features=None, item_features=None):
        """Learn from more ratings: a few sweeps over all that is known, from where the model stands.

        Users and items are matched by id where ids are known (:func:`unweave.ratings`): ratings of known users are
        added, or replace older ones, and new users and items join. Without ids the rows of X are new users. The first
        call is `fit`; mean and ridge stay as it set them. A model that was fitted with timestamps needs them here;
        features (of the rows and columns of this X) may be left out: then newcomers count as average.
        """
        if not hasattr(self, "components_"):
            more = {"timestamps": timestamps, "user_features": user_features, "item_features": item_features}
            return self.fit(X, **more)
        if self._draws:
            raise ValueError("solver='gibbs' cannot go on from old draws: fold_in new users, or fit again with all")
        if (timestamps is not None) != hasattr(self, "drift_"):
            had = "with" if timestamps is None else "without"
            raise ValueError(f"the model was fitted {had} timestamps: give them both times, or never")
        X = joined(X, user_features, item_features)
        ids = (getattr(X, "user_ids", None), getattr(X, "item_ids", None))
        known = self.item_ids_ is not None and ids[1] is not None
        with single_blas():
            new = entries(sp.csr_array(X.X) if known else reopen_table(self, X, self.missing, self._learned))
            if not known:
                ids = (None, self.item_ids_) if self.user_ids_ is None else ids
            grown = grow(_numbered(self.seen_, 0), self.user_ids_, self.item_ids_, _numbered(new, self.seen_.nnz), *ids)
            which = grown.seen.data
            values = np.concatenate([self.seen_.data, new.data.astype(self.seen_.dtype)])[which]
            seen = sp.csr_array((values, grown.seen.indices, grown.seen.indptr), shape=grown.seen.shape)
            times = None
            if timestamps is not None:
                times = np.concatenate([self.drift_["times"], entry_times(X, timestamps, new)[0]])[which]
            given = (user_features, item_features)
            tables = [
                self._features_of(w, g, X, grown, new.shape) for w, g in zip(("user", "item"), given, strict=True)
            ]
            try:
                self._grow(grown._replace(seen=seen), times, tables)
            finally:
                self._forget()
        return self

    def _features_of(self, what: str, given, X, grown: Grown, shape: tuple[int, int]) -> NDArray | None:
        """Features of all users (items), in the units of the fit; those of the average where none are known."""
        record = getattr(self, f"{what}_features_", None)
        if record is None and given is not None:
            raise ValueError(f"the model was fitted without {what}_features: leave them out, or fit again with all")
        if record is None:
            return None
        axis = 0 if what == "user" else 1
        table = np.zeros((grown.seen.shape[axis], record["table"].shape[1]))
        table[:, -1] = 1
        table[: len(record["table"])] = record["table"]
        if given is not None:
            rows, _ = table_of(given, shape[axis], ids_of(X, what), what)
            all_ids = grown.user_ids if what == "user" else grown.item_ids
            at = np.arange(shape[axis]) + (len(record["table"]) if what == "user" else 0)
            names = ids_of(X, what)
            if all_ids is not None and names is not None:
                at = find(list(names), all_ids, len(all_ids), what)
            table[at] = with_constant((same_width(rows, record, what) - record["mean"]) / record["scale"])
        return table

    def _grown_guide(self, times: NDArray | None, tables: list) -> Guide | None:
        if times is None and all(table is None for table in tables):
            return None
        records = [getattr(self, f"{what}_features_", {}) for what in ("user", "item")]
        self._columns = tuple(record.get("columns") for record in records)
        users, items = (None if t is None else Side.again(r, t) for r, t in zip(records, tables, strict=True))
        if times is None:
            return Guide(users, items)
        d = self.drift_
        self._dates, calendar = d["dates"], Calendar(d["first"], d["span"], d["edges"])
        return Guide(users, items, times, calendar.n_bins, d["ridge"], calendar, d["scale"])

    def _grow(self, grown: Grown, times: NDArray | None, tables: list) -> None:
        seen, problem = grown.seen, self._sentence
        n, m = seen.shape
        assert self.codes_ is not None
        U, Z = np.zeros((n, problem.width), self.codes_.dtype), np.zeros((problem.width, m), self.codes_.dtype)
        U[: len(self.codes_)] = self._units.codes_in(self.codes_)
        Z[:, : self.components_.shape[1]] = self._units.components_in(self._full_components)
        table = observed(self._units.inward(Observed(seen.astype(U.dtype), self._learned.loss)))
        guide, first = self._grown_guide(times, tables), {"codes": U, "components": Z}
        plain = Alternate(table, problem, self._left, self._left)
        scheme, state = alternating(plain, self._strengths(), guide, first, self._units.square)
        if isinstance(scheme, GuidedAlternate):
            state = self._resumed(scheme, state)
        state, self.history_ = iterate(scheme.step, state, Loop(max_iter=_MORE_SWEEPS, tol=0))
        self.seen_, self.user_ids_, self.item_ids_ = seen, grown.user_ids, grown.item_ids
        self.n_iter_, self.n_features_in_ = _MORE_SWEEPS, m
        if grown.item_ids is not None and hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = objects(str(item) for item in grown.item_ids)
        self._finish(table, problem, scheme, state)

    def _resumed(self, scheme: GuidedAlternate, state: dict) -> dict:
        """A first state with the drift and the maps of the fit, and codes for newcomers, who have no drift yet."""
        state = dict(state)
        for name in ("bins", "slopes"):
            if name in state:
                state[name][: len(self.drift_[name])] = self.drift_[name] / self.spread_
        for what in ("user", "item"):
            if f"{what}_map" in state:
                record = getattr(self, f"{what}_features_")
                state[f"{what}_map"] = record["map"] / self._units.of_free(scheme.problem.width)
        scheme.heed(state)
        return {**state, "codes": scheme.improve_codes(state["codes"], state["components"])}


def _numbered(X: sp.csr_array, first: int) -> sp.csr_array:
    """The same entries, with their positions as values."""
    return sp.csr_array((np.arange(first, first + X.nnz), X.indices, X.indptr), shape=X.shape)
