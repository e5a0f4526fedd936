"""One interface for every model of topics: words, documents, a table, and how good they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.data.table import check_table
from unweave.explain.text.vectorizers import check_saveable, counted
from unweave.explain.topic_table import counts_of


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
        """The same as a pandas frame, one row a topic."""
        import pandas as pd

        return pd.DataFrame([{"topic": r.topic, "share": r.share, "words": ", ".join(r.words)} for r in self])


class Topics:
    """What a model with ``topics_`` (k × words, rows sum to one) and ``topic_shares_`` (k) can tell.

    Words are the names of the columns the model was fitted to (a data frame, or what :func:`unweave.read` gave), the
    `vocabulary` passed to a call, or else the numbers of the columns. With a `vectorizer` texts are taken in place of
    tables, in `fit` and everywhere else.
    """

    topics_: NDArray
    topic_shares_: NDArray
    transform: Callable[[Any], NDArray]

    def top_words(self, n: int = 10, vocabulary=None) -> list[list[str]]:
        """The `n` most probable words of every topic, the most probable first."""
        return [row.words for row in sorted(self._rows(n, vocabulary), key=lambda row: row.topic)]

    def describe(self, n: int = 10, vocabulary=None) -> TopicRows:
        """The topics as a table, the most frequent first; ``print`` it, or ``.to_frame()``."""
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
        """Share of every topic in every document (rows sum to one); an empty document gets the prior."""
        codes = np.asarray(self.transform(X), dtype=np.float64)
        mass = codes.sum(axis=1, keepdims=True)
        return np.where(mass > 0, codes / np.where(mass > 0, mass, 1), self.topic_shares_)

    def coherence(self, X, measure: str = "umass", n: int = 10) -> NDArray:
        """One number a topic: whether its top words occur together in X; see :func:`unweave.explain.coherence`."""
        from unweave.explain.coherence import coherence

        check_is_fitted(self, "topics_")
        return coherence(self.topics_, self._counts(X), measure=measure, n=n)

    def perplexity(self, X, random_state=None) -> float:
        """Of half the words of each document given the other half, by document completion: lower is better."""
        from unweave.explain.perplexity import document_completion, halves

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
        """As every model is saved; a vectoriser of another library is code and cannot be."""
        check_saveable(self)
        return super().save(path)  # type: ignore[misc]

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        from unweave.explain.topic_table import check_topics

        check_topics(self, looked_at)

    def _counts(self, X):
        return counts_of(check_table(self, self._read(X), None, reset=False), type(self).__name__)

    def _shown(self, X):
        return self._read(X)

    def _read(self, X):
        """X, or the counts of texts by the vectoriser that the model was fitted with."""
        return counted(self, X, getattr(self, "vectorizer_", None))
