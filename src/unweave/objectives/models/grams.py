"""Squared loss where each row has a Gram of its own, summed up already: X is needed no more."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models.base import RowModel, positive


class OwnGrams(RowModel):
    """½ Σ_j w_ij (x_ij − f_i·h_j)² = c_i − ⟨f_i, a_i⟩ + ½ f_i·B_i·f_i for every row i.

    a_i = Σ_j w_ij x_ij h_j and B_i = Σ_j w_ij h_j·h_jᵀ add up over the entries of a row. So the bound of a robust loss
    on each column of a table is a sum over its rows, wherever these are: k² numbers per column. All are float64.

    Parameters
    ----------
    cross, grams, constants : arrays (rows, k), (rows, k, k) and (rows,)
        a_i, B_i and c_i.
    dtype : the type of F
    """

    kind = "grams"

    def __init__(self, cross: NDArray, grams: NDArray, constants: NDArray, dtype):
        self.cross, self.grams, self.constants = cross, grams, constants
        self.shape, self.dtype = cross.shape, np.dtype(dtype)

    @classmethod
    def of(cls, X: NDArray, weights: NDArray, H: NDArray) -> OwnGrams:
        """The sums of the rows of X (rows × m) with their weights; H holds h_j as rows (m × k)."""
        k, G, w, x = H.shape[1], H.astype(np.float64), weights.astype(np.float64), X.astype(np.float64)
        pairs = (G[:, :, None] * G[:, None, :]).reshape(len(G), k * k)
        return cls((w * x) @ G, (w @ pairs).reshape(-1, k, k), 0.5 * (w * x * x).sum(axis=1), H.dtype)

    @classmethod
    def joined(cls, parts: Iterable[OwnGrams]) -> OwnGrams:
        """Stretches of rows one after the other."""
        pieces = list(parts)
        columns = zip(*(part._sums for part in pieces), strict=True)
        cross, grams, constants = (np.concatenate(found) for found in columns)
        return cls(cross, grams, constants, pieces[0].dtype)

    @classmethod
    def summed(cls, parts: Iterable[OwnGrams]) -> OwnGrams:
        """The same rows, their entries in several parts: what each part adds, in order."""
        return reduce(cls._added, parts)

    def _added(self, other: OwnGrams) -> OwnGrams:
        grams, constants = self.grams + other.grams, self.constants + other.constants
        return OwnGrams(self.cross + other.cross, grams, constants, self.dtype)

    @property
    def _sums(self) -> tuple[NDArray, NDArray, NDArray]:
        return self.cross, self.grams, self.constants

    def row_values(self, F):
        F = F.astype(np.float64)
        bent = 0.5 * np.einsum("ijk,ik->ij", self.grams, F) - self.cross
        return self.constants + np.einsum("ij,ij->i", bent, F)

    def gradient(self, F):
        return (np.einsum("ijk,ik->ij", self.grams, F.astype(np.float64)) - self.cross).astype(self.dtype)

    @property
    def lipschitz(self):
        """Each row's bound: no eigenvalue of its Gram is above its trace, nor above its largest row sum."""
        bounds = np.minimum(np.einsum("ijj->i", self.grams), np.abs(self.grams).sum(axis=2).max(axis=1, initial=0))
        return positive(bounds[:, None], self.dtype)

    def take(self, rows):
        return OwnGrams(self.cross[rows], self.grams[rows], self.constants[rows], self.dtype)

    def hold(self, F, held):
        if not held:
            return self
        free = [t for t in range(F.shape[1]) if t not in held]
        fixed = F[:, held].astype(np.float64)
        among = np.einsum("ijk,ik->ij", self.grams[:, held][:, :, held], fixed)
        cross = self.cross[:, free] - np.einsum("ijk,ik->ij", self.grams[:, free][:, :, held], fixed)
        constants = self.constants + np.einsum("ij,ij->i", 0.5 * among - self.cross[:, held], fixed)
        return OwnGrams(cross, self.grams[:, free][:, :, free], constants, self.dtype)
