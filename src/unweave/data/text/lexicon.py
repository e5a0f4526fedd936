"""From words to terms: stop words are dropped, the rest may be stemmed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

LANGUAGES = ("dutch", "english", "french", "german", "italian", "portuguese", "spanish")


@cache
def stop_words_of(language: str) -> frozenset[str]:
    """The stop words of a language, lower case.

    >>> "the" in stop_words_of("english"), "und" in stop_words_of("german")
    (True, True)
    """
    text = files("unweave.data.text").joinpath("stop_words", f"{language}.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def stop_words(asked) -> frozenset[str]:
    """What the parameter means: None, a language, several languages (a list of nothing else), or a list of words.

    >>> len(stop_words(None)), sorted(stop_words(["foo", "Bar"]))
    (0, ['bar', 'foo'])
    >>> stop_words(["english", "french"]) == stop_words_of("english") | stop_words_of("french")
    True
    """
    if asked is None:
        return frozenset()
    if isinstance(asked, str):
        if asked not in LANGUAGES:
            raise ValueError(
                f"stop_words={asked!r} is not known; use one of {', '.join(LANGUAGES)}, a list of words or None"
            )
        return stop_words_of(asked)
    if isinstance(asked, bytes) or not hasattr(asked, "__iter__"):
        raise TypeError(f"stop_words must be None, a language or a list of words, got {asked!r}")
    words = list(asked)
    if not all(isinstance(word, str) for word in words):
        raise TypeError("stop_words must be a list of texts, and one of its items is not")
    if words and all(word in LANGUAGES for word in words):
        return frozenset().union(*map(stop_words_of, words))
    return frozenset(word.lower() for word in words)


def stemmer_of(language: str | None) -> Callable[[str], str] | None:
    """The Snowball stemmer of a language (M. F. Porter, 2001), from the package `snowballstemmer`."""
    if language is None:
        return None
    try:
        import snowballstemmer
    except ImportError:
        raise ImportError(
            f"stemmer={language!r} needs the package snowballstemmer: pip install snowballstemmer, or stemmer=None"
        ) from None
    known = snowballstemmer.algorithms()
    if language not in known:
        raise ValueError(f"stemmer={language!r} is not known; use None or one of {', '.join(sorted(known))}")
    return snowballstemmer.stemmer(language).stemWord


class Lexicon:
    """The terms so far, numbered in order of appearance; each different word is looked at once.

    >>> lexicon = Lexicon(frozenset(["the"]), lambda word: word.rstrip("s"))
    >>> lexicon.add(["the", "cats", "cat"]), lexicon.terms
    (array([-1,  0,  0], dtype=int32), ['cat'])
    """

    def __init__(self, stop: frozenset[str], stem: Callable[[str], str] | None):
        self._stop, self._stem = stop, stem
        self._numbers: dict[str, int] = {}

    def add(self, words: list[str]) -> NDArray[np.int32]:
        """The term of each word, -1 for stop words (whatever their case)."""
        stop, stem, numbers = self._stop, self._stem, self._numbers
        found = []
        for word in words:
            if stop and word.lower() in stop:
                found.append(-1)
            else:
                found.append(numbers.setdefault(stem(word) if stem else word, len(numbers)))
        return np.array(found, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def terms(self) -> list[str]:
        return list(self._numbers)
