"""Fit factors to a table of mixed columns with holes: a low-rank model that knows how sure it is.

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

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from unweave import parallel
from unweave.complete.imputer.columns import EncodedTable, TableLayout
from unweave.complete.imputer.model import FittedModel, predict_in_blocks
from unweave.solve.scheme import Scheme

_HUBER = 1.345
_PRIOR = 0.05  # noise variance that one pseudo-entry of each column votes for
_LEAST_NOISE = 1e-4
_ROUNDS = 8  # refinements of the logistic bound for rows that were not fitted


@dataclass
class Outputs:
    """Hold a table written as outputs (0 where not seen), and the loss of each."""

    values: NDArray
    seen: NDArray  # 1.0 where seen
    logistic: NDArray
    huber: NDArray
    tied: list[NDArray]  # outputs that are the thresholds of one ordinal column

    @property
    def plain(self) -> bool:
        """Tell whether every output has the squared loss."""
        return not (self.logistic.any() or self.huber.any())


def make_outputs(table: EncodedTable, scores: bool) -> Outputs:
    """Write a table of answers as outputs; `scores` maps skewed columns to normal scores."""
    columns = table.layout.columns
    parts = [c.outputs(table.answers[:, own], scores) for c, own in zip(columns, table.layout.answers, strict=True)]
    widths = [c.n_outputs for c in columns]
    known = np.repeat(table.seen, widths, axis=1).astype(np.float64)
    tied = [
        np.arange(own.start, own.stop)
        for c, own in zip(columns, table.layout.outputs, strict=True)
        if c.ordered and c.n_outputs > 1
    ]
    logistic = np.repeat([not c.numeric for c in columns], widths)
    robust = np.repeat([c.robust for c in columns], widths)
    return Outputs(np.hstack(parts) * known, known, logistic, robust, tied)


class LowRankScheme(Scheme):
    """Fit factors and noise by EM; a step finds components for the moments at hand, then moments for these."""

    rises = True  # by a hair: the objective leaves out the prior of the noise, and what rescaling does to the ridge

    def __init__(self, table: EncodedTable, rank: int, ridge: float, scores: bool) -> None:
        self.table, self.rank, self.ridge, self.scores = make_outputs(table, scores), rank, ridge, scores

    def begin(self, rng=None) -> dict:
        """Begin with principal components of the standardised table, holes at the mean."""
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
        return self._expect({**state, **self._maximise(state)})

    def model(self, state: dict) -> LowRank:
        """Make the fitted model of a state."""
        factors = (state["components"], state["offset"], state["noise"], state["gram"])
        return LowRank(*factors, ridge=self.ridge, scores=self.scores)

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
    """Solve for one z shared by all thresholds of an ordinal column, and an offset for each."""
    k = G.shape[1] - 1
    g, c = G[:, :k, k], G[:, k, k] + 1e-8
    A = G[:, :k, :k].sum(axis=0) - (g / c[:, None]).T @ g + ridge * np.eye(k)
    z = np.linalg.solve(A, (R[:, :k] - g * (R[:, k] / c)[:, None]).sum(axis=0))
    return np.column_stack([np.broadcast_to(z, g.shape), (R[:, k] - g @ z) / c])


@dataclass
class Posterior:
    """Hold means and covariances of the codes of a block of rows, and the working table they came from."""

    codes: NDArray
    covariance: NDArray
    linear: NDArray
    variance: NDArray
    weights: NDArray
    target: NDArray
    bend: NDArray | None
    value: float

    def moments(self) -> dict:
        """Add up over these rows what the next step needs."""
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
    """Find the codes of the rows `own` given components; `bend` holds where the logistic and Huber bounds touch."""
    Z, b, noise = state["components"], state["offset"], state["noise"]
    k = len(Z)
    Y, seen = table.values[own], table.seen[own]
    pairs = (Z[:, None, :] * Z[None]).reshape(k * k, -1)
    precision = np.broadcast_to(1 / noise, Y.shape)
    target, value = Y, 0.5 * float(seen.sum(axis=0) @ np.where(table.logistic, 0.0, np.log(2 * np.pi * noise)))
    if bend is not None:
        precision, target, value = _bounds_at(table, noise, Y, seen, bend, value)
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


def _bounds_at(table: Outputs, noise: NDArray, Y: NDArray, seen: NDArray, bend: NDArray, value: float):
    """Find weights and targets of the quadratic bounds at `bend`, and the value with their constants."""
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
class LowRank(FittedModel):
    """Predict cells by a fitted low-rank model, and draw from its posterior."""

    components: NDArray
    offset: NDArray
    noise: NDArray
    gram: NDArray
    ridge: float
    scores: bool

    def rows(self, table: EncodedTable) -> Posterior:
        """Find the posterior of new rows, each on its own."""
        outputs = make_outputs(table, self.scores)
        state = {"components": self.components, "offset": self.offset, "noise": self.noise}
        bend = None if outputs.plain else np.ones_like(outputs.values)
        every = slice(0, len(table))
        found = posterior(outputs, state, every, bend)
        for _ in range(0 if bend is None else _ROUNDS):
            found = posterior(outputs, state, every, found.bend)
        return found

    def predict(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        """Give mean and variance of every answer (variances of levels are not used)."""
        return predict_in_blocks(self._predict_rows, table, len(self.components) ** 2)

    def _predict_rows(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        layout, found = table.layout, self.rows(table)
        mean, variance = np.empty_like(table.answers), np.ones_like(table.answers)
        for column, to, own in zip(layout.columns, layout.answers, layout.outputs, strict=True):
            p, v = found.linear[:, own], found.variance[:, own]
            if column.numeric:
                v = v + self.noise[own]
                mean[:, to], variance[:, to] = column.from_scores(p, v) if self.scores else (p, v)
            else:
                mean[:, to] = column.probabilities(1 / (1 + np.exp(-p / np.sqrt(1 + np.pi / 8 * v))))
        return mean, variance

    def redraw(self, layout: TableLayout, rng: np.random.Generator) -> LowRank:
        """Draw the components from z_j ~ N(ẑ_j, (G_j + ridge I)⁻¹), with the Grams G_j of the last step."""
        G = self.gram.copy()
        k = len(self.components)
        G[:, range(k), range(k)] += self.ridge
        G += 1e-6 * np.eye(k + 1)
        # x = L⁻ᵀ e has the covariance G⁻¹ when G = L·Lᵀ.
        L = np.linalg.cholesky(G)
        noise = np.linalg.solve(L.transpose(0, 2, 1), rng.standard_normal((len(G), k + 1, 1)))[:, :, 0]
        seen = G[:, k, k] > 1e-3  # a column nobody saw stays at its offset
        noise[~seen] = 0
        return replace(self, components=self.components + noise[:, :k].T, offset=self.offset + noise[:, k])

    def residual_ranks(self, table: EncodedTable, rng: np.random.Generator) -> NDArray:
        """Draw residuals that share one u ~ N(ū, V) per row, so that columns miss together; give their ranks."""
        found = self.rows(table)
        L = np.linalg.cholesky(found.covariance)
        shift = np.matmul(L, rng.standard_normal((len(table), L.shape[1], 1)))[:, :, 0]
        first = [own.start for own in table.layout.outputs]
        part = shift @ self.components[:, first]
        # A logistic output has the noise of a standard logistic, about π²/3.
        logistic = np.array([not column.numeric for column in table.layout.columns])
        noise = np.where(logistic, np.pi**2 / 3, self.noise[first])
        total = np.sqrt(found.variance[:, first] + noise)
        return ndtr((part + np.sqrt(noise) * rng.standard_normal(table.seen.shape)) / total)

    def factors(self, table: EncodedTable) -> tuple[NDArray, NDArray, NDArray]:
        """Give codes of the table, components and offset."""
        return self.rows(table).codes, self.components, self.offset

    def arrays(self, layout: TableLayout) -> list[tuple[NDArray, tuple[int, ...]]]:
        k, m = len(self.components), layout.n_outputs
        return [
            (self.components, (k, m)), (self.gram, (m, k + 1, k + 1)), (self.offset, (m,)), (self.noise, (m,)),
        ]  # fmt: skip
