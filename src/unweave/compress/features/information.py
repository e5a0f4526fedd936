"""Keep the columns that tell most of a target, each on its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.features.base import TargetSelector, first
from unweave.data.arguments import generator, whole


class SelectByInformation(TargetSelector):
    """Keep the columns that have most mutual information with a target: any relation counts, not straight lines alone.

    I(x_j; y) = H(x_j) − H(x_j | y), in nats, estimated by scikit-learn from nearest neighbours (columns of numbers) or
    from counts (columns of kinds). Every column is asked on its own: two that say the same are both kept, and two that
    tell something only together are not found. Use it as a fast first sieve of many columns.

    Every entry must be observed, and words must be numbers before (:func:`unweave.prepare`).

    Parameters
    ----------
    n_features : int, default=10
        How many to keep; None, or more than there are, keeps all.
    task : {"auto", "classes", "numbers"}, default="auto"
        What y is; "auto" takes whole numbers and words as classes.
    discrete : array of bool (m,), array of column numbers, bool or "auto", default="auto"
        Which columns are kinds and not amounts. "auto": those of a sparse table.
    n_neighbors : int, default=3
        More give estimates that vary less and are a little too low.
    random_state : int, RandomState instance or None, default=0
        Draws the tiny noise that parts equal values.

    Attributes
    ----------
    information_ : array (m,)
        In nats; none is negative.
    support_ : array of bool (m,)

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> y = (X[:, 1] - 0.5) ** 2  # no line shows it
    >>> unweave.SelectByInformation(1).fit(X, y).get_support(indices=True).tolist()
    [1]

    References
    ----------
    Kraskov, Stögbauer and Grassberger (2004), Estimating mutual information. Ross (2014), Mutual information between
    discrete and continuous data sets.
    """

    def __init__(self, n_features=10, *, task="auto", discrete="auto", n_neighbors=3, random_state=0):
        self.n_features = n_features
        self.task = task
        self.discrete = discrete
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y):
        """Estimate what every column tells of y.

        Parameters
        ----------
        X : array, sparse matrix or data frame
        y : array (n,)
            Classes or numbers.
        """
        from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

        values, y, classes = self._target(X, y)
        n, m = values.shape
        k, neighbors = self._most(m), whole(self.n_neighbors, "n_neighbors", 1)
        if n < 2:
            raise ValueError(f"X has one row (n_samples={n}): information needs several")
        discrete = _columns(self.discrete, m)
        if not isinstance(values, np.ndarray) and not (isinstance(discrete, str) or discrete.all()):
            raise ValueError("columns of amounts (discrete=False) need X as an array, not sparse: pass X.toarray()")
        estimate = mutual_info_classif if classes else mutual_info_regression
        seed = int(generator(self.random_state).integers(2**31))
        neighbors = min(neighbors, n - 1)
        found = estimate(values, y, discrete_features=discrete, n_neighbors=neighbors, random_state=seed)
        self.information_ = np.maximum(np.nan_to_num(found), 0.0)
        self.support_ = first(np.argsort(-self.information_, kind="stable"), k, m)
        return self


def _columns(discrete, m: int) -> str | NDArray[np.bool_]:
    """Which columns are kinds, checked."""
    if isinstance(discrete, str) and discrete == "auto":
        return "auto"
    if isinstance(discrete, bool | np.bool_):
        return np.full(m, bool(discrete))
    try:
        given = np.atleast_1d(np.asarray(discrete))
        mask = np.zeros(m, dtype=bool)
        if given.dtype == bool and given.shape == (m,):
            return given
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise TypeError
        mask[given.astype(int)] = True
    except (TypeError, ValueError, IndexError):
        raise ValueError(
            f"discrete must be 'auto', True, False, {m} booleans or numbers of columns below {m}, got {discrete!r:.60}"
        ) from None
    return mask
