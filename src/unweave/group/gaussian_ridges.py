"""Which Gaussian components stand apart, and which lie side by side in one shape.

All stationary points of the density of two Gaussians lie on their ridge, x(a) = S(a)⁻¹ ((1 − a) P₁ μ₁ + a P₂ μ₂) with
S(a) = (1 − a) P₁ + a P₂ and precisions P, for a from 0 to 1. Where the density falls between two heights on it, they
stand apart.

Reference: Ray and Lindsay (2005), The topography of multivariate normal mixtures.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

# Nats by which the density may fall between components of one shape. A stretch of even density that is cut into
# Gaussians falls by 1.5 − log 2 = 0.81 between two of them, however long the pieces are; a fit is not as even: to a
# quarter. A bound from that law, looked at on made rings, spirals and blobs.
_FALL = float(np.log(4))
_PLACES = np.linspace(0.0, 1.0, 21)


def groups_apart(weights: NDArray, means: NDArray, factors: NDArray) -> int:
    """The number of groups of components, joined where the density does not fall much between two.

    Parameters
    ----------
    weights, means : arrays (k,) and (k, d)
    factors : array (k, d, d) or (k, d)
        Square roots T of the precisions T·Tᵀ, or those of diagonal ones.

    Examples
    --------
    >>> ones = np.ones((3, 1))
    >>> groups_apart(np.full(3, 1 / 3), np.array([[0.0], [3.0], [9.0]]), ones)
    2
    """
    heavy = weights > 0
    weights, means, factors = weights[heavy], means[heavy], factors[heavy]
    k = len(weights)
    together = np.eye(k, dtype=bool)
    for one in range(k - 1):
        others = np.arange(one + 1, k)
        together[one, others] = _falls(weights, means, factors, one, others) <= _FALL
    return int(connected_components(together, directed=False)[0])


def _falls(weights: NDArray, means: NDArray, factors: NDArray, one: int, others: NDArray) -> NDArray:
    """By how many nats the density of component `one` and each of `others` falls on their ridge."""
    logs = []
    for place in _PLACES:
        x = _ridge(means, factors, one, others, place)
        own = _log_density(weights[one], means[one], factors[one], x)
        logs.append(np.logaddexp(own, _log_density(weights[others], means[others], factors[others], x)))
    heights = np.array(logs)
    before = np.maximum.accumulate(heights, axis=0)
    after = np.maximum.accumulate(heights[::-1], axis=0)[::-1]
    return (np.minimum(before, after) - heights).max(axis=0)


def _ridge(means: NDArray, factors: NDArray, one: int, others: NDArray, place: float) -> NDArray:
    mine, theirs = factors[one], factors[others]
    if factors.ndim == 2:
        P, Q = (1 - place) * mine**2, place * theirs**2
        return (P * means[one] + Q * means[others]) / (P + Q)
    P, Q = (1 - place) * (mine @ mine.T), place * (theirs @ theirs.transpose(0, 2, 1))
    pull = P @ means[one] + np.einsum("cij,cj->ci", Q, means[others])
    return np.linalg.solve(P + Q, pull[..., None])[..., 0]


def _log_density(weight: NDArray, mean: NDArray, factor: NDArray, x: NDArray) -> NDArray:
    """log π N(x), but for a constant, of one component or of one for each x."""
    apart = x - mean
    if factor.ndim == mean.ndim:
        return np.log(weight) + np.log(factor).sum(axis=-1) - 0.5 * ((apart * factor) ** 2).sum(axis=-1)
    white = np.einsum("...i,...ij->...j", apart, factor)
    scale = np.log(np.abs(np.diagonal(factor, axis1=-2, axis2=-1))).sum(axis=-1)
    return np.log(weight) + scale - 0.5 * (white**2).sum(axis=-1)
