"""Penalties that pull entries towards zero: ridge, l1, elastic net."""

from __future__ import annotations

from typing import Self

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import Penalty


def _sum_of_squares(F: np.ndarray) -> float:
    return float(np.einsum("ij,ij->", F, F, dtype=np.float64))


def _sum_of_sizes(F: np.ndarray) -> float:
    return float(np.abs(F).sum(dtype=np.float64))


class Ridge(Penalty):
    """strength/2 ||F||^2: keeps factors small and half-steps well posed. Prox F/(1 + step*strength).

    Reference: Tikhonov, 1963; as a prior, Salakhutdinov and Mnih, "Probabilistic matrix factorization", NIPS 2007.

    >>> Ridge(strength=3.0).prox(np.array([[4.0]]))
    array([[1.]])
    """

    name = "ridge"
    sign_blind = True
    is_penalty = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def validate(self) -> Self:
        self._need_number("strength")
        return self

    def separable_terms(self) -> tuple[float, float, bool]:
        return 0.0, float(self.strength), False

    def _value(self, F: np.ndarray) -> float:
        return 0.5 * float(self.strength) * _sum_of_squares(F)

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return F / (1 + step * F.dtype.type(self.strength))


class L1(Penalty):
    """strength * sum |F|: drives entries to exactly 0. Prox: soft thresholding by step*strength.

    Reference: Tibshirani, "Regression shrinkage and selection via the lasso", JRSS B 58, 1996.

    >>> L1(strength=1.0).prox(np.array([[3.0, -0.5]]))
    array([[2., 0.]])
    """

    name = "l1"
    sign_blind = True
    makes_zeros = True
    is_penalty = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def validate(self) -> Self:
        self._need_number("strength")
        return self

    def separable_terms(self) -> tuple[float, float, bool]:
        return float(self.strength), 0.0, False

    def _value(self, F: np.ndarray) -> float:
        return float(self.strength) * _sum_of_sizes(F)

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.soft(F, step * F.dtype.type(self.strength))


class ElasticNet(Penalty):
    """strength * (l1_ratio * sum |F| + (1 - l1_ratio)/2 ||F||^2): sparse, and kind to correlated components.

    Reference: Zou and Hastie, "Regularization and variable selection via the elastic net", JRSS B 67, 2005.

    >>> ElasticNet(strength=2.0, l1_ratio=0.5).prox(np.array([[5.0, -0.5]]))
    array([[2., 0.]])
    """

    name = "elastic-net"
    sign_blind = True
    makes_zeros = True
    is_penalty = True

    def __init__(self, strength: float = 1.0, l1_ratio: float = 0.5) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio

    def validate(self) -> Self:
        self._need_number("strength")
        self._need_number("l1_ratio", high=1.0)
        return self

    def separable_terms(self) -> tuple[float, float, bool]:
        strength, ratio = float(self.strength), float(self.l1_ratio)
        return strength * ratio, strength * (1 - ratio), False

    def _value(self, F: np.ndarray) -> float:
        l1, ridge, _ = self.separable_terms()
        return l1 * _sum_of_sizes(F) + 0.5 * ridge * _sum_of_squares(F)

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        l1, ridge, _ = self.separable_terms()
        return _rows.soft(F, step * F.dtype.type(l1)) / (1 + step * F.dtype.type(ridge))
