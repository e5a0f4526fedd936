"""What an update is: one half-step, improving one factor while the other is fixed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.objectives.models import RowModel
from unweave.penalties.base import Penalty


@dataclass(frozen=True)
class Effort:
    """How long a half-step may work.

    It makes at most `sweeps` inner iterations. A row is done when it moves less than `tol` times its largest entry (0:
    never), or less than `drop` times its first move (coordinate descent only). With a `tol` above 0 coordinate descent
    ends with the exact minimum of every row.
    """

    sweeps: int = 10
    tol: float = 0.0
    drop: float = 0.0


@dataclass(frozen=True)
class Half:
    """One side of a problem: the penalty as the half-step on F sees it.

    For codes F = U and the penalty's vectors are the rows of F. For components F = Zᵀ (`transposed`), and they are its
    columns.
    """

    penalty: Penalty
    transposed: bool = False
    exempt: tuple[int, ...] = ()  # columns of F that the penalty does not touch (the offset)

    @property
    def tied(self) -> bool:
        """The penalty ties rows of F together, so they cannot be improved one by one."""
        return self.penalty.acts == "matrix" or (self.transposed and self.penalty.acts == "rows")

    @property
    def terms(self) -> tuple[float, float, bool] | None:
        """(ℓ1, ridge, non-negative) when the penalty is that on every entry alike, else None."""
        if self.exempt and not self.penalty.is_free:
            return None
        return self.penalty.separable_terms()

    def about_zero(self, model: RowModel, F: NDArray) -> tuple[RowModel, NDArray]:
        """The same question in unknowns that the penalty pulls towards zero: (model, F)."""
        return model, F

    def prox(self, F: NDArray, step) -> NDArray:
        if not self.exempt:
            return self._prox(F, step)
        touched = [t for t in range(F.shape[1]) if t not in self.exempt]
        new = F.copy()
        new[:, touched] = self._prox(np.ascontiguousarray(F[:, touched]), step)
        return new

    def _prox(self, F: NDArray, step) -> NDArray:
        if not (self.transposed and self.tied):
            return self.penalty.prox(F, step)
        return np.ascontiguousarray(self.penalty.prox(np.ascontiguousarray(F.T), step).T)

    def value(self, F: NDArray) -> float:
        F = np.delete(F, self.exempt, axis=1) if self.exempt else F
        return float(self.penalty.value(F.T if self.transposed else F))

    def row_values(self, F: NDArray) -> NDArray[np.float64]:
        """Penalty of each row of an allowed F (constraints cost nothing there)."""
        terms = self.penalty.separable_terms()
        F64 = np.delete(F, self.exempt, axis=1).astype(np.float64) if self.exempt else F.astype(np.float64)
        if terms is None:
            return self.penalty.row_costs(F64)
        l1, ridge, _ = terms
        return l1 * np.abs(F64).sum(axis=1) + 0.5 * ridge * np.square(F64).sum(axis=1)


class Update:
    """One way to improve F.

    Attributes
    ----------
    name : what ``solver=`` takes
    title : how it reads in a plan
    looks_ahead : whether a fit that alternates it on both non-negative sides may extrapolate
    general : whether it can do every half-step, so that its refusal is the one to tell
    from_zero : whether it does best from zero where there is no former factor
    """

    name = ""
    title = ""
    looks_ahead = False
    general = False
    from_zero = False

    def fit_effort(self, objective: Objective) -> Effort:
        """Inner iterations within a fit: more where they are cheap against the product that set them up."""
        return Effort(sweeps=2) if objective.loss.zeros_in_sums else Effort(sweeps=8)

    def refuses(self, model: RowModel, half: Half) -> str | None:
        """Why this update cannot do the half-step, in words; None when it can."""
        return None

    def __call__(self, model: RowModel, F: NDArray, half: Half, effort: Effort) -> NDArray:
        """A new F at least as good as the old one; the old array is left as it was."""
        raise NotImplementedError("an update defines __call__")


def no_worse(model: RowModel, old: NDArray, new: NDArray, half: Half) -> NDArray:
    """`new`, but never at a higher objective than `old`: row by row where rows are free, else as a whole."""
    if half.tied or not model.separable:
        was, now = model.value(old) + half.value(old), model.value(new) + half.value(new)
        return new if now <= was or not np.isfinite(was) else old.copy()
    before = model.row_values(old) + half.row_values(old)
    after = model.row_values(new) + half.row_values(new)
    worse = after > before
    if worse.any():
        new = new.copy()
        new[worse] = old[worse]
    return new
