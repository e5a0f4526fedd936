"""Ridge that grows with what is known: λ·n_i^p for a row with n_i observed entries.

With p = 0 a user with a thousand ratings is shrunk as little as a user with one is shrunk much; with p = 1 all are
shrunk alike. The least held-out error lies between: p = ½.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.entries import predict_entries
from unweave.objectives import Dense, Objective, Observed
from unweave.objectives.models import Entries
from unweave.penalties import Ridge
from unweave.solve.alternate import Alternate
from unweave.updates import Half

POWERS = {"plain": 0.0, "root": 0.5, "count": 1.0}


@dataclass(frozen=True)
class CountedHalf(Half):
    """One side of a problem whose ridge is a number for each row of F (or one for all), about zero or about vectors."""

    ridges: NDArray | float = 0.0
    towards: NDArray | float = 0.0

    @property
    def terms(self):
        return 0.0, self.ridges, False

    def about_zero(self, model, F):
        if np.ndim(self.towards) == 0:
            return model, F
        t = model.table
        towards = np.ascontiguousarray(self.towards, dtype=model.dtype)
        known = predict_entries(t.indptr, t.indices, model.H, towards)
        return Entries(t.with_data(t.data - known), model.H), F - towards

    def prox(self, F: NDArray, step) -> NDArray:
        return self.towards + (F - self.towards) / (1 + step * np.reshape(self.ridges, (-1, 1)).astype(F.dtype))

    def value(self, F: NDArray) -> float:
        return float(self.row_values(F).sum())

    def row_values(self, F: NDArray) -> NDArray[np.float64]:
        return 0.5 * np.square(F - self.towards, dtype=np.float64).sum(axis=1) * self.ridges


def counted_half(objective: Objective, strength: float, power: float, *, transposed: bool) -> CountedHalf:
    """The side of the codes, or of the components (`transposed`), of a table."""
    n, m = objective.shape
    if objective.complete:
        ridges: NDArray | float = strength * float(n if transposed else m) ** power
    else:
        assert isinstance(objective, Dense | Observed)
        table = objective.by_column if transposed else objective.by_row
        ridges = strength * np.maximum(np.diff(table.indptr), 1).astype(np.float64) ** power
    return CountedHalf(Ridge(strength=strength), transposed, (), ridges)


@dataclass(frozen=True)
class Strengths:
    """The ridges of vectors and of biases, and the power of the number of entries with which both grow.

    Both sides of a problem have one ridge for all their entries, so a bias with a ridge of its own is told in other
    units: beside it stands `held` instead of one, and (held·b)·(ridge/held²) costs what b costs.
    """

    ridge: float
    biases: float
    power: float

    @property
    def held(self) -> float:
        """What is held beside a bias: 1 where its ridge is that of the vectors."""
        return 1.0 if self.ridge == self.biases else float(np.sqrt(self.ridge / self.biases))


class CountedAlternate(Alternate):
    """Alternating least squares under a ridge that grows with the number of entries."""

    code_half: CountedHalf
    component_half: CountedHalf
    paid = 0.0  # penalties besides those of codes and components

    def __init__(self, plain: Alternate, strengths: Strengths, unit: float = 1.0):
        super().__init__(plain.objective, plain.problem, plain.left, plain.right)
        self.unit, self.held = unit, strengths.held
        ridge, power = strengths.ridge, strengths.power
        self.code_half = counted_half(self.objective, ridge, power, transposed=False)
        self.component_half = counted_half(self.objective, ridge, power, transposed=True)

    def begin(self, first: dict) -> dict:
        """A first state of the plain scheme, with what is held beside the biases in its place."""
        U, Z = first["codes"].copy(), first["components"].copy()
        U[:, self.problem.held_codes] = self.held
        Z[self.problem.held_components] = self.held
        return {**first, "codes": U, "components": Z}

    def step(self, state):
        """As ever; the value is told in units of the data (`unit` is what one unit of the loss is there)."""
        state, value = super().step(state)
        return state, (value + self.paid) * self.unit
