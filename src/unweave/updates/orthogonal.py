"""Orthonormal factors under squared loss: Procrustes."""

from __future__ import annotations

import numpy as np

from unweave.penalties import Orthonormal
from unweave.updates.base import Update


class Procrustes(Update):
    """max ⟨F, A⟩ with FᵀF = I is solved by the polar factor of A = X·Gᵀ, because ‖F·G‖ does not depend on F then.

    References
    ----------
    Schönemann (1966), A generalized solution of the orthogonal Procrustes problem.
    """

    name = "procrustes"
    title = "Procrustes rotation"

    def refuses(self, model, half):
        if not isinstance(half.penalty, Orthonormal):
            return f"a Procrustes rotation needs an orthonormal side, not {half.penalty.name!r}"
        if model.kind != "quadratic":
            return "a Procrustes rotation needs the squared loss with every entry observed"
        if model.shape[0] < model.shape[1]:
            return "fewer rows than components: the columns cannot be orthonormal"
        return None

    def __call__(self, model, F, half, effort):
        left, _, right = np.linalg.svd(model.cross, full_matrices=False)
        return np.ascontiguousarray(left @ right)
