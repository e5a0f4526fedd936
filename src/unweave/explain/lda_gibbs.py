"""LDA by collapsed Gibbs sampling.

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

from unweave.explain.lda_collapsed import Collapsed, due, learn_priors, smoothed
from unweave.explain.lda_corpus import Corpus
from unweave.explain.lda_priors import counted_sums
from unweave.kernels.lda_gibbs import LANES, count_range, gibbs_range, prior_sums_range, settle_range
from unweave.parallel import run
from unweave.solve.iterate import Loop

_WAVES = 16
_TOKENS = 1 << 14  # in a piece of a wave: a few milliseconds
_ROWS, _PARTS = 2048, 2
_KEEP_EVERY = 2  # sweeps: neighbours are too alike to be worth adding
_MOST = 1 << 28
_WARM = 5  # collapsed sweeps before the first draw
# Draws about settled topics: those not kept, words drawn in all (some seconds), fewest and most sweeps (set on AP and
# part of 20 Newsgroups).
_BURN, _DRAWN, _DRAWS = 0.2, 3e7, (60, 400)
_COUNTS = 8  # draws that the settled topics count as, in the mean


class Gibbs:
    """A scheme of the one loop: a step draws every topic once. Steps are noisy, so all sweeps are made.

    The objective is minus the log-probability of every token given all others.
    """

    title, sweeps = "collapsed Gibbs sampling over the topics each document has", 300

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        self.corpus, self.alpha, self.eta, self.learn, self.seeds = corpus, alpha, eta, learn, seeds
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
        """Documents in `count` waves of about equal length."""
        n = self.corpus.shape[0]
        ends = np.searchsorted(self.ends, len(self.names) * np.arange(1, count) / count)
        bounds = np.unique(np.concatenate([[0], ends, [n]]))
        return [(int(a), int(b)) for a, b in pairwise(bounds)]

    def _cut(self, start: int, stop: int, size: int) -> NDArray:
        """Bounds of the pieces of a wave, by tokens."""
        first, last = self.ends[start], self.ends[stop]
        ends = np.searchsorted(self.ends, np.arange(first + size, last, size))
        return np.unique(np.concatenate([[start], np.clip(ends, start, stop), [stop]]))

    def pace(self, loop: Loop) -> Loop:
        self.half = loop.max_iter // 2
        return replace(loop, tol=0.0, ending="all sweeps were made")

    def begin(self, rng: np.random.Generator) -> dict:
        """From a few collapsed sweeps: topics dealt out at random may end as copies."""
        scheme = Collapsed(self.corpus, self.alpha, self.eta, (False, False), self.seeds)
        state = scheme.begin(rng)
        for _ in range(_WARM):
            state, _ = scheme.step(state)
        return self.begin_at(scheme, state, rng)

    def begin_at(self, scheme: Collapsed, state: dict, rng: np.random.Generator) -> dict:
        """A topic drawn for every token from the mixtures and topics of a collapsed state, whose priors are kept."""
        (n, V), k, dtype = self.corpus.shape, self.corpus.k, self.corpus.dtype
        return {
            "z": self._drawn_from(scheme, state, rng), "alpha": state["alpha"], "eta": state["eta"], "sweep": 0,
            "seed": int(rng.integers(2**62)), "kept": 0, "words": np.zeros((V, k), dtype),
            "documents": np.zeros((n, k), dtype),
        }  # fmt: skip

    def _drawn_from(self, scheme: Collapsed, state: dict, rng: np.random.Generator) -> NDArray:
        theta, phi = scheme.mixtures(state), np.ascontiguousarray(scheme.topics(state).T)
        document, z = np.repeat(np.arange(len(theta)), np.diff(self.ends)), np.empty(len(self.names), np.int32)
        for i in range(0, len(z), _TOKENS):
            part = slice(i, i + _TOKENS)
            sums = np.cumsum(theta[document[part]] * phi[self.names[part]], axis=1)
            drawn = rng.random(len(sums)) * sums[:, -1]
            z[part] = np.minimum((sums < drawn[:, None]).sum(axis=1), len(phi[0]) - 1)
        return z

    def step(self, state: dict) -> tuple[dict, float]:
        z, value = self._draw(state)
        new = {**state, "z": z, "sweep": state["sweep"] + 1}
        if due(new["sweep"]):
            new = learn_priors(new, self._documents(z), self.table, self.learn, self.corpus.lengths, counted_sums)
        return self._kept(new), value

    def _draw(self, state: dict) -> tuple[NDArray, float]:
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
            run(settle, V, -(-V // _PARTS))
        self.counted = after
        return after, float(values.sum())

    def _count(self, z: NDArray) -> None:
        """Words by topic in `table`, unless the last sweep left them there."""
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

    def _kept(self, state: dict) -> dict:
        """With the topics and mixtures of this sweep added, now and then once the first half of the sweeps is over."""
        if state["sweep"] <= self.half or (state["sweep"] - self.half - 1) % _KEEP_EVERY:
            return state
        words, documents = self._smoothed(state)
        added = {"words": state["words"] + words, "documents": state["documents"] + documents}
        return {**state, **added, "kept": state["kept"] + 1}

    def _smoothed(self, state: dict) -> tuple[NDArray, NDArray]:
        """The means of φ (words × topics) and θ (documents × topics) given the topics of all tokens."""
        self._count(state["z"])
        eta, alpha, V, dtype = state["eta"], state["alpha"], self.corpus.shape[1], self.corpus.dtype
        scale = 1 / (self._totals(state["z"]) + V * eta)
        words = self.table[:, : self.corpus.k].astype(dtype)
        words += dtype.type(eta)
        words *= scale.astype(dtype)
        documents = (self._documents(state["z"]) + alpha) / (self.corpus.lengths + alpha.sum())[:, None]
        return words, documents.astype(dtype)

    def topics(self, state: dict) -> NDArray:
        return smoothed(state["words"] if state["kept"] else self._smoothed(state)[0], 0.0)

    def mixtures(self, state: dict) -> NDArray:
        if not state["kept"]:
            return self._smoothed(state)[1]
        return state["documents"] / state["documents"].sum(axis=1, keepdims=True)


class Averaged:
    """A scheme of the one loop: collapsed updates until they settle, then draws from there, averaged.

    One setting of the topics that is good says too much about words that are seldom: the mean of topics drawn about it
    predicts better, most where words are few. The priors are those that the collapsed updates have learned.
    """

    title, sweeps = "zero-order collapsed updates, then draws about them, averaged", 600

    def __init__(
        self, corpus: Corpus, alpha: NDArray, eta: float, learn: tuple[bool, bool], seeds: NDArray | None = None
    ):
        self.corpus, self.collapsed = corpus, Collapsed(corpus, alpha, eta, learn, seeds)
        self.gibbs = Gibbs(corpus, alpha, eta, (False, False), seeds)
        self.draws = int(np.clip(_DRAWN / max(corpus.lengths.sum(), 1), *_DRAWS))
        self.until = self.sweeps - self.draws

    def pace(self, loop: Loop) -> Loop:
        self.draws = min(self.draws, loop.max_iter // 2)
        self.until = loop.max_iter - self.draws
        self.gibbs.half = int(_BURN * self.draws)
        loop = self.collapsed.pace(loop)
        return replace(loop, ending="all sweeps were made")

    def settled(self, state: dict) -> bool:
        return bool(state["drawn"] >= self.draws)

    def begin(self, rng: np.random.Generator) -> dict:
        return {**self.collapsed.begin(rng), "drawn": 0}

    def step(self, state: dict) -> tuple[dict, float]:
        if state["drawn"]:
            new, value = self.gibbs.step(state)
            return {**new, "drawn": state["drawn"] + 1}, value
        new, value = self.collapsed.step(state)
        if new["sweep"] >= self.until or (self.collapsed.tol and self.collapsed.settled(new)):
            rng, settled = np.random.default_rng(state["seed"]), self.collapsed
            means = {"words": settled.topics(new).T, "documents": settled.mixtures(new)}
            kept = {name: (_COUNTS * table).astype(self.corpus.dtype) for name, table in means.items()}
            new = {**self.gibbs.begin_at(settled, new, rng), **kept, "kept": _COUNTS, "drawn": 1}
        return new, value

    def topics(self, state: dict) -> NDArray:
        return (self.gibbs if state["drawn"] else self.collapsed).topics(state)

    def mixtures(self, state: dict) -> NDArray:
        return (self.gibbs if state["drawn"] else self.collapsed).mixtures(state)


def may_be_drawn(corpus: Corpus) -> bool:
    """Whether the words are whole and not too many."""
    return bool((corpus.data == np.floor(corpus.data)).all() and corpus.lengths.sum() <= _MOST)


def _whole_counts(corpus: Corpus) -> NDArray:
    """How often each entry's word occurs, or an error if that is not a whole number or there are too many."""
    if (corpus.data != np.floor(corpus.data)).any():
        raise ValueError("inference='gibbs' draws whole words: X must hold whole numbers; use inference='collapsed'")
    if corpus.lengths.sum() > _MOST:
        raise ValueError(
            f"X holds {corpus.lengths.sum():.6g} words and inference='gibbs' keeps a topic for each, up to "
            f"{_MOST} of them; use inference='collapsed'"
        )
    return corpus.data.astype(np.int64)
