"""Constraints that make a row a mixture or a choice: simplex, one-hot, and the hull and cone of the data."""

from __future__ import annotations

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import ROWS, Penalty, tolerance
from unweave.penalties.entrywise import NonNegative


class Simplex(Penalty):
    """Each row in {y >= 0, sum y = 1}: shares of a mixture. Prox by sorting; its result is never all zero.

    Reference: Duchi et al., "Efficient projections onto the l1-ball for learning in high dimensions", ICML 2008.

    >>> Simplex().prox(np.array([[1.0, 1.0], [5.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """

    name = "simplex"
    nonnegative = True
    sums_to_one = True
    picks_components = True
    acts = ROWS

    def least_along(self, slope: np.ndarray) -> np.ndarray:
        return slope.min(axis=1)

    def _allows(self, F: np.ndarray) -> bool:
        far = np.abs(F.sum(axis=1, dtype=np.float64) - 1).max()
        return bool(F.min() >= -tolerance(F) and far <= tolerance(F))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.simplex(F)


class OneHot(Penalty):
    """Each row a unit vector: a row belongs to one component (k-means). Prox: 1 at the largest, the first on ties.

    >>> OneHot().prox(np.array([[0.3, 0.5, 0.5]]))
    array([[0., 1., 0.]])
    """

    name = "one-hot"
    nonnegative = True
    sums_to_one = True
    picks_one = True
    picks_components = True
    acts = ROWS
    convex = False

    def _allows(self, F: np.ndarray) -> bool:
        return bool(np.abs(F - _rows.onehot(F)).max() <= tolerance(F))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.onehot(F)


class Hull(Simplex):
    """Components Z = W*X in the convex hull of the data, each row of W in the simplex (archetypes).

    A marker for the planner: the factor that `value` and `prox` see is W, not Z.
    Reference: Cutler and Breiman, "Archetypal analysis", Technometrics 36, 1994.

    >>> Hull().prox(np.array([[1.0, 1.0]]))
    array([[0.5, 0.5]])
    """

    name = "hull"
    mixes_rows = True


class Cone(NonNegative):
    """Components Z = W*X in the cone of the data, W >= 0 (convex NMF).

    A marker for the planner: the factor that `value` and `prox` see is W, not Z.
    Reference: Ding, Li and Jordan, "Convex and semi-nonnegative matrix factorizations", IEEE TPAMI 32, 2010.

    >>> Cone().prox(np.array([[1.0, -1.0]]))
    array([[1., 0.]])
    """

    name = "cone"
    mixes_rows = True
    scale_free = False

    def separable_terms(self) -> None:
        # W is not the factor that coordinate descent would work on.
        return None
