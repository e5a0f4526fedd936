"""One Gaussian for all outputs of a table with holes: the low-rank model at full rank, by a faster road.

x_i ~ N(μ, Σ) over the outputs (levels as 0/1), fitted by EM: holes are replaced by their conditional means and their
conditional covariances are added to the scatter. Σ is drawn towards its diagonal as if `ridge` rows more had been
seen whose columns are independent. Each step costs one product n×m×m and a small system a row, the size of its holes,
and converges at the rate of the share of cells that are missing.

Reference: Little and Rubin (2002), Statistical analysis with missing data, section 11.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.imputer_layout import Layout
from unweave.kernels.imputer import condition_range

_LEAST = 1e-5  # of a column's variance is noise at least
_NONE = np.empty((0, 0))


def flat(layout: Layout, answers: NDArray, seen: NDArray, scores: bool) -> tuple[NDArray, NDArray]:
    """Answers as numbers for one Gaussian (skewed columns as normal scores if asked), and what was seen of them."""
    if scores:
        answers = answers.copy()
        for column, own in zip(layout.columns, layout.answers):
            answers[:, own] = column.to_scores(answers[:, own])
    known = seen[:, layout.owner]
    return np.where(known, answers, 0.0), np.ascontiguousarray(known)


def by_pattern(seen: NDArray) -> NDArray:
    """An order of the rows in which those with the same holes stand together."""
    return np.lexsort(np.packbits(seen, axis=1).T)


def condition(X: NDArray, seen: NDArray, mean: NDArray, precision: NDArray, noise: NDArray = _NONE, adds: bool = False):
    """(shift of the holes from the mean, their variances, sum of covariances, ½ log|A| + ½ quadratic form) of rows."""
    n, m = X.shape
    C = np.where(seen, X - mean, 0.0)
    shift, variance, values = np.empty_like(C), np.empty_like(C), np.empty(n)

    def block(start: int, stop: int):
        g = C[start:stop] @ precision
        covariance = np.zeros((m, m)) if adds else _NONE
        own = slice(start, stop)
        e = noise[own] if len(noise) else _NONE
        parts = (shift[own], variance[own], covariance, values[own])
        condition_range(seen[own], g, precision, e, *parts, 0, stop - start)
        values[own] += 0.5 * (g * C[own]).sum(axis=1)
        return covariance

    covariances = parallel.run(block, n, max(128, (1 << 13) // m))
    return C, shift, variance, sum(covariances), values


class OneGaussian:
    """The scheme: ``begin()`` and ``step(state)`` for :func:`unweave.solve.iterate.iterate`."""

    def __init__(self, X: NDArray, seen: NDArray, ridge: float) -> None:
        order = by_pattern(seen)
        self.X, self.seen, self.ridge = X[order], seen[order], ridge
        X, seen = self.X, self.seen
        count = np.maximum(seen.sum(axis=0), 1)
        self.mean = X.sum(axis=0) / count
        self.variance = np.maximum((np.where(seen, X - self.mean, 0.0) ** 2).sum(axis=0) / count, 1e-8)

    def begin(self) -> dict:
        """The pairwise covariance of the cells seen, holes at the mean."""
        C = np.where(self.seen, self.X - self.mean, 0.0)
        scatter = C.T @ C + np.diag(self.variance * (~self.seen).sum(axis=0))
        return self._expect(self._drawn(self.mean, scatter))[0]

    def step(self, state: dict) -> tuple[dict, float]:
        return self._expect(self._drawn(state["centre"], state["scatter"]))

    def _drawn(self, mean: NDArray, scatter: NDArray) -> dict:
        n = len(self.X)
        covariance = (scatter + self.ridge * np.diag(self.variance)) / (n + self.ridge)
        covariance[np.diag_indices_from(covariance)] += _LEAST * self.variance
        return {"mean": mean, "covariance": covariance}

    def _expect(self, state: dict) -> tuple[dict, float]:
        n = len(self.X)
        precision = inverse(state["covariance"])
        C, shift, _, extra, values = condition(self.X, self.seen, state["mean"], precision, adds=True)
        C = C + shift
        move = C.mean(axis=0)
        scatter = C.T @ C - n * np.outer(move, move) + extra
        log = np.linalg.slogdet(state["covariance"])[1]
        value = float(values.sum()) + 0.5 * n * log + 0.5 * float(self.seen.sum()) * np.log(2 * np.pi)
        # the prior: ridge rows of independent columns
        value += 0.5 * self.ridge * (log + float((np.diag(precision) * self.variance).sum()))
        return {**state, "precision": precision, "centre": state["mean"] + move, "scatter": scatter}, value


def inverse(covariance: NDArray) -> NDArray:
    """The inverse of a covariance, symmetric to the bit."""
    found = np.linalg.inv(covariance)
    return np.ascontiguousarray(0.5 * (found + found.T))


@dataclass
class Gaussian:
    """A fitted Gaussian."""

    mean: NDArray
    covariance: NDArray
    precision: NDArray
    rows: int
    scores: bool

    def predict(self, layout: Layout, answers: NDArray, seen: NDArray) -> tuple[NDArray, NDArray]:
        """Mean and variance of every answer."""
        X, known = flat(layout, answers, seen, self.scores)
        order = by_pattern(known)
        shift, variance = np.empty_like(X), np.empty_like(X)
        _, shift[order], variance[order], _, _ = condition(X[order], known[order], self.mean, self.precision)
        mean = np.where(known, X, self.mean + shift)
        if not self.scores:
            return mean, variance + 1e-12
        for column, own in zip(layout.columns, layout.answers):
            if column.knots is not None:
                mean[:, own], variance[:, own] = column.from_scores(mean[:, own], variance[:, own])
        return mean, variance + 1e-12
