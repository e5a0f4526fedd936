"""States that show one of a set of symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.kernels.markov import count_symbols, symbol_densities

LEAST = 1e-100  # probabilities below this count as this: no symbol is impossible


@dataclass(frozen=True)
class Symbols:
    """p(symbol s | state k) = probabilities[k, s]."""

    probabilities: NDArray

    def logs(self, x: NDArray) -> NDArray:
        out = np.empty((len(self.probabilities), x.shape[1]))
        symbol_densities(x, np.log(np.maximum(self.probabilities, LEAST)), out)
        return out

    def zeros(self) -> NDArray:
        return np.zeros(self.probabilities.shape)

    def add(self, sums: NDArray, x: NDArray, gamma: NDArray) -> None:
        count_symbols(x, gamma, sums)

    def improved(self, sums: NDArray, prior: float) -> Symbols:
        """Shares of the counts, with `prior` added to each; a state that shows nothing keeps its own."""
        counts = sums + prior
        total = counts.sum(axis=1, keepdims=True)
        return Symbols(np.where(total > 0, counts / np.where(total > 0, total, 1.0), self.probabilities))

    def log_prior(self, prior: float) -> float:
        return prior * float(np.log(np.maximum(self.probabilities, LEAST)).sum())

    def n_parameters(self) -> int:
        k, symbols = self.probabilities.shape
        return k * (symbols - 1)

    def draw(self, states: NDArray, rng: np.random.Generator) -> NDArray:
        ends = np.cumsum(self.probabilities, axis=1)
        ends /= ends[:, -1:]
        symbols = (rng.random(len(states))[:, None] >= ends[states]).sum(axis=1)
        return np.minimum(symbols, self.probabilities.shape[1] - 1)[:, None]
