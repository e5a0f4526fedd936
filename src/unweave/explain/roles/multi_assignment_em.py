"""The mixture-noise model of multi-assignment clustering, and its annealed EM.

A user with the set L of roles lacks permission d by structure with probability q_Ld = Π_{k∈L} β_kd. With probability ε
a cell is noise instead, which is 1 with probability r:

    p(x_d = 1 | L) = ε r + (1 − ε)(1 − q_Ld),        p(x_d = 0 | L) = ε (1 − r) + (1 − ε) q_Ld.

All sets up to a size are equally likely beforehand. At the temperature T the posterior of the sets is
γ_iL ∝ p(x_i | L)^{1/T}, and what is minimised is F_T = −T Σ_i log mean_L p(x_i | L)^{1/T}, which at T = 1 is minus the
log-likelihood. As a power mean it never rises when T falls, so no step of the whole annealing raises it.

The maximisation treats the coins of the roles and the noise of every cell as unseen, too (a noisy OR): with the sums
A_Ld = Σ_i γ_iL x_id and B_Ld = Σ_i γ_iL (1 − x_id) all its steps are sums over sets, without the users.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.explain.roles.access import Access
from unweave.group.mixtures.em import EM

MOST_SETS = 5000  # sets of roles that are weighed for every user
_SIZE = 3  # roles of a set, where so many sets are not too many
_PRIOR = 0.01  # pseudo-counts of either side of every coin of a role
_EDGE = 1e-9  # probabilities of coins end here
_NOISE = (1e-6, 0.95)  # and so does the share of noise
_COLD = 1.0  # where the objective is minus the log-likelihood
_COOLING = 0.85
# Coins of a role that begins anew: crisp, because a role that half fits lives on by being added, at little cost, to the
# sets of users who have no use for it.
_CRISP = (0.01, 0.999)
_SWEEPS = 5  # steps of the maximisation with the same posterior: they cost little beside it
_NUMBERS = 1 << 21  # numbers of a posterior that are in memory at once


def count_sets(k: int, most: int) -> int:
    """Count the sets of at most so many of k roles, the empty one included.

    >>> count_sets(20, 3)
    1351
    """
    return sum(comb(k, size) for size in range(min(most, k) + 1))


def usual_size(k: int) -> int:
    """Return how many roles a set has at most unless told: three, fewer where there would be too many sets."""
    return max([size for size in range(1, _SIZE + 1) if count_sets(k, size) <= MOST_SETS], default=1)


def role_sets(k: int, most: int) -> NDArray[np.uint8]:
    """List the sets of at most so many of k roles as rows of zeros and ones, small ones first.

    >>> role_sets(2, 2).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    out = np.zeros((count_sets(k, most), k), dtype=np.uint8)
    members = (one for size in range(min(most, k) + 1) for one in combinations(range(k), size))
    for row, one in zip(out, members, strict=True):
        row[list(one)] = 1
    return out


