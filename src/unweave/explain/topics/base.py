"""Give every model of topics the same interface: its words, its documents, a table of topics, and how good they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.data.table import Table, check_table
from unweave.explain.text.vectorizers import check_saveable, counted
from unweave.explain.topics.measures import coherence, document_completion, halves


@dataclass(frozen=True)
class TopicRow:
    """One topic: its number, its share of all words, and its top words with their probabilities."""

    topic: int
    share: float
    words: list[str]
    probabilities: list[float]


class TopicRows(list):
    """A list of :class:`TopicRow` that prints as a table, the most frequent topic first."""

    def __str__(self) -> str:
        lines = ["topic  share  words"]
        lines += [f"{row.topic:5d}  {100 * row.share:4.1f}%  {' '.join(row.words)}" for row in self]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        texts = ((row.topic, f"{100 * row.share:.1f} %", escape(" ".join(row.words))) for row in self)
        cells = "".join(f"<tr><td>{topic}</td><td>{share}</td><td>{words}</td></tr>" for topic, share, words in texts)
        return f"<table><tr><th>topic</th><th>share</th><th>words</th></tr>{cells}</table>"

    def to_frame(self):
        """Give the same as a pandas frame, one row per topic."""
        import pandas as pd

        return pd.DataFrame([{"topic": r.topic, "share": r.share, "words": ", ".join(r.words)} for r in self])


class Topics:
    """Tell about the topics of a model that has ``topics_`` (k × words, rows sum to one) and ``topic_shares_`` (k).

    Words are the names of the columns the model was fitted to (a data frame, or what :func:`unweave.read` gave), the
    `vocabulary` passed to a call, or else the numbers of the columns. With a `vectorizer` texts are taken in place of
    tables, in `fit` and everywhere else.
    """

    topics_: NDArray
    topic_shares_: NDArray
    transform: Callable[[Any], NDArray]

    def top_words(self, n: int = 10, vocabulary=None) -> list[list[str]]:
        """List the `n` most probable words of every topic, the most probable first."""
        return [row.words for row in sorted(self._rows(n, vocabulary), key=lambda row: row.topic)]

    def describe(self, n: int = 10, vocabulary=None) -> TopicRows:
        """Describe the topics in a table, the most frequent first; ``print`` it, or ``.to_frame()``."""
        return TopicRows(sorted(self._rows(n, vocabulary), key=lambda row: (-row.share, row.topic)))

    def _rows(self, n: int, vocabulary) -> list[TopicRow]:
        check_is_fitted(self, "topics_")
        n, names = whole(n, "n", 1), self._vocabulary(vocabulary)
        top = np.argsort(-self.topics_, axis=1, kind="stable")[:, :n]
        return [
            TopicRow(t, float(self.topic_shares_[t]), [names[j] for j in at], [float(self.topics_[t, j]) for j in at])
            for t, at in enumerate(top)
        ]

    def _vocabulary(self, vocabulary) -> list[str]:
        m = self.topics_.shape[1]
        if vocabulary is None:
            return [str(name) for name in getattr(self, "feature_names_in_", range(m))]
        names = [str(word) for word in vocabulary]
        if len(names) != m:
            raise ValueError(f"vocabulary has {len(names)} words, but the model was fitted to {m} columns")
        return names

    def document_topics(self, X) -> NDArray:
        """Find the share of every topic in every document (rows sum to one); an empty document gets the prior."""
        codes = np.asarray(self.transform(X), dtype=np.float64)
        mass = codes.sum(axis=1, keepdims=True)
        return np.where(mass > 0, codes / np.where(mass > 0, mass, 1), self.topic_shares_)

    def coherence(self, X, measure: str = "umass", n: int = 10) -> NDArray:
        """Measure for every topic whether its top words occur together in X.

        See :func:`unweave.explain.topics.measures.coherence`.
        """
        check_is_fitted(self, "topics_")
        return coherence(self.topics_, self._counts(X), measure=measure, n=n)

    def perplexity(self, X, random_state=None) -> float:
        """Compute the perplexity of half the words of each document given the other half: lower is better."""
        check_is_fitted(self, "topics_")
        return document_completion(self.topics_, *halves(self._counts(X), random_state))

    def topic_map(self, path, X=None, vocabulary=None):
        """Write the map of the topics, one HTML page that opens offline; X may be texts where `fit` took texts.

        See :func:`unweave.report.topic_map.write_topic_map`.
        """
        from unweave.report.topic_map import write_topic_map

        check_is_fitted(self, "topics_")
        return write_topic_map(self, path, None if X is None else self._read(X), vocabulary)

    def save(self, path: str | os.PathLike) -> Path:
        """Save the model to a file; a vectoriser of another library is code and cannot be saved."""
        check_saveable(self)
        return super().save(path)  # type: ignore[misc]

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        check_topics(self, looked_at)

    def _counts(self, X):
        return counts_of(check_table(self, self._read(X), None, reset=False), type(self).__name__)

    def _shown(self, X):
        return self._read(X)

    def _read(self, X):
        """Return X, or the counts of texts by the vectoriser that the model was fitted with."""
        return counted(self, X, getattr(self, "vectorizer_", None))


def counts_of(table: Table, name: str) -> sp.csr_array:
    """Return the counts as CSR (int32 indices); raise if one is negative or they are no counts."""
    X = sp.csr_array(table.values)
    if X.nnz and X.data.min() < 0:
        raise ValueError(f"Negative values in data passed to {name} (input X): counts of words cannot be negative")
    _need_countable(X, name)
    return as_rows(X)


def as_rows(X) -> sp.csr_array:
    """Store X by rows with the types of numbers that the kernels take."""
    X = sp.csr_array(X)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)


def _need_countable(X: sp.csr_array, name: str) -> None:
    """Raise where the largest count is beyond the whole numbers of its type, or nothing beside one word.

    Models of topics compare counts with probabilities, which have no unit that could follow.
    """
    largest, eps = float(X.data.max(initial=0)), float(np.finfo(X.dtype).eps)
    if largest > 2 / eps or 0 < largest < eps:
        wider = " (or pass it as float64)" if X.dtype == np.float32 else ""
        raise ValueError(f"{name}: {largest:.3g} as the largest number is no count of words: rescale X{wider}")


NO_WORDS = "X holds no words: every count is zero; give at least one document that is not empty"


def need_words(X: sp.csr_array) -> None:
    """Raise if there is nothing to learn from."""
    if not X.nnz or not X.data.any():
        raise ValueError(NO_WORDS)


def check_topics(model, looked_at: bool) -> None:
    """Raise ValueError unless the arrays of a model of topics fit together; `looked_at` means they may be read."""
    topics, n = model.topics_, model.n_features_in_
    if not isinstance(topics, np.ndarray) or topics.ndim != 2 or topics.shape[1] != n or topics.dtype.kind != "f":
        raise ValueError("the topics do not fit the columns")
    names = getattr(model, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n,):
        raise ValueError("there must be one name per column")
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
