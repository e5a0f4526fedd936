"""Expectation–maximisation of topics without priors, tempered if asked."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.lda_corpus import dealt_start
from unweave.linalg.counts import multiply_rows

_LANES = 8


class TemperedEM:
    """A scheme of the one loop: P(z|d) with the topics fixed, then P(w|z) with the mixtures fixed.

    With F = P(z|d)^β and H = P(w|z)^β the expected counts Σ_w x r_dwz, r ∝ F·H, are the numerator of the multiplicative
    KL update, F_z Σ_w x H_wz / (F·H_w): its kernel with unit column sums is the whole step. The objective is minus the
    tempered log-likelihood before the step, −(1/β) Σ x log (F·H), and never rises.
    """

    def __init__(self, X: sp.csr_array, k: int, beta: float):
        self.X, self.k, self.beta = X, k, beta
        self.rows = X.indptr, X.indices, X.data
        back = sp.csr_array(X.T)
        self.columns = back.indptr.astype(np.int64), back.indices.astype(np.int32), back.data
        seen = X.data[X.data > 0].astype(np.float64)
        self.constant = float((seen * np.log(seen) - seen).sum())
        self.ones, self.each = np.ones(k + -k % _LANES), np.ones(X.shape[1], dtype=X.dtype)

    def begin(self, rng: np.random.Generator) -> dict:
        documents = np.full((self.X.shape[0], self.k), 1 / self.k, dtype=self.X.dtype)
        words = dealt_start(self.X, self.k, rng)
        return {"documents": _padded(documents), "words": _padded(words / words.sum(axis=0))}

    def step(self, state: dict) -> tuple[dict, float]:
        F, H = self._power(state["documents"]), self._power(state["words"])
        values = np.empty(len(F))
        documents = multiply_rows(*self.rows, H, F, self.ones, values=values)
        # The kernel's value is Σ (x log(x/p) − x) + Σ_z F_z.
        objective = (float(values.sum()) - self.constant - float(F.sum(dtype=np.float64))) / self.beta
        documents /= _safe(documents.sum(axis=1, keepdims=True))
        words = multiply_rows(*self.columns, self._power(documents), H, self.ones)
        words /= _safe(self.each @ words)  # a product is several times faster than a sum over the first axis
        return {"documents": documents, "words": words}, objective

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
