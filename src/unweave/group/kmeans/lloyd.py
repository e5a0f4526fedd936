"""Run Lloyd's iterations exactly on an array: bounds leave out distances and never change a label."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from unweave import parallel
from unweave.group.kmeans.passes import (
    LongRows,
    ShortRows,
    assign,
    choose_pass,
    chunk_rows,
    row_norms,
    rows_for_empty,
    squares_to_own,
)
from unweave.group.kmeans.start import kmeans_plus_plus
from unweave.kernels.lloyd import move_sums
from unweave.solve.scheme import Scheme

__all__ = ["CentreScheme", "Lloyd", "Place", "add_moves", "assign", "far_shift"]

Place = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (means, former centres) -> the centres that are allowed

_FAR_MEAN = 16.0  # |mean|^2 against the mean squared deviation, beyond which a centred copy of X is made
_CANCELLED = 1e-7  # objective against the sum of squares, below which it is summed from differences
_SHRUNK = 16.0  # a cluster this much lighter than it was has its sum made from nothing
_FEW_MOVED = 2000  # moved rows that are added up on one thread, without partial sums


def add_moves(
    X: np.ndarray,
    weights: np.ndarray,
    stride: int,
    old: np.ndarray,
    new: np.ndarray,
    sums: np.ndarray,
    counts: np.ndarray,
) -> int:
    """Bring sums and counts of clusters up to date with the labels (old = -1: from nothing); how many changed."""
    rows = np.flatnonzero(old != new)
    if len(rows) <= _FEW_MOVED:
        _add_rows(X, weights, stride, rows, old[rows], new[rows], sums, counts)
        return len(rows)
    n, k = len(X), len(counts)

    def part(start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        total, count = np.zeros_like(sums), np.zeros(k)
        move_sums(X, weights, stride, old, new, total, count, start, stop)
        return total, count

    for total, count in parallel.run(part, n, -(-n // max(1, min(64, n // max(8 * k, 4096))))):
        sums += total
        counts += count
    return len(rows)


def far_shift(sample: np.ndarray) -> np.ndarray:
    """Find what rows like these are best shifted by: their mean where it is far from the origin, else nothing."""
    rows = sample.astype(np.float64)
    mean = rows.mean(axis=0)
    spread = float(((rows - mean) ** 2).sum()) / len(rows)
    return (np.zeros(len(mean)) if mean @ mean <= _FAR_MEAN * spread else mean).astype(sample.dtype)


def _add_rows(X, weights, stride: int, rows: np.ndarray, old, new, sums: np.ndarray, counts: np.ndarray) -> None:
    move_sums(X[rows], weights[rows] if stride else weights, stride, old, new, sums, counts, 0, len(rows))


class CentreScheme(Scheme):
    """Find centres in steps: what the model and the repairs ask of every way to do so.

    Every state holds ``centres``, ``labels`` and ``moved`` (0 if the last step left every label as it was).
    """

    title = "Lloyd"
    why: str  # in words, for the plan
    by_centre = False  # clusters are numbered in the order of their centres, because the start does not matter

    def begin(self, rng=None) -> dict:
        return self.state_at(self.first_centres(rng))

    @abstractmethod
    def first_centres(self, rng=None) -> np.ndarray:
        """Find where to begin: the centres that were given, or rows drawn by k-means++."""

    @abstractmethod
    def state_at(self, centres: np.ndarray) -> dict:
        """Make the state before the first step from these centres."""

    @abstractmethod
    def means(self, labels: np.ndarray, former: np.ndarray) -> np.ndarray:
        """Find the centres that these labels want; a cluster without weight keeps its former one."""


class Lloyd(CentreScheme):
    """Minimise ``1/2 sum_i w_i |x_i - c_(label i)|^2`` over labels and centres by Lloyd's iterations, exactly.

    `step` gives every row the label of its nearest centre, then moves every centre to the weighted mean of its rows.
    Labels are those of the plain algorithm except where two distances tie within rounding: bounds from the triangle
    inequality only spare distances that cannot matter. Bounds are rounded outwards, and whatever they leave open is
    decided by sums of squared differences, so a large mean never costs accuracy of a label. It costs pruning, though:
    where ``|mean|^2`` exceeds 16 times the mean squared deviation, a centred copy of X is made (its size once more).
    Otherwise X is used as it is. Centres in the state are always in the coordinates and the dtype of X.

    The objective is ``(Q - 2 sum_j S_j.c_j + sum_j n_j |c_j|^2) / 2`` from the weighted sums S and counts n in
    float64, for the very centres returned (rounded to the dtype of X). Since the mean is small against the spread, Q is
    a small multiple of the total variance and about 1e-15 Q is lost; where less than 1e-7 Q is left, the objective is
    summed from differences row by row instead.

    A cluster left without weight is given the row farthest from its centre, each such cluster a row of its own. If all
    rows lie on their centres it keeps its place.

    Sums change only by the rows that change their label; chunks are fixed by the shape and added in order, and the sums
    are part of the state, so 1 and N threads, or a run resumed from a saved state, agree to the bit.

    `place(means, former)` turns the means into the centres that are allowed (see :mod:`unweave.group.kmeans.metrics`);
    by default they are the means. It must be the best choice for the rows of each cluster, or the objective may rise.
    Where no `centres` are given, `begin` draws them by k-means++.

    References: S. Lloyd, IEEE Trans. Inf. Theory 28 (1982); for the bounds see `unweave.kernels.lloyd` and `_high`.

    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> scheme = Lloyd(X, 2, centres=X[:2])
    >>> state, objective = scheme.step(scheme.begin())
    >>> while not scheme.settled(state):
    ...     state, objective = scheme.step(state)
    >>> state["labels"].tolist(), state["centres"].ravel().tolist(), objective
    ([0, 0, 1, 1], [0.5, 10.5], 0.5)
    """

    reuses = ("upper", "lower", "bounds_age")

    def __init__(
        self,
        X: np.ndarray,
        n_clusters: int,
        sample_weight: np.ndarray | None = None,
        place: Place | None = None,
        centres: np.ndarray | None = None,
    ):
        X = np.ascontiguousarray(X)
        n, d = X.shape
        if X.dtype not in (np.float32, np.float64):
            raise TypeError(f"X must be float32 or float64, got {X.dtype}")
        if not 1 <= n_clusters <= n:
            raise ValueError(f"n_clusters must be between 1 and the number of rows, {n}, got {n_clusters}")
        self.n_clusters, self.place = int(n_clusters), place
        self.given, self.centres = X, centres
        self._weigh(sample_weight, n)
        self.shift, self.X = self._centred(X)
        norms = row_norms(self.X)
        self.total = float(norms @ self.weights) if self.stride else float(norms.sum())
        self.choice = choose_pass(n, d, self.n_clusters)
        self.why = self.choice.why
        rows = ShortRows if self.choice.method == "low" else LongRows
        self.rows = rows(self.X, self.n_clusters, self.choice.groups, norms)

    def _weigh(self, sample_weight: np.ndarray | None, n: int) -> None:
        self.stride = 0 if sample_weight is None else 1
        self.weights = np.ones(1) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
        if self.stride and (self.weights.shape != (n,) or not (self.weights >= 0).all() or not self.weights.any()):
            raise ValueError("sample_weight must hold one non-negative number per row, not all zero")

    @staticmethod
    def _centred(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shift the rows towards the origin where that is worth while: (the shift, the rows less it)."""
        n, d = X.shape
        shift = far_shift(X[:: max(1, n // 4096)])  # the shift need not be the mean, only near it
        if not shift.any():
            return shift.astype(np.float64), X
        copy = np.empty_like(X)
        parallel.run(
            lambda start, stop: np.subtract(X[start:stop], shift, out=copy[start:stop]), n, chunk_rows(d, 1, 2**16)
        )
        return shift.astype(np.float64), copy

    def first_centres(self, rng=None) -> np.ndarray:
        if self.centres is not None:
            return self.centres
        return kmeans_plus_plus(self.given, self.n_clusters, rng, self.weights if self.stride else None)

    def state_at(self, centres: np.ndarray) -> dict:
        centres = np.array(centres, dtype=self.X.dtype, order="C")
        if centres.shape != (self.n_clusters, self.X.shape[1]):
            raise ValueError(f"centres must be {self.n_clusters} by {self.X.shape[1]}, got {centres.shape}")
        k, d = centres.shape
        return {
            "centres": centres,
            "labels": np.full(len(self.X), -1, np.int32),
            "sums": np.zeros((k, d)),
            "counts": np.zeros(k),
            "peak": np.zeros(k),
            "moved": len(self.X),
            "age": 0,
            "bounds_age": np.zeros(1, np.int64),
            **self.rows.start(self._shifted(centres)),
        }

    def step(self, state: dict) -> tuple[dict, float]:
        """Give every row to its nearest centre, then move the centres to the means.

        `centres`, `labels`, `sums` and `counts` are new arrays. The bounds are changed in place; a step from an older
        state notices (`bounds_age`) and starts them afresh.
        """
        if state["bounds_age"][0] != state["age"]:
            state = {**state, **self.rows.reset(state), "bounds_age": np.array([state["age"]])}
        old, centres = state["labels"], self._shifted(state["centres"])
        labels = self.rows.labels(state, centres, old)
        sums, counts = state["sums"].copy(), state["counts"].copy()
        moved = self._move(old, labels, sums, counts)
        peak = self._freshen(labels, sums, counts, state["peak"])
        moved += self._refill(state, centres, labels, sums, counts)
        new = {
            **state,
            "centres": self._means(state["centres"], sums, counts),
            "labels": labels,
            "sums": sums,
            "counts": counts,
            "peak": peak,
            "moved": moved,
            "age": state["age"] + 1,
        }
        placed = self._shifted(new["centres"])
        steps = np.sqrt(((placed.astype(np.float64) - centres) ** 2).sum(axis=1)) * (1.0 + 1e-12)
        new.update(self.rows.moved(state, steps))
        state["bounds_age"][0] = new["age"]
        return new, self._objective(placed, labels, sums, counts)

    def settled(self, state: dict) -> bool:
        return state["moved"] == 0

    fixed = settled

    def means(self, labels: np.ndarray, former: np.ndarray) -> np.ndarray:
        sums, counts = np.zeros(former.shape), np.zeros(len(former))
        self._move(np.full_like(labels, -1), labels, sums, counts)
        return self._means(former, sums, counts)

    def _shifted(self, centres: np.ndarray) -> np.ndarray:
        return (centres - self.shift).astype(self.X.dtype) if self.shift.any() else centres

    def _means(self, former: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
        filled = counts > 0
        means = sums / np.where(filled, counts, 1.0)[:, None] + self.shift
        means = np.where(filled[:, None], means, former)
        return (means if self.place is None else self.place(means, former)).astype(former.dtype)

    def _move(self, old: np.ndarray, new: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> int:
        """Bring sums and counts up to date with the labels (old = -1: from nothing); how many changed."""
        return add_moves(self.X, self.weights, self.stride, old, new, sums, counts)

    def _move_rows(
        self, rows: np.ndarray, old: np.ndarray, new: np.ndarray, sums: np.ndarray, counts: np.ndarray
    ) -> None:
        _add_rows(self.X, self.weights, self.stride, rows, old, new, sums, counts)

    def _freshen(self, labels: np.ndarray, sums: np.ndarray, counts: np.ndarray, peak: np.ndarray) -> np.ndarray:
        """Add up from nothing once a cluster has lost most of its weight, since the rounding of what left remains.

        `peak` is the largest weight of each cluster since its sum was last made from nothing; returns the new one.
        """
        peak = np.maximum(peak, counts)
        if not (counts < peak / _SHRUNK).any():
            return peak
        sums[:], counts[:] = 0.0, 0.0
        self._move(np.full_like(labels, -1), labels, sums, counts)
        return counts.copy()

    def _refill(
        self, state: dict, centres: np.ndarray, labels: np.ndarray, sums: np.ndarray, counts: np.ndarray
    ) -> int:
        """Give each cluster without weight the row farthest from its centre; how many rows were moved."""
        empty = np.flatnonzero(counts <= 0.0)
        if not len(empty):
            return 0
        squares = squares_to_own(self.X, centres, labels)
        # Copies of one row lie on their mean up to rounding only: such a distance is none, or they would be torn apart.
        grain = 4.0 * float(np.finfo(self.X.dtype).eps)
        squares[squares <= grain**2 * (row_norms(self.X) + self.shift @ self.shift)] = 0.0
        if self.stride:
            squares[self.weights == 0.0] = 0.0
        # Rows that a cluster can give away: those apart from its centre, and one more if others lie on it.
        heavy = np.bincount(labels[squares > 0.0], minlength=self.n_clusters)
        heavy += np.bincount(labels[(squares == 0.0) & (self.weights > 0.0)], minlength=self.n_clusters) > 0
        rows, after = rows_for_empty(empty.astype(np.int32), labels, squares, heavy)
        self._move_rows(rows, labels[rows], after, sums, counts)
        labels[rows] = after
        self.rows.forget(state, rows)
        return len(rows)

    def _objective(self, centres: np.ndarray, labels: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> float:
        C = centres.astype(np.float64)
        value = self.total - 2.0 * float(np.vdot(sums, C)) + float(counts @ np.einsum("ij,ij->i", C, C))
        if value < _CANCELLED * self.total:
            squares = squares_to_own(self.X, centres, labels)
            value = float(squares @ self.weights) if self.stride else float(squares.sum())
        return 0.5 * value
