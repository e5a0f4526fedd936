"""Share what the non-negative family needs: a number of components left to the data, and a start at clusters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.factorization.base import BaseFactorization
from unweave.select.auto import chooses


class NonNegativeModel(BaseFactorization):
    """A factorisation whose ``n_components`` may be ``"auto"``: chosen by error at hidden entries before the fit."""

    n_components: Any

    def _stand_in(self) -> tuple[Any, str]:
        """The estimator whose number of components is searched, and what that number is called there."""
        return self, "n_components"

    @chooses
    def _fit(self, X, weights=None) -> NDArray | None:
        return super()._fit(X, weights)


def group_labels(X, k: int, rng: np.random.Generator) -> NDArray:
    """Clusters by k-means: a relaxation of k-means that begins there never costs more."""
    from unweave.group.kmeans import KMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few distinct rows leave clusters empty, which a relaxation can mend
        return KMeans(k, random_state=rng).fit(X).labels_


def indicator(labels: NDArray, k: int, dtype) -> NDArray:
    """One-hot rows (n × k)."""
    U = np.zeros((len(labels), k), dtype=dtype)
    U[np.arange(len(labels)), labels] = 1
    return U
