"""Counting the terms of documents: a stream of documents in, rows of counts out, in order and in bounded memory.

Batches of documents come in waves. The threads cut the documents of a wave into words; the words of its batches are
numbered one batch after the other; the threads count. Batches depend on the documents alone, so that the numbers do not
depend on the threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.text.documents import BATCH, Batch
from unweave.data.text.joining import Cutting, join_batch
from unweave.data.text.lexicon import Lexicon
from unweave.data.text.words import Runs, RunTable, Split, WordTable, join, split
from unweave.kernels.words import count_rows
from unweave.parallel import get_num_threads, run


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


def renamed(parts: list[Rows], columns: NDArray[np.int32]) -> list[Rows]:
    """The same with columns for the names of terms; ``columns[term]`` is -1 for one that has none."""
    for part in parts:
        part.names = columns[part.names]
    return parts


class Counter:
    """Counts documents by the terms they hold; the lexicon says which word is which term, and is asked once a word.

    Parameters
    ----------
    cutting : Cutting
    lexicon : Lexicon
    ngrams : (int, int)
        Least and most words of a term.

    Examples
    --------
    >>> counter = Counter(Cutting(), Lexicon(frozenset(["the"]), None), (1, 2))
    >>> for rows in counter.count(iter([Batch(["The red fox, the red hen"])])):
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

    def nothing(self) -> str:
        """Why there is no term, and the remedy."""
        if self._words.count == 0:
            least = self.cutting.least
            return (
                f"the documents hold no word of {least} characters or more; check that there is text in them, or lower "
                "min_length"
            )
        if len(self.lexicon) == 0:
            return f"the documents hold no word but stop words, {self._words.count} of them; set stop_words=None"
        return f"no document has {self.ngrams[0]} words that are counted; ask for shorter ngrams, from (1, …)"

    @property
    def count_of_words(self) -> int:
        """Different words so far, stop words among them."""
        return self._words.count

    def count(self, batches: Iterable[Batch]) -> Iterator[Rows]:
        """Rows of counts, batch by batch, in the order of the documents."""
        for wave in _waves(batches, 2 * get_num_threads()):
            numbered = [self._number(part) for part in self._cut(wave)]
            if self._runs is None:
                yield from _count_words(numbered)
            else:
                yield from self._count_runs(self._runs, numbered)

    def _cut(self, wave: list[Batch]) -> list[Split]:
        return run(lambda i, _: split(*join_batch(wave[i], self.cutting), self.cutting), len(wave), 1)

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


def _waves(batches: Iterable[Batch], most: int) -> Iterator[list[Batch]]:
    """Up to `most` batches at a time; fewer where a batch is one long document, as large as a wave."""
    wave: list[Batch] = []
    for batch in batches:
        wave.append(batch)
        if len(wave) == most or batch.size >= most * BATCH:
            yield wave
            wave = []
    if wave:
        yield wave
