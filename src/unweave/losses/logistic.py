"""Logistic loss for data of 0 and 1."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from unweave.losses.base import Loss


def check_binary(values: np.ndarray, name: str) -> None:
    """Raise unless every value is 0 or 1."""
    wrong = values[(values != 0) & (values != 1)]
    if wrong.size:
        raise ValueError(
            f"loss={name!r} needs data of 0 and 1; found {float(wrong[0])}: recode the column or choose another loss"
        )


def softplus(z: np.ndarray) -> np.ndarray:
    """log(1 + e^z), without overflow."""
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


def log_odds(ones: np.ndarray, n: int) -> np.ndarray:
    """log(ones/(n - ones)); where that is infinite, what half an entry of the missing kind would give."""
    ones = np.asarray(ones, dtype=np.float64)
    half = 0.5 * ((ones == 0) | (ones == n))
    return np.log((ones + half) / (n - ones + half))


class Logistic(Loss):
    """l(x, p) = log(1 + e^p) - x p for x in {0, 1}: the log-likelihood of x with log-odds p.

    Use it for yes/no data when probabilities are wanted; `predict` gives them. Reference: Collins, Dasgupta and
    Schapire, "A generalization of principal components analysis to the exponential family", NIPS 2001.

    >>> Logistic().predict(np.array([0.0]))
    array([0.5])
    """

    name = "logistic"
    noise = "discrete"

    @property
    def curvature(self) -> float:
        return 0.25

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        # For x in {0, 1} this equals log(1 + e^p) - x p, without its cancellation at x = 1.
        return softplus((1 - 2 * x) * p)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        sign = 1 - 2 * x
        return sign * expit(sign * p)

    def predict(self, p: np.ndarray) -> np.ndarray:
        return expit(p)

    def _check(self, values: np.ndarray) -> None:
        check_binary(values, self.name)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return log_odds(np.array([np.count_nonzero(x)]), x.size)
