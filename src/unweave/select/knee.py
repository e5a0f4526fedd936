"""The knee of a curve, by the rule of Kneedle."""

from __future__ import annotations

import numpy as np

from unweave.data.arguments import number
from unweave.select.elbow import checked_curve


def knee(ks, scores, *, sensitivity: float = 1.0) -> int:
    """The first pronounced knee of a curve that rises or falls and flattens.

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
