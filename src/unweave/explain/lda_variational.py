"""LDA by variational inference, on all documents in every step or on one small batch after the other.

Dirichlet posteriors q(θ_d) = Dir(γ_d) and q(φ_k) = Dir(λ_k) with

    γ_dk = α_k + Σ_w x_dw r_dwk,   λ_kw = η + Σ_d x_dw r_dwk,   r_dwk ∝ exp(E log θ_dk + E log φ_kw).

References: Blei, Ng and Jordan (2003), Latent Dirichlet allocation. Hoffman, Blei and Bach (2010), Online learning for
latent Dirichlet allocation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from unweave.explain.lda_collapsed import Collapsed, smoothed
from unweave.explain.lda_corpus import Corpus
from unweave.explain.lda_priors import fit_dirichlet
from unweave.kernels.lda import variational_range
from unweave.solve.iterate import Loop

_WARM, _SAMPLE = 15, 5000  # collapsed sweeps before the first step, and their documents at most
_PASSES, _TOL = 20, 1e-3  # over a document in a step, and the relative change that ends them


def expected_logs(a: NDArray) -> NDArray:
    """E log p of the columns of `a` (items × topics), each a Dirichlet."""
    return psi(a) - psi(a.sum(axis=0))


def dirichlet_terms(prior: NDArray, a: NDArray, logs: NDArray) -> float:
    """Σ over rows of E[log p(x) − log q(x)] for Dirichlet posteriors `a` with expected logarithms `logs`."""
    own = gammaln(a).sum() - gammaln(a.sum(axis=1)).sum() + ((prior - a) * logs).sum()
    return float(own + len(a) * (gammaln(prior.sum()) - gammaln(prior).sum()))


def expect(corpus: Corpus, words: NDArray, alpha: NDArray, gamma: NDArray, passes: int = _PASSES):
    """γ of every document, what the words get, and the documents' part of the bound, given λ (words × topics)."""
    E = np.exp(expected_logs(words.astype(np.float64))).astype(corpus.dtype)
    out, values, a = np.empty_like(gamma), np.empty(corpus.shape[0]), alpha.astype(corpus.dtype)
    tol = corpus.dtype.type(_TOL)

    def work(names: NDArray, share: NDArray, start: int, stop: int) -> None:
        variational_range(
            corpus.indptr, corpus.local, corpus.data, names, E, a, passes, tol, gamma, out, share, values, start, stop
        )

    gained = corpus.gather(work)
    g = out.astype(np.float64)
    logs = psi(g) - psi(g.sum(axis=1, keepdims=True))
    bound = float(values.sum() - (corpus.lengths * psi(g.sum(axis=1))).sum()) + dirichlet_terms(alpha, g, logs)
    return out, gained, bound, logs


def warm_start(
    corpus: Corpus, alpha: NDArray, eta: float, rng: np.random.Generator, seeds: NDArray | None = None
) -> NDArray:
    """λ to begin with, from collapsed sweeps over some thousand documents.

    From topics that are nearly alike variational inference ends in poor optima; the collapsed update tells them apart.
    """
    n, k = corpus.shape[0], corpus.k
    if n > _SAMPLE:
        corpus = Corpus(corpus.X[np.sort(rng.choice(n, _SAMPLE, replace=False))], k)
    scheme = Collapsed(corpus, alpha, eta, (False, False), seeds)
    state = scheme.begin(rng)
    for _ in range(_WARM):
        state, _ = scheme.step(state)
    return state["words"] * corpus.dtype.type(n / corpus.shape[0]) + prior_of(eta, seeds, corpus.dtype)


def prior_of(eta: float, seeds: NDArray | None, dtype: np.dtype):
    """What every word of every topic has before any is seen: one number, or one each where words are seeded."""
    return dtype.type(eta) if seeds is None else dtype.type(eta) + seeds


