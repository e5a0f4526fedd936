"""Baum–Welch: expectation–maximisation for hidden Markov chains, as a scheme of the one loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.group.hmm_boundaries import RUN_UP
from unweave.group.hmm_chain import Chain
from unweave.group.hmm_segments import Segments
from unweave.group.hmm_sweep import Sums, expected_sums

_LEAST = 1e-300


@dataclass(frozen=True)
class Priors:
    """Pseudo-counts of each first state, of each move between two states, and of the emission."""

    start: float
    transition: float
    emission: float


@dataclass(frozen=True)
class BaumWelch:
    """Minimise −log p(X) − log prior.

    A step first finds the parameters that explain the expected counts best, then takes the expected counts under them,
    so the objective returned belongs to the parameters in the state. Pseudo-counts are Dirichlet priors: each row of
    the transition matrix is (counts + prior) / Σ, the maximum of Σ_j (counts_j + prior) log a_j; hence the objective
    never rises.
    """

    X: NDArray
    segments: Segments
    priors: Priors
    to_chain: Callable[[dict], Chain]
    from_emission: Callable[[Any], dict]

    def begin(self, chain: Chain) -> dict:
        """The state whose first step is the first improvement of `chain`."""
        sums, run_up = expected_sums(self.X, chain, self.segments, RUN_UP)
        return self._state(chain, sums, run_up, np.inf)

    def step(self, state: dict) -> tuple[dict, float]:
        chain = self.to_chain(state)
        better = Chain(
            shares(state["start_sums"], self.priors.start, chain.start),
            shares(state["move_sums"], self.priors.transition, chain.transition),
            chain.emission.improved(state["emission_sums"], self.priors.emission),
        )
        sums, run_up = expected_sums(self.X, better, self.segments, int(state["run_up"]))
        new = self._state(better, sums, run_up, state["objective"])
        return new, new["objective"]

    def log_prior(self, chain: Chain) -> float:
        """log p(parameters), but for a constant."""
        logs = self.priors.start * _sum_of_logs(chain.start) + self.priors.transition * _sum_of_logs(chain.transition)
        return logs + chain.emission.log_prior(self.priors.emission)

    def _state(self, chain: Chain, sums: Sums, run_up: int, former: float) -> dict:
        objective = -(sums.log_likelihood + self.log_prior(chain))
        return {
            "start": chain.start,
            "transition": chain.transition,
            **self.from_emission(chain.emission),
            "start_sums": sums.start,
            "move_sums": sums.moves,
            "emission_sums": sums.emission,
            "run_up": run_up,
            "log_likelihood": sums.log_likelihood,
            "objective": objective,
            "gain": (former - objective) / len(self.X),
        }


def _sum_of_logs(probabilities: NDArray) -> float:
    return float(np.log(np.maximum(probabilities, _LEAST)).sum())


def shares(counts: NDArray, prior: float, former: NDArray) -> NDArray:
    """Each row of `counts` plus `prior`, as shares; a row of zeros keeps its former shares.

    >>> shares(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0, np.full((2, 2), 0.5)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    total = (counts + prior).sum(axis=-1, keepdims=True)
    return np.where(total > 0, (counts + prior) / np.where(total > 0, total, 1.0), former)
