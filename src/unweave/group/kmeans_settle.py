"""k-means of small tables, where a whole descent costs a millisecond: row by row to its end, then many trials."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.group.kmeans_moves import Moves, Sample, find_moves, rows_a_cluster, sample_rows, swapped, swaps
from unweave.kernels.kmeans_moves import settle
from unweave.solve.iterate import Loop
from unweave.solve.lloyd import Lloyd
from unweave.updates import Nearest

_LEAST = 1e-9  # relative fall that counts
# Set on 31 tables, raw and standardised, with true and other numbers of clusters (benchmarks/rows/kmeans_best.py,
# TUNED_ON): objective and time against ten starts of Lloyd. _MOST, _WORK and _PAIR, which weigh time alone, on five
# larger tables too (thinned worms and birch, Indian pines, rows of GloVe); of the last two other parts are reported on.
_HOPE = 1.5  # times the fall of its last pass, as far as a trial may lie above the best and go on
_SHAKES = 20  # shakes in a row that gain nothing: enough
_FEW = 2**13  # rows for which no more than ten swaps are tried: shakes do the rest
_MOVED = (1, 2)  # centres that a shake moves, by turns
_MOST = 2**25  # work of a pass, up to which one thread going row by row is as quick as Lloyd with its bounds
_WORK = 2**27  # of a pass for each of the shakes in a row that may gain nothing
_PAIR = 16  # columns that a row and a centre cost before any is looked at


class Settling:
    """A k-means scheme that moves single rows (Hartigan) and then tries swaps, and centres drawn anew.

    A step is a first descent, or the first trial that ends lower. Trials are swaps that promise to pay (as in
    :class:`unweave.group.repair.Repaired`), then shakes: one or two centres, taken at random, go to rows drawn in
    proportion to their squared distances. It ends when many shakes in a row gain nothing. Where no single row can be
    moved Lloyd cannot go on either, but not the other way round.

    References
    ----------
    Telgarsky and Vattani (2010), Hartigan's method: k-means clustering without Voronoi. Fränti (2018), Efficiency of
    random swap clustering.
    """

    title = "single rows with swaps"
    why = "the table is small: single rows are moved until none lowers the objective (Hartigan)"

    def __init__(self, lloyd: Lloyd, seed: int):
        self.lloyd, self.seed, self.means, self.left = lloyd, seed, lloyd.means, Nearest()
        self.weights = lloyd.weights if lloyd.stride else None
        n, d = lloyd.X.shape
        self.shakes = max(1, min(_SHAKES, _WORK // _pass(n, d, lloyd.n_clusters)))

    def start(self, centres: NDArray) -> dict:
        n, k = len(self.lloyd.X), len(centres)
        return {
            "centres": centres, "places": centres.astype(np.float64) - self.lloyd.shift, "counts": np.zeros(k),
            "labels": np.full(n, -1, np.int32), "squares": np.zeros(n), "value": np.inf, "moved": 1, "round": 0,
            "swaps": True, "done": False,
        }  # fmt: skip

    def pace(self, loop: Loop) -> Loop:
        """A small fall is no end: the next trial may find more."""
        return loop if loop.tol == 0 else replace(loop, tol=None)

    def settled(self, state: dict) -> bool:
        return bool(state["done"])

    fixed = settled

    def step(self, state: dict) -> tuple[dict, float]:
        state = {**state, "round": state["round"] + 1}
        if state["value"] == np.inf:
            found = self._tried(state, state["places"], np.ones(len(state["places"]), bool))
            assert found is not None
        else:
            found = (state["swaps"] and self._swap(state)) or self._shake({**state, "swaps": False})
        return found, 0.5 * found["value"]

    def _tried(self, state: dict, places: NDArray, fresh: NDArray) -> dict | None:
        """The state after a descent from these places, of which some are `fresh`; None if it does not end lower."""
        lloyd, places = self.lloyd, places.copy()
        counts, labels, squares = (state[name].copy() for name in ("counts", "labels", "squares"))
        goal = state["value"]
        value = settle(lloyd.X, lloyd.weights, lloyd.stride, places, fresh, counts, labels, squares, goal, _HOPE)
        if not value < goal * (1 - _LEAST):
            return None
        centres = (places + lloyd.shift).astype(state["centres"].dtype)
        new = {"centres": centres, "places": places, "counts": counts, "labels": labels, "squares": squares}
        return {**state, **new, "value": float(value), "done": value <= 0.0}

    def _swap(self, state: dict) -> dict | None:
        """The state after the first swap that pays."""
        moves = self._moves(state)
        for swap in swaps(moves, _FEW):
            fresh = np.zeros(len(moves.gains), bool)
            fresh[swap.split + swap.removed] = True
            found = self._tried(state, swapped(state["places"], moves, swap), fresh)
            if found is not None:
                return found
        return None

    def _moves(self, state: dict) -> Moves:
        k, d = state["places"].shape
        rows, weights, bounds = sample_rows(state["labels"], self.weights, k, rows_a_cluster(k, d))
        return find_moves(Sample(self.lloyd.X[rows], weights, bounds), state["places"])

    def _shake(self, state: dict) -> dict:
        """The state after the first shake that pays, or done."""
        rng, k = np.random.default_rng((self.seed, state["round"])), len(state["places"])
        ends = np.cumsum(state["squares"] if self.weights is None else self.weights * state["squares"])
        for turn in range(self.shakes if ends[-1] > 0.0 else 0):
            many = min(_MOVED[turn % len(_MOVED)], k)
            rows = np.searchsorted(ends, rng.random(many) * ends[-1], side="right")
            fresh, places = np.zeros(k, bool), state["places"].copy()
            fresh[rng.choice(k, many, replace=False)] = True
            places[fresh] = self.lloyd.X[np.minimum(rows, len(ends) - 1)]
            if (found := self._tried(state, places, fresh)) is not None:
                return found
        return {**state, "done": True}


def _pass(n: int, d: int, k: int) -> int:
    """The work of one pass over the rows."""
    return n * k * (d + _PAIR)


def can_settle(n: int, d: int, k: int) -> bool:
    """Whether a table is small enough for descents by single rows.

    >>> can_settle(5000, 10, 20), can_settle(60_000, 784, 10)
    (True, False)
    """
    return _pass(n, d, k) <= _MOST
