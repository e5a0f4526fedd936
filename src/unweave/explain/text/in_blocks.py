"""Documents in blocks that need not fit in memory together: words are counted where the documents are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.scale.scratch import Scratch, read_csr, write_csr
from unweave.scale.visits import read_block


class TextBlocks:
    """Documents in blocks: what :class:`unweave.TextTable`, and models with a `vectorizer`, take as very many texts.

    A plain list of lists of texts would be documents that are cut into words already, so blocks are told apart by this.

    Parameters
    ----------
    blocks : sequence
        Each block is what ``TextTable.fit`` takes: a list of texts, or of lists of words; with ``input="files"`` or
        ``"lines"`` the names of the files that make up a block. A list, or anything with a length and ``[i]`` that
        reads a block when it is asked for it.

    Examples
    --------
    >>> from unweave import LDA, TextTable
    >>> blocks = TextBlocks([["a cat sat", "the cat"], ["a dog sat"]])
    >>> table = TextTable().fit(blocks)
    >>> table.words_, [block.shape for block in table.transform(blocks)]
    (['cat', 'dog', 'sat', 'the'], [(2, 4), (1, 4)])
    >>> LDA(2, vectorizer=TextTable(), random_state=0).fit(blocks).topics_.shape
    (2, 4)
    """

    def __init__(self, blocks: Sequence):
        if isinstance(blocks, str | bytes | Iterator) or not (
            hasattr(blocks, "__len__") and hasattr(blocks, "__getitem__")
        ):
            raise TypeError(
                f"blocks must be a list of blocks of documents, or another sequence of them, got "
                f"{type(blocks).__name__}: give a list of lists of texts"
            )
        if not len(blocks):
            raise ValueError("blocks is empty: give at least one block of documents")
        self.blocks = blocks

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, i: int) -> Any:
        return self.blocks[i]

    def documents(self) -> Iterator:
        """All documents, one after the other."""
        for i in range(len(self)):
            yield from read_block(partial(getitem, self.blocks, i), i)


class TermTally:
    """How many documents some documents are, and in how many of them and how often each term occurs; tallies add up.

    >>> one, other = TermTally(2, ["cat", "dog"], [2, 1], [3, 1]), TermTally(1, ["dog"], [1], [4])
    >>> (one + other).terms, (one + other).documents, (one + other).totals
    (['cat', 'dog'], array([2, 2]), array([3, 5]))
    """

    def __init__(self, n: int, terms: list[str], documents, totals):
        self.n, self.terms = n, terms
        self.documents, self.totals = np.asarray(documents), np.asarray(totals)

    def __add__(self, other: TermTally) -> TermTally:
        places = dict(zip(self.terms, range(len(self.terms)), strict=True))
        at = np.array([places.setdefault(term, len(places)) for term in other.terms], dtype=np.intp)
        grown = len(places) - len(self.terms)
        sums = []
        for mine, more in ((self.documents, other.documents), (self.totals, other.totals)):
            total = np.concatenate([mine, np.zeros(grown, mine.dtype)]).astype(np.result_type(mine, more))
            total[at] += more  # a term is there once
            sums.append(total)
        return TermTally(self.n + other.n, list(places), *sums)


def tallied(make: Callable[[Any], TermTally], raw: Any, i: int) -> TermTally:
    """Count a block that was read: what a visit loads."""
    return make(raw)


def as_it_is(block: Any, state: None, own: None) -> tuple[Any, None]:
    """Hand a block back: a task."""
    return block, None


# -- tables of blocks --------------------------------------------------------------------------------------------------


class CountedBlocks:
    """Tables of documents × words, one for each block of documents, counted when they are asked for.

    What was counted once is kept in a temporary folder that goes with this object; ``list(...)`` holds all in memory.

    Parameters
    ----------
    vectorizer : TextTable, or a fitted vectoriser of another library
    blocks : TextBlocks
    feature_names : list of str, optional
        The words, which models keep.
    """

    def __init__(self, vectorizer: Any, blocks: TextBlocks, feature_names: list[str] | None):
        self.vectorizer, self.blocks, self.feature_names = vectorizer, blocks, feature_names
        self._scratch = Scratch()

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, i: int) -> sp.csr_array | NDArray:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} blocks, and none has the number {i}")
        i = range(len(self))[i]
        return _counted(self.vectorizer, partial(getitem, self.blocks.blocks, i), str(self._scratch.path / str(i)))


class CountedFiles(CountedBlocks):
    """The same where blocks are recipes (names of files, or a sequence that reads them): whoever asks counts."""

    def fetch(self, i: int) -> Callable[[], sp.csr_array | NDArray]:
        """A function that counts block i, or reads what was counted, wherever it is called."""
        source = self.blocks.blocks
        read = source.fetch(i) if hasattr(source, "fetch") else partial(_given, source[i])
        return partial(_counted, self.vectorizer, read, str(self._scratch.path / str(i)))


def tables_of(vectorizer: Any, blocks: TextBlocks, feature_names: list[str] | None) -> CountedBlocks:
    """The tables that a fitted vectoriser makes of blocks of documents."""
    recipes = hasattr(blocks.blocks, "fetch") or getattr(vectorizer, "input", "text") in ("files", "lines")
    return (CountedFiles if recipes else CountedBlocks)(vectorizer, blocks, feature_names)


def _given(raw: Any) -> Any:
    return raw


def _counted(vectorizer: Any, read: Callable[[], Any], path: str) -> sp.csr_array | NDArray:
    """Count a block, or read what was counted; where the folder is not seen, nothing is kept."""
    if os.path.exists(f"{path}.data.npy"):  # the last of three that are written
        return read_csr(path, _width_of(path))
    found = vectorizer.transform(read())
    if not hasattr(found, "tocsr"):
        return found  # smoothed counts are an array
    table = sp.csr_array(found)
    try:
        np.save(f"{path}.width.npy", np.int64(table.shape[1]))
        write_csr(path, table)
    except OSError:
        pass  # no room, or a folder of another machine: counted again when it is asked for again
    return table


def _width_of(path: str) -> int:
    return int(np.load(f"{path}.width.npy"))
