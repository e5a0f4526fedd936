"""Say what "near" means to k-means: each metric is least squares on rows made ready, with centres of its own kind.

That keeps one Lloyd, with its bounds, for all: on rows of length one ½|x − c|² is one minus the cosine, and on rows of
zeros and ones |x − c|² is the number of entries that differ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.storage import row_largest, row_squares, stored
from unweave.data.tiny_values import out_of_range
from unweave.objectives import Objective

# Beyond these a squared distance, or a bound of one, is no number of its type any more.
_LARGEST = {np.dtype(np.float32): 1e17, np.dtype(np.float64): 1e36}
_SMALLEST = {np.dtype(np.float32): 1e-17, np.dtype(np.float64): 1e-36}


class Euclidean:
    """Measure |x − c|; centres are means."""

    name = "euclidean"
    free = True  # centres are the means, whatever these are
    ties = False  # rows are often equally near to two centres
    changes = False  # rows are made other ones, not only looked at

    def rows(self, objective: Objective) -> Objective:
        """Make the table ready for Lloyd."""
        self.check(objective)
        return objective

    def check(self, objective: Objective) -> None:
        """Raise where rows are none that this metric takes."""
        _check_range(objective)

    def check_centres(self, centres: NDArray) -> NDArray:
        """Check given centres, and write them as this metric knows them."""
        return centres

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """Find the centres that clusters with these means want."""
        return means

    def distances(self, losses: NDArray) -> NDArray:
        """Turn half squared distances into distances."""
        return np.sqrt(2 * np.maximum(losses, 0))


class Cosine(Euclidean):
    """Measure 1 − cos(x, c): rows count by their direction only, centres are mean directions (spherical k-means)."""

    name = "cosine"
    free = False
    changes = True

    def check(self, objective: Objective) -> None:
        """Find nothing to say of rows that were made ready."""

    def rows(self, objective: Objective) -> Objective:
        """Bring rows to length one; a row of zeros has no direction and raises."""
        if not objective.complete:
            raise ValueError("metric='cosine' needs every entry observed; impute X first, or use metric='euclidean'")
        longest = row_largest(objective.X)
        if not longest.all():
            raise ValueError(
                f"row {int(np.flatnonzero(longest == 0)[0])} of X is all zeros and has no direction: leave such rows "
                "out, or use metric='euclidean'"
            )
        near_one = objective.rows_divided(longest)  # first, so that no square leaves the range of its type
        return near_one.rows_divided(np.sqrt(row_squares(near_one.X)))

    def check_centres(self, centres: NDArray) -> NDArray:
        """Bring given centres to length one."""
        if not centres.any(axis=1).all():
            raise ValueError("init holds a centre of zeros, which has no direction under metric='cosine'")
        return self.place(centres, centres).astype(centres.dtype)

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """Take mean directions; where the rows cancel out the former one stays."""
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        tiny = 1e-12
        return np.where(lengths > tiny, means / np.maximum(lengths, tiny), former)

    def distances(self, losses: NDArray) -> NDArray:
        return np.maximum(losses, 0)


class Hamming(Euclidean):
    """Count the entries that differ, in tables of zeros and ones; centres are medians: the majority of each column.

    Where a column ties, the former value of the centre stays; of two centres equally near, the first is taken.
    """

    name = "hamming"
    free = False
    ties = True

    def check(self, objective: Objective) -> None:
        values = stored(objective.X)
        if not ((values == 0) | (values == 1)).all():
            raise ValueError("metric='hamming' needs a table of zeros and ones (or True and False)")

    def check_centres(self, centres: NDArray) -> NDArray:
        if not ((centres == 0) | (centres == 1)).all():
            raise ValueError("init must hold zeros and ones under metric='hamming'")
        return centres

    def place(self, means: NDArray, former: NDArray) -> NDArray:
        """Take the majority of each column; the former value (rounded) where it ties."""
        return np.where(means == 0.5, former > 0.5, means > 0.5).astype(np.float64)

    def distances(self, losses: NDArray) -> NDArray:
        return np.round(2 * np.maximum(losses, 0))


_METRICS: dict[str, Euclidean] = {metric.name: metric for metric in (Euclidean(), Cosine(), Hamming())}


def metric_of(name) -> Euclidean:
    """Find the metric of that name.

    >>> metric_of("cosine").distances(np.array([0.5]))
    array([0.5])
    """
    if not isinstance(name, str) or name not in _METRICS:
        raise ValueError(f"metric={name!r} is not known; use one of {', '.join(_METRICS)}")
    return _METRICS[name]


def _check_range(objective: Objective) -> None:
    """Raise where squared distances would leave the range of their type."""
    values = stored(objective.X)
    if not values.size:
        return
    most, spread = max(abs(float(values.max())), abs(float(values.min()))), float(np.ptp(values))
    if most > _LARGEST[objective.dtype] or 0 < spread < _SMALLEST[objective.dtype]:
        word, size = ("large", most) if most > 1 else ("small", spread)
        raise out_of_range(word, size, objective.dtype)
