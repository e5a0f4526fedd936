"""What every penalty is: a cost of a factor, and the step that lowers it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

ENTRIES, ROWS, MATRIX = "entries", "rows", "matrix"


def tolerance(F: np.ndarray) -> float:
    """How far a factor may be from a constraint and still count as allowed: eps^(2/3) for one entry of a row."""
    return float(np.finfo(F.dtype).eps) ** (2 / 3) * math.sqrt(max(1, F.shape[1]))


class Penalty(BaseEstimator):
    """A cost of a factor F, known by `value(F)` and `prox(F, step)` = argmin_Y step*value(Y) + 1/2 ||Y - F||^2.

    Attributes
    ----------
    name : the word users write
    acts : on each of the "entries", on each of the "rows" (a row of F is one vector), or on the whole "matrix"
    convex : whether it is
    scale_free : whether t*F costs nothing whenever F costs nothing, for every t > 0
    is_penalty : whether it is finite everywhere and grows with the scale of F; else it is a constraint (0 or infinity)
    nonnegative : whether an allowed F has no negative entry
    sign_blind : whether the cost does not change with the signs of entries
    sums_to_one : whether every allowed row has entries that sum to one
    picks_one : whether every allowed row is a single one among zeros
    picks_components : whether codes under it choose among components, which then look like rows of the data
    makes_zeros : whether it is there to make most entries zero
    is_fixed : whether F is given and never changes
    mixes_rows : whether it binds the weights W of components Z = W·X that are mixtures of rows of the data
    on_product : whether it is a cost of the product U·Z rather than of one factor
    """

    name: ClassVar[str] = ""
    acts: str = ENTRIES
    convex: bool = True
    scale_free: bool = False
    is_penalty: bool = False
    nonnegative: bool = False
    sign_blind: bool = False
    sums_to_one: bool = False
    picks_one: bool = False
    picks_components: bool = False
    makes_zeros: bool = False
    is_fixed: bool = False
    mixes_rows: bool = False
    on_product: bool = False

    @property
    def separable(self) -> bool:
        """Whether rows of F can be treated on their own."""
        return self.acts != MATRIX

    @property
    def is_free(self) -> bool:
        """Whether every F is allowed and costs nothing."""
        return self.separable_terms() == (0.0, 0.0, False)

    def validate(self) -> Self:
        """Check the parameters; a ValueError names the one that is wrong."""
        return self

    def value(self, F: np.ndarray) -> float:
        """The cost of `F`, summed in float64; for a constraint 0, or infinity if F is not allowed."""
        self.validate()
        return self._value(self._factor(F))

    def prox(self, F: np.ndarray, step: Any = 1.0) -> np.ndarray:
        """A new array; `step` >= 0 is a number, or an array of shape (rows, 1) with one for each row."""
        self.validate()
        F = self._factor(F)
        return self._prox(F, self._step(F, step)) if F.size else F.copy()

    def outermost(self, F: np.ndarray) -> np.ndarray:
        """Rows of the same directions as far out as a bound of their size allows; `F` itself where there is none."""
        return F

    def least_along(self, slope: np.ndarray) -> np.ndarray | None:
        """The least inner product of each row of `slope` with an allowed row, or None where that is not known."""
        return None

    def row_costs(self, F: np.ndarray) -> np.ndarray:
        """The cost of each row of an allowed F, for penalties on rows: nothing, if they are constraints."""
        return np.zeros(len(F))

    def separable_terms(self) -> tuple[float, float, bool] | None:
        """(l1, ridge, nonnegative) if the cost is the sum of l1 |f| + ridge/2 f^2 (with f >= 0 or not), else None."""
        return None

    def _value(self, F: np.ndarray) -> float:
        return 0.0 if F.size == 0 or self._allows(F) else math.inf

    def _allows(self, F: np.ndarray) -> bool:
        """Whether F satisfies the constraint, up to `tolerance`. F has at least one entry; NaN is never allowed."""
        raise NotImplementedError

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        """`prox` for checked input; `step` has the dtype of F."""
        raise NotImplementedError

    def _factor(self, F: Any) -> np.ndarray:
        F = np.asarray(F)
        if F.ndim != 2:
            raise ValueError(f"{self.name}: F must be a matrix, got the shape {F.shape}")
        return F if F.dtype in (np.float32, np.float64) else F.astype(np.float64)

    def _step(self, F: np.ndarray, step: Any) -> np.ndarray:
        step = np.asarray(step, dtype=F.dtype)
        if step.ndim and step.shape != (F.shape[0], 1):
            raise ValueError(f"{self.name}: step must be a number or of the shape ({F.shape[0]}, 1), got {step.shape}")
        if not np.all((step >= 0) & (step < np.inf)):
            raise ValueError(f"{self.name}: step must be finite and at least 0")
        return step

    def _need_number(self, parameter: str, low: float = 0.0, high: float = math.inf, open_low: bool = False) -> float:
        value = getattr(self, parameter)
        good = isinstance(value, Real) and not isinstance(value, bool | np.bool_) and math.isfinite(value)
        if not good or not low <= value <= high or (open_low and value == low):
            span = f"{'above' if open_low else 'at least'} {low:g}" + (f" and at most {high:g}" if high < 1e9 else "")
            raise ValueError(f"{self.name}: {parameter} must be a finite number {span}, got {value!r}")
        return float(value)

    def _need_count(self, parameter: str) -> int:
        value = getattr(self, parameter)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{self.name}: {parameter} must be a whole number of at least 1, got {value!r}")
        return int(value)
