"""Biases that drift in time: an item's by stretches of time, a user's along Koren's power of the time since.

    drift_ij(t) = c_j,bin(t) − c̄_j + α_i (dev_i(t) − mean of dev_i),    dev_i(t) = sign(t − t_i)|t − t_i|^0.4

where t_i is the mean time of the user's ratings, c̄_j the mean of c_j over the item's ratings, and dev is scaled to a
mean square of one. Both parts sum to zero over the ratings of an item and of a user. So the drift says nothing that a
bias could say, and without a time it is left out: the prediction is then for the average time of both.

Reference: Koren (2009), Collaborative filtering with temporal dynamics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_POWER = 0.4
_ROUNDS = 10  # of codes and slopes in turn

_TINY = np.finfo(np.float64).tiny  # below it, one over a number may be infinite


@dataclass(frozen=True)
class Calendar:
    """How times are measured: from `first`, in units of `span`, cut into bins at `edges` (in these units).

    >>> import numpy as np
    >>> calendar = Calendar.of(np.array([10.0, 20.0, 30.0, 50.0]), 2)
    >>> calendar.unit(np.array([20.0])).tolist(), calendar.bins(np.array([0.0, 20.0, 99.0])).tolist()
    ([0.25], [0, 0, 1])
    """

    first: float
    span: float
    edges: NDArray

    @classmethod
    def of(cls, times: NDArray, n_bins: int) -> Calendar:
        """Bins with about equally many of `times`."""
        first = float(times.min(initial=np.inf)) if len(times) else 0.0
        span = float(np.ptp(times)) if len(times) else 0.0
        span = span if span > 0 else 1.0
        inner = np.quantile((times - first) / span, np.arange(1, n_bins) / n_bins) if len(times) else np.empty(0)
        return cls(first, span, np.unique(inner))

    @property
    def n_bins(self) -> int:
        return len(self.edges) + 1

    def unit(self, times: NDArray) -> NDArray:
        return (times - self.first) / self.span

    def bins(self, times: NDArray) -> NDArray:
        return np.searchsorted(self.edges, self.unit(times))


class Drift:
    """The drift of a table of ratings with times, and how its parts are improved while everything else is fixed.

    Parameters
    ----------
    rows, columns, times : arrays (n_ratings,)
        User, item and time of each rating.
    shape : (n_users, n_items)
    calendar : Calendar
    ridge : float
        A bin of an item, or the slope of a user, with so many ratings is shrunk to half.
    scale : float, optional
        The root mean square of dev in a former fit; else that of these ratings.

    Examples
    --------
    >>> import numpy as np
    >>> rows, columns, times = np.arange(4), np.zeros(4, int), np.arange(4.0)
    >>> drift = Drift(rows, columns, times, (4, 1), Calendar.of(times, 2), ridge=0.0)
    >>> drift.improve(np.array([-1.0, -1.0, 1.0, 1.0]), drift.start())["bins"].tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, rows, columns, times, shape, calendar: Calendar, ridge: float, scale: float | None = None):
        self.rows, self.columns, self.times, self.shape = rows, columns, times, shape
        self.calendar, self.ridge = calendar, ridge
        self.bin_at = calendar.bins(times)
        self.counts = np.bincount(
            columns * calendar.n_bins + self.bin_at, minlength=shape[1] * calendar.n_bins
        ).reshape(shape[1], -1)
        self.shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        of_user = np.maximum(np.bincount(rows, minlength=shape[0]), 1)
        self.centres = self._by_user(calendar.unit(times)) / of_user
        raw = _dev(calendar.unit(times), self.centres[rows])
        self.means = self._by_user(raw) / of_user
        raw -= self.means[rows]
        self.scale = (float(np.sqrt(np.mean(raw * raw))) if len(raw) else 0.0) if scale is None else scale
        self.dev = raw / self.scale if self.scale > 0 else np.zeros_like(raw)
        self.lengths = self._by_user(self.dev * self.dev)

    def start(self) -> dict:
        """No drift."""
        return {"bins": np.zeros(self.counts.shape), "slopes": np.zeros(self.shape[0])}

    def improve(self, residual: NDArray, parts: dict) -> dict:
        """The best bins, then the best slopes, for what the rest of the model leaves of each rating."""
        left = residual - parts["slopes"][self.rows] * self.dev
        bins = self._best_bins(left)
        return {"bins": bins, "slopes": self._best_slopes(residual - bins[self.columns, self.bin_at])}

    def settle(self, bins: NDArray, residual: Callable[[NDArray], NDArray]) -> dict:
        """Slopes found together with the codes of their rows, for given bins: each in turn until they stay.

        ``residual(drift)`` is what the best codes leave of the ratings once this drift is taken off them. From no
        slopes at all, so that it depends on nothing but the rows: `transform` and the end of `fit` agree.
        """
        parts = {"bins": bins, "slopes": np.zeros(self.shape[0])}
        of_items = self.at_entries(parts)
        for _ in range(_ROUNDS):
            drift = self.at_entries(parts)
            slopes = self._best_slopes(residual(drift) + drift - of_items)
            moved, parts = np.abs(slopes - parts["slopes"]).max(initial=0.0), {"bins": bins, "slopes": slopes}
            if moved <= 1e-6 * np.abs(slopes).max(initial=0.0):
                break
        return parts

    def _best_slopes(self, left: NDArray) -> NDArray:
        top, bottom = self._by_user(self.dev * left), self.lengths + self.ridge
        return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > _TINY)

    def _best_bins(self, left: NDArray) -> NDArray:
        """min Σ (left − c_b + c̄)² + ridge·|c|² for each item: a Gram that is diagonal less rank one."""
        n_bins = self.calendar.n_bins
        sums = np.bincount(self.columns * n_bins + self.bin_at, left, minlength=self.counts.size)
        sums = sums.reshape(self.counts.shape)
        pull = sums - self.shares * sums.sum(axis=1, keepdims=True)
        full = self.counts + self.ridge
        weights = np.divide(1.0, full, out=np.zeros_like(full, dtype=np.float64), where=full > _TINY)
        rest = 1 - (self.counts * self.shares * weights).sum(axis=1)
        mean = (self.shares * pull * weights).sum(axis=1)
        # Without ridge the mean of the bins is free: the one of no mean is taken.
        mean = np.divide(mean, rest, out=np.zeros_like(mean), where=rest > 1e-12)
        bins = (pull + self.counts * mean[:, None]) * weights
        return bins - (self.shares * bins).sum(axis=1, keepdims=True)

    def at_entries(self, parts: dict) -> NDArray:
        """The drift of every rating."""
        return parts["bins"][self.columns, self.bin_at] + parts["slopes"][self.rows] * self.dev

    def penalty(self, parts: dict) -> float:
        """½ridge(|c|² + |α|²); the bins are told less their mean, and cost what the least of their shifts costs."""
        bins = parts["bins"] - parts["bins"].mean(axis=1, keepdims=True)
        return 0.5 * self.ridge * float(np.sum(bins**2) + np.sum(parts["slopes"] ** 2))

    def published(self, parts: dict) -> dict:
        """All that predictions need (:func:`drift_at`), and the times, as arrays and numbers."""
        return {
            "bins": parts["bins"],
            "slopes": parts["slopes"],
            "edges": self.calendar.edges,
            "first": self.calendar.first,
            "span": self.calendar.span,
            "centres": self.centres,
            "means": self.means,
            "scale": self.scale,
            "times": self.times,
            "ridge": self.ridge,
        }

    def _by_user(self, values: NDArray) -> NDArray:
        return np.bincount(self.rows, values, minlength=self.shape[0])


def drift_at(drift: dict, users: NDArray, items: NDArray, times: NDArray) -> NDArray:
    """The drift of pairs of positions at times; whoever is at -1 has none."""
    calendar = Calendar(drift["first"], drift["span"], drift["edges"])
    of_item = np.where(items >= 0, drift["bins"][items, calendar.bins(times)], 0.0)
    dev = _dev(calendar.unit(times), drift["centres"][users]) - drift["means"][users]
    dev = dev / drift["scale"] if drift["scale"] > 0 else np.zeros_like(dev)
    return of_item + np.where(users >= 0, drift["slopes"][users] * dev, 0.0)


def _dev(times: NDArray, centres: NDArray) -> NDArray:
    since = times - centres
    return np.sign(since) * np.abs(since) ** _POWER
