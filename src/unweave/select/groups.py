"""How many groups: balls by silhouette and variance ratio, and pieces of any shape by the graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator

from unweave.data.arguments import whole
from unweave.data.table import check_table
from unweave.select.separation import cut_shares, neighbours
from unweave.select.silhouette import silhouette
from unweave.select.trial import Trial, labels_of, n_rows, take, within

# Set on 25 sets (FCPS and SIPU) and 42 planted tables of seven kinds; see benchmarks/rows/kmeans_number.py. All of 0.03
# to 0.08, 0.95 to 0.97 and 7 to 12 neighbours are right on 60 to 63 of these 67.
_ALIKE = 0.05  # silhouettes that differ by less leave the choice to the variance ratio, if that wants more groups
_CUT = 0.965  # groups that keep fewer of their neighbours than this, of a table in pieces, are no balls
_NEAR = 10
_PIECE = 0.02, 3  # share of the rows, and number, from which on a piece counts
_ROWS = 5000  # that the graph is made of


class _Judged(NamedTuple):
    """A number of groups: mean silhouette, variance ratio (Caliński and Harabasz), neighbours kept (0 is chance)."""

    silhouette: float
    ratio: float
    kept: float


@dataclass(frozen=True)
class Groups:
    """The number of groups by three questions to the same fits.

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
        """The graph of neighbours, once for all numbers."""
        n = n_rows(X)
        rows = np.arange(n) if n <= _ROWS else np.linspace(0, n - 1, _ROWS).astype(np.int64)
        part = check_table(BaseEstimator(), X if n <= _ROWS else take(X, rows), None, reset=True).values
        near = neighbours(part, _NEAR)
        total = within(X, np.zeros(n, np.int64))[0]
        return GroupsOf(whole(self.sample, "sample", 1), rows, near, pieces(near), total)

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return self.ready(trial.estimator, X, 1, seed).values(trial, X, seed)


@dataclass(frozen=True)
class GroupsOf:
    """:class:`Groups` of one table: its graph, and what was measured of each number so far."""

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
    """Parts of a table that no two rows of, each among the nearest of the other, join; those too small do not count.

    >>> pieces(np.array([[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]]))
    2
    """
    n, q = near.shape
    bonds = sp.csr_array((np.ones(n * q), (np.repeat(np.arange(n), q), near.reshape(-1))), shape=(n, n))
    part = connected_components(bonds.multiply(bonds.T), directed=False)[1]
    share, least = _PIECE
    return int((np.bincount(part) >= max(least, share * n)).sum())
