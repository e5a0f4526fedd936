"""From words to columns: texts, vectorisers and vocabularies as LSA takes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

_TOKEN = re.compile(r"\w+")


def is_texts(X) -> bool:
    """Whether X is a list of texts and not a table.

    >>> is_texts(["one text", "another"]), is_texts([[1, 2]]), is_texts([])
    (True, False, False)
    """
    if isinstance(X, str):
        raise TypeError("X is one text: give a list of texts")
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "UO" and len(X) > 0 and isinstance(X[0], str)
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str)


def ready_vectorizer(vectorizer, texts: Sequence[str] | None):
    """The vectoriser itself if it is fitted, otherwise a copy that is fitted to the texts."""
    if not callable(getattr(vectorizer, "transform", None)):
        raise TypeError(f"vectorizer must have a method transform (TfidfVectorizer(), say), got {vectorizer!r}")
    try:
        if hasattr(vectorizer, "fit"):
            check_is_fitted(vectorizer)
    except NotFittedError:
        if texts is None:
            raise ValueError("vectorizer is not fitted: fit it first, or give the texts themselves to fit") from None
        return clone(vectorizer).fit(texts)
    return vectorizer


def vectorizer_terms(vectorizer, n_columns: int) -> NDArray | None:
    """Names of a vectoriser's columns, None if it does not know them (hashing)."""
    if not hasattr(vectorizer, "get_feature_names_out"):
        return None
    names = vectorizer.get_feature_names_out()
    if len(names) != n_columns:
        raise ValueError(f"X has {n_columns} columns, but vectorizer makes {len(names)}: give the table that it makes")
    return names


def find_term(terms: NDArray, order: NDArray, word: str) -> int:
    """The column of a word as it is or in lower case, -1 if there is none.

    >>> names = np.array(["b", "a"], dtype=object)
    >>> [find_term(names, np.argsort(names), word) for word in ("b", "A", "c")]
    [0, 1, -1]
    """
    at = int(terms.searchsorted(word, sorter=order))
    if at < len(order) and terms[order[at]] == word:
        return int(order[at])
    lower = word.lower()
    return -1 if lower == word else find_term(terms, order, lower)


def count_words(query: str | Iterable[str], terms: NDArray, order: NDArray) -> tuple[NDArray, NDArray]:
    """Columns and counts of the known words of a text or a list of words; an error when none is known."""
    words = _TOKEN.findall(query) if isinstance(query, str) else [str(word) for word in query]
    counts = Counter(find_term(terms, order, word) for word in words)
    counts.pop(-1, None)
    if not counts:
        shown = ", ".join(map(repr, words[:3])) + (", …" if len(words) > 3 else "")
        raise ValueError(f"query has no word that the model knows ({shown or 'it is empty'}); see terms_")
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.float64)
