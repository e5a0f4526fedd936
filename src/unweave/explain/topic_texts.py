"""Texts in place of tables: what a model of topics does with its vectoriser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import scipy.sparse as sp

from unweave.data.named import NamedTable
from unweave.explain.vectorizers import is_texts, ready_vectorizer, vectorizer_terms


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
    """X itself, or the counts of its texts with the words as names of columns."""
    if not is_texts(X):
        return X
    if vectorizer is None:
        name = type(model).__name__
        raise ValueError(
            f"X holds texts: give {name}(vectorizer=TextTable(stop_words='english')), or the table that it makes"
        )
    counts = sp.csr_array(vectorizer.transform(X))
    names = vectorizer_terms(vectorizer, counts.shape[1])
    return NamedTable(counts, columns=None if names is None else [str(name) for name in names], kind="counts")
