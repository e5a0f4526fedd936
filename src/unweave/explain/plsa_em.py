"""Expectation–maximisation of topics without priors, tempered if asked."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.lda_corpus import dealt_start
from unweave.explain.topic_moves import FIRST, ROUNDS, SPLIT, due_for_repair, fell_back, halved, merged, merging, paid
from unweave.linalg.counts import multiply_rows
from unweave.solve.iterate import Loop

_LANES = 8


class TemperedEM:
    """A scheme of the one loop: P(z|d) with the topics fixed, then P(w|z) with the mixtures fixed.

    With F = P(z|d)^β and H = P(w|z)^β the expected counts Σ_w x r_dwz, r ∝ F·H, are the numerator of the multiplicative
    KL update, F_z Σ_w x H_wz / (F·H_w): its kernel with unit column sums is the whole step. The objective is minus the
    tempered log-likelihood before the step, −(1/β) Σ x log (F·H), and never rises. It begins with twice the topics, and
    splits and merges them when it has nearly settled, as long as that pays.
    """

    def __init__(self, X: sp.csr_array, k: int, beta: float):
        self.X, self.k, self.beta, self.tol, self.plainly = X, k, beta, 0.0, False
        self.rows = X.indptr, X.indices, X.data
        back = sp.csr_array(X.T)
        self.columns = back.indptr.astype(np.int64), back.indices.astype(np.int32), back.data
        self.lengths = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
        seen = X.data[X.data > 0].astype(np.float64)
        self.constant = float((seen * np.log(seen) - seen).sum())
        self.each = np.ones(X.shape[1], dtype=X.dtype)

    def pace(self, loop: Loop) -> Loop:
        self.tol, self.plainly = loop.tol or 0.0, loop.max_iter < FIRST  # who asks for few sweeps is in a hurry
        return loop

    def begin(self, rng: np.random.Generator) -> dict:
        k = self.k if self.plainly else 2 * self.k
        documents = np.full((self.X.shape[0], k), 1 / k, dtype=self.X.dtype)
        words = dealt_start(self.X, k, rng)
        watched = {"value": np.inf, "fall": np.inf, "rounds": 0, "seed": int(rng.integers(2**62))}
        if self.plainly:
            return {**self._merged(words, documents, np.arange(k)), **watched}
        wide = self._widely(documents, words / _safe(words.sum(axis=0)), FIRST)
        return {**self._merged(*wide, merging(*wide, self.k)), **watched}

    def step(self, state: dict) -> tuple[dict, float]:
        before, rounds = state["value"], state["rounds"]
        if due_for_repair(state, self.tol):
            found = self._repaired(state)
            state, rounds = (state, ROUNDS) if found is None else (found, rounds + 1)
        new, objective = self._improved(state)
        fall = (before - objective) / max(abs(objective), 1e-300)
        return {**new, "value": objective, "fall": fall, "rounds": rounds, "seed": state["seed"]}, objective

    def _improved(self, state: dict) -> tuple[dict, float]:
        """One step of EM, and the objective before it."""
        F, H = self._power(state["documents"]), self._power(state["words"])
        values, ones = np.empty(len(F)), np.ones(F.shape[1])
        documents = multiply_rows(*self.rows, H, F, ones, values=values)
        # The kernel's value is Σ (x log(x/p) − x) + Σ_z F_z.
        objective = (float(values.sum()) - self.constant - float(F.sum(dtype=np.float64))) / self.beta
        documents /= _safe(documents.sum(axis=1, keepdims=True))
        words = multiply_rows(*self.columns, self._power(documents), H, ones)
        words /= _safe(self.each @ words)  # a product is several times faster than a sum over the first axis
        return {**state, "documents": documents, "words": words}, objective

    def _repaired(self, state: dict) -> dict | None:
        """The state after topics were split and merged, if that pays."""
        documents, words = self.tables(state)
        rng = np.random.default_rng((state["seed"], state["rounds"]))
        wide = self._widely(halved(documents, rng), np.hstack([words, words]), SPLIT)
        into = merging(*wide, self.k)
        if fell_back(into):
            return None
        return paid(self._improved, {**state, **self._merged(*wide, into)}, state["value"])

    def _widely(self, documents: NDArray, words: NDArray, steps: int) -> tuple[NDArray, NDArray]:
        """Counts of words and of documents by topic after some steps with twice the topics."""
        state = {"documents": _padded(documents), "words": _padded(words)}
        for _ in range(steps):
            state, _ = self._improved(state)
        counts = state["documents"][:, : 2 * self.k] * self.lengths[:, None].astype(documents.dtype)
        return state["words"][:, : 2 * self.k] * counts.sum(axis=0), counts

    def _merged(self, words: NDArray, documents: NDArray, into: NDArray) -> dict:
        words, documents = merged(words, into), merged(documents, into)
        shares = words / _safe(words.sum(axis=0)), documents / _safe(documents.sum(axis=1, keepdims=True))
        return {"words": _padded(shares[0]), "documents": _padded(shares[1])}

    def tables(self, state: dict) -> tuple[NDArray, NDArray]:
        """P(z|d) and P(w|z) (words × topics) without the padding."""
        return state["documents"][:, : self.k], state["words"][:, : self.k]

    def _power(self, table: NDArray) -> NDArray:
        return table if self.beta == 1 else table**self.beta


def _padded(table: NDArray) -> NDArray:
    """With columns of zeros up to whole SIMD registers; the update leaves a zero at zero."""
    return np.pad(table, ((0, 0), (0, -table.shape[1] % _LANES)))


def _safe(sums: NDArray) -> NDArray:
    return np.maximum(sums, np.finfo(sums.dtype).tiny)
