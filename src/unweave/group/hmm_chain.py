"""A hidden Markov chain with its parameters, and its recursions over lanes of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.group.hmm_segments import Lanes
from unweave.kernels.markov import below_top, forward, retreat, take_lanes

# Densities below e^-230 of the best state's count as that: no chain of finite numbers then meets a step of
# probability zero, and every product stays far from the smallest float.
FAINTEST = -230.0


class Emission(Protocol):
    """What a state shows: log-densities of a block of columns, and the sums that a better emission is made from."""

    def logs(self, x: NDArray) -> NDArray: ...

    def zeros(self) -> NDArray: ...

    def add(self, sums: NDArray, x: NDArray, gamma: NDArray) -> None: ...

    def improved(self, sums: NDArray, prior: float) -> Emission: ...

    def log_prior(self, prior: float) -> float: ...

    def n_parameters(self) -> int: ...

    def draw(self, states: NDArray, rng: np.random.Generator) -> NDArray: ...


@dataclass
class Chain:
    """Parameters of the model: p(first state), p(next state | state), p(row | state)."""

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
    """A block of steps after the forward pass: ``alpha[:, 0]`` is the step before it."""

    first: int
    b: NDArray  # densities relative to the best state's
    top: NDArray  # log-density of the best state
    alpha: NDArray
    norm: NDArray

    def step_logs(self, lanes: Lanes) -> NDArray:
        """log p(row | rows before), zero past the end of a lane."""
        live = self.first + np.arange(len(self.norm))[:, None] < lanes.length
        return np.where(live, np.log(self.norm) + self.top, 0.0)


def rows_of(X: NDArray, lanes: Lanes, first: int, last: int) -> NDArray:
    """The rows of a block of steps, (columns, steps, lanes)."""
    x = np.empty((X.shape[1], last - first, len(lanes)))
    take_lanes(X, lanes.begin, lanes.length, first, x)
    return x


def densities(X: NDArray, chain: Chain, lanes: Lanes, first: int, last: int) -> tuple[NDArray, NDArray]:
    """Densities of a block relative to the best state's, and the log-density of that."""
    steps, width = last - first, len(lanes)
    logs = chain.emission.logs(rows_of(X, lanes, first, last).reshape(X.shape[1], -1))
    top = np.empty(steps * width)
    below_top(logs, FAINTEST, top)
    np.exp(logs, out=logs)
    return logs.reshape(-1, steps, width), top.reshape(steps, width)


def filtered(X: NDArray, chain: Chain, lanes: Lanes, before: NDArray, opens: NDArray) -> Iterator[Filtered]:
    """The forward pass, block by block.

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
    """Filtered probabilities at the last step of every lane, (states, lanes)."""
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
    """What the rows of every lane, and `after` beyond its end, say of the state at the step before it."""
    message = after.copy()
    for first, last in reversed(lanes.blocks()):
        b, _ = densities(X, chain, lanes, first, last)
        retreat(b, chain.transition, lanes.length, first, message)
    return message
