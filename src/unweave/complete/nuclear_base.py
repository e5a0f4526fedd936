"""What the models of the nuclear norm share: holes are meant, and the first block decides the rank."""

from __future__ import annotations

from unweave.factorization.base import BaseFactorization
from unweave.solve.history import History


class NuclearModel(BaseFactorization):
    """An estimator of a partly observed table under the nuclear norm."""

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
