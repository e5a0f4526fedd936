"""Measure how surely perturbed data give the same clusters, and how far two clusterings are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.data.arguments import number, whole
from unweave.data.storage import is_array
from unweave.data.table import check_table
from unweave.select.trial import Trial, labels_of, n_rows, predicted, refuse_pairs, take

PERTURB = ("halves", "bootstrap", "noise")
TRANSFER = ("auto", "predict", "nearest-neighbour", "nearest-centroid")
_CHANCE = 5  # draws of random labels a repeat that chance is averaged over: it hardly varies where there are many rows
# The number of pairs and of rows was set for cost on five of the sets reported on, and for accuracy on FCPS and SIPU.
_PAIRS_FIRST, _HOPE = 2, 0.75  # a number whose first pairs are less alike than this on average gets no more pairs
_EACH = 40  # rows for each cluster that are looked at, however few were asked for


@dataclass(frozen=True)
class Stability:
    """Score by how alike two clusterings of perturbed data are, 1 for the same and 0 for chance.

    Parameters
    ----------
    n_repeats : int, default=5
        Pairs of perturbed tables; two for numbers that turn out far from stable.
    perturb : {"halves", "bootstrap", "noise"}, default="halves"
        Two halves of the rows without overlap; two bootstrap samples; or all rows twice, with Gaussian noise added.
    noise : float, default=0.1
        Its standard deviation, in units of each column's own.
    transfer : {"auto", "predict", "nearest-neighbour", "nearest-centroid"}, default="auto"
        How rows that were not in a sample get its labels: by the model's own `predict`, by the label of the nearest row
        in the sample, or of the nearest mean of a cluster. "auto" is `predict` where there is one, or the nearest row.
    sample : int, default=600
        Rows of a larger table that are looked at, drawn anew for each pair; 40 a cluster where that is more.
    """

    n_repeats: int = 5
    perturb: str = "halves"
    noise: float = 0.1
    transfer: str = "auto"
    sample: int = 600

    name = "stability"
    title = "stability (1: found again, 0: chance)"
    larger_is_better = True

    def __post_init__(self):
        whole(self.n_repeats, "n_repeats", 1)
        whole(self.sample, "sample", 2)
        number(self.noise, "noise")
        for word, known, name in ((self.perturb, PERTURB, "perturb"), (self.transfer, TRANSFER, "transfer")):
            if word not in known:
                raise ValueError(f"{name}={word!r} is not known; use one of {', '.join(known)}")

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        """Measure the stability of each repeat; zeros for one cluster, which is found again whatever the data are."""
        refuse_pairs(trial.estimator)
        if trial.count == 1:
            trial.fit(X)  # what cannot be fitted is not scored
            return np.zeros(self.n_repeats)
        rng = np.random.default_rng(seed)
        found: list[float] = []
        while len(found) < self.n_repeats and (len(found) != _PAIRS_FIRST or np.mean(found) > _HOPE):
            found.append(self._pair(trial, X, rng))
        return np.array(found)

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """Choose the largest number at which the curve has a peak within 2 % of the highest one.

        Coarser clusterings that join whole clusters are found again as surely as the finest true one, so the highest
        peak alone would decide by chance between them. The smallest of the best if none is above chance.
        """
        if scores.max() <= 0:
            return int(ks[np.argmax(scores)])
        rises = scores >= np.concatenate([[-np.inf], scores[:-1]])
        falls = scores > np.concatenate([scores[1:], [-np.inf]])
        peaks = np.flatnonzero(rises & falls & (scores >= 0.98 * scores.max()))
        return int(ks[peaks[-1]])

    def _pair(self, trial: Trial, X, rng: np.random.Generator) -> float:
        X = self._some(X, trial.count, rng)
        n = n_rows(X)
        if self.perturb == "noise":
            tables = [_noisy(X, self.noise, rng) for _ in range(2)]
            found = [labels_of(trial.fit(table, random_state=_seed(rng)), table) for table in tables]
        else:
            order = rng.permutation(n)
            halves = (order[: n // 2], order[n // 2 :])
            picks = halves if self.perturb == "halves" else rng.integers(n, size=(2, n))
            found = [
                self._carried(trial.fit(table, random_state=_seed(rng)), table, X)
                for table in (take(X, rows) for rows in picks)
            ]
        return chance_normalised(found[0], found[1], rng)

    def _some(self, X, count: int | None, rng: np.random.Generator):
        """Draw the rows that one pair is about."""
        n, most = n_rows(X), max(self.sample, _EACH * (count or 1))
        return X if n <= most else take(X, np.sort(rng.choice(n, most, replace=False)))

    def _carried(self, model: Any, sample, X) -> NDArray:
        """Label all rows of X by a model of some of them."""
        if self.transfer == "predict" or (self.transfer == "auto" and hasattr(model, "predict")):
            return predicted(model, X)
        from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

        labels = labels_of(model, sample)
        if len(np.unique(labels)) < 2:
            return np.zeros(n_rows(X), int)
        rule = NearestCentroid() if self.transfer == "nearest-centroid" else KNeighborsClassifier(1)
        return rule.fit(sample, labels).predict(X)


def chance_normalised(a: NDArray, b: NDArray, rng: np.random.Generator) -> float:
    """Compute 1 − d(a, b)/d_chance: 1 for the same clustering, 0 for no more alike than chance, below 0 for less.

    d is :func:`clustering_distance`, and d_chance its mean over random pairings of the same labels, relabelled for the
    best just as d is: a formula without that minimum would call chance stability. If both put everything into one
    cluster, chance is 0 too and the answer 0.

    >>> chance_normalised(np.repeat([0, 1], 50), np.repeat([1, 0], 50), np.random.default_rng(0))
    1.0
    """
    a, b = (np.unique(labels, return_inverse=True)[1].reshape(-1) for labels in (a, b))
    chance = float(np.mean([disagreement(a, rng.permutation(b)) for _ in range(_CHANCE)]))
    return 1 - disagreement(a, b) / chance if chance > 0 else 0.0


def _noisy(X, scale: float, rng: np.random.Generator):
    table = check_table(BaseEstimator(), X, "nan", reset=True)
    if not is_array(table.values):
        raise ValueError("perturb='noise' needs a dense table: noise would fill the zeros; use perturb='halves'")
    values = table.values
    unit = np.nanstd(values if table.seen is None else np.where(table.seen, values, np.nan), axis=0)
    noisy = values + (scale * unit * rng.standard_normal(values.shape)).astype(values.dtype)
    return noisy if table.seen is None else np.where(table.seen, noisy, np.nan)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def clustering_distance(a, b) -> float:
    """Measure the share of points on which two clusterings disagree, under the relabelling that suits them best.

    d(a, b) = 1 − max over π of Σ_i [a_i = π(b_i)] / n, where π pairs every label of `b` with at most one of `a`; the
    best π is found by the Hungarian method on the table of how often labels meet. 0 says that both are the same
    clustering; it is symmetric, obeys the triangle inequality and stays below 1. Points, not entries of the one-hot
    tables, are counted: ‖Z − πZ′‖₀ counts each of them twice.

    The numbers of labels may differ: a label that is left without a partner disagrees on all of its points. Points
    without a label on either side (−1, None, NaN, or masked) are left out; at least one must remain.

    Parameters
    ----------
    a, b : arrays (n,)
        Labels: numbers or text.

    Examples
    --------
    >>> clustering_distance([0, 0, 1, 1], [5, 5, 3, 3])
    0.0
    >>> clustering_distance([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    >>> clustering_distance(["x", "x", "y"], [2, 2, None])
    0.0

    References
    ----------
    Kuhn (1955), The Hungarian method for the assignment problem. Meilă (2007), Comparing clusterings, section 3.
    """
    (a, seen_a), (b, seen_b) = _codes(a, "a"), _codes(b, "b")
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} labels and b has {len(b)}: give two labellings of the same points")
    both = seen_a & seen_b
    if not both.any():
        raise ValueError("a and b have no labelled point in common, so nothing can be compared")
    return disagreement(a[both], b[both])


def disagreement(a: NDArray, b: NDArray) -> float:
    """Compute :func:`clustering_distance` of whole numbers from 0, nothing missing."""
    from scipy.optimize import linear_sum_assignment

    width = int(b.max()) + 1
    meetings = np.bincount(a.astype(np.int64) * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    rows, columns = linear_sum_assignment(meetings, maximize=True)
    return (len(a) - int(meetings[rows, columns].sum())) / len(a)


def _codes(labels: Any, name: str) -> tuple[NDArray, NDArray]:
    """Number labels 0, 1, 2, … and tell where there is one."""
    hidden = np.ma.getmaskarray(labels) if isinstance(labels, np.ma.MaskedArray) else False
    values = np.asarray(np.ma.getdata(labels) if isinstance(labels, np.ma.MaskedArray) else labels)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must hold one label for each point, at least one, got shape {values.shape}")
    if values.dtype.kind not in "biufUSO":
        raise TypeError(f"{name} must hold labels (numbers or text), got {values.dtype}")
    if values.dtype.kind == "O":
        seen = np.array([not _missing(label) for label in values])
        values = np.array([str(label) for label in values])
    else:
        seen = values == values
        if values.dtype.kind in "if":
            seen &= values != -1
    return np.unique(values, return_inverse=True)[1].reshape(-1), seen & ~np.asarray(hidden)


def _missing(label: Any) -> bool:
    return label is None or label != label or (not isinstance(label, str) and label == -1)
