"""Says which rows predict: those of words, or means of rows (the n-grams of a word, the words of a window)."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.embed.skipgram.drawing import Block
from unweave.linalg.sparse import csr_matmul

# Tokens done together, at most (as many as leave no thread idle), and how often even the most frequent word may be
# among them: in a block a word meets one part after the other, and with few words would else learn each part anew and
# forget the others. Set on walks over six states.
BLOCK, MEETINGS = 1 << 15, 128
# The same where inputs are means: what they ask for comes back to the rows only after the block. Set on planted
# groups of 36 words and on a tenth of wiki_en_100m.
STALE_BLOCK, STALE_MEETINGS = 1 << 12, 16


class Mean:
    """Means of rows of a table, and the way back: what moves a mean moves every one of its rows by as much.

    Parameters
    ----------
    starts, members : int arrays
        Mean i is that of the rows ``members[starts[i]:starts[i + 1]]``; one of no rows is zero.
    rows : int array, optional
        Where `members` are places in a list of different rows: that list.

    Examples
    --------
    >>> F, mean = np.array([[2], [4], [6]], np.float32), Mean(np.array([0, 2, 2]), np.array([0, 2]))
    >>> means = mean.of(F)
    >>> means
    array([[4.],
           [0.]], dtype=float32)
    >>> mean.back(F, np.ones_like(means), np.array([0.5, 0.5]))
    array([0.25, 0.25])
    >>> F[:, 0]
    array([3., 4., 7.], dtype=float32)
    """

    def __init__(self, starts: NDArray, members: NDArray, rows: NDArray | None = None):
        if rows is None:
            rows, members = np.unique(members, return_inverse=True)
        self._rows, self._starts, self._members = rows, np.asarray(starts, np.int64), members.astype(np.int32)
        lengths = np.diff(self._starts)
        self._weights = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    def of(self, F: NDArray[np.float32]) -> NDArray[np.float32]:
        return csr_matmul(self._starts, self._members, self._weights, F[self._rows])

    def back(
        self, F: NDArray[np.float32], moved: NDArray[np.float32], pull: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Add to F, in place, what the means moved by; return the pull on each different row, at most 1.

        `pull` is how much of the way to where it wants to be each mean went, about. They did so without seeing each
        other, and a row that many share would carry all of them too far. So a row is damped by the pull on it, the
        sum of those of its means, each by the row's part in it, where that is more than 1; and once more where means
        would by their rows together still go more than twice their way.
        """
        lengths, n = np.diff(self._starts), len(self._rows)
        of_mean = np.repeat(np.arange(len(lengths)), lengths)

        def on_rows(values):
            return np.bincount(self._members, values, minlength=n)

        once = on_rows(self._weights * pull[of_mean])
        damped = 1 / np.maximum(once, 1)
        carried = (damped * on_rows(pull[of_mean]))[self._members] * self._weights
        carried = np.bincount(of_mean, carried, minlength=len(lengths))[of_mean]
        damped /= np.maximum(on_rows(carried) / (2 * np.maximum(on_rows(np.ones(len(of_mean))), 1)), 1)
        ones, shape = np.ones(len(self._members), np.float32), (len(lengths), n)
        back = sp.csc_array(sp.csr_array((ones, self._members, self._starts), shape=shape))  # its columns are our rows
        asked = csr_matmul(back.indptr.astype(np.int64), back.indices.astype(np.int32), back.data, moved)
        F[self._rows] += asked * damped.astype(np.float32)[:, None]
        return np.minimum(once, 1)


@dataclass(frozen=True)
class Given:
    """What predicts what in a block.

    Attributes
    ----------
    H : float32 array
        The inputs; the very rows of the model if `means` is empty.
    rows : int32 array (tokens)
        The row of H for each token.
    low, high, hole
        What it predicts, as the kernel wants it.
    means : list of Mean
        By which H was made of the rows of the model, in turn.
    looks : int array
        With means, how many words each row of H predicts.
    """

    H: NDArray[np.float32]
    rows: NDArray[np.int32]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    hole: int
    means: list[Mean]
    looks: NDArray[np.int64]


