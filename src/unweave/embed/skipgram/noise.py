"""Draws words as noise: tables from which one number of 64 bits gives a word of a part, as often as it should come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Noise:
    """Hold alias tables (Walker, 1977) of the words of each part, which are c, c + parts, c + 2·parts, and so on.

    Attributes
    ----------
    keep : uint32 array (words)
        A word that was hit is kept if the lower 32 bits drawn are below this,
    other : int32 array (words)
        and gives way to this one of its part otherwise.
    shares : float32 array (parts)
        The chance that a draw is of the part.

    Examples
    --------
    >>> noise = Noise.of(np.array([1.0, 1.0, 2.0, 0.0]), 2)
    >>> noise.shares, noise.other
    (array([0.75, 0.25], dtype=float32), array([2, 1, 2, 1], dtype=int32))
    """

    keep: NDArray[np.uint32]
    other: NDArray[np.int32]
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, weights: NDArray, parts: int) -> Noise:
        """Tables that draw each word in proportion to its weight."""
        keep, other = np.empty(len(weights), np.uint32), np.arange(len(weights), dtype=np.int32)
        for part in range(min(parts, len(weights))):
            chances, aliases = _alias(weights[part::parts])
            keep[part::parts] = np.minimum(chances * 2.0**32, 2.0**32 - 1)
            other[part::parts] = part + parts * aliases
        sums = np.array([weights[part::parts].sum() for part in range(parts)])
        return cls(keep, other, (sums / sums.sum()).astype(np.float32))


def _alias(weights: NDArray) -> tuple[NDArray, NDArray]:
    """The chance to keep each, and who comes instead (M. Vose, 1991): one in plenty fills each up that is short."""
    n, total = len(weights), weights.sum()
    left = (weights * (n / total) if total > 0 else np.ones(n)).tolist()
    chances, other = [1.0] * n, list(range(n))
    short = [i for i, x in enumerate(left) if x < 1]
    plenty = [i for i, x in enumerate(left) if x >= 1]
    while short and plenty:
        i, j = short.pop(), plenty[-1]
        chances[i], other[i] = left[i], j
        left[j] -= 1 - left[i]
        if left[j] < 1:
            short.append(plenty.pop())
    return np.array(chances), np.array(other)
