"""Fit a hidden Markov chain by Baum–Welch: expectation–maximisation as a scheme of the one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.group.markov.chain import Chain, shares
from unweave.group.markov.choice import stretches
from unweave.group.markov.emissions import Emission
from unweave.group.markov.segments import RUN_UP, Segments, cut
from unweave.group.markov.start import race
from unweave.group.markov.sweep import Sums, expected_sums
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme

_LEAST = 1e-300
_BLOCK = 1 << 15

MakeChain = Callable[[NDArray, NDArray, np.random.Generator, int], Chain]  # from rows, lengths, generator and trial


@dataclass(frozen=True)
class Priors:
    """Hold the pseudo-counts of each first state, of each move between two states, and of the emission."""

    start: float
    transition: float
    emission: float


@dataclass(eq=False)
class BaumWelch(Scheme):
    """Minimise −log p(X) − log prior.

    A step first finds the parameters that explain the expected counts best, then takes the expected counts under them,
    so the objective returned belongs to the parameters in the state. Pseudo-counts are Dirichlet priors: each row of
    the transition matrix is (counts + prior) / Σ, the maximum of Σ_j (counts_j + prior) log a_j; hence the objective
    never rises.

    Parameters
    ----------
    X : array (rows, columns)
    segments : Segments
    priors : Priors
    one : Emission
        An emission of one state, which says the kind of all.
    first : callable
        ``rng -> chain``: the chain to begin with.
    tol : float
        The fit has settled when a step gains no more than this share of what the states explain.
    """

    X: NDArray
    segments: Segments
    priors: Priors
    one: Emission
    first: Callable[[np.random.Generator], Chain]
    tol: float = 0.0

    def __post_init__(self):
        self.ending = f"a step gained no more than tol={self.tol:g} of what the states explain"

    def begin(self, rng=None) -> dict:
        """Make the state whose first step improves the first chain."""
        return self.state_at(self.first(rng))

    def state_at(self, chain: Chain) -> dict:
        """Make the state whose first step improves `chain`."""
        sums, run_up = expected_sums(self.X, chain, self.segments, RUN_UP)
        return self._state(chain, sums, run_up, np.inf)

    def chain(self, state: dict) -> Chain:
        """Make the chain of a state."""
        return Chain(state["start"], state["transition"], self.one.like(state))

    def step(self, state: dict) -> tuple[dict, float]:
        """Improve the chain by its expected counts, and count anew."""
        chain = self.chain(state)
        better = Chain(
            shares(state["start_sums"], self.priors.start, chain.start),
            shares(state["move_sums"], self.priors.transition, chain.transition),
            chain.emission.improved(state["emission_sums"], self.priors.emission),
        )
        sums, run_up = expected_sums(self.X, better, self.segments, int(state["run_up"]))
        new = self._state(better, sums, run_up, state["objective"])
        return new, new["objective"]

    def settled(self, state: dict) -> bool:
        """Whether a step gained no more than `tol` of what the states explain.

        They explain log p(X) beyond that of a single state: near a saddle, where all states are alike, that is nothing
        and the fit goes on, whatever the units of X. It counts as at least one nat in all, at most one for each row.
        """
        n = len(self.X)
        explained = min(max(state["log_likelihood"] - self._single, 1.0), n)
        return state["gain"] * n <= self.tol * explained

    def adapt(self, loop: Loop) -> Loop:
        """Ask `settled` alone, unless the user wants every step (``tol=0``)."""
        return replace(loop, tol=None) if loop.tol else loop

    @cached_property
    def _single(self) -> float:
        """Compute log p(X) where a single state shows all rows."""
        return alone(self.X, self.one, self.priors.emission)

    def log_prior(self, chain: Chain) -> float:
        """Compute log p(parameters), but for a constant."""
        logs = self.priors.start * _sum_of_logs(chain.start) + self.priors.transition * _sum_of_logs(chain.transition)
        return logs + chain.emission.log_prior(self.priors.emission)

    def _state(self, chain: Chain, sums: Sums, run_up: int, former: float) -> dict:
        objective = -(sums.log_likelihood + self.log_prior(chain))
        return {
            "start": chain.start,
            "transition": chain.transition,
            **chain.emission.arrays(),
            "start_sums": sums.start,
            "move_sums": sums.moves,
            "emission_sums": sums.emission,
            "run_up": run_up,
            "log_likelihood": sums.log_likelihood,
            "objective": objective,
            "gain": (former - objective) / len(self.X),
        }


def baum_welch(
    X: NDArray, lengths: NDArray, k: int, one: Emission, priors: Priors, start: MakeChain, tries: int, tol: float
) -> BaumWelch:
    """Make the scheme of a table with k states; it begins with the best of several starts.

    Starts race on a part of a long table.
    """

    def first(rng: np.random.Generator) -> Chain:
        if tries == 1:
            return start(X, lengths, rng, 0)
        parts = stretches(X, lengths)
        rows, own = np.concatenate(parts), np.array([len(part) for part in parts])
        trial = BaumWelch(rows, cut(own, k), priors, one, lambda rng: start(rows, own, rng, 0), tol)
        states = [trial.state_at(start(rows, own, rng, number)) for number in range(tries)]
        return trial.chain(race(trial, states))

    return BaumWelch(X, cut(lengths, k), priors, one, first, tol)


def _sum_of_logs(probabilities: NDArray) -> float:
    """Sum the logarithms of probabilities, zeros counted as tiny ones."""
    return float(np.log(np.maximum(probabilities, _LEAST)).sum())


def alone(X: NDArray, one: Emission, prior: float) -> float:
    """Compute log p(X) where a single state shows all rows."""
    sums = one.zeros()
    for x in _columns(X):
        one.add(sums, x, np.ones((1, x.shape[1])))
    fitted = one.improved(sums, prior)
    return sum(float(fitted.logs(x).sum()) for x in _columns(X))


def _columns(X: NDArray) -> Iterator[NDArray]:
    """Yield blocks of rows, turned so that every row is a column."""
    for i in range(0, len(X), _BLOCK):
        yield np.ascontiguousarray(X[i : i + _BLOCK].T, dtype=np.float64)
