"""Factor analysis of a table of mixed columns with holes: a low-rank model that knows how sure it is.

Output j of row i is predicted by p_ij = b_j + u_i·z_j with u_i ~ N(0, I), and

    x_ij = p_ij + N(0, ψ_j)                     numeric (squared; huber gives large residuals less weight)
    P(x_ij = 1) = 1 / (1 + e^{-p_ij})           Boolean; thresholds of an ordinal column share one z_j; levels of a
                                                categorical one are asked one by one

EM maximises the likelihood of the observed entries, less ½ ridge ‖Z‖². The logistic terms are replaced by the
quadratic bound of Jaakkola and Jordan, so both steps are least squares: u_i has the posterior N(ū_i, V_i) with
V_i = (I + Σ_j w_ij z_j z_jᵀ)⁻¹ over the entries seen, and z_j solves a system of k + 1 unknowns. After each step the
codes are rescaled to unit covariance, which is free and saves most of the iterations (parameter expansion).

References: Khan, Marlin, Bouchard and Murphy (2010), Variational bounds for mixed-data factor analysis. Jaakkola and
Jordan (2000), Bayesian parameter estimation via variational methods. Liu, Rubin and Wu (1998), Parameter expansion to
accelerate EM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.imputer_layout import Layout

_HUBER = 1.345
_PRIOR = 0.05  # noise variance that one pseudo-entry of each column votes for
_LEAST_NOISE = 1e-4
_ROUNDS = 8  # refinements of the logistic bound for rows that were not fitted


@dataclass
class Outputs:
    """A table as outputs (0 where not seen), and the loss of each."""

    values: NDArray
    seen: NDArray  # 1.0 where seen
    logistic: NDArray
    huber: NDArray
    tied: list[NDArray]  # outputs that are the thresholds of one ordinal column

    @property
    def plain(self) -> bool:
        return not (self.logistic.any() or self.huber.any())


def make_outputs(layout: Layout, answers: NDArray, seen: NDArray, scores: bool) -> Outputs:
    """The outputs of a table of answers; `scores` maps skewed columns to normal scores."""
    parts = [c.outputs(answers[:, own], scores) for c, own in zip(layout.columns, layout.answers)]
    widths = [c.n_outputs for c in layout.columns]
    known = np.repeat(seen, widths, axis=1).astype(np.float64)
    words = np.repeat([c.loss for c in layout.columns], widths)
    tied = [
        np.arange(own.start, own.stop)
        for c, own in zip(layout.columns, layout.outputs)
        if c.loss == "ordinal" and c.n_outputs > 1
    ]
    robust = words == "huber"
    return Outputs(np.hstack(parts) * known, known, ~robust & (words != "squared"), robust, tied)


class MixedFactors:
    """The scheme: ``begin()`` and ``step(state)`` for :func:`unweave.solve.iterate.iterate`."""

    def __init__(self, table: Outputs, rank: int, ridge: float) -> None:
        self.table, self.rank, self.ridge = table, rank, ridge

    def begin(self) -> dict:
        """Principal components of the standardised table with its holes at the mean."""
        Y, seen, k = self.table.values, self.table.seen, self.rank
        count = seen.sum(axis=0)
        mean = Y.sum(axis=0) / np.maximum(count, 1)
        share = np.clip((mean * count + 0.5) / (count + 1), 1e-6, 1 - 1e-6)
        variance = (seen * (Y - mean) ** 2).sum(axis=0) / np.maximum(count, 1)
        deviation = np.sqrt(np.where(self.table.logistic, share * (1 - share), np.maximum(variance, 1e-8)))
        C = seen * (Y - mean) / deviation
        power, axes = np.linalg.eigh(C.T @ C / len(C))
        Z = (axes[:, ::-1][:, :k] * np.sqrt(0.8 * np.maximum(power[::-1][:k], 1e-3))).T
        first = {
            "components": np.where(self.table.logistic, 2 * Z, Z * deviation),
            "offset": np.where(self.table.logistic, np.log(share / (1 - share)), mean),
            "noise": np.where(self.table.logistic, 1.0, np.maximum(0.5 * deviation**2, _LEAST_NOISE)),
            "bend": np.ones(Y.shape if not self.table.plain else (0, 0)),
        }
        return self._expect(first)[0]

    def step(self, state: dict) -> tuple[dict, float]:
        """Components for the moments at hand, then moments and objective for the new components."""
        return self._expect({**state, **self._maximise(state)})

    def _maximise(self, state: dict) -> dict:
        k, G, R = self.rank, state["gram"].copy(), state["cross"]
        G[:, range(k), range(k)] += self.ridge
        G[:, k, k] += 1e-8
        W = np.linalg.solve(G, R[:, :, None])[:, :, 0]
        for own in self.table.tied:
            W[own] = _solve_tied(state["gram"][own], R[own], self.ridge)
        moment = np.einsum("ja,jab,jb->j", W, state["gram"], W)
        left = np.maximum(state["square"] - 2 * (W * R).sum(axis=1) + moment, 0) * state["noise"]
        noise = (left + _PRIOR) / (self.table.seen.sum(axis=0) + 1)
        noise = np.where(self.table.logistic, 1.0, np.maximum(noise, _LEAST_NOISE))
        Z, b = W[:, :k].T, W[:, k]
        mean = state["codes"].mean(axis=0)
        turn = np.linalg.cholesky(state["second"] - np.outer(mean, mean) + 1e-10 * np.eye(k))
        return {"components": turn.T @ Z, "offset": b + mean @ Z, "noise": noise}

    def _expect(self, state: dict) -> tuple[dict, float]:
        n, k = self.table.values.shape[0], self.rank
        codes = np.empty((n, k))
        bend = np.empty_like(state["bend"])

        def block(start: int, stop: int):
            own = slice(start, stop)
            found = posterior(self.table, state, own, state["bend"][own] if bend.size else None)
            codes[own] = found.codes
            if bend.size:
                bend[own] = found.bend
            return found.moments()

        width = k * k + self.table.values.shape[1]
        parts = parallel.run(block, n, max(64, (1 << 13) // width))
        names = ("gram", "cross", "square", "second", "objective")
        sums = {name: sum(part[name] for part in parts) for name in names}
        value = float(sums.pop("objective")) + 0.5 * self.ridge * float((state["components"] ** 2).sum())
        sums["second"] = sums["second"] / n
        return {**state, **sums, "codes": codes, "bend": bend}, value


def _solve_tied(G: NDArray, R: NDArray, ridge: float) -> NDArray:
    """One z for all thresholds of an ordinal column, an offset for each."""
    k = G.shape[1] - 1
    g, c = G[:, :k, k], G[:, k, k] + 1e-8
    A = G[:, :k, :k].sum(axis=0) - (g / c[:, None]).T @ g + ridge * np.eye(k)
    z = np.linalg.solve(A, (R[:, :k] - g * (R[:, k] / c)[:, None]).sum(axis=0))
    return np.column_stack([np.broadcast_to(z, g.shape), (R[:, k] - g @ z) / c])


@dataclass
class Posterior:
    """What a block of rows says: means and covariances of codes, and the working table they came from."""

    codes: NDArray
    covariance: NDArray
    linear: NDArray
    variance: NDArray
    weights: NDArray
    target: NDArray
    bend: NDArray | None
    value: float

    def moments(self) -> dict:
        n, k = self.codes.shape
        full = np.ones((n, k + 1))
        full[:, :k] = self.codes
        S = full[:, :, None] * full[:, None, :]
        S[:, :k, :k] += self.covariance
        gram = (self.weights.T @ S.reshape(n, -1)).reshape(-1, k + 1, k + 1)
        weighed = self.weights * self.target
        square = (weighed * self.target).sum(axis=0)
        second = S[:, :k, :k].sum(axis=0)
        return {"gram": gram, "cross": weighed.T @ full, "square": square, "second": second, "objective": self.value}


def posterior(table: Outputs, state: dict, own: slice, bend: NDArray | None) -> Posterior:
    """Codes of the rows `own` given components; `bend` holds where the logistic and Huber bounds touch."""
    Z, b, noise = state["components"], state["offset"], state["noise"]
    k = len(Z)
    Y, seen = table.values[own], table.seen[own]
    pairs = (Z[:, None, :] * Z[None]).reshape(k * k, -1)
    precision = np.broadcast_to(1 / noise, Y.shape)
    target, value = Y, 0.5 * float(seen.sum(axis=0) @ np.where(table.logistic, 0.0, np.log(2 * np.pi * noise)))
    if bend is not None:
        precision, target, value = _bent(table, noise, Y, seen, bend, value)
    W = seen * precision
    centred = W * (target - b)
    P = (W @ pairs.T).reshape(-1, k, k) + np.eye(k)
    V = np.linalg.inv(P)
    r = centred @ Z.T
    u = np.matmul(V, r[:, :, None])[:, :, 0]
    p = u @ Z + b
    variance = V.reshape(-1, k * k) @ pairs
    logdet = np.log(np.diagonal(np.linalg.cholesky(P), axis1=1, axis2=2)).sum()
    value += float(0.5 * (centred * (target - b)).sum() + logdet - 0.5 * (r * u).sum())
    if bend is not None:
        bend = np.sqrt(np.where(table.huber, (Y - p) ** 2, p * p) + variance)
    return Posterior(u, V, p, variance, W, target, bend, value)


def _bent(table: Outputs, noise: NDArray, Y: NDArray, seen: NDArray, bend: NDArray, value: float):
    """Weights and targets of the quadratic bounds at `bend`, and the value with their constants."""
    bend = np.maximum(bend, 1e-4)
    precision = np.empty_like(Y)
    target = Y.copy()
    soft = table.logistic
    at, y = bend[:, soft], Y[:, soft]
    half = np.tanh(0.5 * at)
    precision[:, soft] = w = half / (2 * at)  # 2λ(ξ)
    target[:, soft] = t = (y - 0.5) / w
    # -log σ(ξ) + ξ/2 - λξ², and what completing the square took
    constant = np.log1p(np.exp(-at)) + 0.5 * at - 0.25 * half * at - 0.5 * w * t * t
    value += float((seen[:, soft] * constant).sum())
    hard = ~soft
    wide = np.minimum(1.0, _HUBER * np.sqrt(noise[hard]) / bend[:, hard])
    precision[:, hard] = np.where(table.huber[hard], wide, 1.0) / noise[hard]
    return precision, target, value


@dataclass
class LowRank:
    """A fitted low-rank model: enough to predict new rows and to draw from its posterior."""

    components: NDArray
    offset: NDArray
    noise: NDArray
    gram: NDArray
    ridge: float
    scores: bool

    def rows(self, layout: Layout, answers: NDArray, seen: NDArray) -> Posterior:
        """The posterior of new rows, each on its own."""
        table = make_outputs(layout, answers, seen, self.scores)
        state = {"components": self.components, "offset": self.offset, "noise": self.noise}
        bend = None if table.plain else np.ones_like(table.values)
        whole = slice(0, len(answers))
        found = posterior(table, state, whole, bend)
        for _ in range(0 if bend is None else _ROUNDS):
            found = posterior(table, state, whole, found.bend)
        return found

    def predict(self, layout: Layout, answers: NDArray, seen: NDArray) -> tuple[NDArray, NDArray]:
        """Mean and variance of every answer (variances of levels are not used)."""
        found = self.rows(layout, answers, seen)
        mean, variance = np.empty_like(answers), np.ones_like(answers)
        for column, to, own in zip(layout.columns, layout.answers, layout.outputs):
            p, v = found.linear[:, own], found.variance[:, own]
            if column.numeric:
                v = v + self.noise[own]
                mean[:, to], variance[:, to] = column.from_scores(p, v) if self.scores else (p, v)
            else:
                mean[:, to] = column.probabilities(1 / (1 + np.exp(-p / np.sqrt(1 + np.pi / 8 * v))))
        return mean, variance
