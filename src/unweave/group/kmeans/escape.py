"""Leave a local optimum of k-means: centres are moved to where they are missing, as long as that lowers the objective.

Small tables, where a whole descent costs a millisecond, are settled row by row to their end, then many moves are tried
(`RowByRow`); on others Lloyd settles, and then centres are swapped (`Swapped`). Both are schemes of the one loop.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.group.kmeans.lloyd import CentreScheme, Lloyd
from unweave.group.kmeans.moves import Moves, Sample, find_moves, rows_per_cluster, sample_rows, swapped, swaps
from unweave.kernels.kmeans_moves import settle
from unweave.objectives import Objective
from unweave.solve.iterate import Loop

_LEAST = 1e-9  # relative fall that counts

# Of small tables, row by row.
# Set on 31 tables, raw and standardised, with true and other numbers of clusters (benchmarks/rows/kmeans_best.py,
# TUNED_ON): objective and time against ten starts of Lloyd. _MOST, _WORK and _PAIR, which weigh time alone, on five
# larger tables too (thinned worms and birch, Indian pines, rows of GloVe); of the last two other parts are reported on.
_HOPE = 1.5  # times the fall of its last pass, as far as a trial may lie above the best and go on
_SHAKES = 20  # shakes in a row that gain nothing: enough
_WIDE = 2**13  # rows for which no more than ten swaps are tried: shakes do the rest
_MOVED = (1, 2)  # centres that a shake moves, by turns
_MOST = 2**25  # work of a pass, up to which one thread going row by row is as quick as Lloyd with its bounds
_WORK = 2**27  # of a pass for each of the shakes in a row that may gain nothing
_PAIR = 16  # columns that a row and a centre cost before any is looked at

# Of other tables, by swaps.
_PATIENCE = 12  # Lloyd steps that a swap is given to pay
_SWAP_HOPE = 10.0  # times the last fall, as far as a trial may lie above the best and go on
_MEAGRE = 2  # repairs in a row that, with the Lloyd steps after them, lower the objective by less than `tol`: enough
_RISK = 6.0  # a swap may promise to cost this many times the mean loss of a cluster and still be tried


class RowByRow(CentreScheme):
    """Move single rows (Hartigan) until none lowers the objective, then try swaps, and centres drawn anew.

    A step is a first descent, or the first trial that ends lower. Trials are swaps that promise to pay (as in
    :class:`Swapped`), then shakes: one or two centres, taken at random, go to rows drawn in
    proportion to their squared distances. It ends when many shakes in a row gain nothing. Where no single row can be
    moved Lloyd cannot go on either, but not the other way round.

    References
    ----------
    Telgarsky and Vattani (2010), Hartigan's method: k-means clustering without Voronoi. Fränti (2018), Efficiency of
    random swap clustering.
    """

    title = "single rows with swaps"
    by_centre = True
    why = "the table is small: single rows are moved until none lowers the objective (Hartigan)"

    def __init__(self, lloyd: Lloyd, seed: int):
        self.lloyd, self.seed = lloyd, seed
        self.weights = lloyd.weights if lloyd.stride else None
        n, d = lloyd.X.shape
        self.shakes = max(1, min(_SHAKES, _WORK // _pass(n, d, lloyd.n_clusters)))

    def first_centres(self, rng=None) -> NDArray:
        return self.lloyd.first_centres(rng)

    def state_at(self, centres: NDArray) -> dict:
        n, k = len(self.lloyd.X), len(centres)
        return {
            "centres": centres, "places": centres.astype(np.float64) - self.lloyd.shift, "counts": np.zeros(k),
            "labels": np.full(n, -1, np.int32), "squares": np.zeros(n), "value": np.inf, "moved": 1, "round": 0,
            "swaps": True, "done": False,
        }  # fmt: skip

    def means(self, labels: NDArray, former: NDArray) -> NDArray:
        return self.lloyd.means(labels, former)

    def adapt(self, loop: Loop) -> Loop:
        """Leave `tol` aside: a small fall is no end, the next trial may find more."""
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
        """Descend from these places, of which some are `fresh`: the new state, None if it does not end lower."""
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
        """Try swaps: the state after the first that pays, None if none does."""
        moves = self._moves(state)
        for swap in swaps(moves, _WIDE):
            fresh = np.zeros(len(moves.gains), bool)
            fresh[swap.split + swap.removed] = True
            found = self._tried(state, swapped(state["places"], moves, swap), fresh)
            if found is not None:
                return found
        return None

    def _moves(self, state: dict) -> Moves:
        k, d = state["places"].shape
        rows, weights, bounds = sample_rows(state["labels"], self.weights, k, rows_per_cluster(k, d))
        return find_moves(Sample(self.lloyd.X[rows], weights, bounds), state["places"])

    def _shake(self, state: dict) -> dict:
        """Draw centres anew: the state after the first time that pays, or done."""
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
    """Count the work of one pass over the rows."""
    return n * k * (d + _PAIR)


def can_settle(n: int, d: int, k: int) -> bool:
    """Tell whether a table is small enough for descents by single rows.

    >>> can_settle(5000, 10, 20), can_settle(60_000, 784, 10)
    (True, False)
    """
    return _pass(n, d, k) <= _MOST


class Swapped(CentreScheme):
    """Run Lloyd until it settles, then try swaps of centres; one round of trials is one step.

    A swap takes away the centre whose rows cost least elsewhere and splits the cluster that 2-means divides best. It is
    kept if the objective falls below the one before within a few Lloyd steps, so the history never rises; then
    Lloyd goes on. The fit ends when a round finds nothing, or when two repairs in a row have paid less than `tol`: wide
    tables always hold another swap that pays a little.

    References
    ----------
    Fränti and Kivijärvi (2000), Randomised local search for the clustering problem. Kaukoranta, Fränti and Nevalainen
    (1998), Iterative split-and-merge algorithm for VQ codebook generation.
    """

    title = "Lloyd with swaps"
    by_centre = True

    def __init__(self, lloyd: CentreScheme, objective: Objective, weights: NDArray | None, k: int, tol: float):
        self.lloyd, self.why, self.reuses = lloyd, lloyd.why, lloyd.reuses
        self.objective, self.weights, self.k, self.tol = objective, weights, k, tol

    def first_centres(self, rng=None) -> NDArray:
        return self.lloyd.first_centres(rng)

    def state_at(self, centres: NDArray) -> dict:
        untried = {"value": np.inf, "calm": False, "repaired": False, "mark": np.inf, "meagre": 0}
        return {**self.lloyd.state_at(centres), **untried}

    def means(self, labels: NDArray, former: NDArray) -> NDArray:
        return self.lloyd.means(labels, former)

    def adapt(self, loop: Loop) -> Loop:
        """Watch `tol` in the steps instead: a small fall calls for a repair before it ends the fit."""
        return loop if loop.tol == 0 else replace(loop, tol=None)

    def settled(self, state: dict) -> bool:
        return bool(state["repaired"])

    fixed = settled

    def step(self, state: dict) -> tuple[dict, float]:
        if state["calm"] and not state["repaired"]:
            return self._repair(state)
        new, value = self.lloyd.step(state)
        calm = self.lloyd.settled(new) or self._little(state["value"], value)
        kept = {name: state[name] for name in ("repaired", "mark", "meagre")}
        return {**new, "value": value, "calm": bool(calm), **kept}, value

    def _little(self, before: float, value: float) -> bool:
        return self.tol > 0 and value >= (1 - self.tol) * before

    def _repair(self, state: dict) -> tuple[dict, float]:
        """Make a round of trials; ``mark`` is the objective when the last one began."""
        value = state["value"]
        meagre = state["meagre"] + 1 if self._little(state["mark"], value) else 0
        found = None if meagre == _MEAGRE else self._better(state)
        if found is None:
            return {**state, "repaired": True}, value
        return {**found, "mark": value, "meagre": meagre}, found["value"]

    def _better(self, state: dict) -> dict | None:
        """Try swaps: the state after the first that pays, None if none does."""
        moves = find_moves(self._sample(state), state["centres"])
        for swap in swaps(moves, self.objective.shape[0]):
            if -swap.promise > _RISK * state["value"] / self.k:
                break
            found = self._tried(swapped(state["centres"], moves, swap), state["value"])
            if found is not None:
                return found
        return None

    def _sample(self, state: dict) -> Sample:
        """Take some rows of every cluster as an array; an entry not seen lies where its centre does."""
        most = rows_per_cluster(self.k, self.objective.shape[1])
        rows, weights, bounds = sample_rows(state["labels"], self.weights, self.k, most)
        part = self.objective.take(rows)
        assert part is not None
        X, seen = part.dense_rows(0, len(rows))
        if seen is not None:
            X = np.where(seen != 0, X, state["centres"][state["labels"][rows]])
        return Sample(np.ascontiguousarray(X), weights, bounds)

    def _tried(self, centres: NDArray, best: float) -> dict | None:
        """Run Lloyd from these centres until it is better than the best, or will not be.

        Not in `iterate`: a trial must not be in the history, and Ctrl-C in it belongs to the loop of the fit.
        """
        state, former = self.lloyd.state_at(centres), np.inf
        for _ in range(_PATIENCE):
            state, value = self.lloyd.step(state)
            if value < best * (1 - _LEAST):
                return {**state, "value": value, "calm": False, "repaired": False}
            if value - best > _SWAP_HOPE * (former - value):
                return None
            former = value
        return None
