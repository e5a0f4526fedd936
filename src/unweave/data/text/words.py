"""Cuts documents into words, and keeps the tables of words and of runs of words that all documents share."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unweave.data.text.documents import Cutting
from unweave.kernels.words import fill_slots, join_words, merge_runs, merge_words, split_words

_FIRST_WORDS, _FIRST_RUNS = 1 << 15, 1 << 17  # of a part
_FIRST = 1 << 8  # of all parts: a query has few
_MOST = np.iinfo(np.int32).max // 4
_NO_OTHERS = np.zeros(1, np.bool_)
_POINTS = 0x110000
_JOINERS = (0x200C, 0x200D)  # invisible, inside words of Indic scripts and Persian
MARKS = ("split", "keep")


@dataclass
class Split:
    """Holds the tokens of some documents: the word of each, where documents end, and the words as they first appear."""

    data: NDArray[np.uint8]
    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def texts(self) -> list[str]:
        """Return the words."""
        data = self.data.tobytes()
        return [data[a : a + n].decode() for a, n in zip(self.starts.tolist(), self.lengths.tolist())]


def split(data: NDArray[np.uint8], bounds: NDArray[np.int64], cutting: Cutting) -> Split:
    """Cut documents into words; ASCII letters are lowered in place.

    >>> text = np.frombuffer(bytearray(b"One two, ONE"), np.uint8)
    >>> split(text, np.array([0, 12]), Cutting()).ids
    array([0, 1, 0], dtype=int32)
    """
    # the table of all characters takes a moment to make, which plain English does not need
    plain = data.tobytes().isascii()
    is_word = _NO_OTHERS if plain else word_characters(cutting.marks, cutting.digits)
    fold, least = ascii_fold(cutting.lowercase, cutting.digits), cutting.least
    most = len(data) // (least + 1) + len(bounds)
    ids, ends = np.empty(most, np.int32), np.empty(len(bounds) - 1, np.int64)
    room = 1 << (min(most, _FIRST_WORDS) - 1).bit_length()
    while True:
        hashes, starts, lengths = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64)
        slots = np.zeros(2 * room, np.int32)
        n = split_words(data, bounds, fold, is_word, least, slots, hashes, starts, lengths, ids, ends)
        if n >= 0:
            return Split(data, _kept(ids, ends[-1]), ends, _kept(hashes, n), _kept(starts, n), _kept(lengths, n))
        room *= 4


class WordTable:
    """Keeps all different words so far, numbered in order of appearance."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.zeros(2 * _FIRST, np.int32)
        self._hashes = np.empty(_FIRST, np.uint64)
        self._starts = np.zeros(_FIRST + 1, np.int64)
        self._text = np.empty(8 * _FIRST, np.uint8)

    def merge(self, part: Split) -> NDArray[np.int32]:
        """Add the words of a part, and return the number of each in this table."""
        n = len(part.starts)
        self._make_room(n, int(part.lengths.sum()))
        found = np.empty(n, np.int32)
        table = self._slots, self._hashes, self._starts, self._text
        words = part.data, part.hashes, part.starts, part.lengths, n
        self.count = merge_words(*words, *table, self.count, found)
        return found

    def texts(self, first: int) -> list[str]:
        """Return the words from number `first` on."""
        bounds = self._starts[first : self.count + 1].tolist()
        data = self._text[bounds[0] : bounds[-1]].tobytes()
        return [data[a - bounds[0] : b - bounds[0]].decode() for a, b in pairwise(bounds)]

    def _make_room(self, words: int, size: int) -> None:
        need = self.count + words
        self._hashes = _longer(self._hashes, need)
        self._starts = _longer(self._starts, need + 1)
        self._text = _longer(self._text, int(self._starts[self.count]) + size)
        self._slots = _larger_table(self._slots, self._hashes, self.count, need)


