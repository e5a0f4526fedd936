"""Describe what a state shows: a Gaussian with a diagonal or a full covariance, or one of a set of symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from unweave import parallel
from unweave.data.spread import need_spread
from unweave.kernels.markov import (
    count_symbols,
    diagonal_densities,
    diagonal_moments,
    full_densities,
    full_moments,
    symbol_densities,
)

_LOG_2PI = float(np.log(2 * np.pi))
ROUNDING = 1e-28  # squared differences below this share of the square of what they are differences of are none
LEAST = 1e-100  # probabilities below this count as this: no symbol is impossible
_SINGULAR = "the covariance of a state is singular: raise emission_prior, or use fewer states"


class Emission(Protocol):
    """Describe what the states show: densities, and the sums that a better emission is made from."""

    def logs(self, x: NDArray) -> NDArray:
        """Compute log p(row | state) of a block of columns, (states, rows)."""

    def zeros(self) -> NDArray:
        """Make empty sums."""

    def add(self, sums: NDArray, x: NDArray, gamma: NDArray) -> None:
        """Add a block of columns to the sums, each weighted by gamma (states, rows)."""

    def improved(self, sums: NDArray, prior: float) -> Emission:
        """Find the emission that explains the sums best, with `prior` observations added."""

    def log_prior(self, prior: float) -> float:
        """Compute log p(parameters), but for a constant."""

    def n_parameters(self) -> int:
        """Count the free numbers of all states."""

    def draw(self, states: NDArray, rng: np.random.Generator) -> NDArray:
        """Draw rows that these states show."""

    def arrays(self) -> dict[str, NDArray]:
        """Return the parameters by name."""

    def like(self, arrays: Mapping[str, NDArray]) -> Emission:
        """Make the same kind of emission with other parameters."""

    def shapes(self, k: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters of k states."""


@dataclass(frozen=True)
class Spread:
    """Hold the mean of each training column, which sums are taken about, and its variance.

    `expected` is the variance of the rows that the prior adds.
    """

    centre: NDArray
    variance: NDArray
    expected: NDArray


@dataclass
class _Gaussian:
    """Hold the parameters of Gaussian states of any covariance."""

    means: NDArray
    covariances: NDArray
    spread: Spread

    def arrays(self) -> dict[str, NDArray]:
        return {"means": self.means, "covariances": self.covariances}

    def shapes(self, k: int) -> dict[str, tuple[int, ...]]:
        return {"means": (k, self.means.shape[1]), "covariances": (k, *self.covariances.shape[1:])}


@dataclass
class DiagonalGaussian(_Gaussian):
    """Show a Gaussian with independent columns.

    log p(x | k) = Σ_j −½ log 2πσ²_kj − ½ (x_j − μ_kj)²/σ²_kj, over the entries that were seen.
    """

    def __post_init__(self):
        if not (self.covariances > 0).all():
            raise ValueError(_SINGULAR)

    def like(self, arrays: Mapping[str, NDArray]) -> DiagonalGaussian:
        return DiagonalGaussian(arrays["means"], arrays["covariances"], self.spread)

    def expected_covariances(self, k: int) -> NDArray:
        """Return the covariances that the prior expects of k states."""
        return np.stack([self.spread.expected] * k)

    def logs(self, x: NDArray) -> NDArray:
        out = np.empty((len(self.means), x.shape[1]))
        constant = -0.5 * (_LOG_2PI + np.log(self.covariances))
        diagonal_densities(x, self.means, 1.0 / self.covariances, constant, out)
        return out

    def zeros(self) -> NDArray:
        return np.zeros((len(self.means), 3 * self.means.shape[1]))

    def add(self, sums: NDArray, x: NDArray, gamma: NDArray) -> None:
        moments = np.empty((3 * len(x), x.shape[1]))
        diagonal_moments(x, self.spread.centre, moments)
        sums += gamma @ moments.T

    def improved(self, sums: NDArray, prior: float) -> DiagonalGaussian:
        """Find means and variances that explain the sums best, with `prior` rows of the variance `expected` added."""
        count, linear, square = np.split(sums, 3, axis=1)
        held = count > 0
        safe = np.where(held, count, 1.0)
        means = np.where(held, linear / safe + self.spread.centre, self.means)
        scatter = np.maximum(square - linear * linear / safe, 0.0)
        expected = prior * self.spread.expected
        return DiagonalGaussian(means, _shrunk(scatter, count, expected, prior, self.covariances), self.spread)

    def log_prior(self, prior: float) -> float:
        ratio = self.spread.expected / self.covariances
        return -0.5 * prior * float((np.log(self.covariances) + ratio).sum())

    def n_parameters(self) -> int:
        return 2 * self.means.size

    def draw(self, states: NDArray, rng: np.random.Generator) -> NDArray:
        noise = rng.standard_normal((len(states), self.means.shape[1]))
        return self.means[states] + np.sqrt(self.covariances)[states] * noise


