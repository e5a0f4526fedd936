"""Constraints on the size of a row: balls, unit norm, few nonzeros."""

from __future__ import annotations

from typing import Self

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import ROWS, Penalty, tolerance


class UnitNorm(Penalty):
    """Each row of length 1: ||y|| = 1. Prox F/||F||; a zero row becomes the first unit vector.

    Use it on one side to fix the scale that U and Z could trade.

    >>> UnitNorm().prox(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    name = "unit-norm"
    sign_blind = True
    acts = ROWS
    convex = False

    def _allows(self, F: np.ndarray) -> bool:
        return bool(np.abs(_rows.row_norms(F) - 1).max() <= tolerance(F))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.sphere(F)


class L1Ball(Penalty):
    """Each row in {sum |y| <= radius}: sparse rows of bounded size. Reference: Duchi et al., ICML 2008.

    >>> L1Ball(radius=2.0).prox(np.array([[3.0, -1.0]]))
    array([[2., 0.]])
    """

    name = "l1-ball"
    sign_blind = True
    makes_zeros = True
    acts = ROWS

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def validate(self) -> Self:
        self._need_number("radius", open_low=True)
        return self

    def _allows(self, F: np.ndarray) -> bool:
        return bool(np.abs(F).sum(axis=1, dtype=np.float64).max() <= self.radius * (1 + tolerance(F)))

    def least_along(self, slope: np.ndarray) -> np.ndarray:
        return -self.radius * np.abs(slope).max(axis=1)

    def outermost(self, F: np.ndarray) -> np.ndarray:
        return _rows.stretched(F, np.abs(F).sum(axis=1, dtype=np.float64), float(self.radius))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.l1_ball(F, float(self.radius))


class L2Ball(Penalty):
    """Each row in {||y|| <= radius}: what dictionary learning asks of its atoms.

    Reference: Mairal, Bach, Ponce and Sapiro, "Online learning for matrix factorization and sparse coding", 2010.

    >>> L2Ball().prox(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """

    name = "l2-ball"
    sign_blind = True
    acts = ROWS

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = radius

    def validate(self) -> Self:
        self._need_number("radius", open_low=True)
        return self

    def _allows(self, F: np.ndarray) -> bool:
        return bool(_rows.row_norms(F).max() <= self.radius * (1 + tolerance(F)))

    def least_along(self, slope: np.ndarray) -> np.ndarray:
        return -self.radius * np.linalg.norm(slope, axis=1)

    def outermost(self, F: np.ndarray) -> np.ndarray:
        return _rows.stretched(F, _rows.row_norms(F), float(self.radius))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.l2_ball(F, float(self.radius))


class Sparse(Penalty):
    """Each row with at most `nonzeros` entries other than 0. Prox keeps the largest in size, the first on ties.

    Reference: Aharon, Elad and Bruckstein, "K-SVD", IEEE TSP 54, 2006.

    >>> Sparse(nonzeros=1).prox(np.array([[1.0, -3.0]]))
    array([[ 0., -3.]])
    """

    name = "sparse"
    sign_blind = True
    makes_zeros = True
    acts = ROWS
    convex = False
    scale_free = True

    def __init__(self, nonzeros: int = 1) -> None:
        self.nonzeros = nonzeros

    def validate(self) -> Self:
        self._need_count("nonzeros")
        return self

    def _allows(self, F: np.ndarray) -> bool:
        return bool(np.count_nonzero(F, axis=1).max() <= self.nonzeros)

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.sparse(F, int(self.nonzeros))
