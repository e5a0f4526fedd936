"""Fit LDA to documents in blocks: topics are learned from sums, and what is known of a document stays with its block.

Two methods. :class:`CollapsedBlocks` updates the documents of every block with the word counts (words × topics) of the
last sweep; a sweep is one visit that hands back new word counts, and the counts of documents by topic (n × k) are kept
with the blocks. :class:`OnlineBlocks` goes from block to block, each cut into small batches; documents leave nothing
behind. Either begins with a sample of the documents that is read in one visit. The driver holds words × topics.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.table import Table, first_look
from unweave.explain.topics.base import counts_of
from unweave.explain.topics.collapsed import AHEAD, STEPS, Collapsed, due, smoothed, sweep
from unweave.explain.topics.corpus import Corpus, TopicScheme
from unweave.explain.topics.measures import log_sum, mixtures
from unweave.explain.topics.priors import alpha_from, alpha_sums, learn_eta
from unweave.explain.topics.variational import SAMPLE, Online, learn_batch, prior_of, warm_words
from unweave.scale.rows import Part, Side, open_rows
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import State

_LOOKED_AT = 20_000  # documents from which the collapsed method learns topics to begin with


def open_counts(estimator, X) -> Side:
    """Check counts of words in blocks, in one visit; its notes are the words of the documents and of each column."""
    look = first_look(estimator, X, None, reset=True)
    return open_rows(X, look, partial(entries_of, type(estimator).__name__), _noted)


def entries_of(name: str, table: Table) -> sp.csr_array:
    """The counts of a checked block."""
    return counts_of(table, name)


def _noted(X: sp.csr_array) -> dict:
    return {"words": np.bincount(X.indices, X.data, X.shape[1]), "total": float(X.data.sum(dtype=np.float64))}


class Counts:
    """Documents in blocks, in the place of a :class:`Corpus`: how many, how many words, and some of them.

    `words` are the counts of every column.
    """

    def __init__(self, side: Side, k: int):
        self.side, self.k, self.shape, self.dtype = side, k, side.shape, side.dtype
        self.words, self.total = side.notes["words"], side.notes["total"]

    def sample(self, most: int, rng: np.random.Generator) -> Corpus:
        """At most so many documents, drawn at random: one visit."""
        n = self.shape[0]
        chosen = np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
        X = self.side.some(chosen)
        return Corpus(X, self.k)


# -- online ------------------------------------------------------------------------------------------------------------


class Pace(NamedTuple):
    """How the online method goes: batches, step lengths, all documents, priors, and where its draws begin."""

    k: int
    size: int
    offset: float
    decay: float
    documents: int
    prior: Any
    learns: bool
    seed: int
    sweep: int


class OnlineBlocks(TopicScheme):
    """The online method from block to block: a step is one pass. Batches are parts of a block, drawn at random.

    Each batch waits for the one before, so more workers are no faster: that is what the collapsed method is for.
    """

    title, sweeps, rises = Online.title + ", block after block", Online.sweeps, True

    def __init__(self, counts: Counts, alpha: NDArray, eta: float, learn: tuple[bool, bool], batch_size: int,
                 offset: float, decay: float, seeds: NDArray | None = None):  # fmt: skip
        self.counts, self.alpha, self.eta, self.learn, self.seeds = counts, alpha, eta, learn, seeds
        self.size, self.offset, self.decay = batch_size, offset, decay

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all passes were made")

    def begin(self, rng=None) -> State:
        some = self.counts.sample(SAMPLE, rng)
        words = warm_words(some, self.counts.shape[0], self.alpha, self.eta, rng, self.seeds)
        return {"words": words, "alpha": self.alpha, "eta": self.eta, "sweep": 0, "t": 0,
                "seed": int(rng.integers(2**62))}  # fmt: skip

    def step(self, state: State) -> tuple[State, float]:
        side, seed = self.counts.side, state["seed"]
        prior = prior_of(state["eta"], self.seeds, state["words"].dtype)
        n, learns = self.counts.shape[0], self.learn[0]
        pace = Pace(self.counts.k, self.size, self.offset, self.decay, n, prior, learns, seed, state["sweep"])
        order = np.random.default_rng((seed, state["sweep"])).permutation(len(side.load)).tolist()
        first = {"words": state["words"], "alpha": state["alpha"], "t": state["t"], "bound": 0.0}
        last = side.visits.in_turn(side.load, partial(learn_block, pace), first, order)
        return {**state, **last, "bound": 0.0, "sweep": state["sweep"] + 1}, -last["bound"]

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"], 0.0)

    def mixtures(self, state: State) -> None:
        return None


def learn_block(pace: Pace, part: Part, state: dict, own):
    """Learn from the batches of one block, one after the other: what the next block begins with."""
    n, words, alpha, t, bound = part.table.shape[0], state["words"], state["alpha"], state["t"], state["bound"]
    order = np.random.default_rng((pace.seed, part.start)).permutation(n)
    cuts = np.array_split(order, max(1, round(n / pace.size)))  # of equal size: a small rest would be mostly noise
    for b in np.random.default_rng((pace.seed, pace.sweep, part.start)).permutation(len(cuts)):
        batch = Corpus(part.table[np.sort(cuts[b])], pace.k)
        rate = (pace.offset + t) ** -pace.decay
        words, alpha, gained = learn_batch(batch, words, alpha, pace.prior, rate, pace.documents, pace.learns)
        t, bound = t + 1, bound + gained
    return {"words": words, "alpha": alpha, "t": t, "bound": bound}, None


# -- collapsed ---------------------------------------------------------------------------------------------------------


class CollapsedBlocks(TopicScheme):
    """Collapsed updates block by block: a step is one visit. Counts of documents by topic stay with their blocks.

    Topics to begin with are those of a sample of the documents, fitted in memory with all that belongs to it (twice the
    topics, splits and merges). Then every document counts: sweeps look ahead and learn priors as they do in memory, α
    by one step of its fixed point where that makes two, because its sums come with the sweep.
    """

    title, reason = "zero-order collapsed updates, documents in blocks", Collapsed.reason
    sweeps, rises = Collapsed.sweeps, True

    def __init__(
        self, counts: Counts, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        self.counts, self.alpha, self.eta, self.learn, self.seeds = counts, alpha, eta, learn, seeds
        self.tol, self.most = 0.0, self.sweeps

    def adapt(self, loop: Loop) -> Loop:
        self.tol, self.most = loop.tol or 0.0, loop.max_iter
        return loop if loop.tol == 0 else replace(loop, tol=None)

    def settled(self, state: State) -> bool:
        return bool(state["fall"] <= self.tol)

    def begin(self, rng=None) -> State:
        some = self.counts.sample(_LOOKED_AT, rng)
        scheme = Collapsed(some, self.alpha, self.eta, self.learn, self.seeds)
        loop = scheme.adapt(Loop(max_iter=self.most, tol=self.tol, ending=""))
        found, history = iterate(scheme, scheme.begin(rng), loop)
        if history.stopped == "interrupted":
            raise KeyboardInterrupt
        words = found["words"] * some.dtype.type(self.counts.total / max(float(some.lengths.sum()), 1e-300))
        return {
            "words": words, "former_words": words, "alpha": found["alpha"], "eta": found["eta"], "sweep": 0,
            "value": np.inf, "fall": np.inf, "kept": None,
        }  # fmt: skip

    def step(self, state: State) -> tuple[State, float]:
        here, former = state["words"], state["former_words"]
        ahead = np.maximum(here + here.dtype.type(AHEAD) * (here - former), 0)
        learns = due(state["sweep"] + 1)
        told = ahead, state["alpha"], state["eta"], self.seeds, learns and self.learn[0]
        found, kept = self.counts.side.visit(sweep_block, told, state["kept"])
        value, before = found["value"], state["value"]
        fall = max(abs(before - value) / max(abs(value), 1e-300), state["fall"] / 2) if np.isfinite(before) else 1.0
        new = {**state, "words": found["words"], "former_words": here, "kept": kept, "value": value, "fall": fall}
        if learns and self.learn[0]:
            new["alpha"] = alpha_from(state["alpha"], found["above"], found["below"])
        for _ in range(STEPS if learns and self.learn[1] else 0):
            new["eta"] = learn_eta(new["eta"], new["words"])
        return {**new, "sweep": state["sweep"] + 1}, value

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"] if self.seeds is None else state["words"] + self.seeds, state["eta"])

    def mixtures(self, state: State) -> None:
        return None


def sweep_block(part: Part, told: tuple, own):
    """Update the documents of a block from a little ahead of where they stand: what the words get, and the value."""
    words, alpha, eta, seeds, learns = told
    k = words.shape[1]
    corpus = Corpus(part.table, k)
    if own is None:
        here = np.repeat(corpus.lengths[:, None] / k, k, axis=1).astype(corpus.dtype)
        former = here
    else:
        here, former = own["documents"], own["former"]
    documents = np.maximum(here + here.dtype.type(AHEAD) * (here - former), 0)
    state = {"words": words, "documents": documents, "alpha": alpha, "eta": eta}
    new, value = sweep(corpus, state, seeds)
    found = {"words": new["words"], "value": value}
    if learns:
        found["above"], found["below"] = alpha_sums(alpha, new["documents"], corpus.lengths)
    return found, {"documents": new["documents"], "former": here}


# -- the end of a fit --------------------------------------------------------------------------------------------------


def fold_in_blocks(side: Side, topics: NDArray, alpha: NDArray, repeats: int, tol: float) -> tuple[NDArray, float]:
    """Fold every document in, one visit: how many words each topic has, and the log-likelihood of all words."""
    found = side.total(_fold_in, (np.maximum(topics, 1e-30), alpha, repeats, tol))
    return found["shares"], found["likelihood"]


def _fold_in(part: Part, told: tuple, own):
    topics = told[0]
    theta = mixtures(part.table, *told)
    lengths = np.asarray(part.table.sum(axis=1, dtype=np.float64)).ravel()
    return {"shares": lengths @ theta, "likelihood": log_sum(theta.astype(np.float64), topics, part.table)}, None


def likelihood_of_block(X: sp.csr_array, told: tuple, own):
    """The log-likelihood of the words of a block under the mixtures that fit best, and how many words: a task."""
    theta = mixtures(X, *told)
    return (log_sum(theta.astype(np.float64), told[0], X), float(X.sum(dtype=np.float64))), None


def mixtures_of_block(X: sp.csr_array, told: tuple, own):
    """The mixtures of the documents of a block: a task of `transform`."""
    return mixtures(X, *told), None
