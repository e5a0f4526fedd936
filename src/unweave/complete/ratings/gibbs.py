"""Sample ratings by Gibbs steps: the Bayesian form of matrix completion, averaged over draws instead of maximised.

    x_ij ~ N(mean + a_i + b_j + u_i·z_j, 1/α),  (u_i, a_i) ~ N(μ_U, Λ_U⁻¹),  (z_j, b_j) ~ N(μ_Z, Λ_Z⁻¹)

with a Normal–Wishart prior on (μ, Λ) of each side and a Gamma prior on α: nothing is left to be chosen but the rank,
and too large a rank does little harm, because a prediction is the mean over many draws. A side with features has prior
means of its own, a linear map of the features that is drawn with everything else:

    u_i ~ N(μ + A f_i, Λ⁻¹),   A ~ N(0, (ρΛ)⁻¹) for each feature,   ρ ~ Gamma(½, ½)

Drift is found first, beside biases alone, and taken off the ratings.

References: Salakhutdinov and Mnih (2008), Bayesian probabilistic matrix factorization using Markov chain Monte Carlo.
Simm, Arany, Zakeri et al. (2017), Macau: scalable Bayesian factorization with high-dimensional side information using
MCMC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.ratings.least_squares import InformedAlternate, Strengths, Task, alternating
from unweave.complete.ratings.side_information import FeatureMap
from unweave.complete.recommending.ridge import counted_ridges
from unweave.kernels.gibbs import draw_range
from unweave.linalg.entries import predict_entries
from unweave.objectives import Observed
from unweave.objectives.models.entries import EntryTable
from unweave.objectives.observed import observed
from unweave.parallel import run
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import Scheme, State

BURN = 0.2  # of the sweeps, at the beginning, are not kept
MOST_KEPT = 100  # draws, spread over the rest
TRIAL_SWEEPS = 60  # of a trial: the first fifth warms up
_ROWS = 256
_DRIFT = Loop(max_iter=50, ending="the drift is found")


def draw_rows(table: EntryTable, data, H, hyper: dict, alpha: float, normal: NDArray) -> NDArray:
    """Draw every row of a factor, given the other one (with `normal` zero: its mean)."""
    out = np.empty((table.n_rows, H.shape[1]))
    precision, shift = hyper["precision"], hyper["precision"] @ hyper["mean"]
    H = np.ascontiguousarray(H)

    def task(start: int, stop: int) -> None:
        draw_range(table.indptr, table.indices, data, H, precision, shift, alpha, normal, out, start, stop)

    run(task, table.n_rows, _ROWS)
    return out


def draw_hyper(F: NDArray, rng: np.random.Generator, around_zero: NDArray | None = None) -> dict:
    """Draw mean and precision of the rows of a factor from their Normal–Wishart posterior.

    `around_zero` are further rows that share the precision, but not the mean.
    """
    n, d = F.shape
    mean, strength = F.mean(axis=0), 2.0
    spread = (F - mean).T @ (F - mean)
    scale = np.eye(d) + spread + strength * n / (strength + n) * np.outer(mean, mean)
    freedom = d + n
    if around_zero is not None:
        scale, freedom = scale + around_zero.T @ around_zero, freedom + len(around_zero)
    precision = _wishart(np.linalg.inv((scale + scale.T) / 2), freedom, rng)
    root = np.linalg.cholesky(np.linalg.inv(precision * (strength + n)))
    return {"precision": precision, "mean": n * mean / (strength + n) + root @ rng.standard_normal(d)}


def _wishart(scale: NDArray, freedom: int, rng: np.random.Generator) -> NDArray:
    """Draw from a Wishart distribution by Bartlett's decomposition."""
    d, root = len(scale), np.linalg.cholesky(scale)
    A = np.tril(rng.standard_normal((d, d)), -1) + np.diag(np.sqrt(rng.chisquare(freedom - np.arange(d))))
    return root @ A @ A.T @ root.T


class DrawnMap:
    """Draw the map from the features of one side (mean zero, spread one) to its vectors and biases."""

    def __init__(self, side: FeatureMap):
        self.side, self.F = side, np.ascontiguousarray(side.table[:, :-1])  # μ takes the place of the constant
        values, self.vectors = np.linalg.eigh(self.F.T @ self.F)
        self.values = np.maximum(values, 0.0)

    @property
    def n_features(self) -> int:
        return self.F.shape[1]

    def means(self, A: NDArray) -> NDArray:
        """Compute what the features add to the prior mean of each row."""
        return self.F @ A

    def draw(self, rows: NDArray, precision: NDArray, rho: float, rng: np.random.Generator) -> tuple[NDArray, float]:
        """Draw (A, ρ) from their posterior, for rows less μ: along each direction of the Gram of F on its own."""
        p, d = self.n_features, rows.shape[1]
        full = (self.values + rho)[:, None]
        root = np.linalg.cholesky(np.linalg.inv(precision))
        best = (self.vectors.T @ (self.F.T @ rows)) / full
        A = self.vectors @ (best + (rng.standard_normal((p, d)) @ root.T) / np.sqrt(full))
        size = float(np.einsum("ij,jk,ik->", A, precision, A))
        return A, float(rng.gamma((1 + p * d) / 2, 2 / (1 + size)))


