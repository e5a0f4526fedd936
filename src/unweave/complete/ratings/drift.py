"""Let biases drift in time: an item's by stretches of time, a user's along Koren's power of the time since.

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
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.objectives import Observed

_POWER = 0.4
_ROUNDS = 10  # of codes and slopes in turn

_TINY = np.finfo(np.float64).tiny  # below it, one over a number may be infinite


@dataclass(frozen=True)
class Calendar:
    """Measure times: from `first`, in units of `span`, cut into bins at `edges` (in these units).

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
        """Cut time into bins with about equally many of `times`."""
        first = float(times.min(initial=np.inf)) if len(times) else 0.0
        span = float(np.ptp(times)) if len(times) else 0.0
        span = span if span > 0 else 1.0
        inner = np.quantile((times - first) / span, np.arange(1, n_bins) / n_bins) if len(times) else np.empty(0)
        return cls(first, span, np.unique(inner))

    @classmethod
    def again(cls, drift: dict) -> Calendar:
        """Rebuild the calendar of a former fit from what it published."""
        return cls(drift["first"], drift["span"], drift["edges"])

    @property
    def n_bins(self) -> int:
        return len(self.edges) + 1

    def unit(self, times: NDArray) -> NDArray:
        return (times - self.first) / self.span

    def bins(self, times: NDArray) -> NDArray:
        return np.searchsorted(self.edges, self.unit(times))


class Drift:
    """Hold the drift of a table of ratings with times, and improve its parts while everything else is fixed.

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

    @classmethod
    def of(cls, table: Observed, times: NDArray, calendar: Calendar, ridge: float, scale: float | None = None) -> Drift:
        """Set up the drift of the entries of a table, whose `times` are in order."""
        t = table.by_row
        return cls(t.rows, t.indices.astype(np.int64), times, table.shape, calendar, ridge, scale)

    def start(self) -> dict:
        """Begin with no drift."""
        return {"bins": np.zeros(self.counts.shape), "slopes": np.zeros(self.shape[0])}

    def improve(self, residual: NDArray, parts: dict) -> dict:
        """Find the best bins, then the best slopes, for what the rest of the model leaves of each rating."""
        left = residual - parts["slopes"][self.rows] * self.dev
        bins = self._best_bins(left)
        return {"bins": bins, "slopes": self._best_slopes(residual - bins[self.columns, self.bin_at])}

    def settle(self, bins: NDArray, residual: Callable[[NDArray], NDArray]) -> dict:
        """Find slopes together with the codes of their rows, for given bins: each in turn until they stay.

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
        """Minimise Σ (left − c_b + c̄)² + ridge·|c|² for each item: a Gram that is diagonal less rank one."""
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
        """Compute the drift of every rating."""
        return parts["bins"][self.columns, self.bin_at] + parts["slopes"][self.rows] * self.dev

    def penalty(self, parts: dict) -> float:
        """Compute ½ridge(|c|² + |α|²); bins are told less their mean, and cost what the least of their shifts costs."""
        bins = parts["bins"] - parts["bins"].mean(axis=1, keepdims=True)
        return 0.5 * self.ridge * float(np.sum(bins**2) + np.sum(parts["slopes"] ** 2))

    def published(self, parts: dict) -> dict:
        """Tell all that predictions need (:func:`drift_at`), and the times, as arrays and numbers."""
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
    """Compute the drift of pairs of positions at times; whoever is at -1 has none."""
    calendar = Calendar.again(drift)
    of_item = np.where(items >= 0, drift["bins"][items, calendar.bins(times)], 0.0)
    dev = _dev(calendar.unit(times), drift["centres"][users]) - drift["means"][users]
    dev = dev / drift["scale"] if drift["scale"] > 0 else np.zeros_like(dev)
    return of_item + np.where(users >= 0, drift["slopes"][users] * dev, 0.0)


def _dev(times: NDArray, centres: NDArray) -> NDArray:
    since = times - centres
    return np.sign(since) * np.abs(since) ** _POWER


# -- timestamps as they are given ----------------------------------------------------------------------------------


