"""Counting the terms of documents: a stream of documents in, rows of counts out, in order and in bounded memory.

Documents are cut into chunks of about a megabyte, and chunks into waves. The threads cut the documents of a wave into
words; the words of its chunks are numbered one chunk after the other; the threads count. Chunks depend on the documents
alone, so that the numbers do not depend on the threads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.text.documents import Document, decoded
from unweave.data.text.lexicon import Lexicon
from unweave.data.text.words import Runs, RunTable, Split, WordTable, join, split
from unweave.kernels.word_rows import count_rows
from unweave.parallel import get_num_threads, run

_CHUNK = 1 << 20  # characters: some ten milliseconds
_MOST_DOCUMENTS = 1 << 16  # in a chunk, if they are short


@dataclass(frozen=True)
class Cutting:
    """How texts become words."""

    lowercase: bool = True
    marks: str = "split"
    least: int = 2
    encoding: str = "utf-8"
    errors: str = "strict"


@dataclass
class Rows:
    """Counts of some documents: entries of row d are those from ``indptr[d]`` to ``indptr[d + 1]``, in any order.

    `names` are the different terms, `documents` and `totals` how many documents and tokens they have; `terms` are
    places in `names`.
    """

    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    indptr: NDArray[np.int64]
    names: NDArray[np.int32]
    documents: NDArray[np.int32]
    totals: NDArray[np.int32]


class Counter:
    """Counts documents by the terms they hold; terms get numbers as they appear.

    Parameters
    ----------
    cutting : Cutting
    lexicon : Lexicon
        Drops stop words and stems.
    ngrams : (int, int)
        Least and most words of a term.

    Examples
    --------
    >>> counter = Counter(Cutting(), Lexicon(frozenset(["the"]), None), (1, 2))
    >>> for rows in counter.count(iter([Document("The red fox, the red hen")])):
    ...     print(counter.texts(rows.names[rows.terms]), rows.counts)
    ['red', 'red fox', 'fox', 'fox red', 'red hen', 'hen'] [2 1 1 1 1 1]
    """

    def __init__(self, cutting: Cutting, lexicon: Lexicon, ngrams: tuple[int, int]):
        self.cutting, self.lexicon, self.ngrams = cutting, lexicon, ngrams
        self._words = WordTable()
        self._term_of = np.empty(0, np.int32)
        self._runs = RunTable() if ngrams != (1, 1) else None

    @property
    def count_of_terms(self) -> int:
        """Numbers are below this one."""
        return self._runs.count if self._runs is not None else len(self.lexicon)

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """The terms of some numbers."""
        words = self.lexicon.terms
        if self._runs is None:
            return [words[i] for i in numbers]
        return self._runs.texts(numbers, words)

    def count(self, documents: Iterator[Document]) -> Iterator[Rows]:
        """Rows of counts, chunk by chunk, in the order of the documents."""
        for wave in _waves(documents, 2 * get_num_threads()):
            numbered = [self._number(part) for part in self._cut(wave)]
            if self._runs is None:
                yield from _count_words(numbered)
            else:
                yield from self._count_runs(self._runs, numbered)

    def _cut(self, wave: list[list[Document]]) -> list[Split]:
        return run(lambda i, _: _cut(wave[i], self.cutting), len(wave), 1)

    def _number(self, part: Split) -> tuple[Split, NDArray[np.int32]]:
        """A part, and the term of each of its words."""
        before = self._words.count
        found = self._words.merge(part)
        if self._words.count > before:
            self._term_of = np.concatenate([self._term_of, self.lexicon.add(self._words.texts(before))])
        return part, self._term_of[found]

    def _count_runs(self, table: RunTable, numbered: list[tuple[Split, NDArray[np.int32]]]) -> Iterator[Rows]:
        def task(i: int, _: int) -> tuple[Runs, Rows]:
            part, terms = numbered[i]
            runs = join(terms[part.ids], part.ends, *self.ngrams)
            return runs, _count(runs.ids, runs.ends, len(runs.lasts))

        for runs, rows in run(task, len(numbered), 1):
            rows.names = table.merge(runs)
            yield rows


def _count_words(numbered: list[tuple[Split, NDArray[np.int32]]]) -> list[Rows]:
    def task(i: int, _: int) -> Rows:
        part, terms = numbered[i]
        names, local = np.unique(terms, return_inverse=True)
        dropped = int(len(names) > 0 and names[0] < 0)
        rows = _count((local - dropped).astype(np.int32)[part.ids], part.ends, len(names) - dropped)
        rows.names = names[dropped:]
        return rows

    return run(task, len(numbered), 1)


def _count(tokens: NDArray[np.int32], ends: NDArray[np.int64], size: int) -> Rows:
    terms, counts = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    indptr = np.empty(len(ends) + 1, np.int64)
    documents, totals = np.zeros(size, np.int32), np.zeros(size, np.int32)
    count_rows(tokens, ends, terms, counts, indptr, documents, totals)
    n = indptr[-1]
    return Rows(terms[:n].copy(), counts[:n].copy(), indptr, np.arange(size, dtype=np.int32), documents, totals)


def _waves(documents: Iterator[Document], most: int) -> Iterator[list[list[Document]]]:
    """Up to `most` chunks at a time; chunks do not depend on it."""
    wave: list[list[Document]] = []
    chunk: list[Document] = []
    size = 0
    for document in documents:
        chunk.append(document)
        size += document.size()
        if size >= _CHUNK or len(chunk) == _MOST_DOCUMENTS:
            wave.append(chunk)
            # a chunk of one long document may be as large as a wave
            full = len(wave) == most or size >= most * _CHUNK
            chunk, size = [], 0
            if full:
                yield wave
                wave = []
    if chunk:
        wave.append(chunk)
    if wave:
        yield wave


def _cut(chunk: list[Document], cutting: Cutting) -> Split:
    texts = [decoded(document, cutting.encoding, cutting.errors) for document in chunk]
    pieces = [text if isinstance(text, bytes) else _utf8(text, cutting) for text in texts]
    bounds = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=bounds[1:])
    data = np.frombuffer(bytearray().join(pieces), np.uint8)
    return split(data, bounds, lowercase=cutting.lowercase, marks=cutting.marks, least=cutting.least)


def _utf8(text: str, cutting: Cutting) -> bytes:
    """The text in bytes, lower case but for ASCII, which the kernel lowers. A lone surrogate parts words."""
    if not text.isascii():
        if cutting.marks == "keep":
            text = unicodedata.normalize("NFC", text)
        if cutting.lowercase:
            text = text.lower()
    return text.encode("utf-8", "surrogatepass")
