"""LDA by collapsed Gibbs sampling, blocks of documents side by side on copies of the counts (AD-LDA).

    P(z_t = k | all others) ∝ (n_wk + η)(n_dk + α_k) / (n_k + Vη)

Topics are averaged over the later half of the sweeps, which predicts much better than the last draw alone.

References: Griffiths and Steyvers (2004), Finding scientific topics. Newman, Asuncion, Smyth and Welling (2009),
Distributed algorithms for topic models.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.explain.lda_collapsed import learn_priors, smoothed
from unweave.explain.lda_corpus import Corpus
from unweave.kernels.lda_gibbs import gibbs_range
from unweave.solve.iterate import Loop


class Gibbs:
    """A scheme of the one loop: a step draws every topic once. Steps are noisy, so all sweeps are made.

    The objective is minus the log-probability of every token given all others.
    """

    title, sweeps = "collapsed Gibbs sampling", 300

    def __init__(self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool]):
        self.corpus, self.alpha, self.eta, self.learn = corpus, alpha, eta, learn
        if (corpus.data != np.floor(corpus.data)).any():
            raise ValueError(
                "inference='gibbs' draws whole words: X must hold whole numbers; use inference='collapsed'"
            )
        counts = corpus.data.astype(np.int64)
        self.tokens = np.concatenate([[0], np.cumsum(counts)])
        self.owners = np.repeat(np.arange(corpus.shape[0]), np.diff(self.tokens[corpus.indptr]))
        self.names = np.repeat(corpus.X.indices, counts)
        self.half = self.sweeps // 2

    def pace(self, loop: Loop) -> Loop:
        self.half = loop.max_iter // 2
        return replace(loop, tol=0.0, ending="all sweeps were made")

    def begin(self, rng: np.random.Generator) -> dict:
        (n, V), k = self.corpus.shape, self.corpus.k
        z = rng.integers(k, size=len(self.names)).astype(np.int32)
        return {
            "z": z, "words": self._count(self.names, z, V), "documents": self._count(self.owners, z, n),
            "alpha": self.alpha, "eta": self.eta, "sweep": 0, "seed": int(rng.integers(2**62)),
            "topics": np.zeros((k, V)), "mixtures": np.zeros((n, k)), "kept": 0,
        }  # fmt: skip

    def _count(self, rows: NDArray, z: NDArray, n: int) -> NDArray:
        k = self.corpus.k
        flat = np.bincount(rows.astype(np.int64) * k + z, minlength=n * k)
        return flat.reshape(n, k).astype(self.corpus.dtype)

    def step(self, state: dict) -> tuple[dict, float]:
        corpus, before = self.corpus, state["z"]
        V, alpha, eta = corpus.shape[1], state["alpha"], state["eta"]
        totals = state["words"].sum(axis=0, dtype=np.float64)
        z, values = np.empty_like(before), np.empty(corpus.shape[0])

        def work(words: NDArray, share: NDArray, start: int, stop: int) -> None:
            base = state["words"][words]
            share += base
            seed = np.random.SeedSequence((state["seed"], state["sweep"], start)).generate_state(1, np.uint64)[0]
            gibbs_range(
                corpus.indptr, corpus.local, self.tokens, share, totals.copy(), alpha, eta, V, seed, before, z, values,
                start, stop,
            )  # fmt: skip
            share -= base

        new = {**state, "z": z, "words": state["words"] + corpus.gather(work), "sweep": state["sweep"] + 1}
        new["documents"] = self._count(self.owners, z, corpus.shape[0])
        new = learn_priors(new, self.learn, corpus.lengths)
        return self._kept(new), float(values.sum())

    def _kept(self, state: dict) -> dict:
        """With the topics and mixtures of this sweep added, once the first half of the sweeps is over."""
        if state["sweep"] <= self.half:
            return state
        topics = state["topics"] + smoothed(state["words"], state["eta"])
        mixtures = state["mixtures"] + smoothed(state["documents"].T, state["alpha"][:, None])
        return {**state, "topics": topics, "mixtures": mixtures, "kept": state["kept"] + 1}

    def topics(self, state: dict) -> NDArray:
        return state["topics"] / state["kept"] if state["kept"] else smoothed(state["words"], state["eta"])

    def mixtures(self, state: dict) -> NDArray:
        kept = state["mixtures"] / max(1, state["kept"])
        last = smoothed(state["documents"].T, state["alpha"][:, None])
        return (kept if state["kept"] else last).astype(self.corpus.dtype)
