"""One side with features: vectors are pulled towards a linear map of the features instead of towards zero.

    ½ Σ_i λ_i |u_i − A f_i|² + ½ρ|A|²

Given the vectors, A is a ridge regression; given A, a vector is ridge least squares about A f_i. Features are brought
to mean zero and spread one, and a constant is added: whoever has no features is pulled towards the average vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from unweave.updates import Update


class Side:
    """The features of one side, to mean zero and spread one, and the ridge regression of vectors on them.

    Parameters
    ----------
    table : array (n, p)
    mean, scale : arrays (p,), optional
        Of a former fit; else those of `table`.

    Examples
    --------
    >>> import numpy as np
    >>> side = Side(np.array([[0.0], [2.0]]))
    >>> A = side.learn(np.array([[-3.0], [3.0]]), np.ones(2))
    >>> A.shape, bool(0 < side.towards(A)[1, 0] < 3)
    ((2, 1), True)
    """

    def __init__(self, table: NDArray, mean: NDArray | None = None, scale: NDArray | None = None):
        self.mean = table.mean(axis=0) if mean is None else mean
        spread = _spread(table) if scale is None else scale
        self.scale = np.where(spread > 1e-12 * (1 + np.abs(self.mean)), spread, np.inf)
        self.table = with_constant((table - self.mean) / self.scale)

    @classmethod
    def again(cls, record: dict, table: NDArray) -> Side:
        """The side of a former fit, for a table that is in its units already, the constant included."""
        side = cls(table[:, :-1], np.zeros(table.shape[1] - 1), np.ones(table.shape[1] - 1))
        side.mean, side.scale = record["mean"], record["scale"]
        return side

    def start(self, width: int) -> NDArray:
        return np.zeros((self.table.shape[1], width))

    def learn(self, F: NDArray, weights: NDArray) -> NDArray:
        """A (p × k): the map of least ½ Σ w_i |f_i − A'x_i|² + ½ρ|A|²; a row without ratings should weigh nothing."""
        heavy = self.table * weights[:, None]
        gram = self.table.T @ heavy + _strength(weights) * np.eye(self.table.shape[1])
        return scipy.linalg.solve(gram, heavy.T @ F.astype(np.float64), assume_a="pos", check_finite=False)

    def towards(self, A: NDArray) -> NDArray:
        return self.table @ A

    def penalty(self, A: NDArray, weights: NDArray) -> float:
        return 0.5 * _strength(weights) * float(np.sum(A * A))

    def published(self, A: NDArray, columns: list[str] | None) -> dict:
        """All that a newcomer needs, as arrays."""
        return {"map": A, "mean": self.mean, "scale": self.scale, "table": self.table, "columns": columns}


def _spread(table: NDArray) -> NDArray:
    """Standard deviation of each column; of two values half their distance, or a rare level would count for much."""
    low, high = table.min(axis=0), table.max(axis=0)
    two = ((table == low) | (table == high)).all(axis=0)
    return np.where(two, (high - low) / 2, table.std(axis=0))


def _strength(weights: NDArray) -> float:
    """ρ: what the features explain costs half of what it would cost a row left to itself, summed over the rows."""
    return 0.5 * float(weights.sum()) + 1e-12


def with_constant(table: NDArray) -> NDArray:
    """A column of ones beside."""
    return np.column_stack([table, np.ones(len(table))])


def from_features(record: dict, rows: NDArray | None) -> NDArray:
    """The free entries of the vectors that features alone suggest (rows × k); with None those of one average row."""
    if rows is None:
        return record["map"][-1:]
    return with_constant((rows - record["mean"]) / record["scale"]) @ record["map"]


@dataclass(frozen=True)
class Towards(Update):
    """Any update for ridge about zero, as one about ``half.towards``: what that predicts is taken off the data."""

    plain: Update

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.plain.name

    def refuses(self, model, half):
        return self.plain.refuses(model, half)

    def __call__(self, model, F, half, effort):
        if np.ndim(half.towards) == 0:
            return self.plain(model, F, half, effort)
        model, F = half.about_zero(model, F)
        return half.towards + self.plain(model, F, half, effort)
