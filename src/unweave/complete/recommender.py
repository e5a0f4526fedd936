"""What a recommender says for itself, with answers that suit explicit ratings under ridge."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ids import objects
from unweave.complete.recommending.influence import ridge_code, ridge_influence
from unweave.complete.who import entries, named
from unweave.data.named import NamedTable


class RecommenderHooks:
    """How the answers of :class:`Recommends` are computed; a model overrides what is different for it."""

    # Set by the estimator that this is mixed into.
    codes_: NDArray | None
    components_: NDArray
    n_components_: int
    seen_: sp.csr_array
    user_ids_: NDArray | None
    item_ids_: NDArray | None
    transform: Any
    inverse_transform: Any

    # Whether a row's code is ridge least squares over its observed entries (with _row_ridge): then one row is solved
    # without touching the other items.
    _ridge_rows = False

    def _remember(self, X, table) -> None:
        """Keep what was seen and the ids; `fit` calls this.

        `X` is what the user passed. `table` holds its observed entries: a checked table, an objective or a CSR array.
        Names that are not distinct are no ids.
        """
        self.seen_ = entries(table)
        self.user_ids_, self.item_ids_ = getattr(X, "user_ids", None), getattr(X, "item_ids", None)
        if isinstance(X, NamedTable):
            self.user_ids_ = _distinct(X.rows) if self.user_ids_ is None else self.user_ids_
            self.item_ids_ = _distinct(X.columns) if self.item_ids_ is None else self.item_ids_

    def _item_vectors(self) -> NDArray:
        """Vectors of the items for similarity (items × k): the components without biases."""
        return self.components_[: self.n_components_].T

    def _user_vectors(self, codes: NDArray) -> NDArray:
        """Vectors of users for similarity (users × k), from codes: without biases."""
        return codes[:, : self.n_components_]

    def _held(self) -> list[int]:
        """Entries of a code that are held at one."""
        return list(getattr(getattr(self, "_sentence", None), "held_codes", []))

    def _blank_code(self) -> NDArray:
        """The code of a user of whom nothing is known."""
        code = np.zeros(len(self.components_), self.components_.dtype)
        code[self._held()] = 1
        return code

    def _blank_item(self) -> NDArray:
        """The components of an item of which nothing is known: with biases, they predict mean + user bias."""
        item = np.zeros(len(self.components_), self.components_.dtype)
        problem = getattr(self, "_sentence", None)
        if problem is not None and problem.biases:
            item[problem.held_components] = 1
            item[problem.held_codes] = getattr(self, "mean_", 0.0)
        return item

    def _codes_at(self, positions: NDArray) -> NDArray:
        """Codes of users of the training table."""
        if self.codes_ is None:
            raise ValueError("the model kept no codes (it was fitted in blocks): pass the users' ratings as a table")
        if len(positions) == len(self.codes_) and np.array_equal(positions, np.arange(len(self.codes_))):
            return self.codes_  # everybody: nothing is copied
        return self.codes_[positions]

    def _codes_or_blank(self, positions: NDArray) -> NDArray:
        """Codes of users of the training table, and at -1 that of a user of whom nothing is known."""
        known = positions >= 0
        if known.all():
            return self._codes_at(positions)
        codes = np.tile(self._blank_code(), (len(positions), 1))
        codes[known] = self._codes_at(positions[known])
        return codes

    def _codes_of_rows(self, X, seen: sp.csr_array) -> NDArray:
        """Codes of the rows of a table with these entries; of rows without any, the blank one."""
        codes = np.tile(self._blank_code(), (seen.shape[0], 1))
        if len(codes) == 1 and seen.nnz:
            codes[0] = self._row_code(seen.indices.astype(np.int64), seen.data.astype(np.float64))
        elif seen.nnz:
            codes = np.where(np.diff(seen.indptr)[:, None] > 0, self.transform(X), codes)
        return codes

    def _row_ridge(self, n_ratings: int) -> float | NDArray:
        """The ridge of a row with so many entries: one, or one for each free entry of its code."""
        return float(getattr(self, "ridge_", 0.0))

    def _row_code(self, items: NDArray, values: NDArray) -> NDArray:
        """The code of one row with these entries (at least one)."""
        if self._ridge_rows:
            code = ridge_code(self.components_[:, items], values, self._row_ridge(len(items)), self._held())
            return code.astype(self.components_.dtype)
        row = sp.csr_array((values, items, np.array([0, len(items)])), shape=(1, self.components_.shape[1]))
        return self.transform(named(self, row.astype(self.components_.dtype)))[0]

    def _influence(self, items: NDArray, values: NDArray, item: int) -> tuple[NDArray, float]:
        """What each of a user's ratings adds to the score of `item`, and the score without any."""
        if not self._ridge_rows:
            raise NotImplementedError(f"{type(self).__name__} cannot tell which ratings drove a score")
        Z = self.components_
        return ridge_influence(Z[:, items], values, Z[:, item], self._row_ridge(len(items)), self._held())

    def _influence_of(self, asked, items: NDArray, values: NDArray, item: int) -> tuple[NDArray, float]:
        """The same, where it matters who was asked for."""
        return self._influence(items, values, item)

    def _predicted(self, scores: NDArray) -> NDArray:
        """Scores in the units of the data, for `predict`."""
        return scores


def _distinct(names: list[str] | None) -> NDArray | None:
    return objects(names) if names is not None and len(set(names)) == len(names) else None
