"""Cut sequences into segments that run side by side, and find what a segment is handed by its neighbours.

Steps of a sequence depend on one another, but only through the state before and the state after. So a long sequence is
cut into segments, and segments of all sequences are lanes of one computation. The cuts depend on the lengths and the
number of states alone.

A chain forgets: started anywhere, some hundred steps before a segment, the filtered probabilities arrive at the values
they would have had from the beginning of the sequence. So each segment is entered by a run-up of its own, and once
all segments are done, the values they were entered with are compared with those their neighbours arrived at. A step of
the chain never enlarges the largest relative difference of two such vectors (Birkhoff), hence what agrees to 1e-10
at a boundary agrees to that everywhere inside. If a boundary disagrees, run-ups become longer; a chain that does not
forget is followed from end to end instead, forwards and backwards at once.

Reference: Birkhoff (1957), Extensions of Jentzsch's theorem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.markov.chain import LANES, Chain, Lanes, last_alpha, message_before

_SHORTEST = 256  # a segment shorter than this would cost more to enter than it saves
_ENTRIES = 1 << 14  # longest segment times number of states
RUN_UP = 64  # steps of the first run-ups
_LONGER = 4  # how much longer they become when boundaries disagree
_LONGEST = 4096
_AGREE = 1e-10
_NOTHING = 1e-150  # probabilities below this are rounding

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Segments:
    """Describe the segments of all sequences, in order.

    `rank` counts them within their sequence; `opens` and `closes` say which is the first and the last of its sequence,
    whose rows are ``low … high``. `packs` are the numbers of segments that run together, longest first.
    """

    begin: NDArray
    length: NDArray
    rank: NDArray
    opens: NDArray
    closes: NDArray
    low: NDArray
    high: NDArray
    packs: list[NDArray]

    def __len__(self) -> int:
        return len(self.begin)

    def lanes(self, which: NDArray) -> Lanes:
        return Lanes(self.begin[which], self.length[which])


def cut(lengths: NDArray, n_states: int) -> Segments:
    """Cut sequences of these lengths evenly into segments.

    >>> cut(np.array([5, 600]), 8).length.tolist()
    [5, 200, 200, 200]
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    longest = max(_SHORTEST, min(int(lengths.sum()) // (4 * LANES), _ENTRIES // n_states))
    pieces = -(-lengths // longest)
    sequence = np.repeat(np.arange(len(lengths)), pieces)
    low = (np.cumsum(lengths) - lengths)[sequence]
    rank = np.arange(len(sequence)) - (np.cumsum(pieces) - pieces)[sequence]
    count, total = pieces[sequence], lengths[sequence]
    begin, end = low + rank * total // count, low + (rank + 1) * total // count
    length = end - begin
    order = np.argsort(-length, kind="stable")
    packs = [order[i : i + LANES] for i in range(0, len(order), LANES)]
    return Segments(begin, length, rank, rank == 0, rank == count - 1, low, low + total, packs)


def until_agreed(attempt: Callable[[int], tuple[Answer, bool]], run_up: int) -> tuple[Answer, int]:
    """Repeat ``attempt(run_up)`` until its boundaries agree, with longer and longer run-ups; 0 is from end to end."""
    while True:
        answer, agreed = attempt(run_up)
        if agreed or not run_up:
            return answer, run_up
        run_up = run_up * _LONGER if run_up * _LONGER <= _LONGEST else 0


def agree(one: NDArray, other: NDArray) -> bool:
    """Whether two sets of probabilities are equal but for a tiny relative difference.

    >>> agree(np.array([0.5, 0.5]), np.array([0.5, 0.5 + 1e-9]))
    False
    """
    larger = np.maximum(one, other)
    return bool((np.abs(one - other) <= _AGREE * larger + _NOTHING).all())


def from_before(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """Compute the filtered probabilities at the step before every segment, one column each."""
    before = np.full((chain.n_states, len(segments)), 1.0 / chain.n_states)
    (_run_up_before if run_up else _follow_forwards)(X, chain, segments, before, run_up)
    return before


def from_after(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> NDArray:
    """Compute what the rows after every segment say of its last state, one column each."""
    after = np.full((chain.n_states, len(segments)), 1.0 / chain.n_states)
    (_run_up_after if run_up else _follow_backwards)(X, chain, segments, after, run_up)
    return after


def from_both(X: NDArray, chain: Chain, segments: Segments, run_up: int) -> tuple[NDArray, NDArray]:
    """Compute both what comes from before and from after; from end to end the two ways run at once."""
    if run_up:
        return from_before(X, chain, segments, run_up), from_after(X, chain, segments, run_up)
    ways = (from_before, from_after)
    before, after = parallel.run(lambda i, _: ways[i](X, chain, segments, 0), 2, 1)
    return before, after


def _run_up_before(X: NDArray, chain: Chain, segments: Segments, before: NDArray, run_up: int) -> None:
    """Fill `before` by a run-up of each segment over the rows before it."""
    inner = np.flatnonzero(~segments.opens)

    def part(start: int, stop: int) -> None:
        which = inner[start:stop]
        begin = np.maximum(segments.begin[which] - run_up, segments.low[which])
        lanes = Lanes(begin, segments.begin[which] - begin)
        before[:, which] = last_alpha(X, chain, lanes, before[:, which], begin == segments.low[which])

    parallel.run(part, len(inner), LANES)


def _run_up_after(X: NDArray, chain: Chain, segments: Segments, after: NDArray, run_up: int) -> None:
    """Fill `after` by a run-up of each segment over the rows after it."""
    inner = np.flatnonzero(~segments.closes)

    def part(start: int, stop: int) -> None:
        which = inner[start:stop]
        begin = segments.begin[which] + segments.length[which]
        lanes = Lanes(begin, np.minimum(segments.high[which] - begin, run_up))
        after[:, which] = message_before(X, chain, lanes, after[:, which])

    parallel.run(part, len(inner), LANES)


def ranked(segments: Segments) -> list[NDArray]:
    """List the segments that are first in their sequence, then those that are second, and so on.

    At most as many at a time as there are lanes.
    """
    order = np.argsort(segments.rank, kind="stable")
    ends = np.cumsum(np.bincount(segments.rank))
    groups = np.split(order, ends[:-1])
    return [group[i : i + LANES] for group in groups for i in range(0, len(group), LANES)]


def _follow_forwards(X: NDArray, chain: Chain, segments: Segments, before: NDArray, _: int) -> None:
    """Fill `before` by following every sequence from its beginning."""
    for group in ranked(segments):
        which = group[~segments.closes[group]]
        if len(which):
            lanes = segments.lanes(which)
            before[:, which + 1] = last_alpha(X, chain, lanes, before[:, which], segments.opens[which])


def _follow_backwards(X: NDArray, chain: Chain, segments: Segments, after: NDArray, _: int) -> None:
    """Fill `after` by following every sequence from its end."""
    for group in reversed(ranked(segments)):
        which = group[~segments.opens[group]]
        if len(which):
            after[:, which - 1] = message_before(X, chain, segments.lanes(which), after[:, which])