@dataclass
class FullGaussian(_Gaussian):
    """Show a Gaussian whose columns vary together: log p(x | k) = −½ log |2πΣ_k| − ½ (x − μ_k)ᵀ Σ_k⁻¹ (x − μ_k)."""

    def __post_init__(self):
        try:
            roots = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise ValueError(_SINGULAR) from None
        eye = np.eye(self.means.shape[1])
        inverse = np.stack([solve_triangular(root, eye, lower=True) for root in roots])
        logs = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        self._inverse, self._roots, self._log_root = np.ascontiguousarray(inverse), roots, logs

    def like(self, arrays: Mapping[str, NDArray]) -> FullGaussian:
        return FullGaussian(arrays["means"], arrays["covariances"], self.spread)

    def expected_covariances(self, k: int) -> NDArray:
        """Return the covariances that the prior expects of k states."""
        return np.stack([np.diag(self.spread.expected)] * k)

    def logs(self, x: NDArray) -> NDArray:
        out = np.empty((len(self.means), x.shape[1]))
        full_densities(x, self.means, self._inverse, -0.5 * _LOG_2PI * len(x) - self._log_root, out)
        return out

    def zeros(self) -> NDArray:
        d = self.means.shape[1]
        return np.zeros((len(self.means), 1 + d + d * (d + 1) // 2))

    def add(self, sums: NDArray, x: NDArray, gamma: NDArray) -> None:
        moments = np.empty((sums.shape[1], x.shape[1]))
        full_moments(x, self.spread.centre, moments)
        sums += gamma @ moments.T

    def improved(self, sums: NDArray, prior: float) -> FullGaussian:
        """Find means and covariances that explain the sums best; the rows of the prior have no correlation."""
        d = self.means.shape[1]
        count, linear = sums[:, :1], sums[:, 1 : 1 + d]
        safe = np.where(count > 0, count, 1.0)
        means = np.where(count > 0, linear / safe + self.spread.centre, self.means)
        square = np.empty((len(sums), d, d))
        upper = np.triu_indices(d)
        square[:, upper[0], upper[1]] = square[:, upper[1], upper[0]] = sums[:, 1 + d :]
        scatter = square - linear[:, :, None] * (linear / safe)[:, None, :]
        expected = prior * np.diag(self.spread.expected)
        shrunk = _shrunk(scatter, count[:, :, None], expected, prior, self.covariances)
        return FullGaussian(means, shrunk, self.spread)

    def log_prior(self, prior: float) -> float:
        traces = np.einsum("kij,j,kij->", self._inverse, self.spread.expected, self._inverse)
        return -0.5 * prior * float(2 * self._log_root.sum() + traces)

    def n_parameters(self) -> int:
        k, d = self.means.shape
        return k * d + k * d * (d + 1) // 2

    def draw(self, states: NDArray, rng: np.random.Generator) -> NDArray:
        noise = rng.standard_normal((len(states), self.means.shape[1]))
        return self.means[states] + np.einsum("nij,nj->ni", self._roots[states], noise)


def _shrunk(scatter: NDArray, count: NDArray, expected: NDArray, prior: float, former: NDArray) -> NDArray:
    """Compute (scatter + expected) / (count + prior); without prior, a state without rows keeps its own."""
    total = count + prior
    return np.where(total > 0, (scatter + expected) / np.where(total > 0, total, 1.0), former)


@dataclass(frozen=True)
class Symbols:
    """Show one of a set of symbols: p(symbol s | state k) = probabilities[k, s]."""

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
        """Take the shares of the counts, with `prior` added to each; a state that shows nothing keeps its own."""
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

    def arrays(self) -> dict[str, NDArray]:
        return {"probabilities": self.probabilities}

    def like(self, arrays: Mapping[str, NDArray]) -> Symbols:
        return Symbols(arrays["probabilities"])

    def shapes(self, k: int) -> dict[str, tuple[int, ...]]:
        return {"probabilities": (k, self.probabilities.shape[1])}


GAUSSIANS: dict[str, type[DiagonalGaussian] | type[FullGaussian]] = {"diag": DiagonalGaussian, "full": FullGaussian}


def spread_of(X: NDArray) -> Spread:
    """Find mean and variance of the columns over what was seen; one that does not vary counts as of variance one."""
    for column in X.T:
        need_spread(column, np.float64)
    count, centre = _sums(X, np.zeros(X.shape[1]), 1)
    centre = centre / np.maximum(count, 1)
    variance = _sums(X, centre, 2)[1] / np.maximum(count, 1)
    variance = np.where(variance <= ROUNDING * centre * centre, 1.0, variance)
    return Spread(centre, variance, variance)


def _sums(X: NDArray, centre: NDArray, power: int) -> tuple[NDArray, NDArray]:
    """Count how many entries of each column were seen, and sum (x − centre)^power over them."""

    def part(start: int, stop: int) -> tuple[NDArray, NDArray]:
        apart = X[start:stop] - centre
        hole = np.isnan(apart)
        apart[hole] = 0.0
        return (~hole).sum(axis=0), (apart**power).sum(axis=0)

    counts, totals = zip(*parallel.run(part, len(X), max(1, (1 << 18) // X.shape[1])), strict=True)
    return sum(counts[1:], start=counts[0]), sum(totals[1:], start=totals[0])


def one_gaussian(kind: str, spread: Spread) -> DiagonalGaussian | FullGaussian:
    """Make an emission of one state, to be improved or to make others like it: its numbers do not matter."""
    d = len(spread.centre)
    return GAUSSIANS[kind](np.zeros((1, d)), np.ones((1, d)) if kind == "diag" else np.eye(d)[None], spread)


def one_symbol_table(n_symbols: int) -> Symbols:
    """Make an emission of one state that shows every symbol as often."""
    return Symbols(np.full((1, n_symbols), 1.0 / n_symbols))
