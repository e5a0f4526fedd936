"""Share what both models of the nuclear norm have in common: holes are allowed, and the first block sets the rank."""

from __future__ import annotations

from unweave.data.arguments import number
from unweave.factorization.base import BaseFactorization
from unweave.solve.history import History


class NuclearModel(BaseFactorization):
    """Estimate a partly observed table under the nuclear norm."""

    _takes_blocks = False

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows; the first call is a fit, and sets the strength and the rank."""
        if not hasattr(self, "components_"):
            self.fit(X)
            self.history_ = History()
            return self
        return super().partial_fit(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def positive_or_auto(value, name: str) -> float | None:
    """Return a parameter that is a number above 0, or None where it is "auto".

    >>> positive_or_auto(2, "strength"), positive_or_auto("auto", "strength")
    (2.0, None)
    """
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"{name}={value!r} must be a number or 'auto'")
        return None
    if not number(value, name) > 0:
        raise ValueError(f"{name} must be above 0, got {value}: a small one comes close to none")
    return float(value)
