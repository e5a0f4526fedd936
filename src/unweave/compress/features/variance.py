"""Keep the columns that vary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.features.base import Selector, first
from unweave.data.arguments import number, row_weights


class SelectByVariance(Selector):
    """Keep the columns whose variance is above a threshold, or those that vary most; the target is not looked at.

    var_j = Σ_i w_i (x_ij − mean_j)² / Σ_i w_i over the entries seen. Use it to drop columns that are constant, or
    nearly so, before a fit. Variances have the square of a column's unit: bring columns to one scale first (or divide
    by their range) where units differ, or the largest unit wins.

    Parameters
    ----------
    n_features : int, optional
        Keep at most so many, those of the largest variance (of equals the first). None keeps all above the threshold.
    threshold : float, default=0.0
        Columns whose variance is not above it are dropped. If none is left, `fit` raises.
    missing : {None, "nan"}, default=None
        "nan" says that NaN is missing: variances are of the entries seen, and `transform` leaves NaN in place.

    Attributes
    ----------
    variances_ : array (m,)
        A column with nothing seen has variance 0.
    support_ : array of bool (m,)

    Examples
    --------
    >>> import unweave
    >>> X = [[0, 2, 0.1], [0, 1, 4.0], [0, 3, 1.1]]
    >>> unweave.SelectByVariance().fit_transform(X).tolist()
    [[2.0, 0.1], [1.0, 4.0], [3.0, 1.1]]
    >>> unweave.SelectByVariance(1).fit(X).get_support(indices=True).tolist()
    [2]

    References
    ----------
    Guyon and Elisseeff (2003), An introduction to variable and feature selection.
    """

    def __init__(self, n_features=None, *, threshold=0.0, missing=None):
        self.n_features = n_features
        self.threshold = threshold
        self.missing = missing

    def fit(self, X, y=None, sample_weight=None):
        """Find the variances of the columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            Zeros of a sparse table are data.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows.
        """
        if self.missing not in (None, "nan"):
            raise ValueError(f"missing must be None or 'nan', got {self.missing!r}")
        threshold = number(self.threshold, "threshold")
        table = self._table(X, self.missing)
        n, m = table.shape
        k, weights = self._most(m), row_weights(sample_weight, n)
        self.variances_ = _variances(table.values, table.seen, np.ones(n) if weights is None else weights)
        above = int(np.sum(self.variances_ > threshold))
        if not above:
            raise ValueError(
                f"No feature in X meets the variance threshold {threshold:.5f}: the largest variance is "
                f"{self.variances_.max():.3g} (n_samples={n}); give a lower threshold, or look at the table"
            )
        self.support_ = first(np.argsort(-self.variances_, kind="stable"), min(k, above), m)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing is not None
        return tags


def _variances(X, seen: NDArray | None, weights: NDArray) -> NDArray[np.float64]:
    """Weighted variance of every column; exactly 0 where all that counts of a column is one value."""
    if not isinstance(X, np.ndarray):
        return _sparse_variances(X, weights)
    rows = weights > 0
    X, weights = X[rows].astype(np.float64), weights[rows]
    known = np.ones(X.shape, dtype=bool) if seen is None else seen[rows]
    counts = weights @ known
    whole = np.where(counts > 0, counts, 1)
    low, high = np.where(known, X, np.inf).min(axis=0), np.where(known, X, -np.inf).max(axis=0)
    mean = weights @ np.where(known, X, 0) / whole
    return np.where(high > low, weights @ np.where(known, X - mean, 0) ** 2 / whole, 0.0)


def _sparse_variances(X, weights: NDArray) -> NDArray[np.float64]:
    """The same about the means of all entries, the zeros added in one: (w − stored)·mean²."""
    total, m = float(weights.sum()), X.shape[1]
    of_entries = np.repeat(weights, np.diff(X.indptr))
    data = X.data.astype(np.float64)
    mean = np.bincount(X.indices, of_entries * data, m) / total
    stored = np.bincount(X.indices, of_entries, m)
    squares = np.bincount(X.indices, of_entries * (data - mean[X.indices]) ** 2, m)
    counted = X[weights > 0]
    same = np.asarray(counted.max(axis=0).toarray() == counted.min(axis=0).toarray()).ravel()
    return np.where(same, 0.0, (squares + np.maximum(total - stored, 0) * mean**2) / total)
