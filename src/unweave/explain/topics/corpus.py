"""Cut documents into blocks that are worked on side by side, and say what a method of LDA must offer.

Also here: how counts of words by topic begin, and new documents drawn from topics.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.parallel import chunks, run
from unweave.solve.scheme import Scheme, State

_WORK = 4e6  # entries times topics in a block: some tens of milliseconds
_WAVE = 16  # blocks whose shares of the words are held at once
_ROWS = 4096
_ALIKE = 0.05  # of the words at the start: none at all would forbid the other topics a word that has just been dealt

# (words of the block, share of the block, first and last document)
Work = Callable[[NDArray, NDArray, int, int], object]


class Corpus:
    """Counts by document, cut into blocks by their number alone: answers do not depend on the threads.

    `local` names the words of a block by their place in the block's own list.
    """

    def __init__(self, X: sp.csr_array, k: int):
        self.X, self.k, self.shape, self.dtype = X, k, X.shape, X.data.dtype
        self.indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        self.data = np.ascontiguousarray(X.data)
        self.lengths = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
        self.local = np.empty(X.nnz, dtype=np.int32)
        self.blocks: list[tuple[int, int]] = []
        self.words: list[NDArray] = []
        n = X.shape[0]
        count = int(np.clip(X.nnz * k / _WORK, 1, max(n, 1)))
        ends = np.searchsorted(self.indptr, X.nnz * np.arange(1, count) / count)
        bounds = np.unique(np.concatenate([[0], ends, [n]]))
        for start, stop in pairwise(bounds):
            lo, hi = self.indptr[start], self.indptr[stop]
            words, self.local[lo:hi] = _distinct(X.indices[lo:hi], X.shape[1])
            self.blocks.append((int(start), int(stop)))
            self.words.append(words.astype(np.int32))

    @property
    def total(self) -> float:
        """How many words there are."""
        return self.lengths.sum()

    def gather(self, work: Work, width: int | None = None) -> NDArray:
        """Run `work` on every block; the sum of the shares (words × topics), added in the order of the blocks.

        `width` is given where the tables of topics are padded.
        """
        width = self.k if width is None else width
        total = np.zeros((self.shape[1], width), dtype=self.dtype)
        for first, last in chunks(len(self.blocks), _WAVE):

            def one(b: int, _: int, first: int = first) -> NDArray:
                words = self.words[first + b]
                share = np.zeros((len(words), width), dtype=self.dtype)
                work(words, share, *self.blocks[first + b])
                return share

            self._add(total, self.words[first:last], run(one, last - first, 1))
        return total

    @staticmethod
    def _add(total: NDArray, words: list[NDArray], shares: list[NDArray]) -> None:
        def task(start: int, stop: int) -> None:
            for names, share in zip(words, shares):
                lo, hi = np.searchsorted(names, (start, stop))
                total[names[lo:hi]] += share[lo:hi]

        run(task, len(total), _ROWS)


def _distinct(indices: NDArray, n_words: int) -> tuple[NDArray, NDArray]:
    """Return what ``np.unique(indices, return_inverse=True)`` does; without sorting where words occur often.

    >>> [a.tolist() for a in _distinct(np.array([7, 2, 7]), 9)]
    [[2, 7], [1, 0, 1]]
    """
    if n_words > 8 * len(indices):
        return np.unique(indices, return_inverse=True)
    seen = np.zeros(n_words, bool)
    seen[indices] = True
    words, place = np.flatnonzero(seen), np.empty(n_words, np.int32)
    place[words] = np.arange(len(words), dtype=np.int32)
    return words, place[indices]


class TopicScheme(Scheme):
    """A method that learns the topics of LDA: a scheme of the one loop that can tell its topics and mixtures.

    Attributes
    ----------
    title, reason : str
        What the method is, and why ``inference="auto"`` takes it.
    sweeps : int
        Most sweeps over the documents if the user says nothing.

    Parameters
    ----------
    corpus : Corpus
    alpha, eta : array (k,), float
        The priors to begin with.
    learn : (bool, bool)
        Whether alpha and eta are learned.
    seeds : array (words, k), optional
        Counts that were not seen but are believed.
    """

    title: str
    reason = ""
    sweeps: int

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        self.corpus, self.alpha, self.eta, self.learn, self.seeds = corpus, alpha, eta, learn, seeds

    @abstractmethod
    def topics(self, state: State) -> NDArray:
        """The topics of a state, topics × words, each row a distribution."""

    @abstractmethod
    def mixtures(self, state: State) -> NDArray | None:
        """The mixture of every document, or None where the estimator is to fold the documents in."""


def dealt_start(X: sp.csr_array, k: int, rng: np.random.Generator) -> NDArray:
    """Deal every entry (a word in a document) to one topic at random: counts of words by topic to begin with.

    Entries dealt out whole break the symmetry far better than words dealt out one by one, and better than whole
    documents, of which there may be fewer than topics. A little of every word goes to every topic, unevenly: where
    entries are few, topics that begin alike would stay alike.
    """
    n_words = X.shape[1]
    which = X.indices.astype(np.int64) * k + rng.permutation(X.nnz) % k  # each gets its share
    dealt = np.bincount(which, weights=X.data, minlength=n_words * k).reshape(n_words, k)
    every = rng.random((n_words, k))
    every *= np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()[:, None] / every.sum(axis=1, keepdims=True)
    return ((1 - _ALIKE) * dealt + _ALIKE * every).astype(X.dtype)


def sample_documents(topics: NDArray, alpha: NDArray, n, length, rng: np.random.Generator) -> sp.csr_array:
    """Draw the counts of `n` new documents: θ ~ Dir(α), then `length` words from θφ.

    >>> import numpy as np
    >>> sample_documents(np.eye(2), np.ones(2), 3, 5, np.random.default_rng(0)).sum(axis=1).tolist()
    [5.0, 5.0, 5.0]
    """
    n, lengths = whole(n, "n", 1), np.asarray(length)
    if lengths.shape not in ((), (n,)) or lengths.dtype.kind not in "iu" or (lengths < 0).any():
        raise ValueError(f"length must be a whole number that is not negative, or {n} of them; got {length!r}")
    gammas = np.maximum(rng.gamma(alpha, size=(n, len(alpha))), 1e-300)
    rows = []
    for theta, size in zip(gammas / gammas.sum(axis=1, keepdims=True), np.broadcast_to(lengths, n)):
        each = rng.multinomial(size, theta)
        total = np.zeros(topics.shape[1])
        for k in np.flatnonzero(each):
            total += rng.multinomial(each[k], topics[k] / topics[k].sum())
        rows.append(sp.csr_array(total[None]))
    return sp.csr_array(sp.vstack(rows, format="csr"))
