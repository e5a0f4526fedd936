"""Squared loss with everything observed: all rows share one Gram, and X is needed no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.products import gram, matmul, row_squared_norms
from unweave.objectives.models.base import RowModel, fall_along, positive, without_rounding

# Least over largest eigenvalue of a Gram below which products in float32 are too coarse: their errors, relative to the
# data, come back in the fit divided by its root, so 1e-5 makes 1e-7 a 3e-5.
_ALIKE = 1e-5


class Quadratic(RowModel):
    """½‖X − F·G‖² = ½‖X‖² − ⟨F, A⟩ + ½⟨FᵀF, B⟩ with the summaries A = X·Gᵀ and B = G·Gᵀ.

    Parameters
    ----------
    cross : array (rows, k)
        A.
    gram : array (k, k), float64
        B.
    constant : float
        ½‖X‖².
    norms : callable, optional
        Gives ‖x_i‖² of every row.
    precise : callable, optional
        Gives A multiplied in float64, for data in float32: (A, B) then tell directions apart that A alone does not.
    resolution : float, optional
        Relative precision of the data, if it is not that of A.
    """

    kind = "quadratic"

    def __init__(
        self, cross: NDArray, gram: NDArray, constant: float, norms=None, precise=None, resolution: float | None = None
    ):
        self.cross, self.gram, self.constant, self._norms, self._precise = cross, gram, constant, norms, precise
        self.resolution = float(np.finfo(cross.dtype).eps) if resolution is None else resolution
        self.gram_cast = np.ascontiguousarray(gram, dtype=cross.dtype)
        self.shape, self.dtype = cross.shape, cross.dtype

    def value(self, F):
        inner = float(np.einsum("ij,ij->", F, self.cross, dtype=np.float64)) if F.size else 0.0
        return max(0.0, self.constant - inner + 0.5 * float(np.vdot(gram(F, dtype=np.float64), self.gram)))

    def rounding(self, F):
        """About how far :meth:`value` may be off: its terms cancel, and each entry of A carries an error of its own.

        These are of about ε·‖x‖·‖g‖ and of any sign, so that many make little; the Grams are summed in float64.
        """
        longest = float(np.sqrt(row_squared_norms(F * np.sqrt(np.diag(self.gram)).astype(F.dtype)).max(initial=0.0)))
        of_cross = float(np.finfo(self.dtype).eps) * np.sqrt(2 * self.constant) * longest
        square = float(np.vdot(np.abs(gram(F, dtype=np.float64)), np.abs(self.gram)))
        return 4 * (of_cross + float(np.finfo(np.float64).eps) * (self.constant + 0.5 * square))

    def row_values(self, F):
        inside = 0.5 * matmul(F, self.gram_cast) - self.cross
        return np.einsum("ij,ij->i", inside, F, dtype=np.float64)

    def row_losses(self, F):
        return self.row_values(F) + 0.5 * self.row_norms()

    def row_norms(self) -> NDArray[np.float64]:
        """‖x_i‖² of every row of the data."""
        assert self._norms is not None, "this model was made without the norms of its rows"
        return self._norms()

    @property
    def flat(self) -> float:
        """Eigenvalues of B up to this share of the largest are rounding: of the data, or of B itself."""
        k = len(self.gram)
        return max(k * float(np.finfo(np.float64).eps), (k * self.resolution) ** 2)

    def resolved(self):
        if self._precise is None or self.dtype == np.float64 or not self.gram.size:
            return self
        values = np.linalg.eigvalsh(self.gram)
        if values[0] >= _ALIKE * values[-1]:
            return self
        return Quadratic(self._precise(), self.gram, self.constant, self._norms, None, self.resolution)

    def gradient(self, F):
        return matmul(F, self.gram_cast) - self.cross

    @property
    def lipschitz(self):
        top = np.linalg.eigvalsh(self.gram)[-1] if self.gram.size else 0.0
        return positive(np.array([[top]]), self.dtype)

    def most_fall(self, F, ridge, nonnegative):
        F = F.astype(np.float64, copy=False)
        size = matmul(np.abs(F), np.abs(self.gram)) + np.abs(self.cross)
        slope = without_rounding(matmul(F, self.gram) + ridge * F - self.cross, size)
        up = np.maximum(slope, 0) if nonnegative else np.zeros_like(slope)
        return (up * F).sum(axis=1) + fall_along(self.gram, slope - up, ridge, nonnegative)

    def take(self, rows):
        norms = None if self._norms is None else lambda: self.row_norms()[rows]
        precise = None if self._precise is None else lambda: np.ascontiguousarray(self._precise()[rows])
        cross = np.ascontiguousarray(self.cross[rows])
        return Quadratic(cross, self.gram, self.constant, norms, precise, self.resolution)

    def denominator(self, F):
        """D of the gradient D − N, where signs may mix: F·B⁺ + A⁻ (Ding, Li and Jordan 2010)."""
        return matmul(F, np.maximum(self.gram_cast, 0)) + np.maximum(-self.cross, 0)

    def hold(self, F, held):
        if not held:
            return self
        free = [t for t in range(F.shape[1]) if t not in held]
        fixed = np.ascontiguousarray(F[:, held])
        among, between = self.gram[np.ix_(held, held)], np.ascontiguousarray(self.gram[np.ix_(held, free)])

        def less_held(cross: NDArray) -> NDArray:
            return np.ascontiguousarray(cross[:, free] - matmul(fixed.astype(cross.dtype), between.astype(cross.dtype)))

        constant = (
            self.constant
            - float(np.einsum("ij,ij->", fixed, self.cross[:, held], dtype=np.float64))
            + 0.5 * float(np.vdot(gram(fixed), among))
        )
        precise = None if self._precise is None else lambda: less_held(self._precise())
        return Quadratic(less_held(self.cross), self.gram[np.ix_(free, free)], constant, None, precise, self.resolution)