class Gibbs(Scheme):
    """Draw everything once in each step; the objective is the loss of the mean prediction so far.

    Steps are noisy, so `tol` is not asked: all sweeps are made. A state keeps `users` (n × k+1: vector and bias),
    `items` (m × k+1), the noise precision, and the draws kept: `draws` (S × m × k+1) of the items with the
    hyperparameters of the users, from which the codes of any row follow. A side with features (`sides`, by name) has a
    map from them (`users_map`) and its strength (`users_rho`) besides, kept as `users_maps`.
    """

    rises = True
    reuses = ("draws", "precisions", "means", "alphas", "users_maps", "items_maps", "item_means")

    def __init__(
        self,
        objective: Observed,
        k: int,
        sweeps: int,
        unit: float = 1.0,
        sides: dict[str, DrawnMap] | None = None,
    ):
        self.objective, self.k, self.unit = objective, k, unit
        self.sides = sides or {}
        rest = max(1, sweeps - int(BURN * sweeps))
        self.first = sweeps - rest
        self.every = -(-rest // MOST_KEPT)
        self.kept = -(-rest // self.every)
        self.table, self.back = objective.by_row, objective.by_column
        self.rows = self.table.rows
        self.order = np.lexsort((self.rows, self.table.indices))  # where the entries of the columns lie in the rows

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all sweeps were made")

    def begin(self, rng=None) -> State:
        rng = np.random.default_rng(0) if rng is None else rng
        (n, m), d = self.objective.shape, self.k + 1
        start = rng.standard_normal
        return {
            "users": 0.1 * start((n, d)), "items": 0.1 * start((m, d)), "alpha": 1 / max(self._variance(), 1e-12),
            "draws": np.zeros((self.kept, m, d)), "precisions": np.zeros((self.kept, d, d)),
            "means": np.zeros((self.kept, d)), "alphas": np.zeros(self.kept),
            "total": np.zeros(len(self.table.data)), "sweep": 0, "n": 0, "averaged": 0, "rng": rng,
            **self._begin_sides(d),
        }  # fmt: skip

    def _begin_sides(self, d: int) -> dict:
        more: dict = {"item_means": np.zeros((self.kept, d))} if "items" in self.sides else {}
        for name, side in self.sides.items():
            p = side.n_features
            more |= {f"{name}_map": np.zeros((p, d)), f"{name}_rho": 1.0, f"{name}_maps": np.zeros((self.kept, p, d))}
        return more

    def _variance(self) -> float:
        return float(np.var(self.table.data, dtype=np.float64))

    def at_entries(self, table: EntryTable, users: NDArray, items: NDArray) -> NDArray:
        """Compute u·z + a + b at every entry of a table: (u, a, 1)·(z, 1, b)."""
        k = self.k
        F = np.hstack([users, np.ones((len(users), 1))])
        H = np.hstack([items[:, :k], np.ones((len(items), 1)), items[:, k:]])
        return predict_entries(table.indptr, table.indices, H, F)

    def step(self, state: dict) -> tuple[dict, float]:
        rng, k = _copied(state["rng"]), self.k
        users, items, alpha = state["users"], state["items"], state["alpha"]
        data = self.table.data.astype(np.float64)
        rows, sweep = self.rows, state["sweep"]
        H = _with_ones(items, k)
        users, hyper, of_users = self._drawn("users", data - items[self.table.indices, k], H, state, alpha, rng)
        H = _with_ones(users, k)
        items, other, of_items = self._drawn("items", (data - users[rows, k])[self.order], H, state, alpha, rng)
        predicted = self.at_entries(self.table, users, items)
        residual = data - predicted
        alpha = float(rng.gamma((1 + len(data)) / 2, 2 / (1 + residual @ residual)))
        new = {**state, "users": users, "items": items, "alpha": alpha, "sweep": sweep + 1, "rng": rng}
        new |= of_users | of_items
        if sweep < self.first:
            return new, 0.5 * float(residual @ residual) * self.unit
        if (sweep - self.first) % self.every == 0:
            # Slots beyond those of the old state are not part of it, so they may be written in place.
            slot = state["n"]
            state["draws"][slot], state["alphas"][slot] = items, alpha
            state["precisions"][slot], state["means"][slot] = hyper["precision"], hyper["mean"]
            for name in self.sides:
                state[f"{name}_maps"][slot] = new[f"{name}_map"]
            if "items" in self.sides:
                state["item_means"][slot] = other["mean"]
            new["n"] = slot + 1
        new["total"], new["averaged"] = state["total"] + predicted, state["averaged"] + 1
        error = data - new["total"] / new["averaged"]
        return new, 0.5 * float(error @ error) * self.unit

    def _drawn(self, name: str, data, H, state: dict, alpha: float, rng) -> tuple[NDArray, dict, dict]:
        """Draw (rows, their hyperparameters, what is new of their features) of one side, given the other."""
        table, rows, side = self.table if name == "users" else self.back, state[name], self.sides.get(name)
        if side is None:
            hyper = draw_hyper(rows, rng)
            return draw_rows(table, data, H, hyper, alpha, rng.standard_normal(rows.shape)), hyper, {}
        A, rho = state[f"{name}_map"], state[f"{name}_rho"]
        hyper = draw_hyper(rows - side.means(A), rng, np.sqrt(rho) * A)
        A, rho = side.draw(rows - hyper["mean"], hyper["precision"], rho, rng)
        towards = hyper["mean"] + side.means(A)
        rows = draw_about(table, data, H, towards, hyper["precision"], alpha, rng.standard_normal(rows.shape))
        return rows, hyper, {f"{name}_map": A, f"{name}_rho": rho}


def draw_about(table: EntryTable, data, H, towards: NDArray, precision: NDArray, alpha: float, normal) -> NDArray:
    """Draw as :func:`draw_rows` does, with a prior mean for each row."""
    H, towards = np.ascontiguousarray(H), np.ascontiguousarray(towards)
    rest = data - predict_entries(table.indptr, table.indices, H, towards)
    return towards + draw_rows(table, rest, H, {"precision": precision, "mean": np.zeros(H.shape[1])}, alpha, normal)


def _copied(rng: np.random.Generator) -> np.random.Generator:
    """Copy a generator, in the same place: the old state must not move when a step is interrupted."""
    other = np.random.Generator(type(rng.bit_generator)())
    other.bit_generator.state = rng.bit_generator.state
    return other


def _with_ones(F: NDArray, k: int) -> NDArray:
    return np.hstack([F[:, :k], np.ones((len(F), 1))])


# -- before a sampler: does it pay, and what drifts --------------------------------------------------------------------


class JudgedGibbs(Gibbs):
    """Add up, besides, what the draws predict at other entries: a short run that is judged by them."""

    def __init__(self, train: Observed, test: Observed, k: int, sides: dict[str, DrawnMap]):
        super().__init__(train, k, TRIAL_SWEEPS, sides=sides)
        self.test = test.by_row

    def begin(self, rng=None) -> State:
        return {**super().begin(rng), "asked": np.zeros(len(self.test.data))}

    def step(self, state: State) -> tuple[State, float]:
        new, value = super().step(state)
        if new["averaged"] > state["averaged"]:
            new["asked"] = state["asked"] + self.at_entries(self.test, new["users"], new["items"])
        return new, value

    def errors(self) -> NDArray[np.float64]:
        """Compute squared errors of the mean prediction at the other entries, after all sweeps."""
        state, _ = iterate(self, self.begin(), Loop(max_iter=TRIAL_SWEEPS, tol=0.0))
        return np.square(self.test.data - state["asked"] / max(state["averaged"], 1))


def remove_drift(task: Task, ridge: float) -> tuple[Observed, dict]:
    """Find the drift beside biases alone, under this ridge: (the table less it, the drift in units of the data)."""
    table, problem = observed(task.table), task.problem(0, ridge)
    _, plain, first = task.plan(table, problem, np.random.default_rng(0))
    scheme = alternating(plain, first, Strengths(ridge, ridge, task.power), task.side.times_alone())
    assert isinstance(scheme, InformedAlternate) and scheme.drift is not None
    state, _ = iterate(scheme, scheme.begin(), _DRIFT)
    levels = state["components"][-1].astype(np.float64)
    parts = scheme.drift.settle(state["bins"], residual_of_levels(table, levels, ridge, task.power))
    spread = task.units.spread
    told = scheme.drift.published({name: parts[name] * spread for name in ("bins", "slopes")})
    told |= {"levels": levels * spread, "level_ridge": ridge, "dates": task.side.dates}
    return table.less(scheme.drift.at_entries(parts)), told


def residual_of_levels(table: Observed, levels: NDArray, ridge: float, power: float) -> Callable[[NDArray], NDArray]:
    """Return ``residual(drift)``: what biases leave of the entries, those of items given, those of rows best."""
    t = table.by_row
    counts = np.diff(t.indptr)
    rows = t.rows
    full = counts + counted_ridges(counts, ridge, power)
    data = t.data.astype(np.float64) - levels[t.indices]

    def residual(drift: NDArray) -> NDArray:
        left = data - drift
        return left - (np.bincount(rows, left, minlength=t.n_rows) / np.maximum(full, 1e-300))[rows]

    return residual
