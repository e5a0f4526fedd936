"""Keep the columns that a linear model with an ℓ1 penalty takes up first as the penalty is lowered."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.compress.features.base import TargetSelector, first
from unweave.data.arguments import number, whole
from unweave.parallel import single_blas


class SelectByPath(TargetSelector):
    """Keep the columns that enter a lasso (or an ℓ1 logistic regression) first: each tells what those before it do not.

    Numbers: min over b of ½‖y − mean − X·b‖² / n + λ‖b‖₁ with columns of unit variance, for λ from where all b are zero
    to where nearly none is; the exact path, by least angles. Classes: the logistic loss in place of the squares, on a
    grid of λ, one class against the rest; a column enters with the first class that takes it. Of two columns that say
    the same only one enters early. Use it when a few columns are to predict nearly as well as all.

    Every entry must be observed, and words must be numbers before (:func:`unweave.prepare`). Constant columns never
    enter. A sparse table is worked on as an array.

    Parameters
    ----------
    n_features : int or None, default=10
        Keep the first so many to enter; None keeps all that enter at all.
    task : {"auto", "classes", "numbers"}, default="auto"
        What y is; "auto" takes whole numbers and words as classes.
    n_strengths : int, default=50
        Steps of the grid for classes.
    smallest : float, default=1e-3
        The end of the path as a share of the λ at which the first column enters.

    Attributes
    ----------
    order_ : array of int
        Columns in the order in which they enter, of those that do.
    strengths_ : array (m,)
        λ at which each column enters; 0 for those that do not. Where several enter at one step of a grid, the larger
        coefficient is first.
    support_ : array of bool (m,)
        If nothing enters, nothing is kept.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> y = 3 * X[:, 2] - X[:, 4]
    >>> selector = unweave.SelectByPath(2).fit(X, y)
    >>> selector.order_[:2].tolist(), selector.get_support(indices=True).tolist()
    ([2, 4], [2, 4])

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso. Efron, Hastie, Johnstone and Tibshirani (2004),
    Least angle regression. Koh, Kim and Boyd (2007), An interior-point method for large-scale ℓ1-regularized logistic
    regression.
    """

    def __init__(self, n_features=10, *, task="auto", n_strengths=50, smallest=1e-3):
        self.n_features = n_features
        self.task = task
        self.n_strengths = n_strengths
        self.smallest = smallest

    def fit(self, X, y):
        """Follow the path.

        Parameters
        ----------
        X : array, sparse matrix or data frame
        y : array (n,)
            Classes or numbers.
        """
        values, y, classes = self._target(X, y)
        steps, smallest = whole(self.n_strengths, "n_strengths", 2), number(self.smallest, "smallest")
        if not 0 < smallest < 1:
            raise ValueError(f"smallest must lie between 0 and 1, got {smallest:g}")
        k = self._most(values.shape[1])
        if len(np.unique(y)) < 2:
            if classes:
                raise ValueError("y holds one class only: at least two are needed")
            self.strengths_ = np.zeros(values.shape[1])
            weight = self.strengths_
        else:
            with single_blas():
                A = _standardised(values)
                path = _classes_path if classes else _numbers_path
                self.strengths_, weight = path(A, y, smallest, steps)
        order = np.lexsort((-weight, -self.strengths_))
        self.order_ = order[: int(np.sum(self.strengths_ > 0))]
        self.support_ = first(self.order_, k, values.shape[1])
        return self


def _standardised(X) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1; constant ones are zero."""
    A = np.array(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    moves = (A[0] != A).any(axis=0)
    A -= A.mean(axis=0)
    spread = A.std(axis=0)
    A /= np.where(spread > 0, spread, 1)
    A[:, ~moves] = 0
    return A


def _numbers_path(A: NDArray, y: NDArray, smallest: float, steps: int) -> tuple[NDArray, NDArray]:
    """λ at which each column enters the lasso, and its first coefficient: exact, whatever `steps` is."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lars_path

    y = y - y.mean()
    largest = float(np.abs(A.T @ y).max()) / len(y)
    if not largest > 0:
        return np.zeros(A.shape[1]), np.zeros(A.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # columns that repeat each other are dropped: so be it
        alphas, _, coefs = lars_path(A, y, method="lasso", alpha_min=smallest * largest, max_iter=4 * sum(A.shape))
    strengths, weight = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    for j in np.flatnonzero((coefs != 0).any(axis=1)):
        at = int(np.argmax(coefs[j] != 0))  # zero at the knot before, from which it leaves zero
        strengths[j], weight[j] = alphas[max(0, at - 1)], abs(coefs[j, at])
    return strengths, weight


def _classes_path(A: NDArray, y: NDArray, smallest: float, steps: int) -> tuple[NDArray, NDArray]:
    """The same for each class against the rest on a grid, the largest λ over classes counting."""
    kinds = np.unique(y)
    strengths, weight = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    for kind in kinds[1:] if len(kinds) == 2 else kinds:
        target = (y == kind).astype(float)
        largest = float(np.abs(A.T @ (target - target.mean())).max()) / len(y)
        grid = largest * np.geomspace(0.98, smallest, steps)
        entered = np.zeros(A.shape[1])
        for strength in grid[grid > 0]:
            b = np.abs(_logistic(A, target, 1 / (strength * len(y))))
            new = (b > 0) & (entered == 0)
            entered[new] = strength
            better = new & (strength > strengths)
            strengths[better], weight[better] = strength, b[better]
            if (entered > 0).all():
                break
    return strengths, weight


def _logistic(A: NDArray, target: NDArray, C: float) -> NDArray:
    """Coefficients of the ℓ1 logistic regression; its intercept carries nearly no penalty."""
    import sklearn
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # scikit-learn 1.8 gave the ℓ1 penalty another name.
    new = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
    penalty: dict[str, Any] = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # steps run out at the path's end
        model = LogisticRegression(
            solver="liblinear", C=C, intercept_scaling=100.0, tol=1e-6, max_iter=1000, random_state=0, **penalty
        )
        return model.fit(A, target).coef_[0]
