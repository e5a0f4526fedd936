"""From words to columns: texts, vectorisers and vocabularies as LSA takes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from unweave.data.named import NamedTable

_TOKEN = re.compile(r"\w+")


def is_texts(X) -> bool:
    """Whether X is a list of texts (or a series, or an array of them) and not a table.

    >>> is_texts(["one text", "another"]), is_texts([[1, 2]]), is_texts([])
    (True, False, False)
    """
    if isinstance(X, str):
        raise TypeError("X is one text: give a list of texts")
    listed = isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1
    return listed and len(X) > 0 and isinstance(next(iter(X)), str)


def check_saveable(model) -> None:
    """TypeError where a model holds a vectoriser of another library, which is code."""
    from unweave.persist.registry import part_name

    for part in (model.vectorizer, getattr(model, "vectorizer_", None)):
        if part is not None and part_name(type(part)) is None:
            raise TypeError(
                f"vectorizer is a {type(part).__name__}, which cannot be saved: fit {type(model).__name__} to the "
                "table that it makes, and keep the vectoriser apart"
            )


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


def columns_by_word(terms: NDArray) -> dict[str, int]:
    """Word → column; of columns with the same name the first.

    >>> columns_by_word(np.array(["b", "a", "b"], dtype=object))
    {'b': 0, 'a': 1}
    """
    columns: dict[str, int] = {}
    for place, word in enumerate(terms.tolist()):
        columns.setdefault(word, place)
    return columns


def find_term(columns: dict[str, int], word: str) -> int:
    """The column of a word as it is or in lower case, -1 if there is none.

    >>> [find_term({"b": 0, "a": 1}, word) for word in ("b", "A", "c")]
    [0, 1, -1]
    """
    place = columns.get(word)
    return columns.get(word.lower(), -1) if place is None else place


def count_words(query: str | Iterable[str], columns: dict[str, int]) -> tuple[NDArray, NDArray]:
    """Columns and counts of the known words of a text or a list of words; an error when none is known."""
    words = _TOKEN.findall(query) if isinstance(query, str) else [str(word) for word in query]
    places = [place for word in words if (place := find_term(columns, word)) >= 0]
    if not places:
        raise unknown_words(words)
    return np.array(places), np.ones(len(places))


def unknown_words(query: str | Iterable[str]) -> ValueError:
    """The error for a query without a known word.

    >>> unknown_words("zebra")
    ValueError("query has no word that the model knows ('zebra'): ask for some of terms_, the words of the columns")
    """
    words = query.split() if isinstance(query, str) else list(query)
    shown = ", ".join(f"{word!r:.30}" for word in words[:3]) + (", …" if len(words) > 3 else "")
    known = "ask for some of terms_, the words of the columns"
    return ValueError(f"query has no word that the model knows ({shown or 'it is empty'}): {known}")


def is_words(query) -> bool:
    """Whether a query is a text or a list of words.

    >>> is_words("a text"), is_words(["two", "words"]), is_words([0, 1]), is_words([])
    (True, True, False, False)
    """
    listed = isinstance(query, list | tuple | set) or (isinstance(query, np.ndarray) and query.ndim == 1)
    return isinstance(query, str) or (listed and len(query) > 0 and all(isinstance(word, str) for word in query))


def query_rows(query, n_columns: int) -> tuple[Any, bool]:
    """A query in numbers as a checked table, and whether it is one row alone."""
    rows = query.X if isinstance(query, NamedTable) else query
    one = np.ndim(rows) == 1 if not sp.issparse(rows) else rows.ndim == 1
    try:
        rows = (rows if sp.issparse(rows) else np.asarray(rows)).reshape(1, -1) if one else rows
        rows = check_array(rows, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False,
                           ensure_min_samples=0, ensure_min_features=0)  # fmt: skip
    except (TypeError, ValueError):
        wanted = f"a text, a list of words, or a row or table of {n_columns} columns of numbers"
        raise TypeError(f"query must be {wanted}, got {query!r:.60}".replace("\n", " ")) from None
    if not rows.shape[0]:
        raise ValueError("query has no rows: give at least one")
    if rows.shape[1] != n_columns:
        raise ValueError(f"query has {rows.shape[1]} columns, but the model was fitted to {n_columns}")
    if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
        raise ValueError("query holds NaN or infinity: give 0 for a word that does not occur")
    return rows, one
