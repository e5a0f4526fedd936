"""How sure a share is: the interval of Wilson for counts, percentiles of resampled rows for what is no count."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unweave.data.arguments import number


def check_level(level: float) -> float:
    """Return a level of confidence between 0 and 1, or raise."""
    level = number(level, "level")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95, got {level}")
    return level


def wilson(hits: float, of: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Wilson for a share of `hits` in `of` cases; (0, 1) where there is no case.

    It stays between 0 and 1 and keeps its level for few cases and for shares near 0 or 1, where the usual ± does not.

    >>> [round(x, 3) for x in wilson(26, 30)]
    [0.703, 0.947]
    """
    if not of:
        return 0.0, 1.0
    z = float(ndtri(0.5 + check_level(level) / 2))
    share, wide = hits / of, 1 + z**2 / of
    middle = (share + z**2 / (2 * of)) / wide
    half = z * np.sqrt(share * (1 - share) / of + z**2 / (4 * of**2)) / wide
    # Rounding must not keep a share of 0 or 1 out of its interval.
    return min(share, max(0.0, float(middle - half))), max(share, min(1.0, float(middle + half)))


def resampled(counts: NDArray, measure: Callable[[NDArray], NDArray], level: float = 0.95, draws: int = 2000,
              seed: int = 0) -> tuple[float, float]:  # fmt: skip
    """Return the interval of a measure of a table of counts, by drawing as many cases anew again and again.

    `measure` gets tables (draws × …) and returns a number of each.
    """
    rng, flat = np.random.default_rng(seed), np.asarray(counts, dtype=np.float64).ravel()
    total = int(flat.sum())
    drawn = rng.multinomial(total, flat / total, size=draws).reshape(draws, *np.shape(counts))
    low, high = np.quantile(measure(drawn), [0.5 - check_level(level) / 2, 0.5 + level / 2])
    return float(low), float(high)
