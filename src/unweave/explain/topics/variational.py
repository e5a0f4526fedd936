"""Fit LDA by variational inference, on all documents in every step or on one small batch after the other.

Dirichlet posteriors q(θ_d) = Dir(γ_d) and q(φ_k) = Dir(λ_k) with

    γ_dk = α_k + Σ_w x_dw r_dwk,   λ_kw = η + Σ_d x_dw r_dwk,   r_dwk ∝ exp(E log θ_dk + E log φ_kw).

The passes over one document that bring γ_d to rest are a loop in the kernel and not in `iterate`: a document takes
microseconds, and nobody watches it.

References: Blei, Ng and Jordan (2003), Latent Dirichlet allocation. Hoffman, Blei and Bach (2010), Online learning for
latent Dirichlet allocation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from unweave.explain.topics.collapsed import Collapsed, smoothed
from unweave.explain.topics.corpus import Corpus, TopicScheme
from unweave.explain.topics.moves import stepped
from unweave.explain.topics.priors import fit_dirichlet
from unweave.kernels.lda import variational_range
from unweave.solve.iterate import Loop
from unweave.solve.scheme import State

_WARM, SAMPLE = 15, 5000  # collapsed sweeps before the first step, and their documents at most
_PASSES, _TOL = 20, 1e-3  # over a document in a step, and the relative change that ends them


def expected_logs(a: NDArray) -> NDArray:
    """Compute E log p of the columns of `a` (items × topics), each a Dirichlet."""
    return psi(a) - psi(a.sum(axis=0))


def dirichlet_terms(prior: NDArray, a: NDArray, logs: NDArray) -> float:
    """Sum E[log p(x) − log q(x)] over rows, for Dirichlet posteriors `a` with expected logarithms `logs`."""
    own = gammaln(a).sum() - gammaln(a.sum(axis=1)).sum() + ((prior - a) * logs).sum()
    return float(own + len(a) * (gammaln(prior.sum()) - gammaln(prior).sum()))


def expect(corpus: Corpus, words: NDArray, alpha: NDArray, gamma: NDArray, passes: int = _PASSES):
    """Bring γ of every document to rest given λ (words × topics): γ, what the words get, and the part of the bound."""
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
    """Find a λ to begin with by collapsed sweeps over some thousand documents.

    From topics that are nearly alike variational inference ends in poor optima; the collapsed update tells them apart.
    """
    n = corpus.shape[0]
    if n > SAMPLE:
        corpus = Corpus(corpus.X[np.sort(rng.choice(n, SAMPLE, replace=False))], corpus.k)
    return warm_words(corpus, n, alpha, eta, rng, seeds)


def warm_words(
    corpus: Corpus, n: int, alpha: NDArray, eta: float, rng: np.random.Generator, seeds: NDArray | None = None
) -> NDArray:
    """Find the same from some of `n` documents."""
    scheme = Collapsed(corpus, alpha, eta, (False, False), seeds)
    state = stepped(scheme.step, scheme.begin(rng), _WARM)
    return state["words"] * corpus.dtype.type(n / corpus.shape[0]) + prior_of(eta, seeds, corpus.dtype)


def prior_of(eta: float, seeds: NDArray | None, dtype: np.dtype):
    """Give what every word of every topic has before any is seen: one number, or one each where words are seeded."""
    return dtype.type(eta) if seeds is None else dtype.type(eta) + seeds


def learn_batch(batch: Corpus, words: NDArray, alpha: NDArray, prior, rate: float, total: int, learn_alpha: bool):
    """Move λ and α towards what one batch says of a corpus of `total` documents; also the bound of the batch."""
    start = np.repeat(alpha[None] + batch.lengths.mean() / len(alpha), batch.shape[0], axis=0)
    _, gained, bound, logs = expect(batch, words, alpha, start.astype(batch.dtype))
    scale = total / batch.shape[0]
    words = ((1 - rate) * words + rate * (prior + scale * gained)).astype(words.dtype)
    if learn_alpha:
        alpha = alpha ** (1 - rate) * fit_dirichlet(alpha, logs.mean(axis=0)) ** rate
    return words, alpha, bound


class Batch(TopicScheme):
    """Variational inference on all documents as a scheme: their posteriors, then the topics. The bound never falls.

    The objective is minus the evidence lower bound.
    """

    title, sweeps = "variational inference on all documents", 100

    def begin(self, rng=None) -> State:
        corpus, k = self.corpus, self.corpus.k
        gamma = (self.alpha + corpus.lengths[:, None] / k).astype(corpus.dtype)
        words = warm_start(corpus, self.alpha, self.eta, rng, self.seeds)
        return {"words": words, "documents": gamma, "alpha": self.alpha, "eta": self.eta, "sweep": 0}

    def step(self, state: State) -> tuple[State, float]:
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

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"], 0.0)

    def mixtures(self, state: State) -> NDArray:
        return smoothed(state["documents"].T, 0.0).astype(self.corpus.dtype)


class Online(TopicScheme):
    """Variational inference on small batches as a scheme: a step is a pass over them, with falling step lengths.

    λ ← (1 − ρ)λ + ρ(η + D/|batch| · what its words get), ρ = (offset + t)^−decay. Steps are noisy, so all passes are
    made; the objective is minus the sum of the batches' bounds.
    """

    title, sweeps, rises = "variational inference on small batches", 10, True

    def __init__(self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], batch_size: int,
                 offset: float, decay: float, seeds: NDArray | None = None):  # fmt: skip
        super().__init__(corpus, alpha, eta, learn, seeds)
        self.size, self.offset, self.decay = batch_size, offset, decay
        self.batches: list[Corpus] = []

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all passes were made")

    def begin(self, rng=None) -> State:
        words = warm_start(self.corpus, self.alpha, self.eta, rng, self.seeds)
        return {"words": words, "alpha": self.alpha, "eta": self.eta, "sweep": 0, "t": 0,
                "seed": int(rng.integers(2**62))}  # fmt: skip

    def _cut(self, seed: int) -> list[Corpus]:
        n = self.corpus.shape[0]
        order = np.random.default_rng(seed).permutation(n)
        cuts = [np.sort(order[i : i + self.size]) for i in range(0, n, self.size)]
        return [Corpus(self.corpus.X[rows], self.corpus.k) for rows in cuts]

    def step(self, state: State) -> tuple[State, float]:
        self.batches = self.batches or self._cut(state["seed"])
        words, alpha, t, bound = state["words"], state["alpha"], state["t"], 0.0
        prior = prior_of(state["eta"], self.seeds, words.dtype)
        for b in np.random.default_rng((state["seed"], state["sweep"])).permutation(len(self.batches)):
            rate, total = (self.offset + t) ** -self.decay, self.corpus.shape[0]
            words, alpha, part = learn_batch(self.batches[b], words, alpha, prior, rate, total, self.learn[0])
            t, bound = t + 1, bound + part
        return {**state, "words": words, "alpha": alpha, "t": t, "sweep": state["sweep"] + 1}, -bound

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"], 0.0)

    def mixtures(self, state: State) -> None:
        """Leave the documents to the estimator, which folds them in at the end: batches come and go."""
        return None
