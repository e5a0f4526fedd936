"""LDA by the zero-order collapsed update (CVB0): deterministic, and as good as Gibbs sampling in far fewer sweeps.

    γ_dwk ∝ (n_wk − γ_dwk + η)(n_dk − γ_dwk + α_k) / (n_k + Vη),   n_wk = Σ_d x_dw γ_dwk,   n_dk = Σ_w x_dw γ_dwk

The γ are not kept: the token's own share is computed anew from the counts, so memory is that of the counts alone.

Reference: Asuncion, Welling, Smyth and Teh (2009), On smoothing and inference for topic models.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.explain.lda_corpus import Corpus, grouped_start
from unweave.explain.lda_priors import Sums, expected_sums, learn_alpha, learn_eta
from unweave.kernels.lda import collapsed_range
from unweave.solve.iterate import Loop

LEARN_FROM, LEARN_EVERY = 5, 5  # sweeps: priors learned from a start that means nothing would be thrown far off
_STEPS = 2  # of the fixed point each time
_PASSES = 2  # over a document in a sweep; the second finds its words in cache


class Collapsed:
    """A scheme of the one loop: a step is a sweep over all documents with the counts of the last one.

    The objective is minus the log-likelihood of the words, Σ x log Σ_k θ_dk φ_kw, at the means of θ and φ.
    """

    title, sweeps = "zero-order collapsed updates", 250

    def __init__(self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool]):
        self.corpus, self.alpha, self.eta, self.learn = corpus, alpha, eta, learn

    def pace(self, loop: Loop) -> Loop:
        return loop

    def begin(self, rng: np.random.Generator) -> dict:
        corpus, k = self.corpus, self.corpus.k
        documents = np.repeat(corpus.lengths[:, None] / k, k, axis=1).astype(corpus.dtype)
        return {
            "words": grouped_start(corpus.X, k, rng), "documents": documents, "alpha": self.alpha, "eta": self.eta,
            "sweep": 0,
        }  # fmt: skip

    def step(self, state: dict) -> tuple[dict, float]:
        corpus, dtype = self.corpus, self.corpus.dtype
        eta, V = state["eta"], corpus.shape[1]
        inverse = (1 / (state["words"].sum(axis=0, dtype=np.float64) + V * eta)).astype(dtype)
        A, low = (state["words"] + dtype.type(eta)) * inverse, inverse * dtype.type(eta)
        alpha, counts = state["alpha"].astype(dtype), state["documents"]
        out, values = np.empty_like(counts), np.empty(corpus.shape[0])

        def work(words: NDArray, share: NDArray, start: int, stop: int) -> None:
            collapsed_range(
                corpus.indptr, corpus.local, corpus.data, words, A, inverse, low, alpha, _PASSES, counts, out, share,
                values, start, stop,
            )  # fmt: skip

        new = {**state, "words": corpus.gather(work), "documents": out, "sweep": state["sweep"] + 1}
        if due(new["sweep"]):
            new = learn_priors(new, new["documents"], new["words"], self.learn, corpus.lengths)
        return new, float(values.sum())

    def topics(self, state: dict) -> NDArray:
        return smoothed(state["words"], state["eta"])

    def mixtures(self, state: dict) -> NDArray:
        return smoothed(state["documents"].T, state["alpha"][:, None]).astype(self.corpus.dtype)


def due(sweep: int) -> bool:
    """Whether priors are learned after this sweep."""
    return sweep >= LEARN_FROM and (sweep - LEARN_FROM) % LEARN_EVERY == 0


def learn_priors(
    state: dict,
    documents: NDArray,
    words: NDArray,
    learn: tuple[bool, bool],
    lengths: NDArray,
    sums: Sums = expected_sums,
) -> dict:
    """The state with priors learned from the counts of documents and of words by topic."""
    alpha, eta = state["alpha"], state["eta"]
    for _ in range(_STEPS):
        alpha = learn_alpha(alpha, documents, lengths, sums) if learn[0] else alpha
        eta = learn_eta(eta, words, sums) if learn[1] else eta
    return {**state, "alpha": alpha, "eta": eta}


def smoothed(counts: NDArray, prior) -> NDArray:
    """Counts (items × topics) as distributions over the items with a prior, float64, topics × items."""
    table = np.ascontiguousarray((counts.astype(np.float64) + prior).T)
    return table / table.sum(axis=1, keepdims=True)