class Inputs(ABC):
    """Which rows of a table U predict, and what."""

    size: int  # tokens of a block, at most
    meetings: int  # how often the most frequent word may be in one

    @abstractmethod
    def given(self, U: NDArray[np.float32], block: Block) -> Given:
        """What predicts what in a block."""


class Words(Inputs):
    """Each word predicts its window, by the mean of its rows: its own, or with `spelling` those of its n-grams too."""

    def __init__(self, spelling: Spelling | None):
        self.spelling = spelling
        self.size, self.meetings = (BLOCK, MEETINGS) if spelling is None else (STALE_BLOCK, STALE_MEETINGS)

    def given(self, U, block):
        if self.spelling is None:
            return Given(U, block.tokens, block.low, block.high, 0, [], np.empty(0, np.int64))
        words, rows = np.unique(block.tokens, return_inverse=True)
        mean = self.spelling.mean(words)
        own = slice(block.first, block.last)
        looks = np.bincount(rows[own], (block.high - block.low)[own] - 1, minlength=len(words))
        return Given(mean.of(U), rows.astype(np.int32), block.low, block.high, 0, [mean], looks)


class Windows(Inputs):
    """The mean of a window predicts the word in its middle."""

    size, meetings = STALE_BLOCK, STALE_MEETINGS

    def __init__(self, spelling: Spelling | None):
        self.spelling = spelling

    def given(self, U, block):
        n = len(block.tokens)
        here = np.arange(n, dtype=np.int64)
        lengths = block.high - block.low
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) - np.repeat(starts[:-1] - block.low, lengths)
        around = places[places != np.repeat(here, lengths)]
        words, members = np.unique(block.tokens, return_inverse=True)
        means, starts = [], starts - np.arange(n + 1)
        if self.spelling is None:
            means.append(Mean(starts, members[around], words))
        else:
            means.append(self.spelling.mean(words))
            U = means[0].of(U)
            means.append(Mean(starts, members[around], np.arange(len(words))))
        alone = lengths == 1  # no window: nothing to predict by
        looks = np.zeros(n, np.int64)
        looks[block.first : block.last] = 1
        return Given(means[-1].of(U), here.astype(np.int32), here, np.where(alone, here, here + 1), n, means, looks)


class Spelling:
    """The n-grams of words, hashed to rows, as in fastText: a word is the mean of its own row and those of its n-grams.

    Rows 0 to `buckets` − 1 are n-grams, the row of word w is `buckets` + w.

    Parameters
    ----------
    words : iterable of str
    lengths : (int, int)
        Characters of the shortest and of the longest n-gram. ``<`` and ``>`` stand before and behind each word.
    buckets : int

    Examples
    --------
    >>> spelling = Spelling(["cat", "cats"], (3, 3), 100)
    >>> spelling.grams("cat").tolist() == [zlib.crc32(gram) % 100 for gram in (b"<ca", b"cat", b"at>")]
    True
    """

    def __init__(self, words: Iterable[str], lengths: tuple[int, int], buckets: int):
        self.lengths, self.buckets = lengths, buckets
        rows = [np.append(self.grams(word), buckets + w) for w, word in enumerate(words)]
        self._starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        self._members = np.concatenate([np.empty(0, np.int64), *rows])

    def grams(self, word: str) -> NDArray[np.int64]:
        """The rows of the n-grams of any word."""
        if not isinstance(word, str):
            raise ValueError(f"subwords are parts of words, and {word!r:.50} is no text: leave subwords=None")
        text, (least, most) = f"<{word}>", self.lengths
        found = [
            zlib.crc32(text[at : at + n].encode("utf-8", "surrogatepass")) % self.buckets
            for n in range(least, min(most, len(text)) + 1)
            for at in range(len(text) - n + 1)
        ]
        return np.array(found, np.int64)

    def mean(self, words: NDArray) -> Mean:
        """The means that stand for these words."""
        lengths = self._starts[words + 1] - self._starts[words]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1]) + np.repeat(self._starts[words] - starts[:-1], lengths)
        return Mean(starts, self._members[places])
