"""Atoms of a dictionary, one after the other, each kept in the unit ball."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.kernels.atoms import sweep_range
from unweave.penalties import Both, L2Ball
from unweave.penalties.base import Penalty
from unweave.updates.base import Update

_UNUSED = 1e-12  # of the squares of the most used atom's codes: below, what an atom should be is rounding


class Atoms(Update):
    """z_t ← the best atom t with all others fixed, pulled back into its ball: exact in one atom at a time.

    With A = UᵀU and B = UᵀX that is z_t + (b_t − a_t·Z)/a_tt, shortened where it is too long (and cut at zero where it
    may not be negative): both are projections, because the loss bends alike in all directions of one atom.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro (2010), Online learning for matrix factorization and sparse coding, algorithm 2.
    """

    name = "atoms"
    title = "atoms one by one"

    def refuses(self, model, half):
        if model.kind != "quadratic":
            return "atoms one by one need the squared loss with every entry observed"
        if ball_of(half.penalty) is None or not half.transposed or half.exempt:
            return f"atoms one by one need components that are kept in ℓ2 balls, not {half.penalty.name!r}"
        return None

    def __call__(self, model, F, half, effort):
        Z, ball = np.array(F.T, dtype=np.float64, order="C"), ball_of(half.penalty)
        assert ball is not None, "refused otherwise"
        cross = np.ascontiguousarray(model.cross.T, dtype=np.float64)
        for _ in range(effort.sweeps):
            sweep_atoms(model.gram, cross, Z, *ball)
        return np.ascontiguousarray(Z.T, dtype=F.dtype)


def ball_of(penalty: Penalty) -> tuple[float, bool] | None:
    """Radius, and whether atoms may not be negative, of a penalty that keeps each in an ℓ2 ball; else None."""
    ball = penalty.other if isinstance(penalty, Both) else penalty
    return (float(ball.radius), penalty.nonnegative) if isinstance(ball, L2Ball) else None


def sweep_atoms(gram: NDArray, cross: NDArray, Z: NDArray, radius: float = 1.0, nonnegative: bool = False) -> None:
    """One sweep over the atoms that are used, in place: `gram` is UᵀU (k × k), `cross` UᵀX (k × m), all float64."""
    least = _UNUSED * float(gram.diagonal().max(initial=0.0))
    gram, cross = np.ascontiguousarray(gram), np.ascontiguousarray(cross)
    sweep_range(gram, cross, Z, least, float(radius), bool(nonnegative), 0, len(Z))
