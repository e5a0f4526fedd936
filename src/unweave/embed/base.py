"""What models of counted pairs share: where their table comes from, and what vectors are asked."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.embed.cooccurrence import Cooccurrence, count_pairs, weights_of_distances
from unweave.embed.corpus import Vocabulary, read_corpus
from unweave.embed.vectors import Vectors
from unweave.factorization.model import Model


class Embedding(Model, TransformerMixin, BaseEstimator):
    """Symbols as vectors. Subclasses learn `vectors_`, `context_vectors_` and `vocabulary_` from sequences."""

    vectors_: Vectors
    context_vectors_: NDArray
    vocabulary_: Vocabulary
    lowercase: bool

    def transform(self, X) -> NDArray:
        """The mean vector of each text or sequence; zero where no symbol of it is known.

        Parameters
        ----------
        X : texts, lists of symbols, or paths of files of which each line is a text

        Returns
        -------
        array (sequences, n_components)
        """
        check_is_fitted(self, "vectors_")
        corpus = read_corpus(X, vocabulary=self.vocabulary_, lowercase=self.lowercase)
        ones = np.ones(len(corpus.ids), np.float64)
        counts = sp.csr_array((ones, corpus.ids, corpus.bounds), shape=(len(corpus), len(self.vocabulary_)))
        found = counts @ np.asarray(self.vectors_.array, np.float64)
        found /= np.maximum(np.diff(corpus.bounds), 1)[:, None]
        return found.astype(self.vectors_.array.dtype)

    def report(self, path: str | os.PathLike, X=None, *, recipe=None) -> Path:
        """Write a page with a map of the most frequent symbols, as :meth:`Vectors.report` does; `X` is not needed."""
        check_is_fitted(self, "vectors_")
        return self.vectors_.report(path)

    def plot(self, X=None):
        """A matplotlib figure of the most frequent symbols, as :meth:`Vectors.plot` draws it; `X` is not needed."""
        check_is_fitted(self, "vectors_")
        return self.vectors_.plot()

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong."""
        size, vectors = self.vocabulary_.check(), self.vectors_
        if not isinstance(vectors, Vectors) or vectors.symbols != self.vocabulary_.symbols:
            raise ValueError("vectors_ does not fit the vocabulary")
        if np.shape(vectors.array) != np.shape(self.context_vectors_) or len(np.shape(vectors.array)) != 2:
            raise ValueError("vectors_ and context_vectors_ do not fit together")
        if len(vectors.array) != size:
            raise ValueError("there must be a vector for each symbol")
        if looked_at:
            Vectors(vectors.symbols, vectors.array, vectors.counts)  # finite, and all different

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def table_of_pairs(estimator, X) -> tuple[sp.csr_array, Vocabulary, bool]:
    """Return the counts of an estimator's texts, or of a fitted :class:`Cooccurrence`; and whether it is symmetric."""
    side = estimator.side
    if isinstance(X, Cooccurrence):
        check_is_fitted(X)
        counts, vocabulary, side = X.counts_, X.vocabulary_, X.side
    else:
        before, after = weights_of_distances(estimator.window, side, estimator.weights)
        corpus = read_corpus(
            X, min_count=estimator.min_count, max_vocabulary=estimator.max_vocabulary, lowercase=estimator.lowercase
        )
        counts, vocabulary = count_pairs(corpus, before, after), corpus.vocabulary
    if len(vocabulary) < 2:
        raise ValueError("only one symbol is left, and nothing to tell it from; lower min_count or give more texts")
    if not counts.nnz:
        raise ValueError(
            "no two symbols stand near each other: sequences have one symbol each once rare ones are dropped; lower "
            "min_count, or give longer sequences"
        )
    return counts, vocabulary, side == "both"
