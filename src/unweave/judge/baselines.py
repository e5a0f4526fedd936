"""Predict ratings with next to no learning: what a model has to beat.

Sparse means unobserved here, and so does NaN in a dense table. Every baseline is a product of codes and components too,
x_ij ≈ u_i·z_j with few columns: biases ride in them as they do in :class:`unweave.MatrixCompletion`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.data.arguments import number, whole
from unweave.data.hold_out import known_csr
from unweave.data.table import check_table, refuse_sparse
from unweave.judge.answers import best_columns, blank, in_one_order

_PAIRS = 1 << 16  # pairs of a task
_SCORES = 8_000_000  # scores in memory at a time


class Baseline(BaseEstimator):
    """Share what baselines do alike; each says how components are learned (`_learn`) and how rows are coded (`_code`).

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
        self.seen_ = known_csr(check_table(self, X, "auto", reset=True))
        with parallel.single_blas():
            self._learn(self.seen_)
            self.codes_ = self._code(self.seen_)
        return self

    def codes_for(self, X=None) -> NDArray:
        """Find codes of the rows of a table, each from its own known entries; without a table, those of the fit."""
        check_is_fitted(self)
        return self.codes_ if X is None else self._code(known_csr(check_table(self, X, "auto", reset=False)))

    def inverse_transform(self, U) -> NDArray:
        """Predict the rows of codes U."""
        return np.asarray(U) @ self.components_

    def complete(self, X) -> NDArray:
        """Predict every entry of the rows of a table, known or not, as a dense table."""
        check_is_fitted(self)
        return self.inverse_transform(self.codes_for(X))

    def predict(self, X) -> NDArray:
        """Predict every entry of a dense table; :meth:`complete` takes sparse ones too."""
        check_is_fitted(self)
        refuse_sparse(X)
        return self.complete(X)

    def predict_entries(self, rows, columns, *, given=None) -> NDArray:
        """Predict entries at pairs of positions; the rows are those of the fit, or of the table `given`."""
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
        """List the n items with the highest prediction for each user, ``(positions, scores)``; of equals the first.

        `users` are positions in the table of the fit, or in the table `given`, whose known entries are then what was
        seen. A list that is too short ends in -1 with the score -inf.
        """
        n, codes = whole(n, "n", 1), self.codes_for(given)
        seen = self.seen_ if given is None else known_csr(check_table(self, given, "auto", reset=False))
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


class Mean(Baseline):
    """Predict μ, the mean of all known entries: the error of knowing nothing about users and items.

    Examples
    --------
    >>> import numpy as np
    >>> Mean().fit(np.array([[1.0, np.nan], [2.0, 3.0]])).predict_entries([0], [1])
    array([2.])
    """

    _one_order = True

    def _learn(self, X):
        self.mean_ = float(X.data.mean(dtype=np.float64))
        self.components_ = np.full((1, X.shape[1]), self.mean_, X.dtype)

    def _code(self, X):
        return np.ones((X.shape[0], 1), X.dtype)


class Biases(Baseline):
    """Predict μ + a_i + b_j: generous users and good items, no taste.

    b_j = Σ_i (x_ij − μ) / (d + n_j) over the n_j known entries of column j, then
    a_i = Σ_j (x_ij − μ − b_j) / (d' + n_i) over the n_i of row i. The damping pulls biases with few entries to zero.

    Parameters
    ----------
    item_damping : float, default=5
        d, in entries. The defaults had the least error on held-out entries of MovieLens-100K among 2, 5, 10 and 25;
        larger data may want more (Koren: 25 and 10).
    user_damping : float, default=5
        d'.

    Examples
    --------
    >>> import numpy as np
    >>> model = Biases(item_damping=0, user_damping=0).fit(np.array([[1.0, 2.0], [3.0, np.nan]]))
    >>> model.predict_entries([1], [1])
    array([3.])

    References
    ----------
    Koren (2010), Factor in the neighbors: scalable and accurate collaborative filtering, section 2.1.
    """

    _one_order = True

    def __init__(self, item_damping=5.0, user_damping=5.0):
        self.item_damping = item_damping
        self.user_damping = user_damping

    def _learn(self, X):
        mean = float(X.data.mean(dtype=np.float64))
        self.item_bias_ = _damped(X.indices, X.data - mean, X.shape[1], number(self.item_damping, "item_damping"))
        self.mean_ = mean
        self.components_ = np.stack([np.ones(X.shape[1]), mean + self.item_bias_]).astype(X.dtype)

    def _code(self, X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        rest = X.data - self.mean_ - self.item_bias_[X.indices]
        bias = _damped(rows, rest, X.shape[0], number(self.user_damping, "user_damping"))
        return np.stack([bias, np.ones(X.shape[0])], axis=1).astype(X.dtype)


class MeanImputedSVD(Baseline):
    """Fill holes with the mean of their column, then predict by the singular value decomposition of rank k.

    x_ij ≈ b_j + (r_i V Vᵀ)_j, where r_ij = x_ij − b_j at the known entries and 0 elsewhere, b_j is the mean of column j
    (of everything where the column is empty) and V are the k leading right singular vectors of R = (r_ij). R is sparse,
    so the filled table never exists.

    Parameters
    ----------
    n_components : int, default=10
        k; cut to the shorter side of the table.

    Examples
    --------
    >>> import numpy as np
    >>> MeanImputedSVD(1).fit(np.array([[1.0, 5.0], [3.0, np.nan]])).predict_entries([1], [1]).round(6)
    array([5.])

    References
    ----------
    Sarwar, Karypis, Konstan and Riedl (2000), Application of dimensionality reduction in recommender system.
    """

    def __init__(self, n_components=10):
        self.n_components = n_components

    def _learn(self, X):
        from unweave.solve.svd import truncated_svd

        k = min(whole(self.n_components, "n_components", 1), *X.shape)
        sums = np.bincount(X.indices, X.data, X.shape[1])
        counts = np.bincount(X.indices, minlength=X.shape[1])
        self.item_mean_ = np.where(counts > 0, sums / np.maximum(counts, 1), X.data.mean(dtype=np.float64))
        vectors = truncated_svd(self._rest(X), k, codes=False).Vt
        self.components_ = np.vstack([vectors, self.item_mean_]).astype(X.dtype)

    def _rest(self, X: sp.csr_array) -> sp.csr_array:
        rest = (X.data - self.item_mean_[X.indices]).astype(X.dtype)
        return sp.csr_array((rest, X.indices, X.indptr), shape=X.shape)

    def _code(self, X):
        return np.hstack([self._rest(X) @ self.components_[:-1].T, np.ones((X.shape[0], 1), X.dtype)])


class Popularity(Baseline):
    """Score an item by the number of users who have it: everybody is recommended the same, less what they know.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> bought = sp.csr_array(np.array([[1.0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0]]))
    >>> Popularity().fit(bought).recommend([2, 0], 2)[0].tolist()
    [[0, 3], [3, 1]]
    """

    _one_order = True

    def _learn(self, X):
        self.components_ = np.bincount(X.indices, minlength=X.shape[1])[None, :].astype(X.dtype)

    def _code(self, X):
        return np.ones((X.shape[0], 1), X.dtype)


def _damped(places: NDArray, values: NDArray, size: int, damping: float) -> NDArray[np.float64]:
    """Sum the values at each place, over their number and the damping; 0 where there are none."""
    counts = np.bincount(places, minlength=size) + damping
    return np.bincount(places, values, size) / np.where(counts > 0, counts, 1)
