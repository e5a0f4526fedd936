"""Turn the words of a query, or a query in numbers, into columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from unweave.data.named import NamedTable
from unweave.data.storage import is_finite
from unweave.data.text import is_tokens

_TOKEN = re.compile(r"\w+")


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


def is_queries(query) -> bool:
    """Whether a query is several: a list of texts, or of lists of words.

    >>> is_queries(["two", "texts"]), is_queries([["two", "words"]]), is_queries([0, 1]), is_queries([])
    (True, True, False, False)
    """
    listed = isinstance(query, list | tuple) or (isinstance(query, np.ndarray) and query.ndim == 1)
    return listed and len(query) > 0 and (all(isinstance(one, str) for one in query) or is_tokens(query))


def query_rows(query, n_columns: int) -> tuple[Any, bool]:
    """A query in numbers as a checked table, and whether it is one row alone."""
    rows = query.X if isinstance(query, NamedTable) else query
    try:
        rows = rows if hasattr(rows, "ndim") else np.asarray(rows)
        one = rows.ndim == 1
        rows = rows.reshape(1, -1) if one else rows
        rows = check_array(rows, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=False,
                           ensure_min_samples=0, ensure_min_features=0)  # fmt: skip
    except (TypeError, ValueError):
        wanted = f"a text, a list of texts, or a row or table of {n_columns} columns of numbers"
        raise TypeError(f"query must be {wanted}, got {query!r:.60}".replace("\n", " ")) from None
    if not rows.shape[0]:
        raise ValueError("query has no rows: give at least one")
    if rows.shape[1] != n_columns:
        raise ValueError(f"query has {rows.shape[1]} columns, but the model was fitted to {n_columns}")
    if not is_finite(rows):
        raise ValueError("query holds NaN or infinity: give 0 for a word that does not occur")
    return rows, one
