"""Turns texts, lists of tokens and sequences of any symbols into one long row of numbers, read once.

`read_corpus` numbers symbols as they come, in batches, and spills the numbers to a scratch file where they are more
than the memory allowed; then it drops what is rare and numbers the rest by frequency. Texts are cut by the counter of
:mod:`unweave.data.text`. A :class:`Corpus` is what every model of the room works on, and what may be given to them in
place of texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.data.readers.source import ReadError
from unweave.data.text.documents import Batch, Cutting, check_encoding, documents_of, join_batch
from unweave.data.text.words import Split, WordTable, split
from unweave.embed.names import UnknownSymbolError
from unweave.parallel import get_num_threads, run
from unweave.scale.scratch import Scratch

_MEMORY = 1 << 28  # bytes of numbers that are held before they go to a file: 64 million tokens
_PIECE = 1 << 20  # tokens that are looked at together
_TEXTS = (".txt", ".txt.gz", ".txt.xz", ".txt.zst")
_ADVICE = ", or give read_corpus(texts, errors='replace') in place of texts"


class Vocabulary:
    """Keeps symbols (words, songs, places of a walk) and how often each occurs; the number of a symbol is its place.

    Parameters
    ----------
    symbols : sequence of hashables
        All different; :func:`read_corpus` puts the most frequent first, and of equals the one that came first.
    counts : array of int

    Examples
    --------
    >>> vocabulary = Vocabulary(["the", "cat"], [7, 2])
    >>> vocabulary.place("cat"), len(vocabulary), "dog" in vocabulary
    (1, 2, False)
    """

    def __init__(self, symbols: Iterable[Hashable], counts):
        self.symbols: list[Any] = list(symbols)
        self.counts = np.asarray(counts, dtype=np.int64)
        if self.counts.shape != (len(self.symbols),):
            raise ValueError(f"counts must hold one number for each of the {len(self.symbols)} symbols")
        if len(self._places) < len(self.symbols):
            raise ValueError("symbols holds one of them twice; list every symbol once")

    @cached_property
    def _places(self) -> dict[Any, int]:
        return dict(zip(self.symbols, range(len(self.symbols)), strict=True))

    def __getstate__(self) -> dict:
        return {"symbols": self.symbols, "counts": self.counts}

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, symbol) -> bool:
        return symbol in self._places

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} symbols, {int(self.counts.sum())} tokens"

    def check(self) -> int:
        """Return how many symbols there are; ValueError if what was read from a file makes no vocabulary."""
        if not isinstance(self.symbols, list) or not isinstance(self.counts, np.ndarray):
            raise ValueError("a vocabulary is a list of symbols and an array of counts")
        return len(Vocabulary(self.symbols, self.counts))

    def place(self, symbol) -> int:
        """Return the number of a symbol; an error, with symbols that are spelled alike, if it has none."""
        found = self._places.get(symbol, -1)
        if found < 0:
            raise UnknownSymbolError(symbol, self.symbols)
        return found

    def places(self, symbols: Iterable) -> NDArray[np.int32]:
        """Return the numbers of several symbols, -1 for those that have none.

        >>> Vocabulary(["a", "b"], [1, 1]).places(["b", "c"])
        array([ 1, -1], dtype=int32)
        """
        return np.array([self._places.get(symbol, -1) for symbol in symbols], dtype=np.int32)


@dataclass
class Corpus:
    """Holds sequences of symbols as numbers, one after the other.

    Attributes
    ----------
    ids : int32 array (tokens)
        The place in `vocabulary` of every token that was kept; mapped from a scratch file if they are many.
    bounds : int64 array (sequences + 1)
        Sequence s is ``ids[bounds[s]:bounds[s + 1]]``.
    vocabulary : Vocabulary
    n_tokens : int
        How many tokens there were before rare ones were dropped.

    Examples
    --------
    >>> corpus = read_corpus(["a cat and a dog", "a cat"], min_count=2)
    >>> corpus.vocabulary.symbols, corpus.ids, corpus.bounds, corpus.n_tokens
    (['a', 'cat'], array([0, 1, 0, 0, 1], dtype=int32), array([0, 3, 5]), 7)
    """

    ids: NDArray[np.int32]
    bounds: NDArray[np.int64]
    vocabulary: Vocabulary
    n_tokens: int
    _scratch: Scratch | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict:
        return {**vars(self), "ids": np.array(self.ids), "_scratch": None}

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def chunks(self, tokens: int = _PIECE) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield ``(ids, bounds)`` of about so many tokens each: whole sequences, of which longer ones are cut.

        Where the cuts are depends on the corpus and on `tokens` alone.

        >>> corpus = read_corpus([["a", "b", "a"], ["b"], ["a"]], min_count=1)
        >>> [(ids.tolist(), bounds.tolist()) for ids, bounds in corpus.chunks(2)]
        [([0, 1], [0, 2]), ([0, 1], [0, 1, 2]), ([0], [0, 1])]
        """
        cuts = self._cuts(whole(tokens, "tokens", 1))
        first, last = 0, len(cuts) - 1
        while first < last:
            after = int(np.searchsorted(cuts, cuts[first] + tokens, side="right")) - 1
            after = min(max(after, first + 1), last)
            yield self.ids[cuts[first] : cuts[after]], cuts[first : after + 1] - cuts[first]
            first = after

    def _cuts(self, most: int) -> NDArray[np.int64]:
        """The bounds, with further ones inside sequences of more than `most` tokens."""
        lengths = np.diff(self.bounds)
        if not (lengths > most).any():
            return self.bounds
        pieces = -(-lengths // most)
        starts = np.repeat(self.bounds[:-1], pieces)
        inside = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        return np.append(starts + most * inside, self.bounds[-1])


def read_corpus(
    texts,
    *,
    min_count: int = 5,
    max_vocabulary: int | None = None,
    vocabulary=None,
    lowercase: bool = True,
    encoding: str = "utf-8",
    errors: str = "strict",
    memory: int = _MEMORY,
    callback: Callable[[int], Any] | None = None,
) -> Corpus:
    """Read a corpus once: count its symbols, drop rare ones, and number the others, the most frequent first.

    Parameters
    ----------
    texts : iterable, path or Corpus
        Texts, each a sequence of words; or sequences (lists of tokens, of songs, walks) of any hashable symbols; or a
        `pathlib.Path`, or a list of them: files (packed or not) of which each line is a sequence, or a folder of such
        ``.txt`` files. Read once, in batches: any iterable will do. A corpus is given back as it is.
    min_count : int, default=5
        Symbols that occur less often are dropped; their neighbours move together.
    max_vocabulary : int, optional
        The most symbols that are kept, the most frequent.
    vocabulary : list of symbols or Vocabulary, optional
        Keep these and no others, in their order, however rare.
    lowercase : bool, default=True
        Of texts; tokens stay as they are.
    encoding, errors : str
        Of bytes and files, as for `bytes.decode`.
    memory : int
        Bytes of numbers that are held; more than that go to a scratch file.
    callback : callable, optional
        Told how many tokens were read, after each batch of some megabytes.

    Examples
    --------
    >>> read_corpus([["n1", "n2"], ["n2", "n3"]], min_count=1).vocabulary.symbols
    ['n2', 'n1', 'n3']
    """
    if isinstance(texts, Corpus):
        if isinstance(vocabulary, Vocabulary) and texts.vocabulary.symbols != vocabulary.symbols:
            raise ValueError("this corpus was read with another vocabulary: give the texts, or read them with this one")
        return texts
    least = whole(min_count, "min_count", 1)
    most = None if max_vocabulary is None else whole(max_vocabulary, "max_vocabulary", 1)
    check_encoding(encoding, errors)
    kept = vocabulary if vocabulary is None or isinstance(vocabulary, Vocabulary) else _given(vocabulary)
    spill = _Spill(whole(memory, "memory", 1), callback)
    cutting = Cutting(lowercase=lowercase, marks="keep", least=1, encoding=encoding, errors=errors, advice=_ADVICE)
    symbols = _read(texts, cutting, encoding, spill)
    counts = spill.counts[: len(symbols)]
    learned = isinstance(vocabulary, Vocabulary)  # of a model, for which texts without a known symbol are no mistake
    if not spill.n and not learned:
        raise ValueError("the corpus holds no token: it is empty, or has no letter or digit in it; check the texts")
    order = _chosen(counts, least, most) if kept is None else kept.places(symbols).astype(np.int64)
    if kept is None:
        if not len(order):
            raise ValueError(
                f"no symbol occurs {least} times, the most frequent {counts.max()} times of {spill.n} tokens; lower "
                "min_count, or give more texts"
            )
        kept_counts = counts[order]
        to = np.full(len(symbols), -1, np.int32)
        to[order] = np.arange(len(order), dtype=np.int32)
        kept = Vocabulary([symbols[i] for i in order.tolist()], kept_counts)
    else:
        to = order.astype(np.int32)
        known = np.flatnonzero(to >= 0)
        if not len(known) and not learned:
            raise ValueError(
                f"none of the {len(kept)} symbols of vocabulary is in the corpus; check how they are written"
            )
        kept_counts = np.zeros(len(kept), np.int64)
        kept_counts[to[known]] = counts[known]
        kept = Vocabulary(kept.symbols, kept_counts)
    ids, bounds = spill.renumbered(to, int(kept_counts.sum()))
    return Corpus(ids, bounds, kept, spill.n, spill.scratch)


def _chosen(counts: NDArray[np.int64], least: int, most: int | None) -> NDArray[np.int64]:
    """Return the numbers of the symbols that are kept, the most frequent first."""
    order = np.argsort(-counts, kind="stable")
    return order[: int((counts >= least).sum())][:most]


def _given(vocabulary) -> Vocabulary:
    if isinstance(vocabulary, str | bytes) or not hasattr(vocabulary, "__iter__"):
        raise TypeError(f"vocabulary must be a list of symbols, got {type(vocabulary).__name__}")
    symbols = list(vocabulary)
    if not symbols:
        raise ValueError("vocabulary is empty; give at least one symbol, or None to take those of the corpus")
    return Vocabulary(symbols, np.zeros(len(symbols), np.int64))


# -- where sequences come from -----------------------------------------------------------------------------------------


def _read(texts, cutting: Cutting, encoding: str, spill: _Spill) -> list:
    """Number every token in order of appearance; return the symbols."""
    if isinstance(texts, os.PathLike):
        texts = _lines_of(Path(texts))
    elif isinstance(texts, str | bytes):
        raise ValueError(
            "one text was given where several sequences are expected: give a list of texts, such as [text], or "
            "pathlib.Path(name) for a file or a folder"
        )
    elif isinstance(texts, dict) or hasattr(texts, "columns") or not hasattr(texts, "__iter__"):
        raise TypeError(
            f"texts must be an iterable of texts or of sequences, not of type {type(texts).__name__}: of a frame give "
            "one column"
        )
    stream = iter(texts)
    head = list(islice(stream, 1))
    if not head:
        raise ValueError("the corpus is empty: give at least one text or sequence")
    stream = chain(head, stream)
    if isinstance(head[0], os.PathLike):
        return _number_words(documents_of(_each_file(stream), "lines", encoding), cutting, spill)
    if isinstance(head[0], str | bytes):
        return _number_words(documents_of(stream, "text"), cutting, spill)
    return _number_symbols(stream, spill)


def _lines_of(path: Path) -> list[Path]:
    path = path.expanduser()
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.name.lower().endswith(_TEXTS) and p.is_file())
    if not found:
        raise ReadError(path, f"there is no text file ({', '.join(_TEXTS)}) in this folder; name the files")
    return found


