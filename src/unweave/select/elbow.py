"""Where a falling curve stops falling fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def checked_curve(ks, scores, least: int) -> tuple[NDArray, NDArray]:
    """Numbers of components in ascending order with their scores, all finite, at least `least` of them."""
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
    """The elbow of a curve of errors: the last large fall before the small ones.

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
