"""What "near" means to k-means. Each metric is least squares on rows made ready for it, with centres of its own kind.

That keeps one Lloyd, with its bounds, for all: on rows of length one ½|x − c|² is one minus the cosine, and on rows of
zeros and ones |x − c|² is the number of entries that differ.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.tiny_values import out_of_range
from unweave.group.coreset_blocks import each_block
from unweave.objectives import Blocks, Dense, Objective, Observed, Sparse

# Beyond these a squared distance, or a bound of one, is no number of its type any more.
_LARGEST = {np.dtype(np.float32): 1e17, np.dtype(np.float64): 1e36}
_SMALLEST = {np.dtype(np.float32): 1e-17, np.dtype(np.float64): 1e-36}


class Euclidean:
    """|x − c|; centres are means."""

    name = "euclidean"
    free = True  # centres are the means, whatever these are

    def rows(self, objective: Objective) -> Objective:
        """The table as Lloyd takes it."""
        _check_range(objective)
        return objective

    def check_centres(self, centres: NDArray) -> NDArray:
        """Given centres, as this metric knows them."""
        return centres

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """The centres that clusters with these means want."""
        return means

    def distances(self, losses: NDArray) -> NDArray:
        """Distances from half squared ones."""
        return np.sqrt(2 * np.maximum(losses, 0))


class Cosine(Euclidean):
    """1 − cos(x, c); rows count by their direction only, and centres are mean directions (spherical k-means)."""

    name = "cosine"
    free = False

    def rows(self, objective: Objective) -> Objective:
        """Rows of length one; a row of zeros has no direction and raises."""
        if not objective.complete or isinstance(objective, Observed):
            raise ValueError("metric='cosine' needs every entry observed; impute X first, or use metric='euclidean'")
        X = objective.X
        longest = abs(X).max(axis=1)
        longest = np.asarray(longest.toarray() if sp.issparse(longest) else longest).ravel().astype(np.float64)
        if not longest.all():
            raise ValueError(
                f"row {int(np.flatnonzero(longest == 0)[0])} of X is all zeros and has no direction: leave such rows "
                "out, or use metric='euclidean'"
            )
        if isinstance(objective, Sparse):
            lengths = np.sqrt(np.asarray((_over(X, longest) ** 2).sum(axis=1)).ravel())
            return Sparse(sp.csr_array(_over(X, longest * lengths)), objective.loss)
        ready = X / longest[:, None].astype(X.dtype)
        ready /= np.sqrt(np.einsum("ij,ij->i", ready, ready))[:, None]
        return Dense(np.ascontiguousarray(ready, dtype=X.dtype), objective.loss)

    def check_centres(self, centres: NDArray) -> NDArray:
        """Centres of length one."""
        if not centres.any(axis=1).all():
            raise ValueError("init holds a centre of zeros, which has no direction under metric='cosine'")
        return self.place(centres, centres).astype(centres.dtype)

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """Mean directions; where the rows cancel out the former one stays."""
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        tiny = 1e-12
        return np.where(lengths > tiny, means / np.maximum(lengths, tiny), former)

    def distances(self, losses: NDArray) -> NDArray:
        return np.maximum(losses, 0)


class Hamming(Euclidean):
    """The number of entries that differ, for tables of zeros and ones; centres are medians: a majority a column.

    Where a column ties, the former value of the centre stays; of two centres equally near, the first is taken.
    """

    name = "hamming"
    free = False

    def rows(self, objective: Objective) -> Objective:
        values = objective.X.data if sp.issparse(objective.X) else objective.X
        if not ((values == 0) | (values == 1)).all():
            raise ValueError("metric='hamming' needs a table of zeros and ones (or True and False)")
        return objective

    def check_centres(self, centres: NDArray) -> NDArray:
        if not ((centres == 0) | (centres == 1)).all():
            raise ValueError("init must hold zeros and ones under metric='hamming'")
        return centres

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """The majority of each column; the former value (rounded) where it ties."""
        return np.where(means == 0.5, former > 0.5, means > 0.5).astype(np.float64)

    def distances(self, losses: NDArray) -> NDArray:
        return np.round(2 * np.maximum(losses, 0))


_METRICS: dict[str, Euclidean] = {metric.name: metric for metric in (Euclidean(), Cosine(), Hamming())}


def metric_of(name) -> Euclidean:
    """The metric of that name.

    >>> metric_of("cosine").distances(np.array([0.5]))
    array([0.5])
    """
    if not isinstance(name, str) or name not in _METRICS:
        raise ValueError(f"metric={name!r} is not known; use one of {', '.join(_METRICS)}")
    return _METRICS[name]


def ready_rows(metric: Euclidean, objective: Objective) -> Objective:
    """The table, or each of its blocks when it is their turn, as Lloyd takes it."""
    return each_block(objective, metric.rows) if isinstance(objective, Blocks) else metric.rows(objective)


def _over(X: sp.csr_array, lengths: NDArray) -> sp.csr_array:
    """Rows divided by these lengths."""
    data = X.data / np.repeat(lengths, np.diff(X.indptr)).astype(X.dtype)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _check_range(objective: Objective) -> None:
    """Raise where squared distances would leave the range of their type."""
    values = objective.X.data if sp.issparse(objective.X) else objective.X
    if not values.size:
        return
    most, spread = max(abs(float(values.max())), abs(float(values.min()))), float(np.ptp(values))
    if most > _LARGEST[objective.dtype] or 0 < spread < _SMALLEST[objective.dtype]:
        word, size = ("large", most) if most > 1 else ("small", spread)
        raise out_of_range(word, size, objective.dtype)
