"""Count which symbols stand near each other, in one pass over a corpus of any size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.data.text.counting import canonical_csr
from unweave.embed.corpus import Corpus, Vocabulary, read_corpus
from unweave.factorization.model import Model
from unweave.kernels.windows import bit_table, count_windows
from unweave.parallel import run
from unweave.scale.scratch import Scratch

# Weights are whole multiples of this, so that sums below 2²⁷ are exact whatever the order they are added in.
_GRAIN = 2.0**-26
_PIECE = 1 << 21  # pairs that are counted together by one thread: their rows take some 32 MB at most
_MOST_ROWS = 1 << 12
_LEAST, _LEAST_ROWS = 1 << 10, 1 << 6  # tokens of a block, and rows that are added up together, however little memory
_BYTES = 40  # that a token of a block takes: its numbers, its place, what sorts them
_ENTRY = 12  # bytes of an entry of the table
SIDES, WEIGHTS = ("both", "left", "right"), ("harmonic", "flat")


class Cooccurrence(Model, BaseEstimator):
    """Count how often symbols stand within a window of each other: texts in, a sparse table of pairs out.

    n_ij = Σ over the places of i of Σ over the places of j at a distance d ≤ window of w(d), with w(d) = 1/d
    ("harmonic") or 1 ("flat"). The corpus is read once, and counted in blocks whose tables go to a scratch file where
    there are several, so memory is bounded. Blocks, workers and threads end in the same bits: 1/d is rounded to a
    multiple of 2⁻²⁶, and sums of those are exact.

    Use it as the first step of :class:`PMIEmbedding` and :class:`GloVe`, which take the table; or to look at pairs
    yourself. Window and weights as for GloVe by default.

    Parameters
    ----------
    window : int, default=10
        The farthest neighbours that count. Rare symbols are dropped first, so that those around them move together.
    min_count : int, default=5
        Symbols that occur less often are left out.
    max_vocabulary : int, optional
        The most symbols, the most frequent first.
    vocabulary : list of symbols, optional
        Count these and no others.
    side : "both", "left" or "right", default="both"
        Which neighbours of symbol i are counted in row i. The table of "both" is symmetric.
    weights : "harmonic" or "flat", default="harmonic"
    lowercase : bool, default=True
        Of texts.
    memory : int, default=2**30
        Bytes that counting may take beside the vocabulary and the answer. A larger corpus, and a larger answer, are
        kept in scratch files; the answer is then mapped from its file.

    Attributes
    ----------
    counts_ : sparse array (symbols, symbols)
        float64, row i the neighbours of symbol i.
    vocabulary_ : Vocabulary
        Symbols and how often each occurs.
    n_tokens_ : int
        Tokens of the corpus, rare ones among them.

    Examples
    --------
    >>> from unweave import Cooccurrence
    >>> pairs = Cooccurrence(window=2, min_count=1).fit([["a", "b", "c"], ["b", "a"]])
    >>> pairs.vocabulary_.symbols
    ['a', 'b', 'c']
    >>> pairs.counts_.toarray()
    array([[0. , 2. , 0.5],
           [2. , 0. , 1. ],
           [0.5, 1. , 0. ]])

    References
    ----------
    Pennington, Socher and Manning (2014), GloVe: Global vectors for word representation.
    """

    def __init__(
        self,
        *,
        window=10,
        min_count=5,
        max_vocabulary=None,
        vocabulary=None,
        side="both",
        weights="harmonic",
        lowercase=True,
        memory=2**30,
    ):
        self.window = window
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.vocabulary = vocabulary
        self.side = side
        self.weights = weights
        self.lowercase = lowercase
        self.memory = memory

    def fit(self, X, y=None):
        """Count a corpus: texts, lists of symbols, paths of files, or a :class:`Corpus`; a new one forgets the last."""
        before, after = self._weights_of_distances()
        corpus = self._corpus(X, self.vocabulary)
        counts = count_pairs(corpus, before, after, memory=self.memory)
        self.counts_, self.vocabulary_, self.n_tokens_ = counts, corpus.vocabulary, corpus.n_tokens
        return self

    def fit_transform(self, X, y=None) -> sp.csr_array:
        """Count a corpus, and return the table."""
        return self.fit(X).counts_

    def transform(self, X) -> sp.csr_array:
        """Count pairs of another corpus, of the symbols that were learned."""
        check_is_fitted(self)
        corpus = self._corpus(X, self.vocabulary_)
        return count_pairs(corpus, *self._weights_of_distances(), memory=self.memory)

    def partial_fit(self, X, y=None):
        """Add the counts of more texts; the first ones, or `vocabulary`, say which symbols count."""
        if not hasattr(self, "counts_"):
            return self.fit(X)
        corpus = self._corpus(X, self.vocabulary_)
        more = count_pairs(corpus, *self._weights_of_distances(), memory=self.memory)
        known = self.vocabulary_
        self.counts_ = added(self.counts_, more)
        self.vocabulary_ = Vocabulary(known.symbols, known.counts + corpus.vocabulary.counts)
        self.n_tokens_ += corpus.n_tokens
        return self

    def merge(self, other: Cooccurrence):
        """Add what another one has counted elsewhere; symbols that are new here come last."""
        check_is_fitted(self)
        check_is_fitted(other)
        if self._weights_of_distances() != other._weights_of_distances():
            raise ValueError("other counts another window, side or weights: count both alike")
        known, new = self.vocabulary_, other.vocabulary_
        symbols = known.symbols + [symbol for symbol in new.symbols if symbol not in known]
        size, to = len(symbols), Vocabulary(symbols, np.zeros(len(symbols))).places(new.symbols)
        counts = np.zeros(size, np.int64)
        counts[: len(known)] = known.counts
        counts[to] += new.counts
        mine, theirs = self.counts_, other.counts_.tocoo()
        padded = np.concatenate([mine.indptr, np.full(size - len(known), mine.indptr[-1], mine.indptr.dtype)])
        mine = sp.csr_array((mine.data, mine.indices, padded), shape=(size, size))
        moved = sp.csr_array((theirs.data, (to[theirs.row], to[theirs.col])), shape=(size, size))
        self.counts_, self.vocabulary_ = added(mine, moved), Vocabulary(symbols, counts)
        self.n_tokens_ += other.n_tokens_
        return self

    def _corpus(self, X, vocabulary) -> Corpus:
        return read_corpus(
            X,
            min_count=self.min_count,
            max_vocabulary=self.max_vocabulary,
            vocabulary=vocabulary,
            lowercase=self.lowercase,
            memory=self.memory,
        )

    def _weights_of_distances(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        return weights_of_distances(self.window, self.side, self.weights)

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong."""
        size = self.vocabulary_.check()
        weights_of_distances(self.window, self.side, self.weights)
        if self.counts_.shape != (size, size) or self.counts_.dtype != np.float64:
            raise ValueError("counts_ does not fit the vocabulary")
        if looked_at and not (np.isfinite(self.counts_.data).all() and (self.counts_.data >= 0).all()):
            raise ValueError("counts_ must be finite and not negative")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def weights_of_distances(window, side: str, weights: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return what neighbours before and behind count, by their distance from 1 on.

    >>> weights_of_distances(2, "left", "harmonic")
    ((1.0, 0.5), ())
    """
    for value, known, name in ((side, SIDES, "side"), (weights, WEIGHTS, "weights")):
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"{name}={value!r} is not known; use {', '.join(map(repr, known[:-1]))} or {known[-1]!r}")
    distances = range(1, whole(window, "window", 1) + 1)
    each = tuple(1.0 if weights == "flat" else round(1 / (d * _GRAIN)) * _GRAIN for d in distances)
    return (() if side == "right" else each), (() if side == "left" else each)


def count_pairs(
    corpus: Corpus, before: tuple[float, ...], after: tuple[float, ...], *, memory: int = 2**30
) -> sp.csr_array:
    """Count the pairs of a corpus: a table of symbols × symbols, of neighbours weighted by their distance.

    >>> corpus = read_corpus([["a", "b", "a"]], min_count=1)
    >>> count_pairs(corpus, (1.0,), ()).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    memory = whole(memory, "memory", 1)
    size = max(_LEAST, memory // _BYTES)
    if not len(corpus.ids):
        return sp.csr_array((len(corpus.vocabulary), len(corpus.vocabulary)))
    n, tables = len(corpus.ids), _Tables(len(corpus.vocabulary), memory)
    for start in range(0, n, size):
        tables.add(_count_block(corpus, start, min(start + size, n), np.array(before), np.array(after)))
    return tables.total()


def _count_block(corpus: Corpus, start: int, stop: int, before: NDArray, after: NDArray) -> list[tuple]:
    """Count the pairs of the tokens from `start` to `stop`, with neighbours that may lie beyond: rows in pieces."""
    size, reach = len(corpus.vocabulary), max(len(before), len(after))
    low, high = max(0, start - len(before)), min(len(corpus.ids), stop + len(after))
    ends = corpus.bounds[np.searchsorted(corpus.bounds, low, "right") : np.searchsorted(corpus.bounds, high, "left")]
    ids = np.asarray(corpus.ids[low:high])
    # -1 between sequences and at both ends: whoever goes along the tokens stops there
    tokens = np.insert(ids, np.concatenate([[0], np.unique(ends) - low, [len(ids)]]), -1)
    inside = np.flatnonzero(tokens >= 0)[start - low : stop - low].astype(np.int32)
    centres = sp.csr_array(
        (np.ones(len(inside), np.int8), tokens[inside], np.arange(len(inside) + 1)), shape=(len(inside), size)
    )
    by_symbol = centres.tocsc()
    places, starts = inside[by_symbol.indices], by_symbol.indptr.astype(np.int64)
    width = (len(before) + len(after)) if reach else 0
    pairs = np.minimum(np.diff(starts) * width, size)  # entries that a row has at most
    cuts = _row_cuts(np.diff(starts) * width)
    bits = bit_table()

    def task(i: int, _: int) -> tuple[NDArray, NDArray, NDArray]:
        first, last = cuts[i], cuts[i + 1]
        room = int(pairs[first:last].sum())
        indices, data, indptr = np.empty(room, np.int32), np.empty(room), np.empty(last - first + 1, np.int64)
        sums, seen = np.zeros(size), np.zeros(size // 64 + 1, np.uint64)
        count_windows(tokens, places, starts, first, last, before, after, sums, seen, bits, indices, data, indptr)
        found = indptr[-1]
        return indices[:found].copy(), data[:found].copy(), np.diff(indptr)

    return run(task, len(cuts) - 1, 1)


def _row_cuts(pairs: NDArray[np.int64]) -> list[int]:
    """Where to cut the rows into pieces of about as many pairs."""
    ends, cuts = np.cumsum(pairs), [0]
    while cuts[-1] < len(pairs):
        done = ends[cuts[-1] - 1] if cuts[-1] else 0
        cut = int(np.searchsorted(ends, done + _PIECE, "right"))
        cuts.append(min(max(cut, cuts[-1] + 1), cuts[-1] + _MOST_ROWS, len(pairs)))
    return cuts


# -- tables of blocks, added up ----------------------------------------------------------------------------------------


class _Tables:
    """Takes tables in pieces of rows, sorted; keeps them in files where there are several, and adds them up."""

    def __init__(self, size: int, memory: int):
        self.size, self.memory = size, memory
        self._held: list[tuple] | None = None
        self._scratch: Scratch | None = None
        self._runs: list[Path] = []

    def add(self, pieces: list[tuple]) -> None:
        if self._held is not None:
            self._write(self._held)
            self._held = None
        if self._runs:
            self._write(pieces)
        else:
            self._held = pieces

    def _write(self, pieces: list[tuple]) -> None:
        self._scratch = self._scratch or Scratch()
        path = self._scratch.path / f"run{len(self._runs)}"
        with open(f"{path}.indices", "wb") as indices, open(f"{path}.data", "wb") as data:
            for columns, values, _ in pieces:
                indices.write(columns.data)
                data.write(values.data)
        np.save(f"{path}.lengths.npy", np.concatenate([lengths for *_, lengths in pieces]))
        self._runs.append(path)

    def total(self) -> sp.csr_array:
        """Return the sum of all tables; empties this."""
        if not self._runs:
            held, self._held = self._held or [], None
            return self._joined(held, sum(len(columns) for columns, *_ in held))
        runs = [_open_run(path) for path in self._runs]
        most = sum(int(indptr[-1]) for *_, indptr in runs)
        rows = max(_LEAST_ROWS, int(self.size * min(1.0, self.memory / (4 * _ENTRY * max(1, most)))))
        return self._joined((self._sum_of(runs, a, min(a + rows, self.size)) for a in range(0, self.size, rows)), most)

    def _sum_of(self, runs: list[tuple], first: int, last: int) -> tuple:
        total: Any = None
        for indices, data, indptr in runs:
            a, b = int(indptr[first]), int(indptr[last])
            shape = (last - first, self.size)
            rows = sp.csr_array(
                (np.array(data[a:b]), np.array(indices[a:b]), indptr[first : last + 1] - a), shape=shape
            )
            total = rows if total is None else total + rows
        return total.indices, total.data, np.diff(total.indptr)

    def _joined(self, pieces: Iterable[tuple], most: int) -> sp.csr_array:
        """One table of pieces of rows, which has `most` entries at most; in files if that may exceed the memory."""
        lengths, at = [np.zeros(1, np.int64)], 0
        indices, data = np.empty(0, np.int32), np.empty(0)
        scratch = Scratch() if _ENTRY * most > self.memory else None
        if scratch is None:
            indices, data = np.empty(most, np.int32), np.empty(most)
        else:
            sheets = scratch.sheet((most, 1), np.int32), scratch.sheet((most, 1), np.float64)
        for columns, values, own in _emptied(pieces):
            lengths.append(own)
            if scratch is None:
                indices[at : at + len(columns)], data[at : at + len(columns)] = columns, values
            else:
                sheets[0].write(at, columns)
                sheets[1].write(at, values)
            at += len(columns)
        if scratch is not None:
            indices, data = (sheet.held().reshape(-1) for sheet in sheets)
        shape = (self.size, self.size)
        return canonical_csr(data[:at], indices[:at], np.cumsum(np.concatenate(lengths)), shape)


def _emptied(pieces: Iterable[tuple]) -> Iterator[tuple]:
    """Yield the pieces; of a list they are freed one by one."""
    if not isinstance(pieces, list):
        yield from pieces
        return
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _open_run(path: Path) -> tuple[NDArray, NDArray, NDArray]:
    indptr = np.concatenate([[0], np.cumsum(np.load(f"{path}.lengths.npy"))])
    if not indptr[-1]:  # an empty file cannot be mapped
        return np.empty(0, np.int32), np.empty(0), indptr
    return np.memmap(f"{path}.indices", np.int32, "r"), np.memmap(f"{path}.data", np.float64, "r"), indptr


def added(one: sp.csr_array, other: sp.csr_array) -> sp.csr_array:
    """Add two tables of pairs, columns ascending.

    >>> added(sp.csr_array(np.eye(2)), sp.csr_array(np.ones((2, 2)))).toarray()
    array([[2., 1.],
           [1., 2.]])
    """
    total = sp.csr_array(one + other)
    total.sort_indices()
    return total
