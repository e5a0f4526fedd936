"""What a visit to some rows hands back for the components: sums over rows, from which one model of all columns is made.

With the codes fixed, the loss of every prediction column is a sum over rows. Where it is quadratic the sums say all of
it; elsewhere they say enough for a bound that touches it at the present components, and lowering it lowers the loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.products import gram
from unweave.objectives.base import Objective
from unweave.objectives.models import OwnGrams, Quadratic, RowModel
from unweave.scale.families import sends_curves

# Numbers that a Gram for every column may take. Beyond that (2 GB) a bound with one Gram for all has to do.
_MOST_GRAMS = 1 << 28


class ColumnSums(ABC):
    """Which sums are taken, and which model they make.

    Attributes
    ----------
    exact : bool
        Whether the model is the loss itself, so that the objective after a half-step is known without another visit.
    title : str
        How it reads in a plan.
    """

    exact: bool = False
    title: str = ""

    @abstractmethod
    def of(self, block: Objective, U: NDArray, Z: NDArray) -> dict[str, Any]:
        """The sums over the rows of a block with the codes U, at the components Z; in float64."""

    @abstractmethod
    def model(self, sums: dict[str, Any], Z: NDArray) -> RowModel:
        """The model of F = Zᵀ from the sums over all rows."""

    def unused(self, sums: dict[str, Any]) -> NDArray[np.intp]:
        """Components that no row uses, of which the sums know nothing."""
        return np.flatnonzero(np.diagonal(sums["gram"]) == 0)


class Crosses(ColumnSums):
    """XᵀU, UᵀU and ½‖X‖²: the squared loss of a table with every entry observed."""

    exact = True
    title = "from XᵀU and UᵀU"

    def of(self, block, U, Z):
        cross = np.asarray(block.columns_given(U).cross, dtype=np.float64)
        return {"cross": cross, "gram": gram(U, dtype=np.float64), "half_norm": float(block.half_norm)}

    def model(self, sums, Z, precise=None):
        return Quadratic(sums["cross"].astype(Z.dtype), sums["gram"], sums["half_norm"], precise=precise)


class Grams(ColumnSums):
    """A Gram for every column: squared loss with holes, or the weighted squares that bound a robust loss."""

    def __init__(self, exact: bool):
        self.exact = exact
        self.title = "from a Gram for every column"

    def of(self, block, U, Z):
        found = block.majorise_by_sums(U, Z, "columns")
        return {"cross": found.cross, "grams": found.grams, "constants": found.constants}

    def model(self, sums, Z):
        return OwnGrams(sums["cross"], sums["grams"], sums["constants"], Z.dtype)

    def unused(self, sums):
        return np.flatnonzero(np.diagonal(sums["grams"], axis1=1, axis2=2).sum(axis=0) == 0)


class Bounded(ColumnSums):
    """The gradient at Z, and UᵀU times the largest curvature: a quadratic above a loss whose curvature is bounded."""

    title = "from the gradient and a bound of the curvature"

    def __init__(self, curvature: float):
        self.curvature = curvature

    def of(self, block, U, Z):
        slope = np.asarray(block.columns_given(U).gradient(np.ascontiguousarray(Z.T)), dtype=np.float64)
        return {"slope": slope, "gram": gram(U, dtype=np.float64), "value": block.value(U, Z)}

    def model(self, sums, Z):
        F, bend = Z.T.astype(np.float64), self.curvature * sums["gram"]
        cross = F @ bend - sums["slope"]
        constant = sums["value"] + float(np.vdot(F, cross) - 0.5 * np.vdot(F @ bend, F))
        return Quadratic(cross.astype(Z.dtype), bend, constant)


class Tangents(ColumnSums):
    """The gradient at Z and its rising part: one multiplicative step of a loss of non-negative predictions."""

    title = "one multiplicative step from the gradient"

    def __init__(self, power: float):
        self.power = power

    def of(self, block, U, Z):
        model, F = block.columns_given(U), np.ascontiguousarray(Z.T)
        rising = np.asarray(model.denominator(F), dtype=np.float64)
        slope = np.asarray(model.gradient(F), dtype=np.float64)
        return {"slope": slope, "rising": rising, "value": block.value(U, Z)}

    def model(self, sums, Z):
        return Tangent(sums["slope"].astype(Z.dtype), sums["rising"].astype(Z.dtype), sums["value"], self.power)

    def unused(self, sums):
        return np.empty(0, np.intp)  # a multiplicative step keeps what is zero


class Curves(Tangents):
    """The same, and the second derivative of the loss of every column: a step of Newton's besides.

    A multiplicative step never raises the loss but is short. That of Newton's is long, and may go too far: who takes it
    looks at the loss there first.
    """

    title = "Newton's step from gradients and a Gram for every column, or one multiplicative step"

    def of(self, block, U, Z):
        return {**super().of(block, U, Z), "grams": block.bend_by_sums(U, Z)}

    def curve(self, sums: dict[str, Any], Z: NDArray) -> OwnGrams:
        """The loss to the second order about Z, but for a constant."""
        F = Z.T.astype(np.float64)
        cross = np.einsum("ijk,ik->ij", sums["grams"], F) - sums["slope"]
        return OwnGrams(cross, sums["grams"], np.zeros(len(F)), Z.dtype)


class Tangent(RowModel):
    """A loss of non-negative predictions as it is at one F: value, gradient D − N, and D; elsewhere it is not known."""

    nonnegative = True

    def __init__(self, slope: NDArray, rising: NDArray, loss: float, power: float):
        self.slope, self.rising, self.loss, self.power = slope, rising, loss, power
        self.shape, self.dtype = slope.shape, slope.dtype

    def value(self, F):
        return self.loss

    def gradient(self, F):
        return self.slope

    def denominator(self, F):
        return self.rising

    def hold(self, F, held):
        if not held:
            return self
        free = [t for t in range(F.shape[1]) if t not in held]
        slope, rising = (np.ascontiguousarray(part[:, free]) for part in (self.slope, self.rising))
        return Tangent(slope, rising, self.loss, self.power)


def column_sums_of(objective: Objective, width: int, single_entries: bool) -> ColumnSums | None:
    """Sums that one visit can hand back for a table and so many components; None where the loss needs several visits.

    `single_entries` says whether the side is non-negative entry by entry, which multiplicative steps need.
    """
    if objective.squared and objective.complete:
        return Crosses()
    small = objective.n_predictions * width * width <= _MOST_GRAMS
    if small and (objective.squared or objective.reweights):
        return Grams(exact=objective.squared)
    if objective.curvature is not None:
        return Bounded(float(np.max(objective.curvature)))
    if objective.loss.nonnegative and single_entries:
        curved = objective.loss.bends and sends_curves(*objective.shape, width, objective.n_multiplied)
        return (Curves if curved else Tangents)(objective.loss.power)
    return None