def _each_file(stream: Iterable) -> Iterator[Path]:
    for i, path in enumerate(stream):
        if not isinstance(path, os.PathLike):
            raise TypeError(f"texts begins with paths, and item {i} is {path!r:.50}: give paths alone, or texts alone")
        yield from _lines_of(Path(path))


def _number_words(batches: Iterator[Batch], cutting: Cutting, spill: _Spill) -> list[str]:
    words = WordTable()

    def cut(wave: list[Batch]) -> list[Split]:
        return run(lambda i, _: split(*join_batch(wave[i], cutting), cutting), len(wave), 1)

    while wave := list(islice(batches, 2 * get_num_threads())):
        for part in cut(wave):
            found = words.merge(part)
            spill.add(found[part.ids], np.diff(part.ends, prepend=0), words.count)
    return words.texts(0)


def _number_symbols(sequences: Iterable, spill: _Spill) -> list:
    numbers: dict[Any, int] = {}
    held: list[int] = []
    lengths: list[int] = []
    known = 0
    for i, sequence in enumerate(sequences):
        before = len(held)
        try:
            items = sequence.tolist() if isinstance(sequence, np.ndarray) else sequence
            if isinstance(items, str | bytes | dict):
                raise TypeError
            held += [numbers.setdefault(symbol, len(numbers)) for symbol in items]
        except TypeError:
            raise TypeError(
                f"sequence {i} is {sequence!r:.50}; give a list of hashable symbols, or texts alone"
            ) from None
        lengths.append(len(held) - before)
        if len(held) >= _PIECE or len(lengths) >= _PIECE:
            spill.add(np.array(held, np.int32), np.array(lengths), len(numbers))
            held, lengths = [], []
        if len(numbers) > known:
            _check_symbols(islice(numbers, known, None), i)
            known = len(numbers)
    spill.add(np.array(held, np.int32), np.array(lengths, np.int64), len(numbers))
    return list(numbers)


