"""Convert between the units of the data and those of a fit, in which the observed entries have mean 0 and spread 1.

A ridge λ on vectors has the units of the data (u·z has them, and so has ‖u‖²), one on biases has none. A fit that works
on the standardised table needs not know: strengths, priors and step lengths mean the same for stars and for percents,
and ``fit(a·X + b)`` predicts ``a·p + b``. Outside, a code is (u, a, 1) and its components are (z, 1, mean + b), with
u and z in units of the root of the spread and biases in units of the spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective


@dataclass(frozen=True)
class Units:
    """Hold mean and spread (standard deviation) of the observed entries of a table, and convert in and out.

    >>> import numpy as np
    >>> units = Units(mean=3.0, spread=4.0)
    >>> U, Z = np.array([[1.0, 2.0, 1.0]]), np.array([[1.0], [1.0], [5.0]])
    >>> float((units.codes_out(U) @ units.components_out(Z))[0, 0]), 3 + 4 * float((U @ Z)[0, 0])
    (35.0, 35.0)
    """

    mean: float
    spread: float
    held: float = 1.0  # what a fit holds beside biases in the place of one (see Strengths in least_squares.py)

    @classmethod
    def of(cls, objective: Objective) -> Units:
        """Measure a table; entries that differ by their rounding alone have spread one."""
        values = objective.seen_values().astype(np.float64)
        if not len(values):
            return cls(0.0, 1.0)
        middle = float(values[0])  # sums of differences neither overflow nor cancel
        mean = middle + float(np.mean(values - middle))
        far = float(np.abs(values - mean).max())
        if far <= 8 * np.finfo(objective.dtype).eps * float(np.abs(values).max()):
            return cls(mean, 1.0)
        return cls(mean, far * float(np.sqrt(np.mean(np.square((values - mean) / far)))))

    def inward(self, objective: Objective) -> Objective:
        """Standardise a table."""
        return objective.mapped(self._standard)

    def _standard(self, values: NDArray) -> NDArray:
        return ((values.astype(np.float64) - self.mean) / self.spread).astype(values.dtype)

    def of_free(self, width: int) -> NDArray[np.float64]:
        """Tell what one unit of each free entry of a code (or component) is outside: vectors, then the bias."""
        return np.append(np.full(width - 2, np.sqrt(self.spread)), self.spread * self.held)

    def of_ridge(self, width: int) -> NDArray[np.float64]:
        """Tell what a ridge of one is outside, for each free entry of a code (loss has squared units)."""
        return self.square / np.square(self.of_free(width))

    @property
    def square(self) -> float:
        """Tell what one unit of the loss is outside."""
        return self.spread**2

    def codes_out(self, U: NDArray) -> NDArray:
        """Bring codes to (u, a, 1) in the units of the data, whatever is held in the place of one."""
        out = U[:, :-1] * self.of_free(U.shape[1])
        return np.column_stack([out, np.ones(len(U))]).astype(U.dtype)

    def codes_in(self, U: NDArray) -> NDArray:
        """Bring codes to those of a fit, with what it holds."""
        out = U[:, :-1] / self.of_free(U.shape[1])
        return np.column_stack([out, np.full(len(U), self.held)]).astype(U.dtype)

    def components_out(self, Z: NDArray) -> NDArray:
        """Bring components to (z, 1, mean + b) in the units of the data."""
        units = self.of_free(len(Z))
        out = np.ones(Z.shape)
        out[:-2], out[-1] = Z[:-2] * units[:-1, None], self.mean + Z[-1] * units[-1]
        return out.astype(Z.dtype)

    def components_in(self, Z: NDArray) -> NDArray:
        """Bring components to those of a fit, with what it holds."""
        units = self.of_free(len(Z))
        out = np.full(Z.shape, self.held)
        out[:-2], out[-1] = Z[:-2] / units[:-1, None], (Z[-1] - self.mean) / units[-1]
        return out.astype(Z.dtype)

    def offsets_in(self, Z: NDArray) -> NDArray:
        """Bring components to those of a fit whose codes end in a one: what `transform` works with."""
        out = self.components_in(Z)
        out[-1] *= out.dtype.type(self.held)
        return out
