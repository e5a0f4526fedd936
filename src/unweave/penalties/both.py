"""Two penalties at once: nonnegative together with another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import Penalty
from unweave.penalties.entrywise import Free, NonNegative
from unweave.penalties.norms import UnitNorm


class Both(Penalty):
    """Nonnegative and one more: first(F) + second(F), where one of the two is `NonNegative`.

    prox = prox of the other at max(F, 0), which is exact for penalties blind to signs; simplex, one-hot and boolean are
    nonnegative already and stand for both. With unit-norm a row without a positive entry becomes 1 at its largest (the
    first on ties). Other pairs have no such closed form and are refused.

    >>> Both("nonnegative", "l1").prox(np.array([[3.0, -5.0]]))
    array([[2., 0.]])
    """

    nonnegative = True

    def __init__(self, first: Any = "nonnegative", second: Any = "free") -> None:
        self.first = first
        self.second = second

    def validate(self) -> Self:
        self._pair()
        return self

    def _pair(self) -> tuple[Penalty, Penalty]:
        """(the nonnegative one, the other)."""
        from unweave.penalties import get_penalty

        first, second = get_penalty(self.first, "first"), get_penalty(self.second, "second")
        if type(second) is NonNegative:
            first, second = second, first
        # The prox of max(F, 0) is the prox of both for a penalty that is blind to signs; others may imply it.
        if type(first) is not NonNegative or second.mixes_rows or not (second.sign_blind or second.nonnegative):
            raise ValueError(
                f"{first.name} and {second.name} cannot be combined: one of two must be nonnegative and the other one "
                f"of {', '.join(_partners())}"
            )
        return first, second

    @property
    def other(self) -> Penalty:
        """The one besides `NonNegative`."""
        return self._pair()[1]

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"nonnegative+{self.other.name}"

    @property
    def acts(self) -> str:  # type: ignore[override]
        return self.other.acts

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return self.other.convex

    @property
    def scale_free(self) -> bool:  # type: ignore[override]
        return self.other.scale_free

    @property
    def is_penalty(self) -> bool:  # type: ignore[override]
        return self.other.is_penalty

    @property
    def sums_to_one(self) -> bool:  # type: ignore[override]
        return self.other.sums_to_one

    @property
    def picks_one(self) -> bool:  # type: ignore[override]
        return self.other.picks_one

    @property
    def picks_components(self) -> bool:  # type: ignore[override]
        return self.other.picks_components

    @property
    def makes_zeros(self) -> bool:  # type: ignore[override]
        return self.other.makes_zeros

    def outermost(self, F: np.ndarray) -> np.ndarray:
        return self.other.outermost(F)

    def least_along(self, slope: np.ndarray) -> np.ndarray | None:
        # an allowed row gains nothing where the slope is positive, and is blind to signs elsewhere
        return self.other.least_along(np.minimum(slope, 0)) if self.other.sign_blind else None

    def separable_terms(self) -> tuple[float, float, bool] | None:
        terms = self.other.separable_terms()
        return None if terms is None else (terms[0], terms[1], True)

    def _value(self, F: np.ndarray) -> float:
        nonnegative, other = self._pair()
        return nonnegative._value(F) + other._value(F)

    def _prox(self, F: np.ndarray, step: np.ndarray) -> np.ndarray:
        other = self.other
        if isinstance(other, UnitNorm):
            return _rows.nonnegative_sphere(F)
        return other._prox(np.maximum(F, 0) if other.sign_blind else F, step)


def _partners() -> list[str]:
    """Names of what may stand beside nonnegative."""
    from unweave.penalties import PENALTIES

    kinds = [kind for kind in PENALTIES.values() if kind not in (NonNegative, Free) and not kind.mixes_rows]
    return [kind.name for kind in kinds if kind.sign_blind or kind.nonnegative]
