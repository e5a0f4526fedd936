"""Fit LDA by the zero-order collapsed update (CVB0): as good as Gibbs sampling in far fewer sweeps.

    γ_dwk ∝ (n_wk − γ_dwk + η)(n_dk − γ_dwk + α_k) / (n_k + Vη),   n_wk = Σ_d x_dw γ_dwk,   n_dk = Σ_w x_dw γ_dwk

The γ are not kept: the token's own share is computed anew from the counts, so memory is that of the counts alone.

Reference: Asuncion, Welling, Smyth and Teh (2009), On smoothing and inference for topic models.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.explain.topics.corpus import Corpus, TopicScheme, dealt_start
from unweave.explain.topics.moves import (
    FIRST,
    ROUNDS,
    due_for_repair,
    fell_back,
    halved,
    improved_on,
    merged,
    merging,
    stepped,
)
from unweave.explain.topics.priors import Sums, expected_sums, learn_alpha, learn_eta
from unweave.kernels.lda import collapsed_range
from unweave.solve.iterate import Loop
from unweave.solve.scheme import State

LEARN_FROM, LEARN_EVERY = 5, 5  # sweeps: priors learned from a start that means nothing would be thrown far off
STEPS = 2  # of the fixed point each time
_PASSES = 2  # over a document in a sweep; the second finds its words in cache
_LANES = 8  # topics are padded to whole SIMD registers: the rest of 20 topics took as long as 16 of them
# Share of the last change that is added to the next (set on AP and part of 20 Newsgroups: 60 sweeps do what 200 did).
AHEAD = 0.9
_WIDELY, _SPLIT = 12, 6  # sweeps with twice the topics at the start and in a repair


def sweep(corpus: Corpus, state: State, seeds: NDArray | None = None) -> tuple[State, float]:
    """Update all documents with the word counts of the last sweep; also the objective before the last of its passes."""
    dtype, eta, (n, V), k = corpus.dtype, state["eta"], corpus.shape, corpus.k
    width = -(-k // _LANES) * _LANES
    have = state["words"] if seeds is None else state["words"] + seeds
    inverse = np.zeros(width, dtype)
    inverse[:k] = 1 / (have.sum(axis=0, dtype=np.float64) + V * eta)
    A, low = np.zeros((V, width), dtype), inverse * dtype.type(eta)
    np.multiply(have + dtype.type(eta), inverse[:k], out=A[:, :k])
    alpha, counts = np.zeros(width, dtype), np.zeros((n, width), dtype)
    alpha[:k], counts[:, :k] = state["alpha"], state["documents"]
    out, values = np.empty_like(counts), np.empty(n)

    def work(words: NDArray, share: NDArray, start: int, stop: int) -> None:
        collapsed_range(
            corpus.indptr, corpus.local, corpus.data, words, A, inverse, low, alpha, _PASSES, counts, out, share,
            values, start, stop,
        )  # fmt: skip

    words = corpus.gather(work, width)
    return {**state, "words": _first(words, k), "documents": _first(out, k)}, float(values.sum())


def _first(table: NDArray, k: int) -> NDArray:
    return table if table.shape[1] == k else np.ascontiguousarray(table[:, :k])


def ahead(state: State) -> State:
    """Move the state on in the direction of the last sweep: with it several times fewer sweeps are needed.

    Counts stay counts: none falls below zero.
    """
    moved = {}
    for name in ("words", "documents"):
        here, former = state[name], state["former_" + name]
        step = here - former
        step *= here.dtype.type(AHEAD)
        step += here
        moved[name] = np.maximum(step, 0, out=step)
    return {**state, **moved}


def advance(corpus: Corpus, state: State, seeds: NDArray | None = None) -> tuple[State, float]:
    """Make a sweep from a little ahead of the state."""
    new, value = sweep(corpus, ahead(state), seeds)
    return {**new, "former_words": state["words"], "former_documents": state["documents"]}, value


def at_rest(state: State) -> State:
    """Forget the direction of a state, as after a start or a repair."""
    return {**state, "former_words": state["words"], "former_documents": state["documents"]}


class Collapsed(TopicScheme):
    """Collapsed updates as a scheme: a step is a sweep over all documents with the counts of the last one.

    The objective is minus the log-likelihood of the words, Σ x log Σ_k θ_dk φ_kw, at the means of θ and φ. It begins
    with twice the topics; when it has nearly settled every topic is split in two and those most alike are merged, which
    is kept if it pays. Steps look ahead and learn priors, so the objective may rise a little.
    """

    title, reason, sweeps = "zero-order collapsed updates", "the fastest to a good perplexity", 250
    rises = True

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        super().__init__(corpus, alpha, eta, learn, seeds)
        self.tol, self.wide, self.plainly = 0.0, Corpus(corpus.X, 2 * corpus.k), False

    def adapt(self, loop: Loop) -> Loop:
        self.tol, self.plainly = loop.tol or 0.0, loop.max_iter < FIRST  # who asks for few sweeps is in a hurry
        return loop if loop.tol == 0 else replace(loop, tol=None)

    def settled(self, state: State) -> bool:
        return bool(state["fall"] <= self.tol)

    def begin(self, rng=None) -> State:
        corpus, k = self.corpus, self.corpus.k if self.plainly else self.wide.k
        documents = np.repeat(corpus.lengths[:, None] / k, k, axis=1).astype(corpus.dtype)
        state = {
            "words": dealt_start(corpus.X, k, rng), "documents": documents, "alpha": self.alpha, "eta": self.eta,
            "sweep": 0, "value": np.inf, "fall": np.inf, "rounds": 0, "seed": int(rng.integers(2**62)),
        }  # fmt: skip
        if self.plainly:
            return at_rest(state)
        wide = self._widely(state, _WIDELY)
        return {**self._merged(wide, self._merging(wide)), "alpha": self.alpha}

    def step(self, state: State) -> tuple[State, float]:
        before = state["value"]
        if due_for_repair(state, self.tol):
            found = self._repaired(state)
            state = {**state, "rounds": ROUNDS} if found is None else {**found, "rounds": state["rounds"] + 1}
        new, value = advance(self.corpus, state, self.seeds)
        # One sweep that changes little may be chance (priors that were learned raise what the words had lowered).
        fall = max(abs(before - value) / max(abs(value), 1e-300), state["fall"] / 2) if np.isfinite(before) else 1.0
        new = {**new, "sweep": state["sweep"] + 1, "value": value, "fall": fall}
        if due(new["sweep"]):
            new = learn_priors(new, new["documents"], new["words"], self.learn, self.corpus.lengths)
        return new, value

    def _repaired(self, state: State) -> State | None:
        """Split topics, merge those most alike, and return the state if that pays."""
        rng = np.random.default_rng((state["seed"], state["rounds"]))
        words = state["words"] / 2
        split = {**state, "words": np.hstack([words, words]), "documents": halved(state["documents"], rng)}
        wide = self._widely(split, _SPLIT)
        into = self._merging(wide)
        if fell_back(into):
            return None
        new = self._merged(wide, into)
        if self.learn[0]:
            new["alpha"] = merged(np.tile(state["alpha"] / 2, 2), into)
        return improved_on(state["value"], lambda trial: advance(self.corpus, trial, self.seeds), new)

    def _widely(self, state: State, sweeps: int) -> State:
        """Make some sweeps with twice the topics, the priors shared out between the halves."""
        seeds = None if self.seeds is None else np.hstack([self.seeds, np.zeros_like(self.seeds)])
        wide = at_rest({**state, "alpha": np.tile(state["alpha"] / 2, 2)})
        wide = stepped(lambda state: advance(self.wide, state, seeds), wide, sweeps)
        return {**wide, "alpha": state["alpha"]}

    def _merging(self, wide: State) -> NDArray:
        fixed = 0 if self.seeds is None else int(np.count_nonzero(self.seeds.any(axis=0)))
        return merging(wide["words"], wide["documents"], self.corpus.k, fixed)

    @staticmethod
    def _merged(wide: State, into: NDArray) -> State:
        tables = {name: merged(wide[name], into) for name in ("words", "documents")}
        return at_rest({**wide, **tables})

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"] if self.seeds is None else state["words"] + self.seeds, state["eta"])

    def mixtures(self, state: State) -> NDArray:
        return smoothed(state["documents"].T, state["alpha"][:, None]).astype(self.corpus.dtype)


def due(sweep: int) -> bool:
    """Tell whether priors are learned after this sweep."""
    return sweep >= LEARN_FROM and (sweep - LEARN_FROM) % LEARN_EVERY == 0


def learn_priors(
    state: State,
    documents: NDArray,
    words: NDArray,
    learn: tuple[bool, bool],
    lengths: NDArray,
    sums: Sums = expected_sums,
) -> State:
    """Learn the priors of a state from the counts of documents and of words by topic."""
    alpha, eta = state["alpha"], state["eta"]
    for _ in range(STEPS):
        alpha = learn_alpha(alpha, documents, lengths, sums) if learn[0] else alpha
        eta = learn_eta(eta, words, sums) if learn[1] else eta
    return {**state, "alpha": alpha, "eta": eta}


def smoothed(counts: NDArray, prior) -> NDArray:
    """Turn counts (items × topics) and a prior into distributions over the items, float64, topics × items."""
    table = np.ascontiguousarray((counts.astype(np.float64) + prior).T)
    return table / table.sum(axis=1, keepdims=True)