def numbers_of(timestamps) -> tuple[NDArray, bool]:
    """Read timestamps as (float64 in any shape, whether they were dates); missing ones stay NaN.

    >>> import numpy as np
    >>> numbers_of(np.array(["1970-01-01T00:01"], "datetime64[m]")), numbers_of([5])
    ((array([60.]), True), (array([5.]), False))
    """
    given = np.asarray(timestamps)
    if given.dtype == object:
        given = _parsed(given)
    if given.dtype.kind == "M":
        whole = given.astype("datetime64[us]")
        return np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / 1e6), True
    if given.dtype.kind not in "iuf":
        raise TypeError(f"timestamps must be numbers or dates (datetime64), got {given.dtype}; parse them first")
    return given.astype(np.float64), False


def _parsed(given: NDArray) -> NDArray:
    for kind in ("datetime64[us]", np.float64):
        try:
            return given.astype(kind)
        except (TypeError, ValueError):
            continue
    raise TypeError("timestamps must be numbers or dates (datetime64), got objects; parse them first")


def entry_times(X, timestamps, seen: sp.csr_array) -> tuple[NDArray, bool]:
    """Find (the time of every entry of `seen`, in its order; whether these were dates).

    `X` is the table as it was given, `seen` its observed entries. Timestamps are one for each stored entry of a sparse
    X in the order of ``X.data``, one for each observed entry of a dense X row by row, or an array of X's shape.
    """
    plain = X.X if isinstance(X, NamedTable) else X
    given, dates = numbers_of(timestamps)
    if given.shape == tuple(seen.shape):
        times = given[np.repeat(np.arange(seen.shape[0]), np.diff(seen.indptr)), seen.indices]
    elif sp.issparse(plain):
        times = given[_order(plain, given.shape)]
    elif given.shape == (seen.nnz,):
        times = given
    else:
        raise ValueError(
            f"timestamps has shape {given.shape}, but X has shape {tuple(seen.shape)} and {seen.nnz} observed "
            "entries: give an array of X's shape, or one time for each observed entry, row by row"
        )
    refuse_holes(times)
    return times, dates


def _order(X, shape: tuple[int, ...]) -> NDArray:
    """Find where in ``X.data`` each observed entry is, row by row."""
    if X.format not in ("csr", "csc", "coo"):
        raise TypeError(f"timestamps need X as a CSR, CSC or COO array, got {X.format}; call X.tocsr() first")
    if shape != (X.nnz,):
        raise ValueError(f"timestamps has shape {shape}, but X stores {X.nnz} entries: give one time for each of them")
    numbered = X.copy()
    numbered.data = np.arange(1, X.nnz + 1, dtype=np.int64)
    table = sp.csr_array(numbered)
    table.sum_duplicates()
    if table.nnz != X.nnz:
        raise ValueError("X stores a pair of user and item twice; merge it with unweave.ratings before giving times")
    order = table.data - 1
    return order[~np.isnan(X.data[order])]


def pair_times(timestamps, n_pairs: int, dates: bool) -> NDArray:
    """Read one time for each pair; one time goes with all of them."""
    given, are_dates = numbers_of(timestamps)
    if are_dates != dates:
        kinds = ("dates", "numbers") if dates else ("numbers", "dates")
        raise TypeError(f"timestamps were {kinds[0]} in fit and are {kinds[1]} here; give {kinds[0]}")
    if given.shape not in ((), (1,), (n_pairs,)):
        raise ValueError(f"timestamps has shape {given.shape}, but there are {n_pairs} pairs: give one time for each")
    times = np.broadcast_to(given, (n_pairs,))
    refuse_holes(times)
    return times


def refuse_holes(times: NDArray) -> None:
    """Raise if a time is missing or infinite."""
    bad = ~np.isfinite(times)
    if bad.any():
        raise ValueError(
            f"timestamps has {int(bad.sum())} values that are missing (NaN, NaT) or infinite, the first at rating "
            f"{int(bad.argmax())}: drop these ratings, or leave out timestamps"
        )
