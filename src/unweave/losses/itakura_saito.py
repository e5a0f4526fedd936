"""Itakura-Saito divergence."""

from __future__ import annotations

import numpy as np

from unweave.losses.base import Loss

# Predictions count as at least the first share of the data, and both as at least the second number: costs and slopes
# stay finite in that type, and a table in other units costs the same.
_FLOORS = {np.dtype(np.float32): (1e-9, 1e-26), np.dtype(np.float64): (1e-15, 1e-290)}


class ItakuraSaito(Loss):
    """l(x, p) = x/p - log(x/p) - 1; data and predictions above 0.

    Use it for power spectra and other positive data where ratios matter, not differences: l(cx, cp) = l(x, p), so quiet
    entries count as much as loud ones. It is the negative log-likelihood of a mean p under gamma noise of fixed shape
    (exponential noise for power spectra), up to a term without p. It is not convex in p beyond p = 2x. Zeros cost
    infinitely much under any model: add a floor that is small against the data, or mark them as missing.
    Reference: Fevotte, Bertin and Durrieu, "Nonnegative matrix factorization with the Itakura-Saito divergence", Neural
    Computation 21, 2009.

    >>> ItakuraSaito().value(np.array([2.0, 200.0]), np.array([1.0, 100.0])).round(4)
    array([0.3069, 0.3069])
    """

    name = "itakura-saito"
    in_data_units = True
    nonnegative = True
    convex = False
    degree = 0.0
    power = 0.5

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        x, p = _above_zero(x, p)
        # r - log(1 + r) with r = (x - p)/p keeps its digits where p is near x; the plain form serves the rest.
        r = (x - np.clip(p, 0.5 * x, 2 * x)) / np.clip(p, 0.5 * x, 2 * x)
        far = x / p - (np.log(x) - np.log(p)) - 1
        return np.maximum(np.where((p >= 0.5 * x) & (p <= 2 * x), r - np.log1p(r), far), 0.0)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        x, p = _above_zero(x, p)
        return (1 - x / p) / p

    def rising(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return 1 / _above_zero(x, p)[1]

    def ruin(self, dtype) -> float:
        return 0.5 / _FLOORS[np.dtype(dtype)][0]

    def _check(self, values: np.ndarray) -> None:
        if values.size and values.min() <= 0:
            raise ValueError(
                f"loss='itakura-saito' needs data above 0; found {float(values.min())}: add a small floor, mark zeros "
                "as missing (missing='zeros'), or choose another loss such as 'kl'"
            )

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([x.mean(dtype=np.float64)])


def _above_zero(x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    share, least = _FLOORS.get(np.result_type(x, p), _FLOORS[np.dtype(np.float64)])
    x = np.maximum(x, least)
    return x, np.maximum(p, np.maximum(share * x, least))