def _check_symbols(symbols: Iterable, i: int) -> None:
    for symbol in symbols:
        if symbol is None or symbol != symbol:
            raise ValueError(f"sequence {i} holds {symbol!r}, which stands for a missing symbol: leave it out")


class _Spill:
    """Takes the numbers of tokens as they are read; holds them, or writes them to a file if they are too many."""

    def __init__(self, memory: int, callback: Callable[[int], Any] | None):
        self.scratch: Scratch | None = None
        self.counts = np.zeros(1 << 10, np.int64)
        self.n = 0
        self._memory, self._callback = memory, callback
        self._parts: list[NDArray[np.int32]] = []
        self._lengths: list[NDArray[np.int64]] = []

    def add(self, ids: NDArray[np.int32], lengths: NDArray[np.int64], n_symbols: int) -> None:
        """Take some tokens, in sequences of these lengths; numbers are below `n_symbols`."""
        if n_symbols > len(self.counts):
            self.counts = np.concatenate([self.counts, np.zeros(n_symbols, np.int64)])
        seen = np.bincount(ids)
        self.counts[: len(seen)] += seen
        self.n += len(ids)
        self._lengths.append(np.asarray(lengths, np.int64))
        self._parts.append(ids)
        if 4 * sum(map(len, self._parts)) > self._memory:
            self.scratch = self.scratch or Scratch()
            with open(self.scratch.path / "read", "ab") as file:
                for part in self._parts:
                    file.write(np.ascontiguousarray(part).data)
            self._parts = []
        if self._callback is not None:
            self._callback(self.n)

    def renumbered(self, to: NDArray[np.int32], kept: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the `kept` tokens that have a number in `to` (it is not -1), and the bounds of the sequences."""
        sheet = None if self.scratch is None else self.scratch.sheet((kept, 1), np.int32)
        ids = np.empty(kept if sheet is None else 0, np.int32)
        lengths = np.concatenate(self._lengths)
        dropped = np.zeros(len(lengths), np.int64)
        ends, before, at = np.cumsum(lengths), 0, 0
        for part in self._pieces():
            new = to[part]
            mine = new >= 0
            lost = before + np.flatnonzero(~mine)
            np.add.at(dropped, np.searchsorted(ends, lost, side="right"), 1)
            new, before = new[mine], before + len(part)
            if sheet is None:
                ids[at : at + len(new)] = new
            else:
                sheet.write(at, new)
            at += len(new)
        self._parts = []
        if sheet is not None:
            ids = sheet.held().reshape(-1)
        return ids, np.concatenate([[0], np.cumsum(lengths - dropped)])

    def _pieces(self) -> Iterator[NDArray[np.int32]]:
        if self.scratch is not None:
            path = self.scratch.path / "read"
            with open(path, "rb") as file:
                while len(piece := np.fromfile(file, np.int32, _PIECE)):
                    yield piece
            path.unlink()
        yield from self._parts
