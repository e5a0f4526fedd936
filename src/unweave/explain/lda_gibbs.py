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
_KEEP_EVERY = 5  # sweeps: neighbours are too alike to be worth adding
_MOST = 1 << 28
_WARM = 5  # collapsed sweeps before the first draw


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
        (n, V), k, dtype = self.corpus.shape, self.corpus.k, self.corpus.dtype
        z = self._drawn_from(Collapsed(self.corpus, self.alpha, self.eta, (False, False), self.seeds), rng)
        return {
            "z": z, "alpha": self.alpha, "eta": self.eta, "sweep": 0, "seed": int(rng.integers(2**62)), "kept": 0,
            "words": np.zeros((V, k), dtype), "documents": np.zeros((n, k), dtype),
        }  # fmt: skip

    def _drawn_from(self, scheme: Collapsed, rng: np.random.Generator) -> NDArray:
        """A topic for every token, from a few collapsed sweeps: topics dealt out at random may end as copies."""
        state = scheme.begin(rng)
        for _ in range(_WARM):
            state, _ = scheme.step(state)
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
