"""What all baselines share: learning from known entries, predicting pairs and tables, making lists."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.data.arguments import whole
from unweave.data.table import Table, check_table, refuse_sparse
from unweave.judge.top import best_columns, blank, in_one_order

_PAIRS = 1 << 16  # pairs of a task
_SCORES = 8_000_000  # scores in memory at a time


class Baseline(BaseEstimator):
    """What baselines share. They say how components are learned (`_learn`) and how rows are coded (`_code`).

    Attributes
    ----------
    components_ : array (k, m)
    codes_ : array (n, k)
    seen_ : CSR array (n, m), the training entries
    """

    components_: NDArray
    codes_: NDArray
    seen_: sp.csr_array
    _one_order = False  # whether all users rank the items alike, by the last row of the components

    def _learn(self, X: sp.csr_array) -> None:
        raise NotImplementedError("a baseline learns its components in _learn")

    def _code(self, X: sp.csr_array) -> NDArray:
        raise NotImplementedError("a baseline codes rows in _code")

    def fit(self, X, y=None):
        """Learn from the known entries of a table."""
        self.seen_ = _known(check_table(self, X, "auto", reset=True))
        with parallel.single_blas():
            self._learn(self.seen_)
            self.codes_ = self._code(self.seen_)
        return self

    def codes_for(self, X=None) -> NDArray:
        """Codes of the rows of a table, each from its own known entries; without a table, those of the fit."""
        check_is_fitted(self)
        return self.codes_ if X is None else self._code(_known(check_table(self, X, "auto", reset=False)))

    def inverse_transform(self, U) -> NDArray:
        """The predictions for codes U."""
        return np.asarray(U) @ self.components_

    def complete(self, X) -> NDArray:
        """Predictions for every entry of the rows of a table, known or not, as a dense table."""
        check_is_fitted(self)
        return self.inverse_transform(self.codes_for(X))

    def predict(self, X) -> NDArray:
        """Predictions for every entry of a dense table; :meth:`complete` takes sparse ones too."""
        check_is_fitted(self)
        refuse_sparse(X)
        return self.complete(X)

    def predict_entries(self, rows, columns, *, given=None) -> NDArray:
        """Predictions at pairs of positions; the rows are those of the fit, or of the table `given`."""
        U, H = self.codes_for(given), np.ascontiguousarray(self.components_.T)
        rows, columns = np.asarray(rows), np.asarray(columns)
        if rows.shape != columns.shape or rows.ndim != 1:
            raise ValueError(f"rows and columns must be two lists of equal length, got {rows.shape}, {columns.shape}")
        out = np.empty(len(rows), H.dtype)

        def task(start: int, stop: int) -> None:
            out[start:stop] = np.einsum("ij,ij->i", U[rows[start:stop]], H[columns[start:stop]])

        parallel.run(task, len(rows), _PAIRS)
        return out

    def recommend(self, users, n: int = 10, *, exclude_seen: bool = True, given=None) -> tuple[NDArray, NDArray]:
        """The n items with the highest prediction for each user, ``(positions, scores)``; of equals the first.

        `users` are positions in the table of the fit, or in the table `given`, whose known entries are then what was
        seen. A list that is too short ends in -1 with the score -inf.
        """
        n, codes = whole(n, "n", 1), self.codes_for(given)
        seen = self.seen_ if given is None else _known(check_table(self, given, "auto", reset=False))
        return self._top(codes, seen if exclude_seen else None, np.atleast_1d(np.asarray(users)), n)

    def _top(self, codes: NDArray, seen: sp.csr_array | None, users: NDArray, n: int) -> tuple[NDArray, NDArray]:
        if self._one_order:
            columns = in_one_order(self.components_[-1], seen, users, n)
            scores = np.einsum("ij,ijk->ik", codes[users], self.components_.T[columns].transpose(0, 2, 1))
            return columns, np.where(columns >= 0, scores, -np.inf).astype(codes.dtype)
        columns, scores = np.empty((len(users), n), np.int64), np.empty((len(users), n), codes.dtype)
        for start, stop in parallel.chunks(len(users), max(1, _SCORES // self.components_.shape[1])):
            block = self.inverse_transform(codes[users[start:stop]])
            blank(block, seen, users[start:stop])
            columns[start:stop], scores[start:stop] = best_columns(block, n)
        return columns, scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags


def _known(table: Table) -> sp.csr_array:
    """The known entries of a checked table."""
    values, seen = table.values, table.seen
    if sp.issparse(values):
        return sp.csr_array(values)
    known = seen if isinstance(seen, np.ndarray) else np.ones(values.shape, bool)
    rows, columns = np.nonzero(known)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(values)))])
    return sp.csr_array((values[rows, columns], columns, indptr), shape=values.shape)
