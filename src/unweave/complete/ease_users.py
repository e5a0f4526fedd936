"""Users whose code is their own sparse row: what `recommend`, `fold_in` and `explain` do with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ease_weights import ones
from unweave.complete.recommend import Recommends


class EaseUsers(Recommends):
    """How the answers of :class:`EASE` differ from those of models with factors.

    A user without any interaction has a row of zeros, and every item the score 0. `recommend` and `predict` give such
    a user the average row of all instead, which ranks by (smoothed) popularity.
    """

    # Set by the estimator.
    codes_: Any
    n_features_in_: int
    _average: NDArray

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
