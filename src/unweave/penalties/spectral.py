"""Penalties of the whole factor, through its singular values: orthonormal, nuclear norm."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg

from unweave.penalties import _rows
from unweave.penalties.base import MATRIX, Penalty, tolerance


class Orthonormal(Penalty):
    """F^T F = I, or F F^T = I if F has fewer rows than columns. Prox: the polar factor U V^T of F = U S V^T.

    Use it for components that do not overlap (PCA, Procrustes). Reference: Schoenemann, "A generalized solution of the
    orthogonal Procrustes problem", Psychometrika 31, 1966.

    >>> Orthonormal().prox(np.array([[2.0, 0.0], [0.0, 3.0]]))
    array([[1., 0.],
           [0., 1.]])
    """

    name = "orthonormal"
    acts = MATRIX
    convex = False

    def _allows(self, F: np.ndarray) -> bool:
        thin = F if F.shape[0] >= F.shape[1] else F.T
        gram = thin.T @ thin
        return bool(np.abs(gram - np.eye(len(gram), dtype=F.dtype)).max() <= tolerance(F))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.orthonormal(F)


class Nuclear(Penalty):
    """strength * (sum of singular values of F): lowers the rank. Prox: singular values less step*strength.

    Reference: Cai, Candes and Shen, "A singular value thresholding algorithm for matrix completion", SIAM J. Optim.
    20, 2010.

    >>> Nuclear(strength=2.0).prox(np.array([[3.0, 0.0], [0.0, 1.0]]))
    array([[1., 0.],
           [0., 0.]])
    """

    name = "nuclear"
    on_product = True
    acts = MATRIX
    is_penalty = True

    def __init__(self, strength: float = 1.0) -> None:
        self.strength = strength

    def validate(self) -> Self:
        self._need_number("strength")
        return self

    def _value(self, F: np.ndarray) -> float:
        if F.size == 0:
            return 0.0
        return float(self.strength) * float(scipy.linalg.svdvals(F, check_finite=False).sum(dtype=np.float64))

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        return _rows.shrink(F, float(step.flat[0]) * float(self.strength))

    def _step(self, F: np.ndarray, step: Any) -> np.ndarray:
        step = super()._step(F, step)
        if step.size and step.min() != step.max():
            raise ValueError("nuclear: step must be one number, since the penalty acts on all rows at once")
        return step
