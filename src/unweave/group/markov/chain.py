"""Hold the parameters of a hidden Markov chain, and run its recursions over lanes: stretches of rows side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.group.markov.emissions import Emission
from unweave.kernels.gaussian import below_top
from unweave.kernels.markov import forward, retreat, take_lanes, walk

# Densities below e^-230 of the best state's count as that: no chain of finite numbers then meets a step of
# probability zero, and every product stays far from the smallest float.
FAINTEST = -230.0
LANES = 64  # segments that run side by side in one call of a kernel
STEPS = 32  # steps of a block: its arrays stay in the cache from the densities to the sums


@dataclass(frozen=True)
class Lanes:
    """Say which stretches of rows run side by side: ``begin[l] … begin[l] + length[l]``."""

    begin: NDArray
    length: NDArray

    @property
    def steps(self) -> int:
        return int(self.length.max(initial=0))

    def __len__(self) -> int:
        return len(self.begin)

    def blocks(self) -> list[tuple[int, int]]:
        """List the ranges of steps that are worked on at a time."""
        return [(first, min(first + STEPS, self.steps)) for first in range(0, self.steps, STEPS)]


@dataclass
class Chain:
    """Hold the parameters of the model: p(first state), p(next state | state), p(row | state)."""

    start: NDArray
    transition: NDArray
    emission: Emission

    def __post_init__(self):
        self.start = np.ascontiguousarray(self.start, dtype=np.float64)
        self.transition = np.ascontiguousarray(self.transition, dtype=np.float64)
        self.into = np.ascontiguousarray(self.transition.T)

    @property
    def n_states(self) -> int:
        return len(self.start)


@dataclass
class Filtered:
    """Hold a block of steps after the forward pass: ``alpha[:, 0]`` is the step before it."""

    first: int
    b: NDArray  # densities relative to the best state's
    top: NDArray  # log-density of the best state
    alpha: NDArray
    norm: NDArray

    def step_logs(self, lanes: Lanes) -> NDArray:
        """Compute log p(row | rows before), zero past the end of a lane."""
        live = self.first + np.arange(len(self.norm))[:, None] < lanes.length
        return np.where(live, np.log(self.norm) + self.top, 0.0)


def rows_of(X: NDArray, lanes: Lanes, first: int, last: int) -> NDArray:
    """Take the rows of a block of steps, (columns, steps, lanes)."""
    x = np.empty((X.shape[1], last - first, len(lanes)))
    take_lanes(X, lanes.begin, lanes.length, first, x)
    return x


def densities(X: NDArray, chain: Chain, lanes: Lanes, first: int, last: int) -> tuple[NDArray, NDArray]:
    """Compute the densities of a block relative to the best state's, and the log-density of that."""
    steps, width = last - first, len(lanes)
    logs = chain.emission.logs(rows_of(X, lanes, first, last).reshape(X.shape[1], -1))
    top = np.empty(steps * width)
    below_top(logs, FAINTEST, FAINTEST, top)
    np.exp(logs, out=logs)
    return logs.reshape(-1, steps, width), top.reshape(steps, width)


def filtered(X: NDArray, chain: Chain, lanes: Lanes, before: NDArray, opens: NDArray) -> Iterator[Filtered]:
    """Run the forward pass, block by block.

    `before` (states, lanes) are the filtered probabilities at the step before each lane; a lane that opens a sequence
    has none and begins with the start probabilities.
    """
    before = np.where(opens, 0.0, before)
    predicted = np.where(opens, chain.start[:, None], chain.into @ before)
    for first, last in lanes.blocks():
        b, top = densities(X, chain, lanes, first, last)
        alpha, norm = np.empty((len(b), last - first + 1, len(lanes))), np.empty(top.shape)
        alpha[:, 0] = before
        forward(b, chain.into, predicted, alpha, norm)
        before = alpha[:, -1]
        yield Filtered(first, b, top, alpha, norm)


def last_alpha(X: NDArray, chain: Chain, lanes: Lanes, before: NDArray, opens: NDArray) -> NDArray:
    """Compute the filtered probabilities at the last step of every lane, (states, lanes)."""
    end = np.empty_like(before)
    for block in filtered(X, chain, lanes, before, opens):
        keep_ends(block, lanes, end)
    return end


def keep_ends(block: Filtered, lanes: Lanes, end: NDArray) -> None:
    """Note the filtered probabilities of lanes that end in this block."""
    at = lanes.length - block.first
    here = np.flatnonzero((at >= 1) & (at < block.alpha.shape[1]))
    end[:, here] = block.alpha[:, at[here], here]


def message_before(X: NDArray, chain: Chain, lanes: Lanes, after: NDArray) -> NDArray:
    """Compute what the rows of every lane, and `after` beyond its end, say of the state at the step before it."""
    message = after.copy()
    for first, last in reversed(lanes.blocks()):
        b, _ = densities(X, chain, lanes, first, last)
        retreat(b, chain.transition, lanes.length, first, message)
    return message


def draw(chain: Chain, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw one sequence of `n` steps: its rows and its states."""
    states = np.empty(n, np.int64)
    ends = np.cumsum(chain.transition, axis=1)
    walk(np.cumsum(chain.start) / chain.start.sum(), ends / ends[:, -1:], rng.random(n), states)
    return chain.emission.draw(states, rng), states


def shares(counts: NDArray, prior: float, former: NDArray) -> NDArray:
    """Turn each row of `counts` plus `prior` into shares; a row of zeros keeps its former shares.

    >>> shares(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.0, np.full((2, 2), 0.5)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    total = (counts + prior).sum(axis=-1, keepdims=True)
    return np.where(total > 0, (counts + prior) / np.where(total > 0, total, 1.0), former)
