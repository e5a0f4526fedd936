"""Hidden blocks of a table, predicted by the singular vectors of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave import parallel
from unweave.data.arguments import whole
from unweave.data.table import check_table
from unweave.select.trial import Trial, fitting
from unweave.solve.svd import truncated_svd

_FLAT = 0.01
_SMALL = 1 << 20  # entries up to which every part of the rows meets every part of the columns


@dataclass(frozen=True)
class BiCrossValidation:
    """Root-mean-square error at hidden blocks, for models that are a singular value decomposition (Owen and Perry).

    Rows and columns are cut at random into `n_folds` parts, and every part of the rows meets every part of the columns
    (of more than 2²⁰ entries: each meets one). With some rows and columns out, X = [A B; C D], and A is predicted by
    B·D_k⁺·C from the k leading singular triplets of D: every number of components by one decomposition, of sparse
    tables too. For PCA all is about the column means of the rows that are not out. The fewest components are chosen
    that come within 1 % of the fall of the error.

    Parameters
    ----------
    n_folds : int, default=5

    References
    ----------
    Owen and Perry (2009), Bi-cross-validation of the SVD and the nonnegative matrix factorization.
    """

    n_folds: int = 5

    name = "bi-cross-validation"
    title = "error at hidden blocks"
    larger_is_better = False

    def __post_init__(self):
        whole(self.n_folds, "n_folds", 2)

    def ready(self, estimator: Any, X, most: int, seed: int) -> KnownErrors:
        """The errors of all numbers up to `most`."""
        centred = getattr(estimator, "_centred", None)
        if centred is None:
            kind, other = type(estimator).__name__, fitting(estimator)
            raise TypeError(f"{kind} is no singular value decomposition: choose by {other!r} or another criterion")
        table = check_table(BaseEstimator(), X, getattr(estimator, "missing", None), reset=True)
        if table.seen is not None:
            raise ValueError("blocks can be hidden of a complete table only: choose by 'held-out'")
        if min(table.shape) < 3:
            raise ValueError(f"X is too small ({table.shape[0]}×{table.shape[1]}) to hide blocks: give a number")
        folds = min(self.n_folds, *table.shape)
        rng = np.random.default_rng(seed)
        parts = [np.array_split(rng.permutation(n), folds) for n in table.shape]
        X = table.values if sp.issparse(table.values) else table.values.astype(np.float64, copy=False)
        with parallel.single_blas():
            blocks = product(*parts) if X.shape[0] * X.shape[1] <= _SMALL else zip(*parts)
            curves = [_curve(X, rows, columns, most, centred) for rows, columns in blocks]
        short = min(len(curve) for curve in curves)
        return KnownErrors(np.array([curve[:short] for curve in curves]))

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        count = trial.count or trial.estimator.n_components
        return self.ready(trial.estimator, X, count, seed).values(Trial(trial.estimator, trial.name, count), X, seed)


@dataclass(frozen=True)
class KnownErrors:
    """Errors of 1, 2, … components (columns) in every fold (rows)."""

    errors: NDArray

    name = BiCrossValidation.name
    title = BiCrossValidation.title
    larger_is_better = False

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """The fewest whose error is within 1 % of the fall from the first number to the least: minima are flat."""
        return int(ks[np.flatnonzero(scores <= scores.min() + _FLAT * (scores[0] - scores.min()))[0]])

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        count = trial.count or 0
        if count > self.errors.shape[1]:
            raise ValueError(f"n_components={count} is more than what is left of X has when blocks are hidden")
        return self.errors[:, count - 1]


def _curve(X, rows: NDArray, columns: NDArray, most: int, centred: bool) -> NDArray:
    """Error at X[rows, columns] for 1, 2, … components of the rest."""
    out, kept = X[rows], X[np.setdiff1d(np.arange(X.shape[0]), rows)]
    others = np.setdiff1d(np.arange(X.shape[1]), columns)
    A, B, C, D = out[:, columns], out[:, others], kept[:, columns], kept[:, others]
    mean = np.asarray(kept.mean(axis=0)).reshape(-1) if centred else np.zeros(X.shape[1])
    svd = truncated_svd(D, min(most, *D.shape), shift=mean[others] if centred else None)
    U, s, Vt = (np.asarray(part, dtype=np.float64) for part in (svd.U, svd.s, svd.Vt))
    sound = s > 1e-10 * max(s[0], 1e-300)
    left = (B @ Vt.T - mean[others] @ Vt.T) * np.where(sound, 1 / np.where(sound, s, 1), 0)
    right = (C.T @ U).T - np.outer(U.sum(axis=0), mean[columns])
    centre = mean[columns]
    size = _squares(A) - 2 * float(np.asarray(A.sum(axis=0)).reshape(-1) @ centre) + len(rows) * float(centre @ centre)
    met = np.einsum("ij,ij->j", left, A @ right.T - centre @ right.T)
    both = np.cumsum(np.cumsum((left.T @ left) * (right @ right.T), axis=0), axis=1).diagonal()
    return np.sqrt(np.maximum(size - 2 * np.cumsum(met) + both, 0) / (len(rows) * len(columns)))


def _squares(A) -> float:
    values = A.data if sp.issparse(A) else A
    return float(np.square(values, dtype=np.float64).sum())
