"""One user at a time under implicit feedback: what a row's code is, what drove a score, and who did nothing yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.complete.counted import POWERS
from unweave.complete.recommend import Recommends


class ImplicitUsers(Recommends):
    """How the answers of :class:`ImplicitALS` differ from those of explicit ratings.

    A user without any interaction has the code 0 by least squares, and with it every item the score 0. `recommend`
    and `predict` give such a user the average code of all others instead: the average score of an item over the users,
    which ranks by (smoothed) popularity.
    """

    # Set by the estimator.
    ridge_: float
    alpha: float
    weighting: str
    _gram: NDArray
    _average: NDArray

    def _blank_code(self):
        return self._average.copy()

    def _codes_at(self, positions):
        blank = self.seen_.indptr[positions + 1] == self.seen_.indptr[positions]
        codes = super()._codes_at(positions)
        return np.where(blank[:, None], self._average, codes) if blank.any() else codes

    def _row_ridge(self, n_ratings: int) -> float:
        return self.ridge_ * max(n_ratings, 1) ** POWERS[self.weighting]

    def _row_system(self, items: NDArray, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """(A, H, c): the row's code is A⁻¹ Σ_j c_j h_j over its entries."""
        if (np.asarray(values) < 0).any():
            raise ValueError("Negative values in data passed to ImplicitALS: leave out what was disliked")
        H = self.components_[:, items].T.astype(np.float64)
        a = float(self.alpha) * np.asarray(values, np.float64)
        return self._gram + self._row_ridge(len(items)) * np.eye(len(self._gram)) + (H.T * a) @ H, H, 1 + a

    def _row_code(self, items, values):
        kept = np.asarray(values) != 0
        if not kept.any():
            return self._blank_code()
        A, H, c = self._row_system(np.asarray(items)[kept], np.asarray(values)[kept])
        return np.linalg.lstsq(A, H.T @ c, rcond=None)[0].astype(self.components_.dtype)

    def _influence(self, items, values, item):
        """Hu, Koren and Volinsky (2008), section 5: the score is Σ_j z'A⁻¹h_j·c_j."""
        if not np.any(values):
            return np.zeros(len(items)), float(self._average.astype(np.float64) @ self.components_[:, item])
        A, H, c = self._row_system(items, values)
        pull = np.linalg.lstsq(A, self.components_[:, item].astype(np.float64), rcond=None)[0]
        return (H @ pull) * c * (np.asarray(values) > 0), 0.0
