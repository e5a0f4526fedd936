"""Ask whether shares come true: of the rows that are called likely to 80 %, are 80 % so?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unweave.data.arguments import whole
from unweave.predict.evaluation.intervals import check_level, wilson


@dataclass
class Calibration:
    """Hold how often what was said came true.

    Attributes
    ----------
    said, came_true : arrays
        The mean share that was said in each bin, and the share that came true.
    low, high : arrays
        The interval of Wilson of what came true.
    count : array
        How many cases are in each bin.
    error : float
        The mean distance between the two, each case counting alike (expected calibration error).
    brier : float
        The mean squared distance between what was said and what is: (share − 1)² for what came true, share² for what
        did not.
    """

    said: NDArray
    came_true: NDArray
    low: NDArray
    high: NDArray
    count: NDArray
    error: float
    brier: float

    def plot(self):
        """Draw what came true against what was said, as a matplotlib figure."""
        from unweave.predict.evaluation.figures import plot_calibration

        return plot_calibration(self)

    def __str__(self) -> str:
        lines = [f"off by {self.error:.3f} on average; Brier score {self.brier:.3f}"]
        lines += [
            f"said {said:.2f}: came true {true:.2f} ({low:.2f} to {high:.2f}) of {count}"
            for said, true, low, high, count in zip(
                self.said, self.came_true, self.low, self.high, self.count, strict=True
            )
        ]
        return "\n".join(lines)


def calibration(y_true, shares, *, positive=None, n_bins: int = 10, level: float = 0.95) -> Calibration:
    """Ask whether predicted shares come true.

    Parameters
    ----------
    y_true : array
        Whether it is so (0 and 1, or truth values); or classes, of which `positive` is the one asked about.
    shares : array
        The predicted share of each row, between 0 and 1.
    positive : class, optional
    n_bins : int, default=10
        Bins of equally many cases; fewer where shares repeat.
    level : float, default=0.95
        Of the intervals of Wilson.

    Returns
    -------
    Calibration
        Numbers, ``str`` and ``plot()``.

    Examples
    --------
    >>> found = calibration([0, 0, 0, 1, 1, 1, 1, 0], [0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8], n_bins=2)
    >>> found.came_true.tolist(), round(found.error, 3)
    ([0.25, 0.75], 0.05)
    """
    truth, shares = column_or_1d(y_true), column_or_1d(shares).astype(np.float64)
    check_consistent_length(truth, shares)
    check_level(level)
    n_bins = whole(n_bins, "n_bins", 1)
    if not len(truth):
        raise ValueError("y_true is empty: there is nothing to compare")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("shares must lie between 0 and 1: give what predict_proba says of one class")
    if positive is None and not np.isin(truth, (0, 1)).all():
        raise ValueError("y_true holds classes: name the one that shares are of by positive=")
    so = (truth == (1 if positive is None else positive)).astype(np.float64)
    edges = np.unique(np.quantile(shares, np.linspace(0, 1, n_bins + 1)))
    place = np.clip(np.searchsorted(edges, shares, side="right") - 1, 0, max(0, len(edges) - 2))
    count = np.bincount(place)
    kept = count > 0
    said, true = (np.bincount(place, weights=w)[kept] / count[kept] for w in (shares, so))
    count = count[kept]
    ends = np.array([wilson(t * n, n, level) for t, n in zip(true, count, strict=True)])
    error = float((np.abs(said - true) * count).sum() / len(truth))
    return Calibration(said, true, ends[:, 0], ends[:, 1], count, error, float(((shares - so) ** 2).mean()))
