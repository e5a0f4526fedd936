"""Documents that are cut into words already: tables of counts whose columns are words, and lists of words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.text.lexicon import Lexicon


@dataclass
class CountedTerms:
    """Documents × terms, after stop words were dropped and words of one stem added up."""

    X: sp.csr_array
    terms: list[str]

    @property
    def documents(self) -> NDArray[np.int64]:
        """How many documents hold each term."""
        return np.bincount(self.X.indices, minlength=len(self.terms)).astype(np.int64)

    @property
    def totals(self) -> NDArray:
        return np.asarray(self.X.sum(axis=0, dtype=np.float64)).ravel()

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """The terms of some numbers."""
        return [self.terms[i] for i in numbers]

    def select(self, columns: NDArray[np.int32], width: int) -> sp.csr_array:
        """Documents × columns; ``columns[term]`` is the column of a term, -1 if it has none."""
        return _moved(self.X, columns, width)


def counted_terms(table: NamedTable, lexicon: Lexicon, lowercase: bool, least: int, dtype: str) -> CountedTerms:
    """What :func:`unweave.read` gave of a bag of words, in terms; words of fewer than `least` characters are dropped.

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
    """Whether documents are lists of words: a sequence whose first document that is not empty is a list of texts.

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
    """Documents × terms of documents that are lists of words, each word as it is.

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
    """Column j of X added to column ``to[j]``, or left out if that is -1."""
    kept = np.flatnonzero(to >= 0)
    moves = sp.csr_array((np.ones(len(kept), X.dtype), (kept, to[kept])), shape=(X.shape[1], width))
    moved = sp.csr_array(X @ moves)
    moved.eliminate_zeros()
    moved.sort_indices()
    return moved
