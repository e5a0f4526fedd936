"""Gather what a fit knows besides the ratings: features of users, features of items, and the times of ratings.

Vectors of a side with features are pulled towards a linear map of the features instead of towards zero:

    ½ Σ_i λ_i |u_i − A f_i|² + ½ρ|A|²

Given the vectors, A is a ridge regression; given A, a vector is ridge least squares about A f_i. Features are brought
to mean zero and spread one, and a constant is added: whoever has no features is pulled towards the average vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from unweave.complete.ratings.drift import Calendar, Drift, entry_times
from unweave.complete.ratings.features import ids_of, table_of
from unweave.data.arguments import number, whole
from unweave.objectives import Objective, Observed
from unweave.objectives.observed import observed


class FeatureMap:
    """Bring the features of one side to mean zero and spread one, and regress vectors on them with a ridge.

    Parameters
    ----------
    table : array (n, p)
    mean, scale : arrays (p,), optional
        Of a former fit; else those of `table`.

    Examples
    --------
    >>> import numpy as np
    >>> side = FeatureMap(np.array([[0.0], [2.0]]))
    >>> A = side.learn(np.array([[-3.0], [3.0]]), np.ones(2))
    >>> A.shape, bool(0 < side.towards(A)[1, 0] < 3)
    ((2, 1), True)
    """

    def __init__(self, table: NDArray, mean: NDArray | None = None, scale: NDArray | None = None):
        self.mean = table.mean(axis=0) if mean is None else mean
        spread = _column_spread(table) if scale is None else scale
        self.scale = np.where(spread > 1e-12 * (1 + np.abs(self.mean)), spread, np.inf)
        self.table = with_constant((table - self.mean) / self.scale)

    @classmethod
    def again(cls, record: dict, table: NDArray) -> FeatureMap:
        """Rebuild the map of a former fit, for a table that is in its units already, the constant included."""
        side = cls(table[:, :-1], np.zeros(table.shape[1] - 1), np.ones(table.shape[1] - 1))
        side.mean, side.scale = record["mean"], record["scale"]
        return side

    def start(self, width: int) -> NDArray:
        """Begin with a map under which features have no effect."""
        return np.zeros((self.table.shape[1], width))

    def learn(self, F: NDArray, weights: NDArray) -> NDArray:
        """Find A (p × k), the map of least ½ Σ w_i |f_i − A'x_i|² + ½ρ|A|²; a row without ratings weighs nothing."""
        heavy = self.table * weights[:, None]
        gram = self.table.T @ heavy + _strength(weights) * np.eye(self.table.shape[1])
        return scipy.linalg.solve(gram, heavy.T @ F.astype(np.float64), assume_a="pos", check_finite=False)

    def towards(self, A: NDArray) -> NDArray:
        """Compute the vectors that the features suggest under the map A."""
        return self.table @ A

    def penalty(self, A: NDArray, weights: NDArray) -> float:
        """Compute ½ρ|A|²."""
        return 0.5 * _strength(weights) * float(np.sum(A * A))

    def published(self, A: NDArray, columns: list[str] | None) -> dict:
        """Tell all that a newcomer needs, as arrays."""
        return {"map": A, "mean": self.mean, "scale": self.scale, "table": self.table, "columns": columns}


def _column_spread(table: NDArray) -> NDArray:
    """Measure how far each column spreads: its standard deviation, but of two values half their distance.

    Otherwise a rare level would count for much.
    """
    low, high = table.min(axis=0), table.max(axis=0)
    two = ((table == low) | (table == high)).all(axis=0)
    return np.where(two, (high - low) / 2, table.std(axis=0))


def _strength(weights: NDArray) -> float:
    """Compute ρ: what features explain costs half of what it would cost a row left to itself, summed over the rows."""
    return 0.5 * float(weights.sum()) + 1e-12


def with_constant(table: NDArray) -> NDArray:
    """Add a column of ones on the right."""
    return np.column_stack([table, np.ones(len(table))])


