"""Find where a curve of errors bends, by the elbow and by the knee."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_clusterer

from unweave.data.arguments import number
from unweave.select.trial import Trial, labels_of, within


def checked_curve(ks, scores, least: int) -> tuple[NDArray, NDArray]:
    """Sort numbers of components with their scores; all must be finite, and at least `least` of them."""
    ks, scores = np.asarray(ks), np.asarray(scores, dtype=np.float64)
    if ks.ndim != 1 or ks.shape != scores.shape:
        raise ValueError(f"ks and scores must be two rows of the same length, got {ks.shape} and {scores.shape}")
    if len(ks) < least:
        raise ValueError(f"ks has {len(ks)} points, but a bend needs at least {least}: try more numbers of components")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite: leave out what could not be scored")
    order = np.argsort(ks, kind="stable")
    if (np.diff(ks[order]) <= 0).any():
        raise ValueError("ks must hold every number of components once")
    return ks[order], scores[order]


def elbow(ks, scores) -> int:
    """Find the elbow of a curve of errors: the last large fall before the small ones.

    With f_k the fall of the error on the way to k (a component), the elbow maximises f_k / max over later j of f_j. Use
    it for within-cluster sums of squares and reconstruction errors, when a picture of the curve would be looked at; it
    says where the curve bends, not that there are clusters. A curve that rises (a share explained) is turned over, an
    error that rises between two numbers counts as no fall, and the ends of the curve are never the elbow.

    Parameters
    ----------
    ks : numbers of components
    scores : the error of each; at least three

    Examples
    --------
    >>> elbow([1, 2, 3, 4, 5, 6], [100, 60, 20, 18, 16, 14])
    3

    References
    ----------
    Thorndike (1953), Who belongs in the family?
    """
    ks, scores = checked_curve(ks, scores, 3)
    falling = np.minimum.accumulate(scores if scores[-1] <= scores[0] else -scores)
    falls = -np.diff(falling) / np.diff(ks)
    later = np.maximum.accumulate(falls[::-1])[::-1][1:]
    # A curve that reaches its floor falls by rounding errors from there on: these are no falls to compare with.
    floor = max(1e-12 * float(falls.sum()), 1e-300)
    return int(ks[1 + int(np.argmax(falls[:-1] / np.maximum(later, floor)))])


def knee(ks, scores, *, sensitivity: float = 1.0) -> int:
    """Find the first pronounced knee of a curve that rises or falls and flattens.

    Both axes are scaled to [0, 1] and the curve is turned so that it rises; the difference y − x is largest where the
    curve bends away most from its chord. A local maximum counts as the knee once the difference has fallen below it by
    `sensitivity` times the mean step of x before the next one. If none falls so far, the largest difference counts; a
    flat curve has its knee at the smallest number.

    Parameters
    ----------
    ks : numbers of components
    scores : error (falling) or score (rising) of each; at least three
    sensitivity : float, default=1.0
        How much must be lost after the knee; 0 takes the first local maximum.

    Examples
    --------
    >>> knee([1, 2, 3, 4, 5, 6], [100, 60, 20, 18, 16, 14])
    3

    References
    ----------
    Satopää, Albrecht, Irwin and Raghavan (2011), Finding a "kneedle" in a haystack.
    """
    ks, scores = checked_curve(ks, scores, 3)
    sensitivity = number(sensitivity, "sensitivity")
    height = float(np.ptp(scores))
    if height == 0:
        return int(ks[0])
    x = (ks - ks[0]) / (ks[-1] - ks[0])
    y = (scores - scores.min()) / height
    gap = (y if scores[-1] >= scores[0] else 1 - y) - x
    step = sensitivity * float(np.diff(x).mean())
    inner = np.arange(1, len(gap) - 1)
    peaks = inner[(gap[inner] >= gap[inner - 1]) & (gap[inner] >= gap[inner + 1])]
    for peak, following in zip(peaks, [*peaks[1:], len(gap)]):
        if gap[peak + 1 : following].min(initial=np.inf) < gap[peak] - step:
            return int(ks[peak])
    return int(ks[int(np.argmax(gap))])


def clear_knee(shares: NDArray) -> int | None:
    """Count the components before the bend: where the curve lies farthest below the line through its ends.

    None when there are fewer than four values or no clear bend.

    >>> clear_knee(np.array([0.5, 0.3, 0.05, 0.04, 0.03, 0.02]))
    2
    """
    n = len(shares)
    if n < 4 or not shares[0] > shares[-1]:
        return None
    at = knee(np.arange(n), shares, sensitivity=n)  # more than a curve can lose, so that the farthest point is taken
    height = (shares[at] - shares[-1]) / (shares[0] - shares[-1])
    return at if at > 0 and 1 - at / (n - 1) - height > 0.1 else None


class _CurveOfErrors:
    """Score by the error of a fit to the whole table: within-cluster squares for clusterings, else the objective."""

    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        model = trial.fit(X)
        if is_clusterer(model) or not hasattr(model, "objective_"):
            return np.array([within(X, labels_of(model, X), getattr(model, "missing", None))[0]])
        return np.array([float(model.objective_)])


@dataclass(frozen=True)
class Elbow(_CurveOfErrors):
    """Choose the number where the curve of errors bends, by two lines (:func:`elbow`)."""

    name = "elbow"
    title = "error of the fit (look for the elbow)"

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        return elbow(ks, scores)


@dataclass(frozen=True)
class Knee(_CurveOfErrors):
    """Choose the number where the curve of errors bends, by Kneedle (:func:`knee`)."""

    sensitivity: float = 1.0

    name = "knee"
    title = "error of the fit (look for the knee)"

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        return knee(ks, scores, sensitivity=self.sensitivity)
