"""The kernel of common subsequences: letters in the same order with gaps between them, the longer the lighter."""

from __future__ import annotations

import numpy as np

from unweave.data.arguments import number, whole
from unweave.predict.kernels.base import Kernel, Pairs
from unweave.predict.kernels.strings import letters_of, read_texts
from unweave.solve.progress import warn_user

# steps that take a core more than a minute, at 0.7 ns each, and those of a block between two looks for Ctrl-C
_MINUTES, _BLOCK = 1e11, 2e9


class Subsequences(Kernel):
    """Common subsequences of at most `length` letters, gaps allowed, each weighted by how far it is spread.

    k(x, x') = Σ_v Σ λ^(span in x + span in x'), over all v of `shortest` to `length` letters and all places where v can
    be read in x and in x' when letters between are left out; a span counts the letters from the first to the last. Use
    it where letters may come in between: spellings, mutated sequences, logs. Found by dynamic programming, in
    length·|x|·|x'| steps a pair: a warning says so where that takes minutes. `Spectrum` and `Substrings`, which allow
    no gaps, take time in proportion to the lengths alone.

    Parameters
    ----------
    length : int, default=3
    decay : float, default=0.5
        λ, above 0 and at most 1: what every letter of a span costs. 1 counts subsequences wherever they are.
    shortest : int, default=1
        Give `length` for subsequences of exactly that many letters (Lodhi et al.).

    Examples
    --------
    "cat" and "car" share "c", "a" and "ca", spread over one, one and two letters in both:

    >>> Subsequences(2, decay=0.5)(["cat"], ["car"]).tolist(), 2 * 0.5**2 + 0.5**4
    ([[0.5625]], 0.5625)

    References
    ----------
    Lodhi et al. (2002), Text classification using string kernels.
    """

    takes = "texts"

    def __init__(self, length=3, *, decay=0.5, shortest=1):
        self.length = length
        self.decay = decay
        self.shortest = shortest

    def _settings(self) -> tuple[float, int, int]:
        decay, longest, shortest = number(self.decay, "decay"), whole(self.length, "length", 1), self.shortest
        if not 0 < decay <= 1:
            raise ValueError(f"decay must be above 0 and at most 1, got {decay}")
        if whole(shortest, "shortest", 1) > longest:
            raise ValueError(f"shortest={shortest} must not be above length={longest}")
        return decay, longest, int(shortest)

    def read(self, X, name="X"):
        return read_texts(X, name)

    def pairs(self, A, B):
        pairs = _Spread(A, B, *self._settings())
        if pairs.steps() > _MINUTES:
            warn_user(
                f"comparing strings this long takes {pairs.steps():.1g} steps, which is minutes or more: cut them to "
                "the part that matters, or use Spectrum or Substrings, whose time grows with the lengths alone"
            )
        return pairs

    def own(self, A):
        settings = self._settings()
        return np.array([_Spread([text], [text], *settings).rows(0, 1, 1)[0, 0] for text in A])


class _Spread(Pairs):
    """Blocks of weights of common subsequences, some strings of B side by side in each call of the kernel."""

    def __init__(self, A, B, decay: float, longest: int, shortest: int):
        letters, ends, _ = letters_of([*A, *B])
        self.texts, self.ends = letters.astype(np.float64), ends
        self.decay, self.longest, self.shortest, self.shape = decay, longest, shortest, (len(A), len(B))
        self.same = B is A

    def steps(self) -> float:
        """Numbers that the whole table writes: of each letter of A for each place of B, empty lanes included."""
        from unweave.kernels.subsequences import LANES

        n, m = self.shape
        lengths = np.diff(self.ends, prepend=0).astype(np.float64)
        own, others = lengths[:n], lengths[n:]
        places = LANES * sum(others[first : first + LANES].max() for first in range(0, m, LANES))
        return float(self.longest * own.sum() * places) / (2 if self.same else 1)

    def at_once(self):
        return max(1, int(min(super().at_once(), _BLOCK * self.shape[0] / max(self.steps(), 1.0))))

    def rows(self, start, stop, width):
        from unweave.kernels.subsequences import LANES, subsequences

        out = np.zeros((stop - start, width))
        values = np.empty((stop - start, LANES))
        for first in range(0, width, LANES):
            begin = max(start, first) if self.same else start  # rows before are above the diagonal
            lanes = self._lanes(first, min(first + LANES, width), LANES)
            ahead = np.ones((self.longest, len(lanes), LANES))
            subsequences(
                self.texts, self.ends, lanes, self.decay, self.longest, self.shortest, ahead, values, begin, stop
            )
            out[begin - start :, first : first + LANES] = values[: stop - begin, : width - first]
        return out

    def _lanes(self, first: int, last: int, lanes: int) -> np.ndarray:
        """Strings of B side by side, -1 after their ends."""
        n = self.shape[0]
        ends = self.ends[n + first - 1 if n + first else 0 :][: last - first + 1] if n + first else self.ends[:0]
        begins = ends[:-1]
        longest = int(np.diff(ends).max(initial=0))
        table = np.full((max(longest, 1), lanes), -1.0)
        for t, begin in enumerate(begins):
            table[: ends[t + 1] - begin, t] = self.texts[begin : ends[t + 1]]
        return table
