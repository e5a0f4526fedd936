"""Find the nearest centre of every row: afresh, or with bounds kept from step to step that spare most distances.

Bounds live in the state as plain arrays (``upper``, ``lower`` and the path lengths of the centres), so that a state can
be written to disk and resumed; `ShortRows` and `LongRows` only know how to use them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.lloyd import hamerly_low, nearest_low, own_squares, row_squares
from unweave.kernels.lloyd_high import LANES, decide_direct, decide_product

LOW_WIDTH = 32  # columns up to which a tile of rows beats a matrix product
BOUND_BYTES = 2**30  # memory that the lower bounds may take
DIRECT_SHARE = 0.2  # a distance alone costs about five times its share of a matrix product


def chunk_rows(d: int, k: int, most: int) -> int:
    """Choose the rows of a chunk: a few milliseconds of distances, whatever the shape."""
    return int(max(64, min(most, 2**27 // max(1, k * d))))


def product_error(d: int, dtype: np.dtype) -> float:
    """Bound the error of ``|x|^2 - 2 x.c + |c|^2`` relative to ``|x|^2 + |c|^2`` (Higham's square-root rule)."""
    return float(np.finfo(dtype).eps) * (4.0 + np.sqrt(d))


def row_norms(X: np.ndarray) -> np.ndarray:
    """Compute the squared norms of the rows, in float64."""
    norms = np.empty(len(X))
    parallel.run(lambda start, stop: row_squares(X, norms, start, stop), len(X), chunk_rows(X.shape[1], 1, 2**16))
    return norms


def squares_to_own(X: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Compute the squared distance of each row to the centre of its label, from differences, in float64."""
    squares = np.empty(len(X))
    size = chunk_rows(X.shape[1], 1, 2**16)
    parallel.run(lambda start, stop: own_squares(X, centres, labels, squares, start, stop), len(X), size)
    return squares


def padded(centres: np.ndarray) -> np.ndarray:
    """Pad rows with zero columns up to a multiple of four, as kernels of tiles want them."""
    k, d = centres.shape
    wide = np.zeros((k, -(-d // 4) * 4), centres.dtype)
    wide[:, :d] = centres
    return wide


def tiled(centres: np.ndarray) -> np.ndarray:
    """Lay centres out as :mod:`unweave.kernels.lloyd` wants them: an even number, one infinitely far if need be.

    >>> tiled(np.array([[1.0, 2.0]]))
    array([[ 1.,  2.,  0.,  0.],
           [inf, inf, inf, inf]])
    """
    wide = padded(centres)
    return np.vstack([wide, np.full_like(wide[:1], np.inf)]) if len(wide) % 2 else wide


def assign(X: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest centre of each row of X (int32) and its squared distance: the left half-step alone.

    Every row is decided by sums of squared differences wherever rounding matters, so its answer does not depend on the
    other rows. X and centres are C-contiguous and of one dtype.

    >>> labels, squares = assign(np.array([[0.0], [4.0], [9.0]]), np.array([[1.0], [8.0]]))
    >>> labels.tolist(), squares.tolist()
    ([0, 0, 1], [1.0, 9.0, 1.0])
    """
    X = np.ascontiguousarray(X)
    centres = np.ascontiguousarray(centres, dtype=X.dtype)
    (n, d), k = X.shape, len(centres)
    labels, squares = np.empty(n, np.int32), np.empty(n, X.dtype)
    if d <= LOW_WIDTH:
        wide = tiled(centres)
        parallel.run(lambda start, stop: nearest_low(X, wide, labels, squares, start, stop), n, chunk_rows(d, k, 2**14))
        return labels, squares
    norms, centre_norms = row_norms(X).astype(X.dtype), row_norms(centres).astype(X.dtype)
    error = product_error(d, X.dtype)
    members, starts = np.arange(k, dtype=np.int32), np.array([0, k], np.int32)
    path, group_path = np.zeros(k, np.float32), np.zeros(1, np.float32)

    def chunk(start: int, stop: int) -> None:
        m = stop - start
        part, upper, lower = X[start:stop], np.empty(m, np.float32), np.empty((m, 1), np.float32)
        decide_product(
            part,
            centres,
            norms[start:stop],
            centre_norms,
            part @ centres.T,
            error,
            labels[start:stop],
            upper,
            lower,
            path,
            group_path,
            starts,
            members,
            0.0,
            np.arange(m),
        )

    parallel.run(chunk, n, chunk_rows(d, k, 2048))
    return labels, squares_to_own(X, centres, labels).astype(X.dtype, copy=False)


def rows_for_empty(empty: NDArray, labels: NDArray, costs: NDArray, spare: NDArray) -> tuple[NDArray[np.intp], NDArray]:
    """Pick a row for each empty cluster: the costliest first, none that costs nothing or is the last of its own.

    `spare` counts the rows of each cluster and is changed. Returns the rows and the clusters that they go to; fewer
    than are empty where rows run out.

    >>> rows_for_empty(np.array([2]), np.array([0, 0, 1]), np.array([1.0, 3.0, 9.0]), np.array([2, 1, 0]))
    (array([1]), array([2]))
    """
    given: list[int] = []
    for i in np.argsort(-costs, kind="stable"):
        if len(given) == len(empty) or costs[i] == 0.0:
            break
        if spare[labels[i]] > 1:
            spare[labels[i]] -= 1
            given.append(i)
    return np.array(given, dtype=np.intp), empty[: len(given)]


class PassChoice(NamedTuple):
    """Say how the nearest centres are found: the method, the number of lower bounds per row, and why."""

    method: str
    groups: int
    why: str


def choose_pass(n: int, d: int, k: int) -> PassChoice:
    """Choose the pass over the rows for `n` rows of `d` columns and `k` centres.

    >>> print(choose_pass(1_000_000, 16, 64).why)
    16 columns fit a tile in cache: distances of 256 rows at once, two bounds per row (Hamerly)
    >>> choose_pass(60_000, 784, 100)[:2]
    ('high', 100)
    """
    if d <= LOW_WIDTH:
        return PassChoice(
            "low", 1, f"{d} columns fit a tile in cache: distances of 256 rows at once, two bounds per row (Hamerly)"
        )
    room = max(1, BOUND_BYTES // (4 * n))
    if k <= max(room, 2 * d):
        return PassChoice(
            "high",
            k,
            f"{d} columns make a distance dear: matrix products first, then one lower bound "
            "for each row and centre (Elkan)",
        )
    groups = int(max(1, min(k // 10, room)))
    return PassChoice(
        "high",
        groups,
        f"{d} columns make a distance dear and {k} bounds per row take too much memory: "
        f"matrix products first, then bounds for {groups} groups of centres (Yinyang)",
    )


def slack_of(d: int) -> float:
    """Choose the relative error allowed for a computed distance stored in float32; sums run in at least eight lanes."""
    return 6e-8 * (16.0 + 4.0 * np.sqrt(d))


def half_distances(centres: np.ndarray, n: int) -> np.ndarray:
    """Halve the distances between centres (k×k, infinite diagonal), rounded down; zeros if that costs too much."""
    k, d = centres.shape
    if 4 * k > n or k > 4096:
        return np.zeros((k, k), np.float32)
    C = centres - centres.mean(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->i", C, C)
    sums = squares[:, None] + squares
    gaps = sums * (1.0 - 1e-15 * (8 + d)) - 2.0 * (C @ C.T)
    np.fill_diagonal(gaps, np.inf)
    most = np.finfo(np.float32).max  # what lies beyond float32 is rounded down to its end, never to infinity
    return np.minimum(0.5 * np.sqrt(np.maximum(gaps, 0.0)) * (1.0 - 1e-6), most).astype(np.float32)


def rounded_up(path: np.ndarray) -> np.ndarray:
    """Round path lengths up to float32; never to denormals, which would cost a kernel ten times its time."""
    path = np.asarray(path)
    with np.errstate(over="ignore"):  # infinity is never smaller
        up = np.maximum(np.nextafter(path.astype(np.float32), np.float32(np.inf)), np.finfo(np.float32).tiny)
    return np.where(path > 0.0, up, np.float32(0.0))


class ShortRows:
    """Find the nearest centres of short rows: two bounds per row, and tiles against all centres where these fail."""

    def __init__(self, X: np.ndarray, k: int, groups: int, norms: np.ndarray):
        self.X, self.k = X, k

    def start(self, centres: np.ndarray) -> dict:
        """Make bounds that say nothing yet."""
        n = len(self.X)
        return {
            "upper": np.full(n, np.inf, np.float32),
            "lower": np.full(n, -np.inf, np.float32),
            "path": np.zeros(self.k),
            "far": 0.0,
        }

    def reset(self, state: dict) -> dict:
        """Forget the bounds of all rows."""
        return self.start(state["centres"])

    def forget(self, state: dict, rows: np.ndarray) -> None:
        """Forget the bounds of these rows: their label was given to them."""
        state["upper"][rows], state["lower"][rows] = np.inf, -np.inf

    def moved(self, state: dict, steps: np.ndarray) -> dict:
        """Lengthen the paths after every centre went `steps`."""
        return {"path": state["path"] + steps, "far": state["far"] + steps.max()}

    def labels(self, state: dict, centres: np.ndarray, old: np.ndarray) -> np.ndarray:
        """Find the nearest centre of each row."""
        X, (n, d) = self.X, self.X.shape
        new = np.empty(n, np.int32)
        half = half_distances(centres, n).min(axis=1)
        wide, path, far, slack = tiled(centres), rounded_up(state["path"]), rounded_up(state["far"])[()], slack_of(d)
        upper, lower = state["upper"], state["lower"]

        def chunk(start: int, stop: int) -> None:
            hamerly_low(X, wide, old, new, upper, lower, path, far, half, slack, start, stop)

        parallel.run(chunk, n, chunk_rows(d, self.k, 2**14))
        return new


class LongRows:
    """Find the nearest centres of long rows: a bound for each row and group of centres, products where many fail."""

    def __init__(self, X: np.ndarray, k: int, groups: int, norms: np.ndarray):
        self.X, self.k, self.groups, self.norms = X, k, groups, norms.astype(X.dtype)
        self.padded = -(-groups // LANES) * LANES

    def start(self, centres: np.ndarray) -> dict:
        """Make groups of centres, and bounds that say nothing yet."""
        group = _grouped(centres, self.groups)
        members = np.argsort(group, kind="stable").astype(np.int32)
        return {"group": group, "members": members, **self._empty()}

    def _empty(self) -> dict:
        n = len(self.X)
        lower = np.full((n, self.padded), np.inf, np.float32)
        lower[:, : self.groups] = -np.inf
        return {
            "upper": np.full(n, np.inf, np.float32),
            "lower": lower,
            "path": np.zeros(self.k),
            "group_path": np.zeros(self.padded),
        }

    def reset(self, state: dict) -> dict:
        """Forget the bounds of all rows; the groups stay."""
        return {"group": state["group"], "members": state["members"], **self._empty()}

    def forget(self, state: dict, rows: np.ndarray) -> None:
        """Forget the bounds of these rows: their label was given to them."""
        state["upper"][rows] = np.inf
        state["lower"][rows, : self.groups] = -np.inf

    def moved(self, state: dict, steps: np.ndarray) -> dict:
        """Lengthen the paths after every centre went `steps`; a group goes as far as its fastest member."""
        longest = np.zeros(self.padded)
        np.maximum.at(longest, state["group"], steps)
        return {"path": state["path"] + steps, "group_path": state["group_path"] + longest}

    def _separations(
        self, centres: np.ndarray, members: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute half the distance of each centre to the nearest other one, and to each group."""
        gaps = half_distances(centres, len(self.X))
        apart = np.full((self.k, self.padded), np.inf, np.float32)
        if self.groups == self.k:
            apart[:, : self.k] = gaps
        else:
            apart[:, : self.groups] = np.minimum.reduceat(gaps[:, members], starts[:-1], axis=1)
        return gaps.min(axis=1), apart

    def labels(self, state: dict, centres: np.ndarray, old: np.ndarray) -> np.ndarray:
        """Find the nearest centre of each row."""
        X, norms, (n, d), k = self.X, self.norms, self.X.shape, self.k
        new = np.empty(n, np.int32)
        group, members = state["group"], state["members"]
        sizes = np.bincount(group, minlength=self.padded)
        starts = np.concatenate([[0], np.cumsum(sizes[: self.groups])]).astype(np.int32)
        sizes = sizes.astype(np.float32)
        half, apart = self._separations(centres, members, starts)
        path, group_path = rounded_up(state["path"]), rounded_up(state["group_path"])
        # What both kernels keep: the labels and the bounds, and how far the centres went since.
        kept = (new, state["upper"], state["lower"], path, group_path, starts, members, slack_of(d))
        centre_norms, error, most = row_norms(centres).astype(X.dtype), product_error(d, X.dtype), DIRECT_SHARE * k

        def chunk(start: int, stop: int) -> None:
            later = np.empty(stop - start, np.int64)
            wanted = (old, half, apart, sizes, group, most, later)
            postponed = decide_direct(X, centres, *wanted, *kept, start, stop)
            if postponed:
                rows = later[:postponed]
                block = X[start:stop] if postponed == stop - start else X[rows]
                decide_product(X, centres, norms, centre_norms, block @ centres.T, error, *kept, rows)

        parallel.run(chunk, n, chunk_rows(d, k, 2048))
        return new


def _grouped(centres: np.ndarray, groups: int) -> np.ndarray:
    """Group centres that lie together, which share a bound: a little plain k-means, no group left empty."""
    k = len(centres)
    if groups == k:
        return np.arange(k, dtype=np.int32)
    C = centres.astype(np.float64)
    middles = C[np.linspace(0, k - 1, groups).astype(np.intp)]
    for _ in range(5):
        squares = np.einsum("ij,ij->i", middles, middles) - 2.0 * (C @ middles.T)
        group = squares.argmin(axis=1)
        counts = np.bincount(group, minlength=groups)
        sums = np.zeros_like(middles)
        np.add.at(sums, group, C)
        middles = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], middles)
    costs = 1.0 + np.maximum(np.einsum("ij,ij->i", C, C) + squares.min(axis=1), 0.0)  # copies too may be given away
    rows, after = rows_for_empty(np.flatnonzero(counts == 0), group, costs, counts)
    group[rows] = after
    return group.astype(np.int32)
