"""Hide a part of a table from a fit and measure how well the fit predicts it: entries, blocks, words or rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave import parallel
from unweave.data.arguments import generator, number, whole
from unweave.data.hold_out import hide
from unweave.data.storage import stored
from unweave.data.table import Table, check_table
from unweave.parallel import chunks
from unweave.select.trial import Trial, n_rows, refuse_pairs, suitable, take, unnamed
from unweave.solve.svd import truncated_svd

_PREDICTED = 1 << 22  # predictions that are in memory at once


def held_out_entries(estimator: Any, X, *, share: float = 0.1, n_repeats: int = 3, random_state=None) -> NDArray:
    """Measure the error at entries that were hidden from the fit, one number per repeat: less is better.

    A share of the observed entries is hidden at random (never the last one of a row or column), a copy of the estimator
    is fitted to the rest with the hidden ones marked as missing, and the root-mean-square error of its prediction
    there is taken, in the units of the data (of square roots for counts, that is under KL, so that the largest do not
    decide alone; for losses over kinds the share of wrong predictions). Works for every factorisation that takes
    `missing`, and for k-means; use it to choose ranks and penalties.

    Parameters
    ----------
    estimator : estimator with the parameter `missing`
        Not fitted itself.
    X : array with or without NaN, sparse matrix, or table that was read
        With ``missing="zeros"`` stored entries are hidden; a sparse table whose zeros are data is written out in full.
    share : float, default=0.1
    n_repeats : int, default=3
    random_state : None, int or generator

    Examples
    --------
    >>> import unweave
    >>> X = np.outer(np.arange(1, 31.0), [1.0, 2, 3, 4, 5]) + np.random.default_rng(0).normal(size=(30, 5))
    >>> errors = held_out_entries(unweave.PCA(1), X)
    >>> len(errors), bool(errors.max() < 2)
    (3, True)

    References
    ----------
    Owen and Perry (2009), Bi-cross-validation of the SVD and the nonnegative matrix factorization. Wold (1978),
    Cross-validatory estimation of the number of components in factor and principal components models.
    """
    estimator, X = unnamed(estimator, X)
    return HeldOut(share, n_repeats).values(Trial(estimator), X, int(generator(random_state).integers(2**31)))


@dataclass(frozen=True)
class HeldOut:
    """Score by the root-mean-square error at hidden entries, as in :func:`held_out_entries`."""

    share: float = 0.1
    n_repeats: int = 3

    name = "held-out"
    title = "error at hidden entries"
    larger_is_better = False

    def __post_init__(self):
        whole(self.n_repeats, "n_repeats", 1)
        if not 0 < number(self.share, "share") < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        known = trial.estimator.get_params(deep=False)
        kind = type(trial.estimator)
        if "missing" not in known:
            raise TypeError(
                f"{kind.__name__} does not take missing entries, so none can be hidden from it: choose by 'auto' or "
                f"{suitable(trial.estimator)!r}"
            )
        if not hasattr(kind, "inverse_transform") or hasattr(kind, "_interactions"):
            raise TypeError(
                f"{kind.__name__} does not predict entries of a table: choose by "
                + ("ranking (unweave.judge)" if hasattr(kind, "_interactions") else repr(suitable(trial.estimator)))
            )
        table = check_table(BaseEstimator(), X, known["missing"], reset=True)
        rng = np.random.default_rng(seed)
        return np.array([self._once(trial, table, rng) for _ in range(self.n_repeats)])

    def _once(self, trial: Trial, table: Table, rng: np.random.Generator) -> float:
        hidden = hide(table, self.share, rng)
        model = trial.fit(hidden.seen, missing=hidden.missing)
        codes = model.codes_ if getattr(model, "codes_", None) is not None else model.transform(hidden.seen)
        guess, truth = _predicted(model, codes, hidden.rows, hidden.columns, table.shape[1]), hidden.truth
        loss = getattr(getattr(model, "_learned", None), "loss", None)
        if loss is not None and loss.predicts_names:
            return float(np.mean(guess != truth))
        if loss is not None and loss.noise == "poisson":  # the noise of counts grows with them, not that of their roots
            guess, truth = np.sqrt(np.maximum(guess, 0.0)), np.sqrt(np.maximum(truth, 0.0))
        return float(np.sqrt(np.square(guess - truth).mean()))


def _predicted(model: Any, codes, rows: NDArray, columns: NDArray, width: int) -> NDArray:
    """Take the model's predictions of some entries, a block of rows at a time."""
    out = np.empty(len(rows))
    order = np.argsort(rows, kind="stable")
    ascending = rows[order]
    for start, stop in chunks(codes.shape[0], max(1, _PREDICTED // width)):
        these = order[slice(*np.searchsorted(ascending, [start, stop]))]
        if len(these):
            table = np.asarray(model.inverse_transform(codes[start:stop]))
            out[these] = table[rows[these] - start, columns[these]]
    return out


@dataclass(frozen=True)
class CrossValidation:
    """Score by ``score`` of rows that were not in the fit, in `n_folds` parts.

    For densities. The score of a factorisation or of k-means grows with every component on new rows too, because
    their codes are fitted to the very rows: hide entries instead.
    """

    n_folds: int = 5

    name = "cross-validation"
    title = "score of held-out rows"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        if not hasattr(trial.estimator, "score"):
            raise TypeError(
                f"{type(trial.estimator).__name__} has no score, so it cannot be cross-validated: choose by "
                f"{suitable(trial.estimator)!r}"
            )
        refuse_pairs(trial.estimator)
        n, folds = n_rows(X), whole(self.n_folds, "n_folds", 2)
        if folds > n:
            raise ValueError(f"n_folds={folds} is more than the {n} rows of X")
        parts = np.array_split(np.random.default_rng(seed).permutation(n), folds)
        scores = []
        for i, out in enumerate(parts):
            kept = np.concatenate(parts[:i] + parts[i + 1 :])
            scores.append(float(trial.fit(take(X, kept)).score(take(X, out))))
        return np.array(scores)


_FLAT = 0.01
_SMALL = 1 << 20  # entries up to which every part of the rows meets every part of the columns


@dataclass(frozen=True)
class BiCrossValidation:
    """Score by the root-mean-square error at hidden blocks, for models that are a singular value decomposition.

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
        """Measure the errors of all numbers up to `most`."""
        centred = getattr(estimator, "_centred", None)
        if centred is None:
            kind, other = type(estimator).__name__, suitable(estimator)
            raise TypeError(f"{kind} is no singular value decomposition: choose by {other!r} or another criterion")
        table = check_table(BaseEstimator(), X, getattr(estimator, "missing", None), reset=True)
        if table.seen is not None:
            raise ValueError("blocks can be hidden of a complete table only: choose by 'held-out'")
        if min(table.shape) < 3:
            raise ValueError(f"X is too small ({table.shape[0]}×{table.shape[1]}) to hide blocks: give a number")
        folds = min(self.n_folds, *table.shape)
        rng = np.random.default_rng(seed)
        parts = [np.array_split(rng.permutation(n), folds) for n in table.shape]
        X = table.values.astype(np.float64, copy=False)
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
    """Hold the errors of 1, 2, … components (columns) in every fold (rows)."""

    errors: NDArray

    name = BiCrossValidation.name
    title = BiCrossValidation.title
    larger_is_better = False

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """Choose the fewest whose error is within 1 % of the fall from the first number to the least.

        Minima are flat.
        """
        return int(ks[np.flatnonzero(scores <= scores.min() + _FLAT * (scores[0] - scores.min()))[0]])

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        count = trial.count or 0
        if count > self.errors.shape[1]:
            raise ValueError(f"n_components={count} is more than what is left of X has when blocks are hidden")
        return self.errors[:, count - 1]


def _curve(X, rows: NDArray, columns: NDArray, most: int, centred: bool) -> NDArray:
    """Measure the error at X[rows, columns] for 1, 2, … components of the rest."""
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
    return float(np.square(stored(A), dtype=np.float64).sum())


_NEARLY = 1.05


@dataclass(frozen=True)
class Completion:
    """Score by the perplexity of half the words of documents that were not in the fit, given their other half.

    For models of topics (those with ``perplexity``). A model of topics has no missing entries, a word that is hidden is
    a word that did not occur, and the mixture of a new document is fitted to its words: so whole documents are held
    out, and half of each. In texts ever more topics predict ever so slightly better; the fewest that come within 5 % of
    the best are chosen.

    Parameters
    ----------
    share : float, default=0.2
        Of the documents to hold out.
    n_repeats : int, default=3
    """

    share: float = 0.2
    n_repeats: int = 3

    name = "completion"
    title = "perplexity of held-out words"
    larger_is_better = False

    def __post_init__(self):
        whole(self.n_repeats, "n_repeats", 1)
        if not 0 < number(self.share, "share") < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """Choose the fewest topics whose perplexity is within 5 % of the least."""
        return int(ks[np.flatnonzero(scores <= _NEARLY * scores.min())[0]])

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        if not hasattr(trial.estimator, "perplexity"):
            kind, other = type(trial.estimator).__name__, suitable(trial.estimator)
            raise TypeError(f"{kind} has no topics to complete documents by: choose by {other!r} or another criterion")
        counts = sp.csr_array(check_table(BaseEstimator(), X, None, reset=True).values)
        if (counts.data != np.floor(counts.data)).any():
            raise ValueError(
                f"X must hold whole counts, because its words are dealt out one by one: give {trial.name} a number"
            )
        rng = np.random.default_rng(seed)
        return np.array([self._once(trial, counts, rng) for _ in range(self.n_repeats)])

    def _once(self, trial: Trial, counts: sp.csr_array, rng: np.random.Generator) -> float:
        order = rng.permutation(counts.shape[0])
        out = max(1, round(self.share * len(order)))
        if out == len(order):
            raise ValueError(f"X has {len(order)} documents, too few to hold some out: give {trial.name} a number")
        model = trial.fit(counts[order[out:]])
        return model.perplexity(counts[order[:out]], int(rng.integers(2**31)))