class Batch:
    """A scheme of the one loop: all documents to their posteriors, then the topics. The bound never falls.

    The objective is minus the evidence lower bound.
    """

    title, sweeps = "variational inference on all documents", 100

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        self.corpus, self.alpha, self.eta, self.learn, self.seeds = corpus, alpha, eta, learn, seeds

    def pace(self, loop: Loop) -> Loop:
        return loop

    def begin(self, rng: np.random.Generator) -> dict:
        corpus, k = self.corpus, self.corpus.k
        gamma = (self.alpha + corpus.lengths[:, None] / k).astype(corpus.dtype)
        words = warm_start(corpus, self.alpha, self.eta, rng, self.seeds)
        return {"words": words, "documents": gamma, "alpha": self.alpha, "eta": self.eta, "sweep": 0}

    def step(self, state: dict) -> tuple[dict, float]:
        alpha, eta, words = state["alpha"], state["eta"], state["words"].astype(np.float64)
        gamma, gained, bound, logs = expect(self.corpus, state["words"], alpha, state["documents"])
        topic_logs = expected_logs(words)
        for k, prior in enumerate(np.broadcast_to(prior_of(eta, self.seeds, words.dtype), words.shape).T):
            bound += dirichlet_terms(prior, words[:, k : k + 1].T, topic_logs[:, k : k + 1].T)
        new = {**state, "documents": gamma, "sweep": state["sweep"] + 1}
        if self.learn[0]:
            new["alpha"] = fit_dirichlet(alpha, logs.mean(axis=0))
        if self.learn[1]:
            new["eta"] = float(fit_dirichlet(np.full(len(words), eta), np.full(len(words), topic_logs.mean()))[0])
        new["words"] = gained + prior_of(new["eta"], self.seeds, self.corpus.dtype)
        return new, -bound

    def topics(self, state: dict) -> NDArray:
        return smoothed(state["words"], 0.0)

    def mixtures(self, state: dict) -> NDArray:
        return smoothed(state["documents"].T, 0.0).astype(self.corpus.dtype)


class Online:
    """A scheme of the one loop: a step is a pass over the batches, in random order, with falling step lengths.

    λ ← (1 − ρ)λ + ρ(η + D/|batch| · what its words get), ρ = (offset + t)^−decay. Steps are noisy, so all passes are
    made; the objective is minus the sum of the batches' bounds.
    """

    title, sweeps = "variational inference on small batches", 10

    def __init__(self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], batch_size: int,
                 offset: float, decay: float, seeds: NDArray | None = None):  # fmt: skip
        self.corpus, self.alpha, self.eta, self.learn, self.seeds = corpus, alpha, eta, learn, seeds
        self.size, self.offset, self.decay = batch_size, offset, decay
        self.batches: list[Corpus] = []

    def pace(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all passes were made")

    def begin(self, rng: np.random.Generator) -> dict:
        words = warm_start(self.corpus, self.alpha, self.eta, rng, self.seeds)
        return {"words": words, "alpha": self.alpha, "eta": self.eta, "sweep": 0, "t": 0,
                "seed": int(rng.integers(2**62))}  # fmt: skip

    def _cut(self, seed: int) -> list[Corpus]:
        n = self.corpus.shape[0]
        order = np.random.default_rng(seed).permutation(n)
        cuts = [np.sort(order[i : i + self.size]) for i in range(0, n, self.size)]
        return [Corpus(self.corpus.X[rows], self.corpus.k) for rows in cuts]

    def step(self, state: dict) -> tuple[dict, float]:
        self.batches = self.batches or self._cut(state["seed"])
        words, alpha, t, bound = state["words"], state["alpha"], state["t"], 0.0
        for b in np.random.default_rng((state["seed"], state["sweep"])).permutation(len(self.batches)):
            rate = (self.offset + t) ** -self.decay
            words, alpha, part = self.learn_batch(self.batches[b], words, alpha, state["eta"], rate)
            t, bound = t + 1, bound + part
        return {**state, "words": words, "alpha": alpha, "t": t, "sweep": state["sweep"] + 1}, -bound

    def learn_batch(self, batch: Corpus, words: NDArray, alpha: NDArray, eta: float, rate: float):
        """λ and α moved towards what one batch of documents says."""
        start = np.repeat(alpha[None] + batch.lengths.mean() / len(alpha), batch.shape[0], axis=0)
        _, gained, bound, logs = expect(batch, words, alpha, start.astype(batch.dtype))
        scale = self.corpus.shape[0] / batch.shape[0]
        words = ((1 - rate) * words + rate * (prior_of(eta, self.seeds, words.dtype) + scale * gained)).astype(
            words.dtype
        )
        if self.learn[0]:
            alpha = alpha ** (1 - rate) * fit_dirichlet(alpha, logs.mean(axis=0)) ** rate
        return words, alpha, bound

    def topics(self, state: dict) -> NDArray:
        return smoothed(state["words"], 0.0)

    def mixtures(self, state: dict) -> None:
        """Batches come and go: the estimator folds the documents in at the end."""
        return None
