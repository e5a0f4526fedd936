"""Fit LDA by collapsed Gibbs sampling, from the start or about what the collapsed updates found.

    P(z_t = k | all others) ∝ (n_dk + α_k)(n_wk + η) / (n_k + Vη)

The part with n_dk is summed over the topics the document has, the part with α_k is kept as a sum for each word, so a
draw costs as many operations as its document has topics, however many there are. Documents go in waves: those of one
wave read the counts n_wk of its beginning (and the n_k of the sweep's) and are drawn side by side, then the counts
follow. Topics are averaged over the later half of the sweeps, which predicts better than the last draw alone.

References: Griffiths and Steyvers (2004), Finding scientific topics. Newman, Asuncion, Smyth and Welling (2009),
Distributed algorithms for topic models. Yao, Mimno and McCallum (2009), Efficient methods for topic model inference on
streaming document collections.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from unweave.explain.topics.collapsed import Collapsed, due, learn_priors, smoothed
from unweave.explain.topics.corpus import Corpus, TopicScheme
from unweave.explain.topics.moves import stepped
from unweave.explain.topics.priors import counted_sums
from unweave.kernels.lda_gibbs import LANES, count_range, gibbs_range, prior_sums_range, settle_range
from unweave.parallel import run
from unweave.solve.iterate import Loop
from unweave.solve.scheme import State

_WAVES = 16  # of documents in a sweep
_TOKENS = 1 << 14  # in a piece of a wave: a few milliseconds
_ROWS, _PARTS = 2048, 2  # words of a task, and tasks that move the counts of a wave
_KEEP_EVERY = 2  # sweeps: neighbours are too alike to be worth adding
_MOST = 1 << 28  # words: a topic is kept for each
_WARM = 5  # collapsed sweeps before the first draw
# Draws about settled topics: the share not kept, words drawn in all (some seconds), fewest and most sweeps. Set on AP
# and part of 20 Newsgroups.
_BURN, _DRAWN, _DRAWS = 0.2, 3e7, (60, 400)
_COUNTS = 8  # draws that the settled topics count as, in the mean


class Gibbs(TopicScheme):
    """Gibbs sampling as a scheme: a step draws the topic of every word once. Steps are noisy, so all sweeps are made.

    The objective is minus the log-probability of every token given all others.
    """

    title, reason = "collapsed Gibbs sampling over the topics each document has", "few documents for so many topics"
    sweeps, rises = 300, True

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        super().__init__(corpus, alpha, eta, learn, seeds)
        self.believed = 0 if seeds is None else np.rint(seeds).astype(np.int32)  # counts in the table are whole
        counts = _whole_counts(corpus)
        tokens = np.concatenate([[0], np.cumsum(counts)])
        self.ends, self.names = tokens[corpus.indptr], np.repeat(corpus.X.indices, counts)
        self.places = np.arange(len(self.names), dtype=np.int32)
        self.by_word = np.argsort(self.names, kind="stable").astype(np.int32)
        uses = np.bincount(self.names, minlength=corpus.shape[1])
        self.word_ends = np.concatenate([[0], np.cumsum(uses)])
        self.waves = [self._cut(*wave, _TOKENS) for wave in self._spans(_WAVES)]
        self.table = np.empty((corpus.shape[1], -(-corpus.k // LANES) * LANES), np.int32)
        self.counted: NDArray | None = None  # the topics that `table` counts
        self.half = self.sweeps // 2

    def _spans(self, count: int) -> list[tuple[int, int]]:
        """Cut the documents into `count` waves of about equal length."""
        n = self.corpus.shape[0]
        ends = np.searchsorted(self.ends, len(self.names) * np.arange(1, count) / count)
        bounds = np.unique(np.concatenate([[0], ends, [n]]))
        return [(int(a), int(b)) for a, b in pairwise(bounds)]

    def _cut(self, start: int, stop: int, size: int) -> NDArray:
        """Cut a wave into pieces of about `size` tokens: their bounds."""
        first, last = self.ends[start], self.ends[stop]
        ends = np.searchsorted(self.ends, np.arange(first + size, last, size))
        return np.unique(np.concatenate([[start], np.clip(ends, start, stop), [stop]]))

    def adapt(self, loop: Loop) -> Loop:
        self.half = loop.max_iter // 2
        return replace(loop, tol=0.0, ending="all sweeps were made")

    def begin(self, rng=None) -> State:
        """Begin with a few collapsed sweeps: topics dealt out at random may end as copies."""
        scheme = Collapsed(self.corpus, self.alpha, self.eta, (False, False), self.seeds)
        return self.state_at(scheme, stepped(scheme.step, scheme.begin(rng), _WARM), rng)

    def state_at(self, scheme: Collapsed, state: State, rng: np.random.Generator) -> State:
        """Draw a topic for every token from the mixtures and topics of a collapsed state, whose priors are kept."""
        (n, V), k, dtype = self.corpus.shape, self.corpus.k, self.corpus.dtype
        return {
            "z": self._drawn_from(scheme, state, rng), "alpha": state["alpha"], "eta": state["eta"], "sweep": 0,
            "seed": int(rng.integers(2**62)), "kept": 0, "words": np.zeros((V, k), dtype),
            "documents": np.zeros((n, k), dtype),
        }  # fmt: skip

    def _drawn_from(self, scheme: Collapsed, state: State, rng: np.random.Generator) -> NDArray:
        theta, phi = scheme.mixtures(state), np.ascontiguousarray(scheme.topics(state).T)
        document, z = np.repeat(np.arange(len(theta)), np.diff(self.ends)), np.empty(len(self.names), np.int32)
        for i in range(0, len(z), _TOKENS):
            part = slice(i, i + _TOKENS)
            sums = np.cumsum(theta[document[part]] * phi[self.names[part]], axis=1)
            drawn = rng.random(len(sums)) * sums[:, -1]
            z[part] = np.minimum((sums < drawn[:, None]).sum(axis=1), len(phi[0]) - 1)
        return z

    def step(self, state: State) -> tuple[State, float]:
        z, value = self._draw(state)
        new = {**state, "z": z, "sweep": state["sweep"] + 1}
        if due(new["sweep"]):
            new = learn_priors(new, self._documents(z), self.table, self.learn, self.corpus.lengths, counted_sums)
        return self._kept(new), value

    def _draw(self, state: State) -> tuple[NDArray, float]:
        before, eta, (n, V), dtype = state["z"], state["eta"], self.corpus.shape, self.corpus.dtype.type
        self._count(before)
        totals = self._totals(before)
        inverse = 1 / (totals + V * eta)
        prior, sums = (state["alpha"] * inverse).astype(dtype), np.empty(V, dtype)
        run(lambda start, stop: prior_sums_range(self.table, prior, dtype(eta), sums, start, stop), V, _ROWS)
        seed = np.random.SeedSequence((state["seed"], state["sweep"])).generate_state(1, np.uint64)[0]
        given = totals.astype(dtype), inverse.astype(dtype), prior, sums, state["alpha"].astype(dtype)
        after, values = np.empty_like(before), np.zeros(n)
        self.counted = None
        for wave in self.waves:

            def draw(piece: int, _: int, wave: NDArray = wave) -> None:
                gibbs_range(
                    self.ends, self.names, self.table, *given, dtype(eta), dtype(V * eta), seed, before, after, values,
                    wave[piece], wave[piece + 1],
                )  # fmt: skip

            def settle(start: int, stop: int, first: int = self.ends[wave[0]], last: int = self.ends[wave[-1]]) -> None:
                settle_range(self.names, before, after, prior, first, last, self.table, sums, start, stop)

            run(draw, len(wave) - 1, 1)
            few = self.ends[wave[-1]] - self.ends[wave[0]] < _TOKENS  # not worth a thread
            parts = 1 if few else _PARTS
            run(settle, V, -(-V // parts))
        self.counted = after
        return after, float(values.sum())

    def _count(self, z: NDArray) -> None:
        """Count words by topic in `table`, unless the last sweep left the counts there."""
        if self.counted is not z:
            run(lambda a, b: count_range(self.word_ends, self.by_word, z, self.table, a, b), len(self.table), _ROWS)
            self.table[:, : self.corpus.k] += self.believed
            self.counted = z

    def _totals(self, z: NDArray) -> NDArray:
        return np.bincount(z, minlength=self.corpus.k) + np.sum(self.believed, axis=0)

    def _documents(self, z: NDArray) -> NDArray:
        table = np.empty((self.corpus.shape[0], self.corpus.k), np.int32)
        run(lambda a, b: count_range(self.ends, self.places, z, table, a, b), len(table), _ROWS)
        return table

    def _kept(self, state: State) -> State:
        """Add the topics and mixtures of this sweep to those kept, now and then once the first sweeps are over."""
        if state["sweep"] <= self.half or (state["sweep"] - self.half - 1) % _KEEP_EVERY:
            return state
        words, documents = self._smoothed(state)
        added = {"words": state["words"] + words, "documents": state["documents"] + documents}
        return {**state, **added, "kept": state["kept"] + 1}

    def _smoothed(self, state: State) -> tuple[NDArray, NDArray]:
        """Compute the means of φ (words × topics) and θ (documents × topics) given the topics of all tokens."""
        self._count(state["z"])
        eta, alpha, V, dtype = state["eta"], state["alpha"], self.corpus.shape[1], self.corpus.dtype
        scale = 1 / (self._totals(state["z"]) + V * eta)
        words = self.table[:, : self.corpus.k].astype(dtype)
        words += dtype.type(eta)
        words *= scale.astype(dtype)
        documents = (self._documents(state["z"]) + alpha) / (self.corpus.lengths + alpha.sum())[:, None]
        return words, documents.astype(dtype)

    def topics(self, state: State) -> NDArray:
        return smoothed(state["words"] if state["kept"] else self._smoothed(state)[0], 0.0)

    def mixtures(self, state: State) -> NDArray:
        if not state["kept"]:
            return self._smoothed(state)[1]
        return state["documents"] / state["documents"].sum(axis=1, keepdims=True)


class Averaged(TopicScheme):
    """Collapsed updates until they settle, then Gibbs draws from there, averaged, as one scheme.

    One setting of the topics that is good says too much about words that are seldom: the mean of topics drawn about it
    predicts better, most where words are few. The priors are those that the collapsed updates have learned.
    """

    title, sweeps = "zero-order collapsed updates, then draws about them, averaged", 600
    reason = "few words for so many topics: the mean of draws predicts better than one setting"
    rises, ending = True, "enough draws were averaged"

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        super().__init__(corpus, alpha, eta, learn, seeds)
        self.collapsed = Collapsed(corpus, alpha, eta, learn, seeds)
        self.gibbs = Gibbs(corpus, alpha, eta, (False, False), seeds)
        self.draws = int(np.clip(_DRAWN / max(corpus.lengths.sum(), 1), *_DRAWS))
        self.until = self.sweeps - self.draws

    def adapt(self, loop: Loop) -> Loop:
        self.draws = min(self.draws, loop.max_iter // 2)
        self.until = loop.max_iter - self.draws
        self.gibbs.half = int(_BURN * self.draws)
        return replace(self.collapsed.adapt(loop), ending="all sweeps were made")

    def settled(self, state: State) -> bool:
        return bool(state["drawn"] >= self.draws)

    def begin(self, rng=None) -> State:
        return {**self.collapsed.begin(rng), "drawn": 0}

    def step(self, state: State) -> tuple[State, float]:
        if state["drawn"]:
            new, value = self.gibbs.step(state)
            return {**new, "drawn": state["drawn"] + 1}, value
        new, value = self.collapsed.step(state)
        if new["sweep"] >= self.until or (self.collapsed.tol and self.collapsed.settled(new)):
            rng, settled = np.random.default_rng(state["seed"]), self.collapsed
            means = {"words": settled.topics(new).T, "documents": settled.mixtures(new)}
            kept = {name: (_COUNTS * table).astype(self.corpus.dtype) for name, table in means.items()}
            new = {**self.gibbs.state_at(settled, new, rng), **kept, "kept": _COUNTS, "drawn": 1}
        return new, value

    def topics(self, state: State) -> NDArray:
        return (self.gibbs if state["drawn"] else self.collapsed).topics(state)

    def mixtures(self, state: State) -> NDArray:
        return (self.gibbs if state["drawn"] else self.collapsed).mixtures(state)


def may_be_drawn(corpus: Corpus) -> bool:
    """Tell whether the counts are whole numbers and not too many for a topic each."""
    return bool((corpus.data == np.floor(corpus.data)).all() and corpus.lengths.sum() <= _MOST)


def _whole_counts(corpus: Corpus) -> NDArray:
    """Read how often each entry's word occurs; raise where that is no whole number or there are too many."""
    if (corpus.data != np.floor(corpus.data)).any():
        raise ValueError("inference='gibbs' draws whole words: X must hold whole numbers; use inference='collapsed'")
    if corpus.lengths.sum() > _MOST:
        raise ValueError(
            f"X holds {corpus.lengths.sum():.6g} words and inference='gibbs' keeps a topic for each, up to "
            f"{_MOST} of them; use inference='collapsed'"
        )
    return corpus.data.astype(np.int64)
