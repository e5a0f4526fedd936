"""How sequences are cut into segments that run side by side.

Steps of a sequence depend on one another, but only through the state before and the state after. So a long sequence is
cut into segments, each handed what comes before and after it (see :mod:`unweave.group.hmm_boundaries`), and segments of
all sequences are lanes of one computation. The cuts depend on the lengths and the number of states alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LANES = 64  # segments that run side by side in one call of a kernel
STEPS = 32  # steps of a block: its arrays stay in the cache from the densities to the sums
_SHORTEST = 256  # a segment shorter than this would cost more to enter than it saves
_ENTRIES = 1 << 14  # longest segment times number of states


@dataclass(frozen=True)
class Lanes:
    """Stretches of rows that run side by side: ``begin[l] … begin[l] + length[l]``."""

    begin: NDArray
    length: NDArray

    @property
    def steps(self) -> int:
        return int(self.length.max(initial=0))

    def __len__(self) -> int:
        return len(self.begin)

    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of steps that are worked on at a time."""
        return [(first, min(first + STEPS, self.steps)) for first in range(0, self.steps, STEPS)]


@dataclass(frozen=True)
class Segments:
    """Segments of all sequences, in order.

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
    """Segments of sequences of these lengths, cut evenly.

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
