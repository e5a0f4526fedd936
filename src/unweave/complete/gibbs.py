"""Ratings by Gibbs sampling: the Bayesian form of matrix completion, averaged over draws instead of maximised.

    x_ij ~ N(mean + a_i + b_j + u_i·z_j, 1/α),  (u_i, a_i) ~ N(μ_U, Λ_U⁻¹),  (z_j, b_j) ~ N(μ_Z, Λ_Z⁻¹)

with a Normal–Wishart prior on (μ, Λ) of each side and a Gamma prior on α: nothing is left to be chosen but the rank,
and too large a rank does little harm, because a prediction is the mean over many draws.

Reference: Salakhutdinov and Mnih (2008), Bayesian probabilistic matrix factorization using Markov chain Monte Carlo.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.gibbs_sides import DrawnSide
from unweave.kernels.gibbs import draw_range
from unweave.linalg.entries import predict_entries
from unweave.objectives import Observed
from unweave.objectives.models.entries import EntryTable
from unweave.parallel import run
from unweave.solve.iterate import Loop
from unweave.updates import LeastSquares

BURN = 0.2  # of the sweeps, at the beginning, are not kept
MOST_KEPT = 100  # draws, spread over the rest
_ROWS = 256


def draw_rows(table: EntryTable, data, H, hyper: dict, alpha: float, normal: NDArray) -> NDArray:
    """Draws (or with `normal` zero, means) of every row of a factor, given the other one."""
    out = np.empty((table.n_rows, H.shape[1]))
    precision, shift = hyper["precision"], hyper["precision"] @ hyper["mean"]
    H = np.ascontiguousarray(H)

    def task(start: int, stop: int) -> None:
        draw_range(table.indptr, table.indices, data, H, precision, shift, alpha, normal, out, start, stop)

    run(task, table.n_rows, _ROWS)
    return out


def draw_hyper(F: NDArray, rng: np.random.Generator, around_zero: NDArray | None = None) -> dict:
    """Mean and precision of the rows of a factor from their Normal–Wishart posterior.

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
    """By Bartlett's decomposition."""
    d, root = len(scale), np.linalg.cholesky(scale)
    A = np.tril(rng.standard_normal((d, d)), -1) + np.diag(np.sqrt(rng.chisquare(freedom - np.arange(d))))
    return root @ A @ A.T @ root.T


class Gibbs:
    """A scheme of the one loop: a step draws everything once; the objective is the loss of the mean prediction so far.

    Steps are noisy, so `tol` is not asked: all sweeps are made. A state keeps `users` (n × k+1: vector and bias),
    `items` (m × k+1), the noise precision, and the draws kept: `draws` (S × m × k+1) of the items with the
    hyperparameters of the users, from which the codes of any row follow. A side with features (`sides`, by name) has a
    map from them (`users_map`) and its strength (`users_rho`) besides, kept as `users_maps`.
    """

    def __init__(
        self,
        objective: Observed,
        k: int,
        sweeps: int,
        rng: np.random.Generator,
        unit: float = 1.0,
        sides: dict[str, DrawnSide] | None = None,
    ):
        self.objective, self.k, self.rng, self.unit = objective, k, rng, unit
        self.sides = sides or {}
        rest = max(1, sweeps - int(BURN * sweeps))
        self.first = sweeps - rest
        self.every = -(-rest // MOST_KEPT)
        self.kept = -(-rest // self.every)
        self.left = LeastSquares()
        self.table, self.back = objective.by_row, objective.by_column
        self.rows = np.repeat(np.arange(self.table.n_rows), np.diff(self.table.indptr))
        self.order = np.lexsort((self.rows, self.table.indices))  # where the entries of the columns lie in the rows

    def pace(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all sweeps were made")

    def begin(self) -> dict:
        (n, m), d = self.objective.shape, self.k + 1
        start = self.rng.standard_normal
        return {
            "users": 0.1 * start((n, d)), "items": 0.1 * start((m, d)), "alpha": 1 / max(self._variance(), 1e-12),
            "draws": np.zeros((self.kept, m, d)), "precisions": np.zeros((self.kept, d, d)),
            "means": np.zeros((self.kept, d)), "alphas": np.zeros(self.kept),
            "total": np.zeros(len(self.table.data)), "sweep": 0, "n": 0, "averaged": 0, "rng": self.rng,
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
        """u·z + a + b at every entry of a table: (u, a, 1)·(z, 1, b)."""
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
        """(rows, their hyperparameters, what is new of their features) of one side, given the other."""
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
    """As :func:`draw_rows`, with a prior mean for each row."""
    H, towards = np.ascontiguousarray(H), np.ascontiguousarray(towards)
    rest = data - predict_entries(table.indptr, table.indices, H, towards)
    return towards + draw_rows(table, rest, H, {"precision": precision, "mean": np.zeros(H.shape[1])}, alpha, normal)


def _copied(rng: np.random.Generator) -> np.random.Generator:
    """A generator in the same place: the old state must not move when a step is interrupted."""
    other = np.random.Generator(type(rng.bit_generator)())
    other.bit_generator.state = rng.bit_generator.state
    return other


def _with_ones(F: NDArray, k: int) -> NDArray:
    return np.hstack([F[:, :k], np.ones((len(F), 1))])