@dataclass(frozen=True)
class Cells:
    """Hold zeros and ones of users, eight to the byte, with how often each user and each permission counts.

    `seen` marks the cells that are known; None where all are.
    """

    ones: NDArray[np.uint8]
    seen: NDArray[np.uint8] | None
    users: NDArray[np.float64]
    permissions: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.ones), len(self.permissions)

    def rows(self, which: slice | NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Unpack some users: their permissions, and which cells are known."""
        m = len(self.permissions)
        return _unpacked(self.ones[which], m), None if self.seen is None else _unpacked(self.seen[which], m)


def _unpacked(bits: NDArray[np.uint8], m: int) -> NDArray[np.float64]:
    return np.unpackbits(bits, axis=1, count=m).astype(np.float64)


def cells_of(access: Access, weights: NDArray[np.float64] | None = None) -> Cells:
    """Pack a table of grants, some users at a time."""
    n, m = access.shape
    spans = list(parallel.chunks(n, max(1, 8 * _NUMBERS // m)))
    ones = [np.packbits(access.ones[a:b].toarray() > 0, axis=1) for a, b in spans]
    holes = access.holes
    seen = None if holes is None else np.concatenate([np.packbits(holes[a:b].toarray() == 0, axis=1) for a, b in spans])
    return Cells(np.concatenate(ones), seen, np.ones(n) if weights is None else weights, np.ones(m))


def grouped(cells: Cells) -> tuple[Cells, NDArray[np.intp], NDArray[np.intp]]:
    """Count users that are alike as one, and permissions that are alike, too; where each went.

    Nothing is lost: users that are alike have the same posterior, permissions that are alike the same coins.
    """
    m = len(cells.permissions)
    both = cells.ones if cells.seen is None else np.hstack([cells.ones, cells.seen])
    first, of_user = _distinct(both)
    ones = np.unpackbits(cells.ones[first], axis=1, count=m)
    seen = None if cells.seen is None else np.unpackbits(cells.seen[first], axis=1, count=m)
    columns = ones if seen is None else np.vstack([ones, seen])
    kept, of_permission = _distinct(np.packbits(columns, axis=0).T)
    found = Cells(
        np.packbits(ones[:, kept], axis=1),
        None if seen is None else np.packbits(seen[:, kept], axis=1),
        np.bincount(of_user, cells.users).astype(np.float64),
        np.bincount(of_permission, cells.permissions).astype(np.float64),
    )
    return found, of_user, of_permission


def _distinct(rows: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first of the rows that are alike, and the number of each row among those."""
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


@dataclass(frozen=True)
class Levels:
    """Hold p(x = 0 | L) and p(x = 1 | L) of every set (a row) and permission (a column), and q_L."""

    lacks: NDArray[np.float64]
    zero: NDArray[np.float64]
    one: NDArray[np.float64]


def levels(sets: NDArray, parameters: dict) -> Levels:
    """Compute the probabilities of a zero and of a one under every set."""
    noise, rate = parameters["noise"], parameters["rate"]
    lacks = np.exp(sets @ np.log(parameters["beta"]))
    zero = noise * (1 - rate) + (1 - noise) * lacks
    return Levels(lacks, zero, noise * rate + (1 - noise) * (1 - lacks))


def log_likelihoods(X: NDArray, seen: NDArray | None, found: Levels, weights: NDArray) -> NDArray[np.float64]:
    """Compute log p(x_i | L) for some users (rows) and every set (columns)."""
    zero = np.log(found.zero) * weights
    L = X @ (np.log(found.one) * weights - zero).T
    L += zero.sum(axis=1) if seen is None else seen @ zero.T
    return L


def posteriors(L: NDArray, temperature: float) -> NDArray[np.float64]:
    """Turn log-likelihoods into posteriors of the sets in place; return T log mean_L p^{1/T} of every user."""
    L /= temperature
    top = L.max(axis=1, keepdims=True)
    np.exp(np.subtract(L, top, out=L), out=L)
    total = L.sum(axis=1, keepdims=True)
    L /= total
    return temperature * (np.log(total / L.shape[1]) + top).ravel()


@dataclass
class MixtureNoise:
    """Expect and maximise for these users and these sets of roles."""

    cells: Cells
    sets: NDArray[np.float64]

    def expect(self, parameters: dict) -> tuple[dict, float]:
        """Sum over users at the temperature of the parameters; the bound is −F_T, with the prior, for a mean user."""
        cells, found = self.cells, levels(self.sets, parameters)
        n, _ = cells.shape

        def some(start: int, stop: int) -> tuple:
            X, seen = cells.rows(slice(start, stop))
            G = log_likelihoods(X, seen, found, cells.permissions)
            values = posteriors(G, parameters["temperature"])
            G *= cells.users[start:stop, None]
            mass = G.sum(axis=0)[:, None] if seen is None else G.T @ seen
            return float(cells.users[start:stop] @ values), G.T @ X, mass

        size = max(64, _NUMBERS // len(self.sets), -(-n // 16))
        value, held, known = 0.0, np.zeros_like(found.zero), np.zeros_like(found.zero)
        for part, ones, mass in parallel.run(some, n, size):
            value, held, known = value + part, held + ones, known + mass
        bound = (value + self.log_prior(parameters)) / cells.users.sum()
        return {"held": held, "lacking": np.maximum(known - held, 0)}, float(bound)

    def log_prior(self, parameters: dict) -> float:
        """Compute the logarithm of the Beta prior of the coins, up to a constant."""
        beta = parameters["beta"]
        return _PRIOR * float(((np.log(beta) + np.log1p(-beta)) * self.cells.permissions).sum())

    def maximise(self, state: dict) -> dict:
        """Find better coins and noise for the sums of a state, and lower the temperature."""
        weights, sets = self.cells.permissions, self.sets
        parameters = {name: state[name] for name in ("beta", "noise", "rate")}
        for _ in range(_SWEEPS):
            beta, noise, rate, found = *parameters.values(), levels(sets, parameters)
            held, lacking = state["held"] / found.one, state["lacking"] / found.zero
            on = (1 - beta) * (1 - noise) * (sets.T @ held)  # coins of a role that gave the permission
            tossed = (1 - noise) * (sets.T @ (held * (1 - found.lacks) + lacking * found.lacks))
            beta = np.clip((tossed - on + _PRIOR) / (tossed + 2 * _PRIOR), _EDGE, 1 - _EDGE)
            ones = noise * rate * float((held @ weights).sum())
            zeros = noise * (1 - rate) * float((lacking @ weights).sum())
            total = float(((state["held"] + state["lacking"]) @ weights).sum())
            noise = float(np.clip((ones + zeros) / total, *_NOISE))
            rate = float(np.clip(ones / max(ones + zeros, 1e-300), _EDGE, 1 - _EDGE))
            parameters = {"beta": beta, "noise": noise, "rate": rate}
        return {**parameters, "temperature": max(_COLD, _COOLING * state["temperature"])}

    def revive(self, state: dict, parameters: dict, trial: int) -> dict | None:
        """Let a role that grants nothing, or that nobody has, begin anew with users who are explained badly.

        None if there is no such role, or while it is hot. Other trials take other users.
        """
        if state["temperature"] > _COLD:
            return None
        beta, sets = parameters["beta"], self.sets
        have = sets.T @ (state["held"] + state["lacking"]).max(axis=1)
        idle = np.flatnonzero((beta.min(axis=1) >= 0.5) | (have < 0.5))
        if not len(idle):
            return None
        found = levels(sets, parameters)

        def some(start: int, stop: int) -> NDArray[np.float64]:
            X, seen = self.cells.rows(slice(start, stop))
            L = log_likelihoods(X, seen, found, self.cells.permissions)
            return -self.cells.users[start:stop] * L.max(axis=1)

        lost = np.concatenate(parallel.run(some, len(self.cells.ones), max(64, _NUMBERS // len(sets))))
        worst = int(np.argsort(-lost, kind="stable")[min(trial, len(lost) - 1)])
        X, _ = self.cells.rows(slice(worst, worst + 1))
        beta = beta.copy()
        beta[idle[0]] = np.where(X[0] > 0, *_CRISP)
        return {**parameters, "beta": beta}

    def first(self, em: EM, rng: np.random.Generator | None, trial: int) -> dict:
        """Begin with roles that lean to users far apart, so hot that every set is still likely."""
        rng = np.random.default_rng(0) if rng is None else rng
        k = self.sets.shape[1]
        leaning = self._far_apart(k, rng)
        beta = np.clip(0.8 - 0.6 * leaning + rng.uniform(-0.02, 0.02, leaning.shape), 0.05, 0.95)
        X, seen = self.cells.rows(np.unique(np.linspace(0, len(self.cells.ones) - 1, 1000).astype(np.intp)))
        shares = X.mean() if seen is None else X.sum() / max(seen.sum(), 1)
        parameters = {"beta": beta, "noise": 0.1, "rate": float(np.clip(shares, 0.01, 0.99)), "temperature": 1.0}
        L = log_likelihoods(X, seen, levels(self.sets, parameters), self.cells.permissions)
        parameters["temperature"] = max(1.0, float(L.std(axis=1).mean()))
        return em.state_at(parameters)

    def _far_apart(self, k: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw k users far apart from each other, by how many permissions they differ in."""
        cells, n = self.cells, self.cells.shape[0]
        drawn = np.sort(rng.choice(n, min(n, 2000), replace=False, p=cells.users / cells.users.sum()))
        X, _ = cells.rows(drawn)
        apart, chosen = cells.users[drawn].astype(np.float64), []
        nearest = np.full(len(X), np.inf)
        for _ in range(k):
            total = apart.sum()
            at = int(rng.choice(len(X), p=apart / total)) if total > 0 else int(rng.integers(len(X)))
            chosen.append(at)
            nearest = np.minimum(nearest, np.abs(X - X[at]) @ cells.permissions)
            apart = nearest * cells.users[drawn]
        return X[chosen]


@dataclass(eq=False)
class Annealed(EM):
    """EM of which every step also lowers the temperature, until it is cold."""

    def step(self, state: dict) -> tuple[dict, float]:
        """Maximise, and expect anew at a lower temperature; where rounding forbids a step, only cool."""
        found, objective = super().step(state)
        if found["temperature"] == state["temperature"] > _COLD:
            cooler = {"temperature": max(_COLD, _COOLING * state["temperature"])}
            parameters = {name: state[name] for name in ("beta", "noise", "rate")}
            found = self._attempt(state, {**parameters, **cooler}) or found
            objective = -found["bound"]
        return found, objective

    def settled(self, state: dict) -> bool:
        """Whether it is cold, and the last step raised the bound by no more than `tol`."""
        return state["temperature"] == _COLD and super().settled(state)
