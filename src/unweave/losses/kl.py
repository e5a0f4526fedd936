"""Generalised Kullback-Leibler divergence."""

from __future__ import annotations

import numpy as np

from unweave.losses.base import Loss

_SHARE = 1e-20
_FLAT = 1e-9  # share of the data below which a prediction bends the cost no more: squares of smaller ones overflow


def above_zero(x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Predictions, but no less than a speck of the data: a zero where something was counted costs much, not infinity.

    It is a share of the data, so that a table in other units costs as much in those.
    """
    return np.maximum(p, np.maximum(_SHARE * x, np.finfo(p.dtype).tiny))


class KL(Loss):
    """l(x, p) = x log(x/p) - x + p, with 0 log 0 = 0; data and predictions at least 0.

    Use it for counts and intensities (words, photons, reads): it is the negative log-likelihood of a Poisson mean p, up
    to a term without p. Reference: Lee and Seung, "Algorithms for non-negative matrix factorization", NIPS 2000.

    >>> KL().value(np.array([0.0, 2.0]), np.array([3.0, 2.0]))
    array([3., 0.])
    """

    name = "kl"
    noise = "poisson"
    in_data_units = True
    zeros_in_sums = True
    nonnegative = True
    bends = True
    degree = 1.0

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        p = above_zero(x, p)
        one = np.where(x > 0, x, 1.0)
        # x (r - log(1 + r)) with r = (p - x)/x keeps its digits where p is near x; the plain form serves the rest.
        r = (np.clip(p, 0.5 * x, 2 * x) - x) / one
        near = one * (r - np.log1p(r))
        far = x * (np.log(one) - np.log(p)) - x + p
        return np.where((x > 0) & (p >= 0.5 * x) & (p <= 2 * x), np.maximum(near, 0.0), np.maximum(far, 0.0))

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return 1.0 - x / above_zero(x, p)

    def bend(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        p = np.maximum(above_zero(x, p), _FLAT * x)
        return x / p / p

    def _check(self, values: np.ndarray) -> None:
        if values.size and values.min() < 0:
            raise ValueError(
                f"loss='kl' needs data of at least 0; found {float(values.min())}: clip or shift the data, "
                "or choose another loss such as 'squared'"
            )

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([x.mean(dtype=np.float64)])
