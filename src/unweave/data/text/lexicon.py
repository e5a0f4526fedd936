"""Turns words into terms: stop words are dropped, the rest may be stemmed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LANGUAGES = ("dutch", "english", "french", "german", "italian", "portuguese", "spanish")


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language, lower case.

    >>> "the" in stop_words_of("english"), "und" in stop_words_of("german")
    (True, True)
    """
    text = files("unweave.data.text").joinpath("stop_words", f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def stop_words(asked) -> frozenset[str]:
    """Return the stop words asked for by None, a language, a list of languages alone, or a list of words.

    A language may be written in any case.

    >>> len(stop_words(None)), sorted(stop_words(["foo", "Bar"]))
    (0, ['bar', 'foo'])
    >>> stop_words(["english", "french"]) == stop_words_of("english") | stop_words_of("french")
    True
    """
    if asked is None:
        return frozenset()
    if isinstance(asked, str):
        if asked.lower() not in LANGUAGES:
            raise ValueError(
                f"stop_words={asked!r} is not known; use one of {', '.join(LANGUAGES)}, a list of words or None"
            )
        return stop_words_of(asked.lower())
    if isinstance(asked, bytes) or not hasattr(asked, "__iter__"):
        raise TypeError(f"stop_words must be None, a language or a list of words, got {asked!r}")
    words = list(asked)
    if not all(isinstance(word, str) for word in words):
        raise TypeError("stop_words must be a list of texts, and one of its items is not")
    words = [word.lower() for word in words]
    if words and all(word in LANGUAGES for word in words):
        return frozenset().union(*map(stop_words_of, words))
    return frozenset(words)


def stemmer_of(language: str | None) -> Callable[[str], str] | None:
    """Return the Snowball stemmer of a language (M. F. Porter, 2001), from the package `snowballstemmer`."""
    if language is None:
        return None
    try:
        import snowballstemmer
    except ImportError:
        raise ImportError(
            f"stemmer={language!r} needs the package snowballstemmer: pip install snowballstemmer, or stemmer=None"
        ) from None
    known = snowballstemmer.algorithms()
    if not isinstance(language, str) or language.lower() not in known:
        raise ValueError(f"stemmer={language!r} is not known; use None or one of {', '.join(sorted(known))}")
    return snowballstemmer.stemmer(language.lower()).stemWord


class Lexicon:
    """Numbers terms in order of appearance; each different word is looked at once.

    >>> lexicon = Lexicon(frozenset(["the"]), lambda word: word.rstrip("s"))
    >>> lexicon.add(["the", "cats", "cat"]), lexicon.terms
    (array([-1,  0,  0], dtype=int32), ['cat'])
    """

    def __init__(self, stop: frozenset[str], stem: Callable[[str], str] | None):
        self._stop, self._stem = stop, stem
        self._numbers: dict[str, int] = {}

    def terms_of(self, words: list[str]) -> list[str | None]:
        """Return the term of each word, None for stop words (whatever their case)."""
        stop, stem = self._stop, self._stem
        kept: list[str | None] = [None if word.lower() in stop else word for word in words] if stop else [*words]
        return [word if word is None else stem(word) for word in kept] if stem else kept

    def add(self, words: list[str]) -> NDArray[np.int32]:
        """Return the number of the term of each word, -1 for stop words."""
        numbers = self._numbers
        found = [-1 if term is None else numbers.setdefault(term, len(numbers)) for term in self.terms_of(words)]
        return np.array(found, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def terms(self) -> list[str]:
        return list(self._numbers)


class FixedLexicon(Lexicon):
    """A lexicon that learns nothing: it knows the columns of a vocabulary, and drops other terms.

    >>> FixedLexicon(frozenset(), None, {"cat": 0, "dog": 1}).add(["dog", "bird"])
    array([ 1, -1], dtype=int32)
    """

    def __init__(self, stop: frozenset[str], stem: Callable[[str], str] | None, columns: dict[str, int]):
        super().__init__(stop, stem)
        self._columns = columns

    def columns_of(self, words: list[str]) -> list[int]:
        """Return the column of the term of each word, -1 if it has none."""
        column = self._columns.get
        return [-1 if term is None else column(term, -1) for term in self.terms_of(words)]

    def add(self, words: list[str]) -> NDArray[np.int32]:
        """Return the column of the term of each word as an array."""
        return np.array(self.columns_of(words), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def terms(self) -> list[str]:
        return list(self._columns)
