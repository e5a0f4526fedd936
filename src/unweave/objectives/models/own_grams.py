"""Squared loss where each row has a Gram of its own that is summed already, as a few entries that have this Gram."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives.models.entries import Entries, EntryTable

_STRETCH = 1 << 22  # numbers of the Grams that are factored at once


class SummedEntries(Entries):
    """½ Σ_j w_ij (x_ij − f_i·h_j)² = c_i − ⟨f_i, a_i⟩ + ½ f_i·B_i·f_i, as k made entries a row.

    With B_i = L·Lᵀ the rows of Lᵀ as vectors and y = L⁻¹a_i as data have the same Gram and the same products, so every
    update that knows rows with entries of their own knows these; the rest is a constant.

    Parameters
    ----------
    cross, grams : arrays (rows, k) and (rows, k, k)
        a_i and B_i.
    constants : array (rows,)
        c_i = ½ Σ_j w_ij x_ij².
    """

    def __init__(self, cross: NDArray, grams: NDArray, constants: NDArray):
        n, k = cross.shape
        H, y = np.empty((n, k, k), cross.dtype), np.empty((n, k), cross.dtype)
        rows = max(1, _STRETCH // max(1, k * k))
        for a in range(0, n, rows):
            H[a : a + rows], y[a : a + rows] = _as_entries(grams[a : a + rows], cross[a : a + rows])
        every = np.arange(n * k + 1)
        table = EntryTable(every[::k] if k else every, every[:-1].astype(np.int32), y.ravel(), y[:0, 0], n * k)
        super().__init__(table, H.reshape(n * k, k))
        left = constants - 0.5 * np.square(y, dtype=np.float64).sum(axis=1)
        self._left = np.maximum(left, 0.0)

    def row_values(self, F):
        return super().row_values(F) + self._left


def _as_entries(grams: NDArray, cross: NDArray) -> tuple[NDArray, NDArray]:
    """(Lᵀ, L⁻¹a) of each row; where a Gram is singular by its eigenvectors, without what is rounding."""
    cross = cross.astype(np.float64)
    k = grams.shape[1]
    values = np.einsum("ikk->ik", grams)
    if grams.size and (values > 0).all():
        try:
            L = np.linalg.cholesky(grams)
        except np.linalg.LinAlgError:
            pass
        else:
            if (np.einsum("ikk->ik", L).min(axis=1) ** 2 > 1e-10 * values.max(axis=1)).all():
                return L.transpose(0, 2, 1), np.linalg.solve(L, cross[:, :, None])[:, :, 0]
    values, vectors = np.linalg.eigh(grams)
    floor = k * np.finfo(np.float64).eps * np.maximum(values[:, -1:], 0)
    roots = np.sqrt(np.where(values > floor, values, 0))
    inside = np.einsum("ikr,ik->ir", vectors, cross)
    return roots[:, :, None] * vectors.transpose(0, 2, 1), np.divide(
        inside, roots, out=np.zeros_like(inside), where=roots > 0
    )
