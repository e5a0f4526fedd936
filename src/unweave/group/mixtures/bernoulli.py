"""Fit mixtures of independent coins: clusters of rows of zeros and ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, numbers, whole
from unweave.data.storage import as_dense, n_stored, product, stored
from unweave.group.mixtures.base import BaseMixture
from unweave.group.mixtures.em import split_heaviest
from unweave.group.mixtures.in_blocks import rows_of
from unweave.group.mixtures.rows import SAMPLE, STARTS, WeightedRows, centres_by, nearest, sample_rows
from unweave.objectives import Objective

_NUMBERS = 1 << 18  # entries of a piece
_DEAD = 1e-10
_OTHER = "X must hold zeros and ones only; pass binarize=0.5 (or another threshold)"


class BernoulliForm:
    """Expect on pieces of the table, over what was seen.

    log p(x | c) = Σ_j x_j log(μ_j / (1 − μ_j)) + Σ_j log(1 − μ_j).
    """

    def __init__(self, state: dict, size: int):
        means, self.size = state["means"], size
        self.held = 2 * means.size
        self.slopes, self.zeros = np.log(means) - np.log1p(-means), np.log1p(-means)
        self.log_weights = np.log(np.maximum(state["weights"], 1e-300))[:, None]

    def log_joint(self, X, seen):
        L = np.ascontiguousarray((X @ self.slopes.T).T, dtype=np.float64)
        L += self.log_weights
        known = None if seen is None else np.asarray(seen, dtype=np.float64)
        L += self.zeros.sum(axis=1)[:, None] if known is None else self.zeros @ known.T
        return L, (X, known)

    def statistics(self, memo, R):
        X, known = memo
        count = R.sum(axis=1)
        return count, product(R, X), np.repeat(count[:, None], X.shape[1], axis=1) if known is None else R @ known

    def collect(self, totals) -> dict:
        return dict(zip(("count", "ones", "seen"), totals))


@dataclass(frozen=True)
class BernoulliFamily:
    """Describe components as independent coins, with `smoothing` heads and tails seen beforehand."""

    smoothing: float

    def look(self, rows: WeightedRows) -> int:
        """Choose how many rows a piece has."""
        n, d = rows.shape
        if n_stored(rows.objective.X) < n * d:
            return max(2048, n // 16)  # rows are short: few pieces, each of whose sums is a whole dense table
        return max(128, _NUMBERS // d)

    def known(self, looks: list) -> int:
        """Take the largest pieces."""
        return max(looks)

    def form(self, parameters: dict, known: int):
        """Make the form for these parameters."""
        return BernoulliForm(parameters, known)

    def log_prior(self, parameters: dict) -> float:
        """Compute the logarithm of the Beta prior, up to a constant."""
        means = parameters["means"]
        return self.smoothing * float((np.log(means) + np.log1p(-means)).sum())

    def maximise(self, state: dict) -> dict:
        """Find the most likely parameters given the counts."""
        count = np.where(state["count"] > _DEAD * state["count"].sum(), state["count"], 0.0)
        tosses = state["seen"] + 2 * self.smoothing
        means = np.where(tosses > 0, (state["ones"] + self.smoothing) / np.where(tosses > 0, tosses, 1.0), 0.5)
        # not beyond what float64 can tell from 0 and 1, however little is smoothed
        return {"weights": count / count.sum(), "means": np.clip(means, 1e-15, 1 - 1e-15)}

    def revive(self, state: dict, parameters: dict, trial: int) -> dict | None:
        """Make a dead component one half of the heaviest, which is split in a random direction."""
        means = parameters["means"]
        way = np.random.default_rng(trial).uniform(-0.5, 0.5, means.shape[1])
        split = split_heaviest(parameters, lambda parent: way * np.minimum(means[parent], 1 - means[parent]))
        return None if split is None else split[0]

    def blend(self, old: dict, new: dict, share: float) -> dict:
        """Average the counts of two samples, `share` of the second."""
        return {name: (1 - share) * old[name] + share * new[name] for name in new}


class BernoulliMixture(BaseMixture):
    """Fit p(x) = Σ_c π_c Π_j μ_cj^{x_j} (1 − μ_cj)^{1 − x_j}: groups of rows of zeros and ones, each with own coins.

    Use it for baskets, answers, presence and absence, dense or sparse (zeros are data). Fitted by EM with `smoothing`
    heads and as many tails added to every coin, the maximum under a Beta prior, whose logarithm is part of the bound
    in ``history_``; the bound never falls. With ``missing="nan"`` only the entries seen count. A component that
    explains nothing any more becomes one half of the heaviest if that does not lower the bound.

    Parameters
    ----------
    n_components : int or "auto", default=1
        "auto" takes the number with the best BIC (:func:`unweave.select.auto_count`), kept as ``choice_``.
    smoothing : float, default=1.0
        Pseudo-counts; 0 is plain maximum likelihood.
    binarize : float or None, default=0.0
        Entries above it count as ones and all others as zeros, so zeros and ones are what they are; None refuses a
        table that holds anything else.
    init : {"k-means", "random"} or array (k, m), default="k-means"
        k-means or random rows, on 20 000 rows at most; or probabilities.
    n_init, missing, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`GaussianMixture`.

    Attributes
    ----------
    weights_, means_ : arrays (k,) and (k, m)
        ``components_`` is ``means_``.
    codes_, labels_, lower_bound_, converged_, n_components_, n_parameters_
        As in :class:`GaussianMixture`.
    objective_, n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import BernoulliMixture
    >>> X = np.array([[1, 1, 0, 0]] * 5 + [[0, 0, 1, 1]] * 5)
    >>> model = BernoulliMixture(2, smoothing=0.1).fit(X)
    >>> bool(model.labels_[0] != model.labels_[-1])
    True
    >>> np.sort(model.means_[:, 0]).round(2)
    array([0.02, 0.98])

    References
    ----------
    Bishop (2006), Pattern recognition and machine learning, section 9.3.3.
    """

    def __init__(
        self,
        n_components=1,
        *,
        smoothing=1.0,
        binarize=0.0,
        init="k-means",
        n_init=1,
        missing=None,
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.smoothing = smoothing
        self.binarize = binarize
        self.init = init
        self.n_init = n_init
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _family(self, k, d):
        return BernoulliFamily(number(self.smoothing, "smoothing"))

    def _cost_family(self, complete):
        return "bernoulli"

    def _open(self, objective, weights=None):
        # To look at blocks beforehand would be a visit more: they are looked at whenever they are read.
        if self.binarize is None and objective.in_blocks:
            return rows_of(objective, weights, _read_zeros_and_ones)
        binary = not objective.in_blocks and rows_of(objective, None, _read).add_up(_n_other, None) == 0
        if self.binarize is None:
            if not binary:
                raise ValueError(_OTHER)
            return rows_of(objective, weights, _read)
        threshold = number(self.binarize, "binarize", -np.inf)
        if binary and 0 <= threshold < 1:  # which leaves zeros and ones as they are
            return rows_of(objective, weights, _read)
        return rows_of(objective, weights, lambda *piece: _above(*_read(*piece), threshold))

    def _reasons(self):
        return [] if self.binarize is None else [f"entries above {self.binarize:g} count as ones"]

    def _begin(self, family, rows, k, em, rng, trial):
        X, weights = sample_rows(rows, SAMPLE, rng)
        if isinstance(self.init, str):
            if self.init not in STARTS:
                raise ValueError(f"init={self.init!r} is not known; use 'k-means', 'random' or an array (k, m)")
            labels = nearest(X, centres_by(self.init, X, weights, k, rng, trial))
            hot = np.equal.outer(np.arange(k), labels) * weights
            seen = np.repeat(hot.sum(axis=1)[:, None], X.shape[1], axis=1)
            return em.state_with(
                {"weights": np.full(k, 1 / k), "count": hot.sum(axis=1), "ones": hot @ X, "seen": seen}
            )
        means = numbers(self.init, "init", (k, X.shape[1]))
        if not ((means >= 0) & (means <= 1)).all():
            raise ValueError("init must hold probabilities: numbers from 0 to 1")
        return em.state_at({"weights": np.full(k, 1 / k), "means": np.clip(means, 1e-3, 1 - 1e-3)})

    def _parameters(self):
        return {"weights": self.weights_, "means": self.means_}

    def _publish(self, state):
        self.weights_, self.means_ = state["weights"], state["means"]
        self.components_ = self.means_
        self.n_parameters_ = self.means_.size + len(self.weights_) - 1

    def sample(self, n_samples=1, random_state=None):
        """Draw new rows of zeros and ones, and their components; ``random_state=None`` is a fixed seed."""
        check_is_fitted(self)
        n, rng = whole(n_samples, "n_samples", 1), generator(random_state)
        labels = np.sort(rng.choice(len(self.weights_), n, p=self.weights_ / self.weights_.sum()))
        return (rng.random((n, self.means_.shape[1])) < self.means_[labels]).astype(np.float64), labels


def _read(table: Objective, start: int, stop: int) -> tuple[Any, NDArray | None]:
    """Take rows as they are stored: sparse ones are multiplied as such."""
    return (table.X[start:stop], None) if table.complete else table.dense_rows(start, stop)


def _read_zeros_and_ones(table: Objective, start: int, stop: int) -> tuple[Any, NDArray | None]:
    """The same, and raise where there is anything else in them."""
    X, seen = _read(table, start, stop)
    values = stored(X)
    if not ((values == 0) | (values == 1)).all():
        raise ValueError(_OTHER)
    return X, seen


def _n_other(rows: WeightedRows, state) -> int:
    """Count the entries that are neither zero nor one."""
    return int(np.count_nonzero(~np.isin(stored(rows.objective.X), (0, 1))))


def _above(X, seen, threshold: float):
    """Put ones where X is above the threshold."""
    X = as_dense(X) if threshold < 0 else X
    return (threshold < X).astype(X.dtype), seen
