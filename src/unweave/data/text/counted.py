"""Documents that are counted already: a table of counts whose columns are named by words."""

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


def _moved(X: sp.csr_array, to: NDArray[np.int32], width: int) -> sp.csr_array:
    """Column j of X added to column ``to[j]``, or left out if that is -1."""
    kept = np.flatnonzero(to >= 0)
    moves = sp.csr_array((np.ones(len(kept), X.dtype), (kept, to[kept])), shape=(X.shape[1], width))
    moved = sp.csr_array(X @ moves)
    moved.eliminate_zeros()
    moved.sort_indices()
    return moved
