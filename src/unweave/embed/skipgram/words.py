"""Lets a vocabulary grow: numbers of more texts by the words that are known, and rows for those that join."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.embed.corpus import Corpus, Vocabulary, read_corpus
from unweave.embed.skipgram.descent import Terms


def grown(texts, known: Vocabulary | None, min_count: int, most: int | None, lowercase: bool) -> Corpus:
    """A corpus of texts in which words that are known keep their numbers; counts are those of all texts so far.

    >>> corpus = grown([["b", "c", "c", "d"]], Vocabulary(["a", "b"], [4, 3]), 2, None, True)
    >>> corpus.vocabulary.symbols, corpus.vocabulary.counts, corpus.ids, corpus.bounds
    (['a', 'b', 'c'], array([4, 4, 2]), array([1, 2, 2], dtype=int32), array([0, 3]))
    """
    if known is None:
        return read_corpus(texts, min_count=min_count, max_vocabulary=most, lowercase=lowercase)
    least = whole(min_count, "min_count", 1)
    corpus = read_corpus(texts, min_count=1, lowercase=lowercase)
    to, counts = known.places(corpus.vocabulary.symbols), corpus.vocabulary.counts
    joins = np.flatnonzero((to < 0) & (counts >= least))  # the most frequent come first
    if most is not None:
        joins = joins[: max(0, whole(most, "max_vocabulary", 1) - len(known))]
    to[joins] = len(known) + np.arange(len(joins), dtype=np.int32)
    total = np.concatenate([known.counts, np.zeros(len(joins), np.int64)])
    total[to[to >= 0]] += counts[to >= 0]
    ids = to[corpus.ids]
    kept = np.concatenate([[0], np.cumsum(ids >= 0)])
    if not kept[-1]:
        raise ValueError(
            "no word of these texts is known or occurs min_count times; lower min_count, or give more texts"
        )
    symbols = known.symbols + [corpus.vocabulary.symbols[i] for i in joins.tolist()]
    return Corpus(ids[ids >= 0], kept[corpus.bounds], Vocabulary(symbols, total), corpus.n_tokens)


def widened(
    start: tuple[NDArray, NDArray] | None, words: int, buckets: int, k: int, terms: Terms, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Tables to begin with: small random inputs, outputs of zero, and what was learned in the rows it belongs to.

    Behind the n-grams stand the words; where there are biases, two more columns: the bias and one, of outputs the other
    way round. Shared outputs are a view of the inputs.
    """
    width = k + 2 * terms.biases
    U, V = np.zeros((buckets + words, width), np.float32), np.zeros((words, width), np.float32)
    U[:, :k] = (rng.random((buckets + words, k), dtype=np.float32) - np.float32(0.5)) / k
    if terms.biases:
        U[:, k + 1] = V[:, k] = 1
    if start is not None:
        if start[0].shape[1] != width:
            raise ValueError(f"n_components={k} and biases={terms.biases} are not those of the fit that is to go on")
        U[: len(start[0])], V[: len(start[1])] = start
    return U, U[buckets:] if terms.shared else V
