"""The left half-step of k-means with bounds kept from step to step, so that most distances need not be known.

Bounds live in the state as plain arrays (``upper``, ``lower`` and the path lengths of the centres), so a
state can be written to disk and resumed; `LowRows` and `HighRows` only know how to use them.
"""

from __future__ import annotations

import numpy as np

from unweave import parallel
from unweave.kernels.lloyd import hamerly_low
from unweave.kernels.lloyd_high import LANES, decide_direct, decide_product
from unweave.solve.lloyd_rows import chunk_rows, product_error, row_norms, tiled

DIRECT_SHARE = 0.2  # a distance alone costs about five times its share of a matrix product


def slack_of(d: int) -> float:
    """Relative error allowed for a computed distance stored in float32; sums run in at least eight lanes."""
    return 6e-8 * (16.0 + 4.0 * np.sqrt(d))


def half_distances(centres: np.ndarray, n: int) -> np.ndarray:
    """Half the distances between centres (k×k, infinite diagonal), rounded down; zeros if they cost too much to pay."""
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
    """float64 path lengths as float32, never smaller; never denormal, which would cost a kernel ten times its time."""
    path = np.asarray(path)
    with np.errstate(over="ignore"):  # infinity is never smaller
        up = np.maximum(np.nextafter(path.astype(np.float32), np.float32(np.inf)), np.finfo(np.float32).tiny)
    return np.where(path > 0.0, up, np.float32(0.0))


class LowRows:
    """Short rows: two bounds a row, and tiles of rows against all the centres where the bounds fail."""

    def __init__(self, X: np.ndarray, k: int, groups: int, norms: np.ndarray):
        self.X, self.k = X, k

    def start(self, centres: np.ndarray) -> dict:
        """Bounds that say nothing yet."""
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
        """The paths after every centre went `steps`."""
        return {"path": state["path"] + steps, "far": state["far"] + steps.max()}

    def labels(self, state: dict, centres: np.ndarray, old: np.ndarray) -> np.ndarray:
        """The nearest centre of each row."""
        X, (n, d) = self.X, self.X.shape
        new = np.empty(n, np.int32)
        half = half_distances(centres, n).min(axis=1)
        wide, path, far, slack = tiled(centres), rounded_up(state["path"]), rounded_up(state["far"])[()], slack_of(d)
        upper, lower = state["upper"], state["lower"]

        def chunk(start: int, stop: int) -> None:
            hamerly_low(X, wide, old, new, upper, lower, path, far, half, slack, start, stop)

        parallel.run(chunk, n, chunk_rows(d, self.k, 2**14))
        return new


class HighRows:
    """Long rows: a lower bound for each row and group of centres, matrix products where many of them fail."""

    def __init__(self, X: np.ndarray, k: int, groups: int, norms: np.ndarray):
        self.X, self.k, self.groups, self.norms = X, k, groups, norms.astype(X.dtype)
        self.padded = -(-groups // LANES) * LANES

    def start(self, centres: np.ndarray) -> dict:
        """Groups of centres, and bounds that say nothing yet."""
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
        """The paths after every centre went `steps`; a group goes as far as its fastest member."""
        longest = np.zeros(self.padded)
        np.maximum.at(longest, state["group"], steps)
        return {"path": state["path"] + steps, "group_path": state["group_path"] + longest}

    def _separations(
        self, centres: np.ndarray, members: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Half the distance of each centre to the nearest other one, and to each group."""
        gaps = half_distances(centres, len(self.X))
        apart = np.full((self.k, self.padded), np.inf, np.float32)
        if self.groups == self.k:
            apart[:, : self.k] = gaps
        else:
            apart[:, : self.groups] = np.minimum.reduceat(gaps[:, members], starts[:-1], axis=1)
        return gaps.min(axis=1), apart

    def labels(self, state: dict, centres: np.ndarray, old: np.ndarray) -> np.ndarray:
        """The nearest centre of each row."""
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
    """Centres that lie together share a bound: a little plain k-means on the centres, no group left empty."""
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
    for empty in np.flatnonzero(counts == 0):
        donor = np.flatnonzero(group == counts.argmax())[-1]
        counts[group[donor]] -= 1
        group[donor], counts[empty] = empty, 1
    return group.astype(np.int32)
