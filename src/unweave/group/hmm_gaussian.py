"""States that show a Gaussian, with a diagonal or a full covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from unweave import parallel
from unweave.data.tiny_values import need_spread
from unweave.kernels.markov import diagonal_densities, diagonal_moments, full_densities, full_moments

_LOG_2PI = float(np.log(2 * np.pi))
ROUNDING = 1e-28  # squared differences below this share of the square of what they are differences of are none
_SINGULAR = "the covariance of a state is singular: raise emission_prior, or use fewer states"


@dataclass(frozen=True)
class Spread:
    """Of each training column the mean, which sums are taken about, and the variance; `expected` is the variance of
    the prior's rows."""

    centre: NDArray
    variance: NDArray
    expected: NDArray


@dataclass
class DiagonalGaussian:
    """log p(x | k) = Σ_j −½ log 2πσ²_kj − ½ (x_j − μ_kj)²/σ²_kj, over the entries that were seen."""

    means: NDArray
    covariances: NDArray
    spread: Spread

    def __post_init__(self):
        if not (self.covariances > 0).all():
            raise ValueError(_SINGULAR)

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
        """Means and variances that explain the sums best, with `prior` rows of the variance `expected` added."""
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
class FullGaussian:
    """log p(x | k) = −½ log |2πΣ_k| − ½ (x − μ_k)ᵀ Σ_k⁻¹ (x − μ_k)."""

    means: NDArray
    covariances: NDArray
    spread: Spread

    def __post_init__(self):
        try:
            roots = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise ValueError(_SINGULAR) from None
        eye = np.eye(self.means.shape[1])
        inverse = np.stack([solve_triangular(root, eye, lower=True) for root in roots])
        logs = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        self._inverse, self._roots, self._log_root = np.ascontiguousarray(inverse), roots, logs

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
        """As for the diagonal; the prior rows have no correlation."""
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
    """(scatter + expected) / (count + prior); a state that no row belongs to keeps its own if there is no prior."""
    total = count + prior
    return np.where(total > 0, (scatter + expected) / np.where(total > 0, total, 1.0), former)


GAUSSIANS: dict[str, type] = {"diag": DiagonalGaussian, "full": FullGaussian}


def spread_of(X: NDArray) -> Spread:
    """Mean and variance of the columns over what was seen; a column that does not vary counts as of variance one."""
    for column in X.T:
        need_spread(column, np.float64)
    count, centre = _sums(X, np.zeros(X.shape[1]), 1)
    centre = centre / np.maximum(count, 1)
    variance = _sums(X, centre, 2)[1] / np.maximum(count, 1)
    variance = np.where(variance <= ROUNDING * centre * centre, 1.0, variance)
    return Spread(centre, variance, variance)


def _sums(X: NDArray, centre: NDArray, power: int) -> tuple[NDArray, NDArray]:
    """How many entries of each column were seen, and the sum of (x − centre)^power over them."""

    def part(start: int, stop: int) -> tuple[NDArray, NDArray]:
        apart = X[start:stop] - centre
        hole = np.isnan(apart)
        apart[hole] = 0.0
        return (~hole).sum(axis=0), (apart**power).sum(axis=0)

    counts, totals = zip(*parallel.run(part, len(X), max(1, (1 << 18) // X.shape[1])), strict=True)
    return sum(counts[1:], start=counts[0]), sum(totals[1:], start=totals[0])
