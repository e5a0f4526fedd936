"""Measure how well groups stand apart: as balls, as pieces of a graph of neighbours, and as Gaussians."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import digamma, gammaln
from sklearn.base import BaseEstimator

from unweave.data.arguments import whole
from unweave.data.storage import is_array
from unweave.data.table import check_table
from unweave.select.silhouette import silhouette
from unweave.select.trial import Trial, evenly, labels_of, n_rows, take, within

# Set on 25 sets (FCPS and SIPU) and 42 planted tables of seven kinds; see benchmarks/rows/kmeans_number.py. All of 0.03
# to 0.08, 0.95 to 0.97 and 7 to 12 neighbours are right on 60 to 63 of these 67.
_ALIKE = 0.05  # silhouettes that differ by less leave the choice to the variance ratio, if that wants more groups
_CUT = 0.965  # groups that keep fewer of their neighbours than this, of a table in pieces, are no balls
_BONDS = 10
_PIECE = 0.02, 3  # share of the rows, and number, from which on a piece counts
_GRAPH_ROWS = 5000  # that the graph is made of


class _Judged(NamedTuple):
    """Hold what was measured of a number of groups: mean silhouette, variance ratio, neighbours kept (0 is chance)."""

    silhouette: float
    ratio: float
    kept: float


@dataclass(frozen=True)
class Groups:
    """Choose the number of groups by three questions to the same fits.

    1. *Which balls?* The best mean silhouette; but it likes to join what lies close, so the number of the best variance
       ratio is taken if it is larger and its silhouette within 0.05 of the best.
    2. *How many pieces?* Rows are joined that are among each other's 10 nearest; pieces of less than 2 % are noise.
    3. *Do the balls respect the pieces?* If there are several, and the balls cut more than 3.5 % of the bonds between
       neighbours, the groups are no balls, and the number of pieces is taken. Nor are there fewer groups than pieces.

    Parameters
    ----------
    sample : int, default=2000
        Rows that the silhouette is averaged over (each against all).
    """

    sample: int = 2000

    name = "groups"
    title = "mean silhouette"
    larger_is_better = True

    def ready(self, estimator: Any, X, most: int, seed: int) -> GroupsOf:
        """Make the graph of neighbours, once for all numbers."""
        n = n_rows(X)
        rows = evenly(n, _GRAPH_ROWS)
        part = check_table(BaseEstimator(), X if n <= _GRAPH_ROWS else take(X, rows), None, reset=True).values
        near = neighbours(part, _BONDS)
        total = within(X, np.zeros(n, np.int64))[0]
        return GroupsOf(whole(self.sample, "sample", 1), rows, near, pieces(near), total)

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return self.ready(trial.estimator, X, 1, seed).values(trial, X, seed)


@dataclass(frozen=True)
class GroupsOf:
    """Ask the questions of :class:`Groups` of one table: its graph, and what was measured of each number so far."""

    sample: int
    rows: NDArray
    near: NDArray
    pieces: int
    total: float
    judged: dict[int, _Judged] = field(default_factory=dict)

    name, title, larger_is_better = Groups.name, Groups.title, True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        found = labels_of(trial.fit(X), X)
        mean = silhouette(X, found, self.sample, random_state=seed)
        labels = np.unique(found, return_inverse=True)[1].reshape(-1)
        n, k = len(labels), int(labels.max()) + 1
        ratio = 0.0
        if 1 < k < n:
            spread = within(X, labels)[0]
            ratio = (self.total - spread) / (k - 1) * (n - k) / spread if spread > 0 else np.inf
        kept = cut_shares(labels[self.rows], self.near, k)
        self.judged[trial.count or k] = _Judged(mean, ratio, kept)
        return np.array([mean])

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        ball = self._ball(ks, scores)
        if self.pieces < 2 or self.pieces > ks.max():
            return ball
        piece = int(ks[np.searchsorted(ks, self.pieces)])  # the next number that was tried
        return piece if self.judged[ball].kept < _CUT else max(ball, piece)

    def _ball(self, ks: NDArray, scores: NDArray) -> int:
        ratios = np.array([self.judged[int(k)].ratio for k in ks])
        ball, other = int(np.argmax(scores)), int(np.argmax(ratios))
        return int(ks[other if other > ball and scores[other] >= scores[ball] - _ALIKE else ball])


def pieces(near: NDArray) -> int:
    """Count the pieces of a table: rows are joined that are each among the nearest of the other.

    Pieces that are too small do not count.

    >>> pieces(np.array([[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]]))
    2
    """
    n, q = near.shape
    bonds = sp.csr_array((np.ones(n * q), (np.repeat(np.arange(n), q), near.reshape(-1))), shape=(n, n))
    part = connected_components(bonds.multiply(bonds.T), directed=False)[1]
    share, least = _PIECE
    return int((np.bincount(part) >= max(least, share * n)).sum())


_APART, _SAME = 0.9, 0.995  # below the first there are no clusters; scores this alike are one
_NEAR = 5  # neighbours that the entropy of a table is estimated from


@dataclass(frozen=True)
class Separation:
    """Score by the normalised cut of the graph of neighbours, scaled so that 1 is no edge cut and 0 is chance.

    With s_c the share of the edges of cluster c that stay inside it, (Σ_c s_c − 1)/(k − 1). Labels dealt at random keep
    their own size as a share, and these sum to 1. An outlier as a cluster of its own keeps nothing, so it does not pay.

    Parameters
    ----------
    n_neighbors : int, default=15
        Each row is joined to that many; an edge counts double if both rows name each other.
    """

    n_neighbors: int = 15

    name = "separation"
    title = "separation (1: no neighbours apart, 0: chance)"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([self.score(X, labels_of(trial.fit(X), X), trial.count)])

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """Choose the largest number within 0.5 % of the best, because clusters joined stand apart too.

        Else the first.
        """
        if scores.max() < _APART:
            return int(ks[0])
        return int(ks[np.flatnonzero(scores >= _SAME * scores.max())[-1]])

    def score(self, X, labels: NDArray, count: int | None = None) -> float:
        """Measure the separation of given labels; clusters missing of `count` stay empty and keep nothing.

        >>> Separation(1).score([[0.0], [1.0], [10.0], [11.0]], np.array([0, 0, 1, 1]))
        1.0
        """
        rows = check_table(BaseEstimator(), X, None, reset=True).values
        codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
        k = max(int(codes.max()) + 1, count or 1)
        if k == 1 or len(codes) < 2:
            return 0.0
        return cut_shares(codes, neighbours(rows, whole(self.n_neighbors, "n_neighbors", 1)), k)


@dataclass(frozen=True)
class GaussianGap:
    """Score by what is lost when every cluster is read as one Gaussian: Ĥ + mean log Σ_c π_c N(x; μ_c, Σ_c) per row.

    Ĥ is the entropy of the table by the distances to neighbours (Kozachenko and Leonenko), so the value estimates minus
    the Kullback–Leibler divergence from the density of the data to that of the clusters. Near 0: the clusters are
    Gaussians. Σ_c leans on the pooled covariance by m + 2 rows, so that a cluster of a few rows has one. With many
    columns (say ten) and few rows Ĥ is too high, and so is the value.
    """

    name = "gaussian"
    title = "gap to Gaussian clusters (0: none)"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([self.score(X, labels_of(trial.fit(X), X), trial.count)])

    def score(self, X, labels: NDArray, count: int | None = None) -> float:
        """Measure the gap of given labels, whatever their `count`; −∞ for sparse tables and where many rows coincide.

        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal(9, 1, (300, 2))])
        >>> GaussianGap().score(X, np.repeat([0, 1], 300)) > -0.1 > -0.3 > GaussianGap().score(X, np.arange(600) % 2)
        True
        """
        rows = check_table(BaseEstimator(), X, None, reset=True).values
        if not is_array(rows):
            return -np.inf
        rows = rows.astype(np.float64)
        spread = rows.std(axis=0)
        if not spread.all() or len(rows) <= _NEAR:
            return -np.inf
        rows = (rows - rows.mean(axis=0)) / spread
        codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
        return _entropy(rows) + _likelihood(rows, codes)


def neighbours(rows: Any, most: int) -> NDArray:
    """Find the nearest other rows of each row, at most so many."""
    return _neighbours(rows, min(most, rows.shape[0] - 1))[1] if rows.shape[0] > 1 else np.zeros((1, 0), np.int64)


def cut_shares(codes: NDArray, near: NDArray, k: int) -> float:
    """Compute (Σ_c s_c − 1)/(k − 1), s_c the share of the edges of cluster c that stay inside; 0 for one cluster."""
    if k == 1 or not near.size:
        return 0.0
    pairs = sp.csr_array(
        (np.ones(near.size), (np.repeat(codes, near.shape[1]), codes[near].reshape(-1))), shape=(k, k)
    ).toarray()
    pairs += pairs.T
    edges = pairs.sum(axis=1)
    return float(((np.diag(pairs) / np.where(edges > 0, edges, 1)).sum() - 1) / (k - 1))


def _neighbours(rows: Any, k: int) -> tuple[NDArray, NDArray]:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=k).fit(rows).kneighbors()


def _entropy(rows: NDArray) -> float:
    n, m = rows.shape
    radius = _neighbours(rows, _NEAR)[0][:, -1]
    if not radius.all():
        return -np.inf
    ball = m / 2 * np.log(np.pi) - gammaln(m / 2 + 1)
    return float(digamma(n) - digamma(_NEAR) + ball + m * np.log(radius).mean())


def _likelihood(rows: NDArray, codes: NDArray) -> float:
    """Average the log-likelihood of the rows under the mixture of one Gaussian per cluster."""
    n, m = rows.shape
    counts = np.bincount(codes)
    own = sp.csr_array((np.ones(n), (codes, np.arange(n))))
    centres = own @ rows / counts[:, None]
    centred = rows - centres[codes]
    pooled = centred.T @ centred / n + 1e-9 * np.eye(m)
    total = np.full(n, -np.inf)
    for cluster, count in enumerate(counts):
        part = centred[codes == cluster]
        root = np.linalg.cholesky((part.T @ part + (m + 2) * pooled) / (count + m + 2))
        squares = np.square(np.linalg.solve(root, (rows - centres[cluster]).T)).sum(axis=0)
        total = np.logaddexp(total, np.log(count / n) - np.log(np.diag(root)).sum() - squares / 2)
    return float(total.mean() - m / 2 * np.log(2 * np.pi))
