"""Checks the parameters of a text table and chooses the terms that become its columns.

Rare and over-frequent terms are left out; the others stand in alphabetical order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.data.text.counting import Counter, TermCounts
from unweave.data.text.documents import INPUTS, Batch, check_encoding
from unweave.data.text.weights import IDF, TF, WEIGHTS
from unweave.data.text.words import MARKS

Texts = Callable[[Iterable[int]], list[str]]  # terms from their numbers
_CHOICES = {"input": INPUTS, "marks": MARKS, "weights": WEIGHTS, "idf": IDF, "tf": TF, "dtype": ("float64", "float32")}


@dataclass(frozen=True)
class Limits:
    """Says which terms are kept.

    A term must have at least `min_count` tokens, be in `min_df` to `max_df` documents (a float is a share of them, a
    whole number counts them), and be among the `max_words` most frequent.
    """

    min_df: int | float = 1
    max_df: int | float = 1.0
    min_count: int = 1
    max_words: int | None = None


@dataclass
class Tally:
    """Counts how many documents and tokens each term has."""

    documents: NDArray[np.int64]
    totals: NDArray[np.int64]

    @classmethod
    def empty(cls) -> Tally:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def add(self, names: NDArray, documents: NDArray, totals: NDArray, size: int) -> None:
        """Add the documents and tokens of the terms `names`, of `size` terms in all."""
        grow = size - len(self.documents)
        if grow > 0:
            spare = np.zeros(max(grow, len(self.documents)), np.int64)
            self.documents, self.totals = (np.concatenate([a, spare]) for a in (self.documents, self.totals))
        self.documents[names] += documents
        self.totals[names] += totals


def survey(counter: Counter, batches: Iterable[Batch], keep: bool) -> tuple[list[TermCounts], Tally, int]:
    """Count a stream of documents; return the counts (if `keep`), the tally of terms and how many documents."""
    tally, parts, n = Tally.empty(), list[TermCounts](), 0
    for rows in counter.count(batches):
        n += len(rows.indptr) - 1
        tally.add(rows.names, rows.documents, rows.totals, counter.count_of_terms)
        if keep:
            parts.append(rows)
    size = counter.count_of_terms
    return parts, Tally(tally.documents[:size], tally.totals[:size]), n


def need_documents(n: int) -> None:
    """Raise ValueError if there is none."""
    if n == 0:
        raise ValueError("there is no document; give at least one")


def documents_asked(value, name: str, n: int, rounded: Callable[[float], float]) -> int:
    """Turn a number or a share into a number of documents.

    >>> documents_asked(0.5, "max_df", 9, math.floor), documents_asked(3, "max_df", 9, math.floor)
    (4, 3)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a whole number of documents or a share from 0.0 to 1.0, got {value!r}")
    if isinstance(value, Integral):
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value}")
        return int(value)
    if not 0.0 <= float(value) <= 1.0:
        raise ValueError(f"{name} as a share must lie between 0.0 and 1.0, got {value}; use a whole number to count")
    return int(rounded(float(value) * n))


def choose(tally: Tally, n_documents: int, limits: Limits, texts: Texts) -> tuple[list[str], NDArray]:
    """Choose words; return them in alphabetical order with their terms. ValueError, with the remedy, if none is left.

    Of terms that are equally frequent the first in the alphabet is kept.
    """
    least = documents_asked(limits.min_df, "min_df", n_documents, math.ceil)
    most = documents_asked(limits.max_df, "max_df", n_documents, math.floor)
    if least > most:
        raise ValueError(
            f"no word can be in {least} documents or more and in {most} or fewer, of {n_documents}; lower min_df or "
            "raise max_df"
        )
    seen = tally.documents > 0
    if not seen.any():
        raise ValueError(
            "the documents hold no word that is counted: they are empty, or have stop words alone; check them, or set "
            "stop_words=None"
        )
    rare, frequent = tally.documents < least, tally.documents > most
    kept = np.flatnonzero(seen & ~rare & ~frequent & (tally.totals >= limits.min_count))
    if not len(kept):
        raise ValueError(
            f"no word is left of {int(seen.sum())}: {int((seen & rare).sum())} are in fewer than {least} documents, "
            f"{int((seen & frequent).sum())} in more than {most}, the others occur fewer than {limits.min_count} "
            "times; lower min_df or min_count, or raise max_df"
        )
    words = texts(kept.tolist())
    order = sorted(range(len(kept)), key=words.__getitem__)
    if limits.max_words is not None and len(order) > limits.max_words:
        totals = tally.totals[kept].tolist()
        order = sorted(sorted(order, key=lambda i: -totals[i])[: limits.max_words], key=words.__getitem__)
    return [words[i] for i in order], kept[order]


