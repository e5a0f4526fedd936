"""One-hot codes: each row belongs to the component that fits it best."""

from __future__ import annotations

import numpy as np

from unweave.linalg import entries as kernels
from unweave.objectives.models import Entries, Quadratic
from unweave.penalties import Boolean, OneHot
from unweave.updates.base import Update


class Nearest(Update):
    """The code e_t with the least loss of z_t against the row; the first on ties. The assignment step of k-means."""

    name = "nearest"
    title = "nearest component"

    def refuses(self, model, half):
        if not isinstance(half.penalty, OneHot) or half.transposed:
            return f"the nearest component needs one-hot codes, not {half.penalty.name!r}"
        return None

    def __call__(self, model, F, half, effort):
        if isinstance(model, Quadratic):
            labels = (0.5 * np.diag(model.gram) - model.cross).argmin(axis=1)
        elif isinstance(model, Entries):
            t = model.table
            labels, _ = kernels.nearest_rows(t.indptr, t.indices, t.data, t.weights, model.H)
        else:
            codes = np.eye(F.shape[1], dtype=F.dtype)
            losses = [model.row_values(np.broadcast_to(code, F.shape).copy()) for code in codes]
            labels = np.argmin(losses, axis=0)
        new = np.zeros_like(F)
        new[np.arange(len(F)), labels] = 1
        return new


class Flip(Update):
    """Boolean sides: all 2^k codes are tried when k ≤ 8, which is exact.

    With more bits each in turn takes the value that is better given the others (squared loss, everything observed).
    """

    name = "flip"
    title = "bit flips"
    _ENUMERATED = 8

    def refuses(self, model, half):
        if not isinstance(half.penalty, Boolean):
            return f"bit flips need a Boolean side, not {half.penalty.name!r}"
        if not model.separable:
            return "bit flips need a loss with one prediction a column"
        if model.shape[1] > self._ENUMERATED and model.kind != "quadratic":
            return f"more than {self._ENUMERATED} bits need the squared loss with every entry observed"
        return None

    def __call__(self, model, F, half, effort):
        if F.shape[1] <= self._ENUMERATED:
            return _best_of_all(model, F)
        F, gram = F.copy(), model.gram_cast
        for _ in range(effort.sweeps):
            before = F.copy()
            for t in range(F.shape[1]):
                pull = model.cross[:, t] - F @ gram[:, t] + F[:, t] * gram[t, t]
                F[:, t] = pull > 0.5 * gram[t, t]
            if np.array_equal(before, F):
                break
        return F


def _best_of_all(model, F):
    """The best of all Boolean codes for every row; the first (fewest high bits) on ties."""
    k = F.shape[1]
    codes = ((np.arange(2**k)[:, None] >> np.arange(k)) & 1).astype(F.dtype)
    if isinstance(model, Quadratic):
        fixed = 0.5 * np.einsum("ct,tu,cu->c", codes, model.gram_cast, codes)
        return codes[(fixed - model.cross @ codes.T).argmin(axis=1)]
    losses = [model.row_values(np.ascontiguousarray(np.broadcast_to(code, F.shape))) for code in codes]
    return codes[np.argmin(losses, axis=0)]
