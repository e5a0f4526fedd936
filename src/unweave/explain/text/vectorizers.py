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


def is_texts(X) -> bool:
    """Whether X is a list of texts (or a series, or an array of them), or of lists of words, and not a table.

    >>> is_texts(["one text", "another"]), is_texts([["two", "words"]]), is_texts([[1, 2]]), is_texts([])
    (True, True, False, False)
    """
    if isinstance(X, str):
        raise TypeError("X is one text: give a list of texts")
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


def takes_texts(fit: Callable) -> Callable:
    """A `fit` that turns texts into counts first, by the model's `vectorizer`, and keeps it as ``vectorizer_``."""

    @wraps(fit)
    def read(self, X, *args, **more):
        vectorizer = self.vectorizer
        if vectorizer is not None and is_texts(X):
            vectorizer = ready_vectorizer(vectorizer, X)
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
    table = sp.csr_array(vectorizer.transform(X))
    names = vectorizer_terms(vectorizer, table.shape[1])
    return NamedTable(table, columns=None if names is None else [str(name) for name in names], kind="counts")
