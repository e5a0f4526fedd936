"""Draws what is looked at in a block of the corpus: which tokens, and how far around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_GOLDEN = 0x9E3779B97F4A7C15
_ALL = (1 << 64) - 1


def scattered(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """64 bits that look drawn for every number (the end of splitmix64), as in the kernel.

    >>> hex(int(scattered(np.array([1], np.uint64))[0]))
    '0x5692161d100b05e5'
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def key_of(seed: int, *places: int) -> int:
    """One number of 64 bits for a seed and some places, others for other places."""
    for place in places:
        seed = int(scattered(np.array([(seed + (place + 1) * _GOLDEN) & _ALL], np.uint64))[0])
    return seed


@dataclass(frozen=True)
class Block:
    """Some tokens that follow each other in the corpus, those that sub-sampling left, and their windows.

    Attributes
    ----------
    tokens : int32 array
        Those of the block, and some before and behind that are in their windows.
    first, last : int
        Tokens first to last − 1 are the block's own.
    low, high : int64 arrays
        The window of token t is ``tokens[low[t]:high[t]]``, which t itself is in; it never leaves its sequence.
    """

    tokens: NDArray[np.int32]
    first: int
    last: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]


@dataclass(frozen=True)
class Drawing:
    """How blocks are drawn.

    Attributes
    ----------
    window : int
        Most words to each side.
    dynamic : bool
        Whether the reach of each token is drawn from 1 to `window`, so that near words count more.
    kept : uint32 array (words) or None
        A token stays if 32 bits drawn are at most this; None keeps all.
    largest : float
        The share of the most frequent word of the tokens that stay.
    """

    window: int
    dynamic: bool
    kept: NDArray[np.uint32] | None
    largest: float

    @classmethod
    def of(cls, window: int, dynamic: bool, counts: NDArray[np.int64], threshold: float) -> Drawing:
        """That of words with these counts, sub-sampled from a frequency of `threshold` on."""
        kept = chances_to_stay(counts, threshold)
        left = counts if kept is None else counts * (kept / 2.0**32)
        return cls(window, dynamic, kept, float(left.max() / left.sum()))

    def block(self, ids: NDArray[np.int32], bounds: NDArray[np.int64], start: int, stop: int, key: int) -> Block:
        """The tokens ``ids[start:stop]`` of sequences that begin at `bounds`, as drawn for this key."""
        own, margin = (start, stop), 2 * self.window  # of twice as many some are left by sub-sampling
        start, stop = max(0, start - margin), min(len(ids), stop + margin)
        tokens, places = np.array(ids[start:stop], np.int32), np.arange(start, stop, dtype=np.uint64)
        drawn = scattered(np.uint64(key) + places * np.uint64(_GOLDEN))
        inside = bounds[np.searchsorted(bounds, start, side="right") : np.searchsorted(bounds, stop)]
        ends = np.append(inside, stop) - start
        first, last = own[0] - start, own[1] - start
        if self.kept is not None:
            stays = (drawn >> np.uint64(32)) <= self.kept[tokens]
            before = np.concatenate([[0], np.cumsum(stays)])
            ends, first, last = before[ends], before[first], before[last]
            tokens, drawn = tokens[stays], drawn[stays]
        n = len(tokens)
        reach: NDArray | int = self.window
        if self.dynamic:
            reach = 1 + ((drawn & np.uint64(0xFFFFFFFF)) * np.uint64(self.window) >> np.uint64(32)).astype(np.int64)
        lengths = np.diff(ends, prepend=0)
        last_of = np.repeat(ends, lengths)
        here = np.arange(n, dtype=np.int64)
        return Block(
            tokens, int(first), int(last), np.maximum(here - reach, last_of - np.repeat(lengths, lengths)),
            np.minimum(here + reach + 1, last_of),
        )  # fmt: skip


def chances_to_stay(counts: NDArray[np.int64], threshold: float) -> NDArray[np.uint32] | None:
    """Sub-sampling of frequent words, as of 32 bits: a word of frequency f stays with chance √(t/f) + t/f, at most 1.

    >>> chances_to_stay(np.array([90, 10]), 0.1) / 2**32
    array([0.44444444, 1.        ])
    """
    if not threshold:
        return None
    ratio = threshold * counts.sum() / np.maximum(counts, 1)
    return (np.minimum(np.sqrt(ratio) + ratio, 1) * (2.0**32 - 1)).astype(np.uint32)
