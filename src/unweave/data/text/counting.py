"""Counts the terms of documents: documents in, rows of counts out, in order and in bounded memory.

Batches of documents come in waves. The threads cut the documents of a wave into words; the words of its batches are
numbered one batch after the other; the threads count. Batches depend on the documents alone, so that the numbers do not
depend on the threads. `lay_out` makes one sparse table of the counts. A query or two (`count_query`) and documents that
are cut into words already (`counted_terms`, `counted_tokens`) go shorter ways.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.text.documents import BATCH, Batch, Cutting, join_batch
from unweave.data.text.lexicon import FixedLexicon, Lexicon
from unweave.data.text.words import Runs, RunTable, Split, WordTable, join, split
from unweave.kernels.words import count_rows, kept_in_rows, sort_rows
from unweave.parallel import get_num_threads, run

_LARGEST = 2**31 - 1  # stored entries that 32-bit places can count
_DOCUMENTS, _CHARACTERS = 16, 2000  # the most that is counted as a query


@dataclass
class TermCounts:
    """Holds the counts of some documents: row d has the entries ``indptr[d]`` to ``indptr[d + 1]``, in any order.

    `names` are the different terms, `documents` and `totals` how many documents and tokens they have; `terms` are
    places in `names`.
    """

    terms: NDArray[np.int32]
    counts: NDArray[np.int32]
    indptr: NDArray[np.int64]
    names: NDArray[np.int32]
    documents: NDArray[np.int32]
    totals: NDArray[np.int32]


def renamed(parts: list[TermCounts], columns: NDArray[np.int32]) -> list[TermCounts]:
    """Replace the names of terms by their columns; ``columns[term]`` is -1 for one that has none."""
    for part in parts:
        part.names = columns[part.names]
    return parts


class Counter:
    """Counts the terms of documents; the lexicon says which word is which term, and is asked once per word.

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
        """Return how many terms there are so far; their numbers are smaller."""
        return self._runs.count if self._runs is not None else len(self.lexicon)

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms of some numbers."""
        words = self.lexicon.terms
        if self._runs is None:
            return [words[i] for i in numbers]
        return self._runs.texts(numbers, words)

    def nothing(self) -> str:
        """Say why there is no term, and what to do."""
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
        """Return how many different words there are so far, stop words among them."""
        return self._words.count

    def count(self, batches: Iterable[Batch]) -> Iterator[TermCounts]:
        """Count batch by batch, in the order of the documents."""
        for wave in _waves(batches, 2 * get_num_threads()):
            numbered = [self._number(part) for part in self._cut(wave)]
            if self._runs is None:
                yield from _count_words(numbered)
            else:
                yield from self._count_runs(self._runs, numbered)

    def _cut(self, wave: list[Batch]) -> list[Split]:
        return run(lambda i, _: split(*join_batch(wave[i], self.cutting), self.cutting), len(wave), 1)

    def _number(self, part: Split) -> tuple[Split, NDArray[np.int32]]:
        """Return a part, and the term of each of its words."""
        before = self._words.count
        found = self._words.merge(part)
        if self._words.count > before:
            self._term_of = np.concatenate([self._term_of, self.lexicon.add(self._words.texts(before))])
        return part, self._term_of[found]

    def _count_runs(self, table: RunTable, numbered: list[tuple[Split, NDArray[np.int32]]]) -> Iterator[TermCounts]:
        def task(i: int, _: int) -> tuple[Runs, TermCounts]:
            part, terms = numbered[i]
            runs = join(terms[part.ids], part.ends, *self.ngrams)
            return runs, _count(runs.ids, runs.ends, len(runs.lasts))

        for runs, rows in run(task, len(numbered), 1):
            rows.names = table.merge(runs)
            yield rows


def _count_words(numbered: list[tuple[Split, NDArray[np.int32]]]) -> list[TermCounts]:
    def task(i: int, _: int) -> TermCounts:
        part, terms = numbered[i]
        names, local = np.unique(terms, return_inverse=True)
        dropped = int(len(names) > 0 and names[0] < 0)
        rows = _count((local - dropped).astype(np.int32)[part.ids], part.ends, len(names) - dropped)
        rows.names = names[dropped:]
        return rows

    return run(task, len(numbered), 1)


def _count(tokens: NDArray[np.int32], ends: NDArray[np.int64], size: int) -> TermCounts:
    terms, counts = np.empty(len(tokens), np.int32), np.empty(len(tokens), np.int32)
    indptr = np.empty(len(ends) + 1, np.int64)
    documents, totals = np.zeros(size, np.int32), np.zeros(size, np.int32)
    count_rows(tokens, ends, terms, counts, indptr, documents, totals)
    n = indptr[-1]
    return TermCounts(terms[:n].copy(), counts[:n].copy(), indptr, np.arange(size, dtype=np.int32), documents, totals)


def _waves(batches: Iterable[Batch], most: int) -> Iterator[list[Batch]]:
    """Yield up to `most` batches at a time; fewer where a batch is one long document, as large as a wave."""
    wave: list[Batch] = []
    for batch in batches:
        wave.append(batch)
        if len(wave) == most or batch.size >= most * BATCH:
            yield wave
            wave = []
    if wave:
        yield wave


# -- counts as one CSR table -------------------------------------------------------------------------------------------


def lay_out(parts: list[TermCounts], width: int, dtype: str) -> sp.csr_array:
    """Join parts into one table of documents × columns; names are columns here, -1 for none. Empties `parts`.

    >>> terms, columns, ones, counts = (np.array(pair, np.int32) for pair in ([0, 1], [1, -1], [1, 1], [3, 1]))
    >>> part = TermCounts(terms, counts, np.array([0, 2]), columns, documents=ones, totals=counts)
    >>> lay_out([part], 2, "float64").toarray()
    array([[0., 3.]])
    """
    rows = np.cumsum([0] + [len(part.indptr) - 1 for part in parts])
    local = [part.names for part in parts]
    lengths = np.zeros(rows[-1], np.int64)

    def measure(i: int, _: int) -> None:
        kept_in_rows(parts[i].terms, parts[i].indptr, local[i], lengths[rows[i] : rows[i + 1]])

    run(measure, len(parts), 1)
    indptr = np.zeros(rows[-1] + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)

    def fill(i: int, _: int) -> None:
        part, places = parts[i], indptr[rows[i] : rows[i + 1]].copy()
        order = np.argsort(local[i])[int((local[i] < 0).sum()) :]
        sort_rows(part.terms, part.counts, part.indptr, local[i], part.documents, order, places, indices, data)
        part.terms = part.counts = np.empty(0, np.int32)  # freed as the table fills

    run(fill, len(parts), 1)
    parts.clear()
    return canonical_csr(data, indices, indptr, (int(rows[-1]), width))


def canonical_csr(data: NDArray, indices: NDArray, indptr: NDArray, shape: tuple[int, int]) -> sp.csr_array:
    """Make a CSR array that is known to be sorted and without repeats; places are int32 where that suffices."""
    if indptr.dtype != np.int32 and len(data) <= _LARGEST:
        indptr = indptr.astype(np.int32)
    X = sp.csr_array((data, indices, indptr), shape=shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X


# -- a query or two, without the tables and threads that many documents need -------------------------------------------


def as_query(documents) -> Batch | None:
    """Return the documents as one batch if they are a list of short texts, and not many; else None.

    >>> as_query(["a query"]).contents, as_query(["a long text"] * 1000)
    (['a query'], None)
    """
    if type(documents) is not list or not 0 < len(documents) <= _DOCUMENTS:
        return None
    if any(type(text) is not str for text in documents) or sum(map(len, documents)) > _CHARACTERS:
        return None
    return Batch(documents)


def count_query(batch: Batch, cutting: Cutting, lexicon: FixedLexicon, dtype: str) -> sp.csr_array:
    """Count a query: documents × columns of the lexicon, as :class:`Counter` and :func:`lay_out` would give.

    For a handful of words the arrays of those take ten times as long as the counting.

    >>> lexicon = FixedLexicon(frozenset(), None, {"cat": 0, "dog": 1})
    >>> count_query(Batch(["dog, cat, dog"]), Cutting(), lexicon, "float64").toarray()
    array([[1., 2.]])
    """
    part = split(*join_batch(batch, cutting), cutting)
    columns, words = lexicon.columns_of(part.texts()), part.ids.tolist()
    begin, indptr, indices, counts = 0, [0], [], []
    for end in part.ends.tolist():
        row = collections.Counter([columns[word] for word in words[begin:end]])
        row.pop(-1, None)
        found = sorted(row)
        indices += found
        counts += [row[column] for column in found]
        indptr.append(len(indices))
        begin = end
    arrays = np.array(counts, dtype), np.array(indices, np.int32), np.array(indptr, np.int32)
    return canonical_csr(*arrays, (len(batch.contents), len(lexicon)))


# -- documents that are cut into words already -------------------------------------------------------------------------


@dataclass
class CountedTerms:
    """Holds documents × terms, after stop words were dropped and words of one stem added up."""

    X: sp.csr_array
    terms: list[str]

    @property
    def documents(self) -> NDArray[np.int64]:
        """Return how many documents hold each term."""
        return np.bincount(self.X.indices, minlength=len(self.terms)).astype(np.int64)

    @property
    def totals(self) -> NDArray:
        return np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel()

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """Return the terms of some numbers."""
        return [self.terms[i] for i in numbers]

    def select(self, columns: NDArray[np.int32], width: int) -> sp.csr_array:
        """Return documents × columns; ``columns[term]`` is the column of a term, -1 if it has none."""
        return _moved(self.X, columns, width)


def counted_terms(table: NamedTable, lexicon: Lexicon, lowercase: bool, least: int, dtype: str) -> CountedTerms:
    """Turn a bag of words from :func:`unweave.read` into terms; drop words of fewer than `least` characters.

    >>> table = NamedTable(np.array([[1.0, 2.0]]), columns=["Cat", "cat"], kind="counts")
    >>> counted = counted_terms(table, Lexicon(frozenset(), None), True, 2, "float64")
    >>> counted.terms, counted.X.toarray()
    (['cat'], array([[3.]]))
    """
    if table.columns is None or not table.numeric:
        raise ValueError(
            "this table has no words for its columns; put the vocabulary beside the file, or give the counts straight "
            "to the model"
        )
    X = sp.csr_array(table.X, dtype=dtype)
    if not np.isfinite(X.data).all() or (X.data < 0).any():
        raise ValueError("counts must be finite and not negative; is this a table of word counts?")
    kept = np.flatnonzero([len(word) >= least for word in table.columns])
    terms = np.full(X.shape[1], -1, np.int32)
    terms[kept] = lexicon.add([table.columns[j].lower() if lowercase else table.columns[j] for j in kept])
    return CountedTerms(_moved(X, terms, len(lexicon)), lexicon.terms)


def is_tokens(documents) -> bool:
    """Tell whether documents are lists of words: the first document that is not empty is a list of texts.

    >>> is_tokens([[], ["a", "b"]]), is_tokens(["a text"]), is_tokens([[1, 2]]), is_tokens([[]])
    (True, False, False, False)
    """
    if not (isinstance(documents, list | tuple) or len(getattr(documents, "shape", ())) == 1):
        return False
    lists = (document for document in documents if not _is_list(document) or len(document))
    first = next(iter(lists), None)
    return first is not None and _is_list(first) and isinstance(first[0], str)


def _is_list(document) -> bool:
    return isinstance(document, list | tuple) or getattr(document, "ndim", None) == 1


def counted_tokens(documents, lexicon: Lexicon, dtype: str) -> CountedTerms:
    """Count documents that are lists of words, each word as it is: documents × terms.

    >>> counted = counted_tokens([["New York", "in"], ["in"]], Lexicon(frozenset(["in"]), None), "float64")
    >>> counted.terms, counted.X.toarray()
    (['New York'], array([[1.],
           [0.]]))
    """
    numbers: dict[str, int] = {}
    places, ends = [], [0]
    for i, document in enumerate(documents):
        if not _is_list(document) or not all(isinstance(word, str) for word in document):
            raise TypeError(f"document {i} is {document!r:.50}, not a list of words; give one for each document")
        places += [numbers.setdefault(word, len(numbers)) for word in document]
        ends.append(len(places))
    arrays = np.ones(len(places), dtype), np.array(places, np.int32), np.array(ends, np.int64)
    X = sp.csr_array(arrays, shape=(len(ends) - 1, len(numbers)))
    terms = lexicon.add(list(numbers))
    return CountedTerms(_moved(X, terms, len(lexicon)), lexicon.terms)


def _moved(X: sp.csr_array, to: NDArray[np.int32], width: int) -> sp.csr_array:
    """Add column j of X to column ``to[j]``, or leave it out if that is -1."""
    kept = np.flatnonzero(to >= 0)
    moves = sp.csr_array((np.ones(len(kept), X.dtype), (kept, to[kept])), shape=(X.shape[1], width))
    moved = sp.csr_array(X @ moves)
    moved.eliminate_zeros()
    moved.sort_indices()
    return moved
