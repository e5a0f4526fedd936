"""Texts and what turns them into tables, as LSA and the models of topics take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from unweave.data.named import NamedTable
from unweave.data.text import is_tokens
from unweave.explain.text.in_blocks import TextBlocks, tables_of
from unweave.explain.text.table import TextTable


def is_texts(X) -> bool:
    """Whether X is a list of texts (or a series, or an array of them), of lists of words, or blocks of such; no table.

    >>> is_texts(["one text", "another"]), is_texts([["two", "words"]]), is_texts([[1, 2]]), is_texts([])
    (True, True, False, False)
    """
    if isinstance(X, str):
        raise TypeError("X is one text: give a list of texts")
    if isinstance(X, TextBlocks):
        return True
    listed = isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1
    return listed and len(X) > 0 and (isinstance(next(iter(X)), str) or is_tokens(X))


def check_saveable(model) -> None:
    """TypeError where a model holds a vectoriser of another library, which is code."""
    from unweave.persist.registry import part_name

    for part in (model.vectorizer, getattr(model, "vectorizer_", None)):
        if part is not None and part_name(type(part)) is None:
            raise TypeError(
                f"vectorizer is a {type(part).__name__}, which cannot be saved: fit {type(model).__name__} to the "
                "table that it makes, and keep the vectoriser apart"
            )


def ready_vectorizer(vectorizer, texts: Sequence[str] | TextBlocks | None, client=None):
    """The vectoriser itself if it is fitted, otherwise a copy that is fitted to the texts.

    The workers of `client` count the words of blocks, where the vectoriser is a :class:`unweave.TextTable`.
    """
    if not callable(getattr(vectorizer, "transform", None)):
        raise TypeError(f"vectorizer must have a method transform (TfidfVectorizer(), say), got {vectorizer!r}")
    try:
        if hasattr(vectorizer, "fit"):
            check_is_fitted(vectorizer)
    except NotFittedError:
        if texts is None:
            raise ValueError("vectorizer is not fitted: fit it first, or give the texts themselves to fit") from None
        return _fitted(clone(vectorizer), texts, client)
    return vectorizer


def _fitted(vectorizer, texts, client):
    if not isinstance(texts, TextBlocks):
        return vectorizer.fit(texts)
    if isinstance(vectorizer, TextTable):
        return vectorizer.fit(texts, client=client)
    return vectorizer.fit(texts.documents())  # those of other libraries go through documents one by one


def vectorizer_terms(vectorizer, n_columns: int) -> NDArray | None:
    """Names of a vectoriser's columns, None if it does not know them (hashing)."""
    if not hasattr(vectorizer, "get_feature_names_out"):
        return None
    names = vectorizer.get_feature_names_out()
    if len(names) != n_columns:
        raise ValueError(f"X has {n_columns} columns, but vectorizer makes {len(names)}: give the table that it makes")
    return names


def takes_texts(fit: Callable) -> Callable:
    """A `fit` that turns texts into counts first, by the model's `vectorizer`, and keeps it as ``vectorizer_``."""

    @wraps(fit)
    def read(self, X, *args, **more):
        vectorizer = self.vectorizer
        if vectorizer is not None and is_texts(X):
            vectorizer = ready_vectorizer(vectorizer, X, more.get("client"))
        found = fit(self, counted(self, X, vectorizer), *args, **more)
        self.vectorizer_ = vectorizer
        return found

    return read


def counted(model: Any, X, vectorizer: Any):
    """X itself, or the table that the vectoriser makes of its texts, with the words as names of columns."""
    if not is_texts(X):
        return X
    if vectorizer is None:
        name = type(model).__name__
        raise ValueError(
            f"X holds texts: give {name}(vectorizer=TextTable(stop_words='english')), or the table that it makes"
        )
    if isinstance(X, TextBlocks):
        known = vectorizer.get_feature_names_out() if hasattr(vectorizer, "get_feature_names_out") else None
        return tables_of(vectorizer, X, None if known is None else [str(name) for name in known])
    table = sp.csr_array(vectorizer.transform(X))
    names = vectorizer_terms(vectorizer, table.shape[1])
    return NamedTable(table, columns=None if names is None else [str(name) for name in names], kind="counts")
