"""Fit one Gaussian to all answers of a table with holes: the low-rank model at full rank, in a faster way.

x_i ~ N(μ, Σ) over the answers (levels as 0/1), fitted by EM: holes are replaced by their conditional means and their
conditional covariances are added to the scatter. Σ is drawn towards its diagonal as if `ridge` rows more had been
seen whose columns are independent. Each step costs one product n×m×m and a small system per row, the size of its holes,
and converges at the rate of the share of cells that are missing.

Reference: Little and Rubin (2002), Statistical analysis with missing data, section 11.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from unweave import parallel
from unweave.complete.imputer.columns import EncodedTable, TableLayout
from unweave.complete.imputer.model import FittedModel
from unweave.kernels.imputer import condition_range
from unweave.solve.scheme import Scheme

_LEAST = 1e-5  # of a column's variance is noise at least
_NONE = np.empty((0, 0))


def flat(table: EncodedTable, scores: bool) -> tuple[NDArray, NDArray]:
    """Write answers as numbers for one Gaussian (skewed columns as normal scores if asked), and say which are known."""
    answers = table.answers
    if scores:
        answers = answers.copy()
        for column, own in zip(table.layout.columns, table.layout.answers, strict=True):
            answers[:, own] = column.to_scores(answers[:, own])
    known = table.answers_seen
    return np.where(known, answers, 0.0), np.ascontiguousarray(known)


def by_pattern(seen: NDArray) -> NDArray:
    """Order the rows so that those with the same holes stand together."""
    return np.lexsort(np.packbits(seen, axis=1).T)


def condition(X: NDArray, seen: NDArray, mean: NDArray, precision: NDArray, noise: NDArray = _NONE, adds: bool = False):
    """Condition a Gaussian on the cells seen of every row.

    Returns the rows less the mean (0 in the holes), the shift of the holes from the mean, their variances, the sum of
    their covariances (where `adds`), and ½ log|A| + ½ quadratic form of every row. `noise` draws the holes.
    """
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


class GaussianScheme(Scheme):
    """Fit mean and covariance by EM; a step finds both for the scatter at hand, then the scatter expected for these."""

    rises = True  # by a hair: the objective leaves out the least noise of every column

    def __init__(self, table: EncodedTable, ridge: float, scores: bool) -> None:
        X, seen = flat(table, scores)
        order = by_pattern(seen)
        self.X, self.seen, self.ridge, self.scores = X[order], seen[order], ridge, scores
        X, seen = self.X, self.seen
        count = np.maximum(seen.sum(axis=0), 1)
        self.mean = X.sum(axis=0) / count
        self.variance = np.maximum((np.where(seen, X - self.mean, 0.0) ** 2).sum(axis=0) / count, 1e-8)

    def begin(self, rng=None) -> dict:
        """Begin with the covariance of the cells seen, holes at the mean."""
        C = np.where(self.seen, self.X - self.mean, 0.0)
        scatter = C.T @ C + np.diag(self.variance * (~self.seen).sum(axis=0))
        return self._expect(self._shrunk(self.mean, scatter))[0]

    def step(self, state: dict) -> tuple[dict, float]:
        return self._expect(self._shrunk(state["centre"], state["scatter"]))

    def model(self, state: dict) -> Gaussian:
        """Make the fitted model of a state."""
        return Gaussian(state["mean"], state["covariance"], state["precision"], rows=len(self.X), scores=self.scores)

    def _shrunk(self, mean: NDArray, scatter: NDArray) -> dict:
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
    """Invert a covariance; the answer is symmetric to the bit."""
    found = np.linalg.inv(covariance)
    return np.ascontiguousarray(0.5 * (found + found.T))


@dataclass
class Gaussian(FittedModel):
    """Predict cells by a fitted Gaussian."""

    mean: NDArray
    covariance: NDArray
    precision: NDArray
    rows: int
    scores: bool

    def predict(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        """Give mean and variance of every answer."""
        X, known = flat(table, self.scores)
        order = by_pattern(known)
        shift, variance = np.empty_like(X), np.empty_like(X)
        _, shift[order], variance[order], _, _ = condition(X[order], known[order], self.mean, self.precision)
        mean = np.where(known, X, self.mean + shift)
        if not self.scores:
            return mean, variance + 1e-12
        for column, own in zip(table.layout.columns, table.layout.answers, strict=True):
            if column.knots is not None:
                mean[:, own], variance[:, own] = column.from_scores(mean[:, own], variance[:, own])
        return mean, variance + 1e-12

    def redraw(self, layout: TableLayout, rng: np.random.Generator) -> Gaussian:
        """Draw the mean from N(μ, Σ/n) and Σ from a Wishart of n degrees of freedom, by Bartlett's triangle."""
        m = len(self.mean)
        freedom = max(self.rows, m + 2)
        L = np.linalg.cholesky(self.covariance)
        T = np.tril(rng.standard_normal((m, m)), -1)
        T[np.diag_indices(m)] = np.sqrt(rng.chisquare(freedom - np.arange(m)))
        half = L @ T / np.sqrt(freedom)
        covariance = half @ half.T
        mean = self.mean + L @ rng.standard_normal(m) / np.sqrt(max(self.rows, 1))
        return replace(self, mean=mean, covariance=covariance, precision=inverse(covariance))

    def residual_ranks(self, table: EncodedTable, rng: np.random.Generator) -> NDArray:
        """Draw all holes of a row together, and give their ranks."""
        X, seen = flat(table, self.scores)
        order = by_pattern(seen)
        noise = rng.standard_normal(X.shape)
        _, mean, variance, _, _ = condition(X[order], seen[order], self.mean, self.precision)
        _, drawn, _, _, _ = condition(X[order], seen[order], self.mean, self.precision, noise=noise)
        # A higher rank picks a later level, so levels ask for their last answer.
        last = [own.stop - 1 for own in table.layout.answers]
        ranks = np.empty(table.seen.shape)
        ranks[order] = ndtr((drawn - mean)[:, last] / np.sqrt(variance[:, last] + 1e-12))
        return ranks

    def factors(self, table: EncodedTable) -> tuple[NDArray, NDArray, NDArray]:
        """Give the principal axes of the covariance as components, and the codes of the filled table in them."""
        power, axes = np.linalg.eigh(self.covariance)
        keep = np.flatnonzero(power > 1e-6 * power[-1])[::-1]
        root = np.sqrt(power[keep])
        filled, _ = self.predict(table)
        return (filled - self.mean) @ axes[:, keep] / root, (axes[:, keep] * root).T, self.mean

    def arrays(self, layout: TableLayout) -> list[tuple[NDArray, tuple[int, ...]]]:
        q = len(layout.owner)
        return [(self.mean, (q,)), (self.covariance, (q, q)), (self.precision, (q, q))]
