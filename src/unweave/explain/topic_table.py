"""Counts of words from a checked table."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.data.table import Table


def counts_of(table: Table, name: str) -> sp.csr_array:
    """The counts as CSR (int32 indices), or an error if one is negative."""
    X = sp.csr_array(table.values)
    if X.nnz and X.data.min() < 0:
        raise ValueError(f"Negative values in data passed to {name} (input X): counts of words cannot be negative")
    _need_countable(X, name)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)


def _need_countable(X: sp.csr_array, name: str) -> None:
    """Raise where the largest count is beyond the whole numbers of its type, or nothing beside one word.

    Models of topics compare counts with probabilities, which have no unit that could follow.
    """
    largest, eps = float(X.data.max(initial=0)), float(np.finfo(X.dtype).eps)
    if largest > 2 / eps or 0 < largest < eps:
        wider = " (or pass it as float64)" if X.dtype == np.float32 else ""
        raise ValueError(f"{name}: {largest:.3g} as the largest number is no count of words: rescale X{wider}")


def need_words(X: sp.csr_array) -> None:
    """Raise if there is nothing to learn from."""
    if not X.nnz or not X.data.any():
        raise ValueError("X holds no words: every count is zero; give at least one document that is not empty")


def check_topics(model, looked_at: bool) -> None:
    """Raise ValueError unless the arrays of a model of topics fit together; `looked_at` means they may be read."""
    topics, n = model.topics_, model.n_features_in_
    if not isinstance(topics, np.ndarray) or topics.ndim != 2 or topics.shape[1] != n or topics.dtype.kind != "f":
        raise ValueError("the topics do not fit the columns")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n,):
        raise ValueError("there must be one name a column")
    for name in ("alpha_", "topic_shares_"):
        values = getattr(model, name, None)
        if values is not None and (np.shape(values) != (len(topics),) or np.asarray(values).dtype.kind != "f"):
            raise ValueError(f"{name} does not fit the topics")
    stream = getattr(model, "_stream", None)
    if isinstance(stream, dict) and stream:
        words, alpha = (np.shape(np.asarray(stream.get(name, 0.0))) for name in ("words", "alpha"))
        if words != (n, len(topics)) or alpha != (len(topics),):
            raise ValueError("the state of the stream does not fit the topics")
    if looked_at and not (np.isfinite(topics).all() and topics.min() >= 0):
        raise ValueError("the topics must be finite numbers that are not negative")
