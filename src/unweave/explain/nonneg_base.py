"""What the non-negative family shares: a number of components that may be left to the data, and where to begin."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.table import is_blocks
from unweave.factorization.base import BaseFactorization
from unweave.factorization.settings import whole
from unweave.objectives import Objective


class NonNegativeModel(BaseFactorization):
    """A factorisation whose ``n_components`` may be ``"auto"``: chosen by error at hidden entries before the fit."""

    n_components: Any
    _chosen: int | None = None

    def _stand_in(self) -> tuple[Any, str]:
        """The estimator whose number of components is searched, and what that number is called there."""
        return self, "n_components"

    def _count(self) -> int:
        if isinstance(self.n_components, str) and self.n_components == "auto":
            if self._chosen is None:
                raise ValueError("n_components='auto' needs one table in memory: use fit, or give a number")
            return self._chosen
        return whole(self.n_components, "n_components", 1)

    def _fit(self, X, weights=None) -> NDArray | None:
        reason = self._choose(X)
        try:
            codes = super()._fit(X, weights)
        finally:
            self._chosen = None
        if reason:
            self.plan_.reasons.append(reason)
        return codes

    def _choose(self, X) -> str:
        """Settle the number of components if it was left to the data; the reason in words."""
        self._chosen = None
        if not (isinstance(self.n_components, str) and self.n_components == "auto") or is_blocks(X):
            return ""
        from unweave.select import auto_count

        choice = auto_count(*self._looked_at(X))
        self._chosen = choice.best
        return choice.reason

    def _looked_at(self, X) -> tuple[Any, Any, str]:
        estimator, name = self._stand_in()
        return estimator, X, name


def group_labels(objective: Objective, k: int, rng: np.random.Generator) -> NDArray:
    """Clusters by k-means: a relaxation of k-means that begins there never costs more."""
    from unweave.group.kmeans import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few distinct rows leave clusters empty, which a relaxation can mend
        return KMeans(k, random_state=rng).fit(objective.X).labels_


def indicator(labels: NDArray, k: int, dtype) -> NDArray:
    """One-hot rows (n × k)."""
    U = np.zeros((len(labels), k), dtype=dtype)
    U[np.arange(len(labels)), labels] = 1
    return U