@dataclass
class Runs:
    """Holds runs of words in some documents: the run at each place, where documents end, and what the runs are."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    prefixes: NDArray[np.int32]
    lasts: NDArray[np.int32]


def join(words: NDArray[np.int32], ends: NDArray[np.int64], low: int, high: int) -> Runs:
    """Join words into runs of `low` to `high` neighbours; words numbered -1 are left out first."""
    ids, new_ends = np.empty((high - low + 1) * len(words), np.int32), np.empty_like(ends)
    room = _FIRST_RUNS
    while True:
        prefixes, lasts = np.empty(room, np.int32), np.empty(room, np.int32)
        slots, hashes = np.zeros(2 * room, np.int32), np.empty(room, np.uint64)
        n = join_words(words, ends, low, high, slots, hashes, prefixes, lasts, ids, new_ends)
        if n >= 0:
            tokens = int(new_ends[-1]) if len(new_ends) else 0
            return Runs(ids[:tokens].copy(), new_ends, prefixes[:n].copy(), lasts[:n].copy())
        room *= 4


class RunTable:
    """Keeps all different runs so far; run r is run ``prefixes[r]`` (none if -1) followed by word ``lasts[r]``."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.zeros(2 * _FIRST, np.int32)
        self._hashes = np.empty(_FIRST, np.uint64)
        self._prefixes, self._lasts = np.empty(_FIRST, np.int32), np.empty(_FIRST, np.int32)

    def merge(self, part: Runs) -> NDArray[np.int32]:
        """Add the runs of a part, and return the number of each in this table."""
        n = len(part.lasts)
        need = self.count + n
        self._hashes = _longer(self._hashes, need)
        self._prefixes, self._lasts = _longer(self._prefixes, need), _longer(self._lasts, need)
        self._slots = _larger_table(self._slots, self._hashes, self.count, need)
        found = np.empty(n, np.int32)
        table = self._slots, self._hashes, self._prefixes, self._lasts
        self.count = merge_runs(part.prefixes, part.lasts, n, *table, self.count, found)
        return found

    def texts(self, numbers: Iterable[int], words: list[str]) -> list[str]:
        """Return the words of some runs, with blanks between."""
        runs: NDArray = np.fromiter(numbers, np.int64)
        found = [words[last] for last in self._lasts[runs].tolist()]
        runs = self._prefixes[runs]
        while (runs >= 0).any():
            lasts = self._lasts[runs].tolist()
            found = [f"{words[last]} {text}" if r >= 0 else text for r, last, text in zip(runs.tolist(), lasts, found)]
            runs = np.where(runs >= 0, self._prefixes[runs], -1)
        return found


def _kept(array: NDArray, n: int) -> NDArray:
    """Return the first n entries, without holding much more."""
    return array[:n].copy() if 2 * n < len(array) else array[:n]


def _longer(array: NDArray, need: int) -> NDArray:
    if need <= len(array):
        return array
    grown = np.empty(max(need, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown


def _larger_table(slots: NDArray, hashes: NDArray, count: int, need: int) -> NDArray:
    """Return the table, enlarged so that it is at most half full once there are `need` entries."""
    if 2 * need <= len(slots):
        return slots
    if need > _MOST:
        raise ValueError(f"more than {_MOST} different words or runs of words; use fewer documents or shorter ngrams")
    grown = np.zeros(1 << (2 * need - 1).bit_length() + 1, np.int32)
    fill_slots(hashes, count, grown)
    return grown


# -- which characters make up words ------------------------------------------------------------------------------------


@cache
def word_characters(marks: str, digits: bool = True) -> NDArray[np.bool_]:
    """Tell for every code point whether it is part of a word: letters, digits and ``_``, as ``\\w`` of Python's `re`.

    With marks="keep", combining marks and joiners too; with digits=False, no ``_`` and no digits (``\\d``).

    >>> table = word_characters("split")
    >>> [bool(table[ord(c)]) for c in ("é", "字", "_", "-", "\\u0301")]
    [True, True, True, False, False]
    """
    table = np.fromiter(map(str.isalnum, map(chr, range(_POINTS))), np.bool_, _POINTS)
    if digits:
        table[ord("_")] = True
    else:
        table[np.fromiter(map(str.isdecimal, map(chr, range(_POINTS))), np.bool_, _POINTS)] = False
    if marks == "keep":
        # category "M…" of the table of a Python without going through a million calls: marks are no letters or digits
        rest = np.flatnonzero(~table[:0xE0200])
        table[[p for p in rest.tolist() if unicodedata.category(chr(p))[0] == "M"]] = True
        table[list(_JOINERS)] = True
    return table


@cache
def ascii_fold(lowercase: bool, digits: bool = True) -> NDArray[np.uint8]:
    """Return what each ASCII byte becomes in a word; zero where a word ends.

    >>> fold = ascii_fold(True)
    >>> chr(fold[ord("A")]), int(fold[ord(" ")])
    ('a', 0)
    """
    letters = [chr(c).lower() if lowercase else chr(c) for c in range(128)]
    return np.array([ord(c) if c.isalpha() or (digits and (c.isdigit() or c == "_")) else 0 for c in letters], np.uint8)