def given_vocabulary(vocabulary) -> list[str]:
    """Return the words of a given vocabulary: a list of different texts, or a dict of texts to their columns.

    >>> given_vocabulary({"b": 0, "a": 1}), given_vocabulary(["x", "y"])
    (['b', 'a'], ['x', 'y'])
    """
    if isinstance(vocabulary, dict):
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise ValueError("vocabulary must give its words the columns 0, 1, 2, … without a gap")
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    if isinstance(vocabulary, str | bytes) or not hasattr(vocabulary, "__iter__"):
        raise TypeError(f"vocabulary must be a list of words, got {type(vocabulary).__name__}")
    words = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
    if not words:
        raise ValueError("vocabulary is empty; give at least one word, or None to take those of the documents")
    if not all(isinstance(word, str) for word in words):
        raise TypeError("vocabulary must be a list of texts, and one of its items is not")
    if len(set(words)) < len(words):
        raise ValueError("vocabulary holds a word twice; list every word once")
    return [str(word) for word in words]


def numbered(words: list[str]) -> dict[str, int]:
    """Return a dict from each word to its column.

    >>> numbered(["a", "b"])
    {'a': 0, 'b': 1}
    """
    return dict(zip(words, range(len(words))))


def columns_of(known: dict[str, int], terms: Iterable[str]) -> NDArray[np.int32]:
    """Return the column of each term, -1 for those that have none.

    >>> columns_of({"a": 0, "b": 1}, ["b", "c"])
    array([ 1, -1], dtype=int32)
    """
    return np.array([known.get(term, -1) for term in terms], dtype=np.int32)


# -- parameters of a text table ----------------------------------------------------------------------------------------


def check_options(options) -> None:
    """Raise ValueError or TypeError, naming the parameter, unless a table of text can be made with these.

    >>> from types import SimpleNamespace
    >>> check_options(SimpleNamespace(input="web"))
    Traceback (most recent call last):
        ...
    ValueError: input='web' is not known; use 'text', 'files' or 'lines'
    """
    for name, known in _CHOICES.items():
        value = getattr(options, name)
        if not isinstance(value, str) or value not in known:
            words = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
            raise ValueError(f"{name}={value!r} is not known; use {words}")
    if not isinstance(options.lowercase, bool):
        raise TypeError(f"lowercase must be True or False, got {options.lowercase!r}")
    check_encoding(options.encoding, options.errors)
    whole(options.min_length, "min_length", 1)
    whole(options.min_count, "min_count", 1)
    if options.max_words is not None:
        whole(options.max_words, "max_words", 1)
    if number(options.smoothing, "smoothing") > 1:
        raise ValueError(f"smoothing must lie between 0 and 1, got {options.smoothing}")
    if options.smoothing > 0 and options.weights == "counts":
        raise ValueError("smoothing is for frequencies; set weights='frequency' or 'tf-idf', or smoothing=0")
    if options.smoothing > 0 and options.tf == "log":
        raise ValueError("smoothing is for frequencies; set tf='frequency' or 'auto', or smoothing=0")
    if options.norm not in (None, "l2"):
        raise ValueError(f"norm={options.norm!r} is not known; use 'l2' (rows of length one) or None")
    _check_ngrams(options.ngrams)


def check_learned(words, idf) -> None:
    """Raise ValueError unless words and weights from a file fit together.

    >>> check_learned(["a", "a"], np.ones(2))
    Traceback (most recent call last):
        ...
    ValueError: words_ must be a list of different texts
    """
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
        raise ValueError("words_ must be a list of different texts")
    if not isinstance(idf, np.ndarray) or idf.dtype != np.float64 or idf.shape != (len(words),):
        raise ValueError("idf_ does not fit the words")


def _check_ngrams(ngrams) -> None:
    if not isinstance(ngrams, tuple | list) or len(ngrams) != 2:
        raise TypeError(f"ngrams must be two whole numbers such as (1, 2), got {ngrams!r}")
    if whole(ngrams[0], "ngrams[0]", 1) > whole(ngrams[1], "ngrams[1]", 1):
        raise ValueError(f"ngrams must go from fewer words to more, got {ngrams!r}")
