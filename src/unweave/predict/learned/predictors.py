"""What turns a table of numbers into a target: linear models, support vectors, forests, boosted trees.

scikit-learn fits them; what stays is a small part of plain arrays (`Linear`, `Vectors`, `Forest`, `Boosted`, all with
``answers(X)``: shares of the classes, or numbers), because parts can be saved without pickle and then say the same to
the bit. A new one is a function here that fits and returns such a part, and a line in `PREDICTORS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from unweave.data.storage import product
from unweave.predict.learned.trees import Boosted, Forest

_NEAR = 1 << 22  # entries of the kernel that are held at a time
_RIDGES = np.logspace(-3, 4, 15)  # multiples of the rows of a standardised table, from nothing to everything


@dataclass
class Linear:
    """A weighted sum of the columns for each class, or for the number."""

    _name_in_files = "LinearPredictor"  # a kernel has the other

    weights: NDArray  # columns × outputs
    offset: NDArray
    classes: bool
    takes_holes = False
    takes_sparse = True

    def answers(self, X: Any) -> NDArray:
        """Return the sums, as shares of the classes where there are classes."""
        sums = product(X, self.weights) + self.offset
        return softmax(sums, axis=1) if self.classes else sums

    def check(self, n_columns: int) -> None:
        if np.shape(self.weights) != (n_columns, len(self.offset)):
            raise ValueError("the weights do not fit the columns")


@dataclass
class Vectors:
    """Support vectors: rows of the table that speak for what is near them, K(a, b) = exp(−γ‖a − b‖²)."""

    _name_in_files = "SupportVectors"  # vectors of words have the other

    rows: NDArray
    weights: NDArray  # of each row, a column for every pair of classes, or one for the number
    offset: NDArray
    gamma: float
    sharpness: float  # how much a vote counts for a share; 0 where a number is predicted
    n_classes: int
    takes_holes = False
    takes_sparse = False

    def answers(self, X: NDArray) -> NDArray:
        """Return shares of the classes by the votes of all pairs, or numbers."""
        X = np.asarray(X, dtype=np.float64)
        sums, step = np.empty((len(X), len(self.offset))), max(1, _NEAR // max(1, len(self.rows)))
        for start in range(0, len(X), step):
            some = X[start : start + step]
            apart = (some**2).sum(axis=1)[:, None] + (self.rows**2).sum(axis=1) - 2 * some @ self.rows.T
            sums[start : start + step] = np.exp(-self.gamma * np.maximum(apart, 0.0)) @ self.weights + self.offset
        if not self.n_classes:
            return sums
        return softmax(self.sharpness * votes(sums, self.n_classes), axis=1)

    def check(self, n_columns: int) -> None:
        k = self.n_classes
        n, wide = np.shape(self.rows)[0], k * (k - 1) // 2 if k else 1
        if np.shape(self.rows) != (n, n_columns) or np.shape(self.weights) != (n, wide) or len(self.offset) != wide:
            raise ValueError("the support vectors do not fit the columns")


def votes(pairs: NDArray, k: int) -> NDArray:
    """Turn what each pair of classes decided into a score for every class: votes, and sureness where they are equal.

    >>> votes(np.array([[2.0, 1.0, -0.5]]), 3).argmax(axis=1)
    array([0])
    """
    if k == 2:
        return np.hstack([np.zeros((len(pairs), 1)), -pairs])
    count, sure = np.zeros((len(pairs), k)), np.zeros((len(pairs), k))
    first, second = np.triu_indices(k, 1)
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        won = pairs[:, p] > 0
        count[:, i] += won
        count[:, j] += ~won
        sure[:, i] += pairs[:, p]
        sure[:, j] -= pairs[:, p]
    return count + sure / (3 * (np.abs(sure) + 1))


# -- fits: each gets numbers, a target (classes as 0, 1, …, all of which occur; or numbers), a strength and a seed -----


def fit_linear(X: Any, y: NDArray, k: int, strength: float, seed: int) -> Linear:
    """Fit logistic regression, or ridge regression whose strength is chosen by leaving single rows out."""
    if not k:
        return _ridge(X, y, strength)
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=strength, max_iter=1000).fit(X, y)
    weights, offset = fitted.coef_.T, fitted.intercept_
    if k == 2:  # one sum, for the second class
        weights, offset = np.hstack([np.zeros_like(weights), weights]), np.append(0.0, offset)
    return Linear(np.ascontiguousarray(weights), offset, True)


def _ridge(X: Any, y: NDArray, strength: float) -> Linear:
    from sklearn.linear_model import Ridge, RidgeCV

    alphas = _RIDGES * max(1, X.shape[0]) ** 0.5 / strength
    centre, scale = y.mean(), y.std() or 1.0
    wide = X.shape[1] > 2000
    found = (Ridge(alphas[7]) if wide else RidgeCV(alphas)).fit(X, (y - centre) / scale)
    return Linear(found.coef_.reshape(-1, 1) * scale, np.atleast_1d(found.intercept_) * scale + centre, False)


def fit_vectors(X: NDArray, y: NDArray, k: int, strength: float, seed: int) -> Vectors:
    """Fit a support vector machine with a Gaussian kernel; how sure a vote is, is learned on rows left out."""
    if not k:
        from sklearn.svm import SVR

        centre, scale = y.mean(), y.std() or 1.0
        fitted = SVR(C=strength, gamma=_width(X)).fit(X, (y - centre) / scale)
        weights, offset = fitted.dual_coef_.T * scale, fitted.intercept_ * scale + centre
        return Vectors(fitted.support_vectors_, np.ascontiguousarray(weights), offset, _width(X), 0.0, 0)
    from sklearn.svm import SVC

    fitted = _pairwise(SVC(C=strength, gamma=_width(X)).fit(X, y), k)
    held = np.random.default_rng(seed).permutation(len(y)) % 4 == 0
    if len(np.unique(y[~held])) < k or not held.any():
        return fitted
    apart = _pairwise(SVC(C=strength, gamma=_width(X)).fit(X[~held], y[~held]), k)
    apart.sharpness = 1.0
    scores = np.log(np.maximum(apart.answers(X[held]), 1e-300))
    fitted.sharpness = _sharpness(scores, y[held])
    return fitted


def _width(X: NDArray) -> float:
    """Choose γ so that rows of usual distance are neither alike nor strangers."""
    variance = float(np.var(X))
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _pairwise(fitted: Any, k: int) -> Vectors:
    """Write the decisions of all pairs of classes as one weighted sum over the support vectors."""
    of_class = np.repeat(np.arange(k), fitted.n_support_)
    first, second = np.triu_indices(k, 1)
    weights = np.zeros((len(of_class), len(first)))
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        weights[of_class == i, p] = fitted.dual_coef_[j - 1, of_class == i]
        weights[of_class == j, p] = fitted.dual_coef_[i, of_class == j]
    # With two classes scikit-learn turns the sign, so that positive means the second.
    sign = -1.0 if k == 2 else 1.0
    return Vectors(fitted.support_vectors_, sign * weights, sign * fitted.intercept_, fitted.gamma, 3.0, k)


def _sharpness(scores: NDArray, y: NDArray) -> float:
    """Find how much scores are to be stretched so that shares come true."""

    def loss(log_factor: float) -> float:
        return float(-log_softmax(np.exp(log_factor) * scores, axis=1)[np.arange(len(y)), y].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 4.0), method="bounded").x))


def fit_forest(X: NDArray, y: NDArray, k: int, strength: float, seed: int) -> Forest:
    """Grow a hundred trees on draws of the rows."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    if k:
        return Forest.of(ExtraTreesClassifier(100, random_state=seed, min_samples_leaf=int(strength)).fit(X, y))
    return Forest.of(
        ExtraTreesRegressor(100, random_state=seed, min_samples_leaf=int(strength), max_features=0.5).fit(X, y)
    )


def fit_boosted(X: NDArray, y: NDArray, k: int, strength: float, seed: int) -> Boosted:
    """Grow boosted trees; `strength` is the most leaves of each."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if k else HistGradientBoostingRegressor
    return Boosted.of(kind(max_leaf_nodes=int(strength), random_state=seed).fit(X, y))


@dataclass(frozen=True)
class Way:
    """One sort of predictor: its name in a sentence, how it is fitted, and what strengths are tried."""

    title: str
    fit: Callable[[Any, NDArray, int, float, int], Any]
    strengths: tuple[float, ...]
    for_numbers: tuple[float, ...]
    takes_holes: bool = False
    takes_sparse: bool = False
    most_rows: float = np.inf  # beyond these it takes too long


PREDICTORS: dict[str, Way] = {
    "linear": Way("linear model", fit_linear, (1.0, 0.1, 10.0), (1.0,), takes_sparse=True),
    "vectors": Way("support vectors", fit_vectors, (3.0, 30.0), (0.5, 5.0), most_rows=20_000),
    "boosting": Way("boosted trees", fit_boosted, (31, 6), (31, 6), takes_holes=True),
    "forest": Way("forest", fit_forest, (1,), (1,), takes_holes=True, most_rows=50_000),
}