def from_features(record: dict, rows: NDArray | None) -> NDArray:
    """Compute the free entries of the vectors that features suggest (rows × k); with None those of one average row."""
    if rows is None:
        return record["map"][-1:]
    return with_constant((rows - record["mean"]) / record["scale"]) @ record["map"]


@dataclass(frozen=True)
class SideInformation:
    """Hold what is known besides the ratings of a table: any of features of users, of items, and times of the ratings.

    `times` belong to the stored entries of the table in order (`dates`: they were given as dates); `calendar` and
    `scale` are those of a former fit, if there was one. `columns` are the names of the features of users and items.
    """

    users: FeatureMap | None = None
    items: FeatureMap | None = None
    times: NDArray | None = None
    n_bins: int = 1
    ridge: float = 0.0
    calendar: Calendar | None = None
    scale: float | None = None
    columns: tuple[list[str] | None, list[str] | None] = (None, None)
    dates: bool = False

    @classmethod
    def read(cls, X, objective: Objective, timestamps, features: tuple, time_bins, time_ridge) -> SideInformation:
        """Check what `fit` was given, and put it beside the entries of X; `features` are of users and items."""
        if timestamps is None and all(given is None for given in features):
            return cls()
        table = observed(objective)
        given = zip(features, table.shape, ("user", "item"), strict=True)
        read = [(None, None) if g is None else table_of(g, size, ids_of(X, what), what) for g, size, what in given]
        users, items = (None if numbers is None else FeatureMap(numbers) for numbers, _ in read)
        columns = (read[0][1], read[1][1])
        if timestamps is None:
            return cls(users, items, columns=columns)
        times, dates = entry_times(X, timestamps, table.X)
        bins = 1 if time_bins == "auto" else whole(time_bins, "time_bins", 1)
        return cls(users, items, times, bins, number(time_ridge, "time_ridge"), columns=columns, dates=dates)

    @property
    def nothing(self) -> bool:
        """Tell whether nothing is known."""
        return self.times is None and not self.has_features

    @property
    def has_features(self) -> bool:
        return self.users is not None or self.items is not None

    def take(self, pick: NDArray) -> SideInformation:
        """Keep the same for some of the entries."""
        return self if self.times is None else replace(self, times=self.times[pick])

    def times_alone(self) -> SideInformation:
        """Leave the features out."""
        return replace(self, users=None, items=None)

    def drift(self, table: Observed) -> Drift | None:
        """Set up the drift of a table; None without times."""
        if self.times is None:
            return None
        calendar = Calendar.of(self.times, self.n_bins) if self.calendar is None else self.calendar
        return Drift.of(table, self.times, calendar, self.ridge, self.scale)

    def words(self) -> list[str]:
        """Say in a plan what drift and features do."""
        reasons = []
        if self.times is not None:
            bins = "" if self.n_bins == 1 else f", those of items in {self.n_bins} stretches of time"
            reasons.append(f"timestamps were given: the biases of users drift{bins}")
        for side, what in ((self.users, "users"), (self.items, "items")):
            if side is not None:
                reasons.append(f"{what} are pulled towards a map of their {len(side.mean)} features, not towards 0")
        return reasons


@dataclass(frozen=True)
class SideRecords:
    """Hold what a fit learned of features and drift, in units of the data; None where it had none."""

    users: dict | None = None
    items: dict | None = None
    drift: dict | None = None

    def features(self, what: str) -> dict:
        """Return the record of the features of users ("user") or items ("item"), or raise."""
        record = self.users if what == "user" else self.items
        if record is None:
            raise ValueError(f"the model was fitted without {what}_features: leave them out here")
        return record

    def published(self) -> dict[str, dict]:
        """List the attributes of an estimator that hold them."""
        told = {"user_features_": self.users, "item_features_": self.items, "drift_": self.drift}
        return {name: record for name, record in told.items() if record is not None}

    def timed(self) -> dict:
        """Return the drift, or raise."""
        if self.drift is None:
            raise ValueError("the model was fitted without timestamps: it knows of no drift; leave timestamps out")
        return self.drift
