"""Features in the sampler: the prior mean of a row is a linear map of its features, drawn with everything else.

    u_i ~ N(μ + A f_i, Λ⁻¹),   A ~ N(0, (ρΛ)⁻¹) for each feature,   ρ ~ Gamma(½, ½)

Reference: Simm, Arany, Zakeri et al. (2017), Macau: scalable Bayesian factorization with high-dimensional side
information using MCMC.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.complete.features_side import Side
from unweave.complete.units import Units


class DrawnSide:
    """The features of one side (mean zero, spread one), and draws of the map from them to vectors and biases."""

    def __init__(self, side: Side):
        self.side, self.F = side, np.ascontiguousarray(side.table[:, :-1])  # μ takes the place of the constant
        values, self.vectors = np.linalg.eigh(self.F.T @ self.F)
        self.values = np.maximum(values, 0.0)

    @property
    def n_features(self) -> int:
        return self.F.shape[1]

    def means(self, A: NDArray) -> NDArray:
        """What the features add to the prior mean of each row."""
        return self.F @ A

    def draw(self, rows: NDArray, precision: NDArray, rho: float, rng: np.random.Generator) -> tuple[NDArray, float]:
        """(A, ρ) from their posterior, for rows less μ; in the basis of the Gram of F every direction is on its own."""
        p, d = self.n_features, rows.shape[1]
        full = (self.values + rho)[:, None]
        root = np.linalg.cholesky(np.linalg.inv(precision))
        best = (self.vectors.T @ (self.F.T @ rows)) / full
        A = self.vectors @ (best + (rng.standard_normal((p, d)) @ root.T) / np.sqrt(full))
        size = float(np.einsum("ij,jk,ik->", A, precision, A))
        return A, float(rng.gamma((1 + p * d) / 2, 2 / (1 + size)))


def user_record(side: DrawnSide, maps: NDArray, units: Units, columns) -> dict:
    """What newcomers need: the maps of all draws side by side, as the codes of :mod:`posterior` are."""
    S, p, d = maps.shape
    full = np.zeros((p + 1, S, d + 1))
    full[:p, :, :d] = maps.transpose(1, 0, 2) * units.of_free(d + 1) / S
    return side.side.published(full.reshape(p + 1, -1), columns)


def item_record(side: DrawnSide, maps: NDArray, means: NDArray, units: Units, columns) -> dict:
    """The same for items, whose average is not zero: components (z, 1, mean + b) of every draw."""
    S, p, d = maps.shape
    both = np.concatenate([maps.transpose(1, 0, 2), means[None]]) * units.of_free(d + 1)
    full = np.zeros((p + 1, S, d + 1))
    full[:, :, : d - 1], full[:, :, d] = both[:, :, :-1], both[:, :, -1]
    return side.side.published(full.reshape(p + 1, -1), columns)


def shifts(from_map: NDArray, S: int, units: Units) -> NDArray:
    """Prior means of rows in each draw (rows × S × d, standardised), from what a :func:`user_record` says of them."""
    full = from_map.reshape(len(from_map), S, -1)[:, :, :-1]
    return full * S / units.of_free(full.shape[2] + 1)
