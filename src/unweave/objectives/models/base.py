"""What every row model offers, and the model of a factor some of whose columns are held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def positive(bounds: NDArray, dtype) -> NDArray:
    """Curvature bounds that can be divided by: where there is no curvature, that of the steepest row (or one)."""
    top = float(np.max(bounds, initial=0.0))
    floor = top * float(np.finfo(dtype).eps) if top > 0 else 1.0
    return np.where(bounds > floor, bounds, top if top > 0 else 1.0).astype(dtype)


def without_rounding(slope: NDArray, size: NDArray) -> NDArray:
    """The slope, zero where it is no more than the rounding of the terms of this size that it is made of."""
    return np.where(np.abs(slope) <= 16 * np.finfo(np.float64).eps * size, 0.0, slope)


def fall_along(gram: NDArray, slope: NDArray, ridge: float, strict: bool) -> NDArray[np.float64]:
    """½ g(B + ridge)⁻¹g for each row g of `slope`; `strict`: infinite where g has a part that B does not hold."""
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0) + ridge
    floor = len(values) * np.finfo(np.float64).eps * float(values.max(initial=0.0)) + np.finfo(np.float64).tiny
    squares = np.square(slope @ vectors)
    fall = 0.5 * (squares / np.maximum(values, floor)).sum(axis=1)
    if strict:
        fall[(squares[:, values <= floor] > 0).any(axis=1)] = np.inf
    return fall


class RowModel:
    """Loss of the rows of F (rows × k) with the other factor fixed.

    `kind` names what the model can do beyond value and gradient: "quadratic" (one Gram for all rows), "entries" (a Gram
    for each row), "counts" (KL on stored counts), "smooth" (nothing more). `columns` is True when the rows of F stand
    for columns of the table.
    """

    kind = "smooth"
    nonnegative = False  # predictions must be non-negative (KL, Itakura–Saito)
    power = 1.0  # the root under which a multiplicative update takes its ratio
    reweights = False  # majorise() gives a weighted least-squares bound
    separable = True  # rows of F do not meet in the loss (they do when a column has several predictions)
    shape: tuple[int, int]
    dtype: Any
    cross: Any  # X·Gᵀ, of quadratic models

    def value(self, F: NDArray) -> float:
        """Total loss, summed in float64."""
        return float(self.row_values(F).sum())

    def rounding(self, F: NDArray) -> float:
        """About how far rounding may put :meth:`value` off, where that is more than its last digits."""
        return 0.0

    def row_values(self, F: NDArray) -> NDArray[np.float64]:
        """Loss of each row, up to a constant of its own."""
        raise NotImplementedError("a row model defines row_values")

    def row_losses(self, F: NDArray) -> NDArray[np.float64]:
        """Loss of each row, constants included."""
        return self.row_values(F)

    def gradient(self, F: NDArray) -> NDArray:
        """Derivative of the loss by F."""
        raise NotImplementedError("a row model defines gradient")

    @property
    def lipschitz(self) -> NDArray | None:
        """Lipschitz constants of the rows' gradients, shape (rows, 1) or (1, 1); None when there is none."""
        return None

    def most_fall(self, F: NDArray, ridge: float | NDArray, nonnegative: bool) -> NDArray[np.float64]:
        """How far loss + ½·ridge‖f‖² of each row can fall at most (over f ≥ 0 if `nonnegative`), for quadratic losses.

        With the slope g = g⁺ − g⁻ at f and the Gram B of the row, any other y ≥ 0 has
        loss(y) ≥ loss(f) − ⟨g⁺, f⟩ − ½ g⁻(B + ridge)⁻¹g⁻: nothing at a minimum. Without signs it is all
        ½ g(B + ridge)⁻¹g, the Newton decrement, which sees flat directions that a gradient step does not.
        """
        raise NotImplementedError("this row model is not quadratic")

    def take(self, rows: NDArray) -> RowModel | None:
        """The same model for some rows only, or None when that is not cheaper."""
        return None

    def denominator(self, F: NDArray) -> NDArray:
        """The part D of the gradient D − N with D, N ≥ 0, for multiplicative updates of non-negative factors."""
        raise NotImplementedError("this row model has no multiplicative form")

    def majorise(self, F: NDArray) -> RowModel:
        """Weighted least squares that bounds the loss from above and touches it at F."""
        raise NotImplementedError("this row model has no quadratic bound")

    def majorise_by_sums(self, F: NDArray) -> RowModel:
        """The same with a Gram for each row, which steps need nothing else than."""
        return self.majorise(F)

    def parts(self) -> Iterator[tuple[int, int, RowModel]]:
        """(start, stop, model) of stretches of rows that can be improved one after the other."""
        yield 0, self.shape[0], self

    def resolved(self) -> RowModel:
        """This model, or the same in float64 where its own precision does not tell the directions of F apart."""
        return self

    def hold(self, F: NDArray, held: list[int]) -> RowModel:
        """The model of the other columns while the columns `held` keep the values they have in F."""
        return Held(self, F, held) if held else self


class Held(RowModel):
    """A model seen through its free columns; the held ones ride along unchanged."""

    def __init__(self, model: RowModel, F: NDArray, held: list[int]):
        self.model, self.full = model, F
        self.free = [t for t in range(F.shape[1]) if t not in held]
        self.kind = "smooth"
        self.nonnegative, self.reweights, self.separable = model.nonnegative, model.reweights, model.separable
        self.power = model.power
        self.shape, self.dtype = (F.shape[0], len(self.free)), model.dtype

    def _fill(self, F: NDArray) -> NDArray:
        full = self.full.copy()
        full[:, self.free] = F
        return full

    def row_values(self, F):
        return self.model.row_values(self._fill(F))

    def row_losses(self, F):
        return self.model.row_losses(self._fill(F))

    def gradient(self, F):
        return np.ascontiguousarray(self.model.gradient(self._fill(F))[:, self.free])

    @property
    def lipschitz(self):
        return self.model.lipschitz

    def take(self, rows):
        smaller = self.model.take(rows)
        if smaller is None:
            return None
        held = [t for t in range(self.full.shape[1]) if t not in self.free]
        return Held(smaller, self.full[rows], held)

    def denominator(self, F):
        return self.model.denominator(self._fill(F))[:, self.free]

    def parts(self):
        held = [t for t in range(self.full.shape[1]) if t not in self.free]
        return ((a, b, Held(part, self.full[a:b], held)) for a, b, part in self.model.parts())

    def majorise(self, F):
        held = [t for t in range(self.full.shape[1]) if t not in self.free]
        return self.model.majorise(self._fill(F)).hold(self.full, held)

    def majorise_by_sums(self, F):
        held = [t for t in range(self.full.shape[1]) if t not in self.free]
        return self.model.majorise_by_sums(self._fill(F)).hold(self.full, held)
