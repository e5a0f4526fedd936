"""Two penalties at once: nonnegative together with another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unweave.penalties import _rows
from unweave.penalties.base import Penalty
from unweave.penalties.entrywise import NonNegative
from unweave.penalties.norms import UnitNorm

SYMMETRIC = ("free", "nonnegative", "ridge", "l1", "elastic-net", "l1-ball", "l2-ball", "sparse", "unit-norm")
"""Blind to the signs of entries, so their prox of max(F, 0) is the prox of both."""

IMPLIED = ("simplex", "one-hot", "boolean")
"""Nonnegative already."""


class Both(Penalty):
    """Nonnegative and one more: first(F) + second(F), where one of the two is `NonNegative`.

    prox = prox of the other at max(F, 0), which is exact for penalties blind to signs; simplex, one-hot and boolean are
    nonnegative already and stand for both. With unit-norm a row without a positive entry becomes 1 at its largest (the
    first on ties). Other pairs have no such closed form and are refused.

    >>> Both("nonnegative", "l1").prox(np.array([[3.0, -5.0]]))
    array([[2., 0.]])
    """

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
        if second.name == NonNegative.name:
            first, second = second, first
        if first.name != NonNegative.name or second.name not in SYMMETRIC + IMPLIED:
            raise ValueError(
                f"{first.name} and {second.name} cannot be combined: one of two must be nonnegative and the other one "
                f"of {', '.join(SYMMETRIC[2:] + IMPLIED)}"
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

    def outermost(self, F: np.ndarray) -> np.ndarray:
        return self.other.outermost(F)

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
        return other._prox(F if other.name in IMPLIED else np.maximum(F, 0), step)
