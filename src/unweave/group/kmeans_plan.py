"""How a k-means is fitted: where it starts, which pass over the rows it takes, and whether it is repaired."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import numbers
from unweave.group.kmeans_metrics import Euclidean
from unweave.group.kmeans_moves import rows_a_cluster
from unweave.group.kmeans_settle import Settling, can_settle
from unweave.group.repair import Repaired
from unweave.objectives import Dense, Objective
from unweave.solve.kmeans_start import farthest_first, kmeans_plus_plus, partition_means, random_rows
from unweave.solve.lloyd import Lloyd
from unweave.solve.means import MeansOfSeen
from unweave.solve.start import row_mixture, spread_rows
from unweave.updates import Nearest


def _farthest(X, k, rng, sample_weight=None):
    """Farthest-first looks at distances only; weights do not matter to it."""
    return farthest_first(X, k, rng)


_STARTS = {"k-means++": kmeans_plus_plus, "farthest": _farthest, "random": random_rows, "partition": partition_means}
REPAIRS = ("auto", True, False)


def is_whole_array(objective: Objective) -> bool:
    """Whether the table is an array with every entry observed."""
    return isinstance(objective, Dense) and objective.complete


def first_centres(
    objective: Objective, k: int, init, metric: Euclidean, weights: NDArray | None, rng
) -> tuple[NDArray, str]:
    """The centres to begin with, and their name."""
    if not isinstance(init, str):
        return metric.check_centres(numbers(init, "init", (k, objective.shape[1]), objective.dtype)), "given"
    if init not in _STARTS:
        raise ValueError(f"init={init!r} is not known; use one of {', '.join(_STARTS)} or an array of centres")
    if is_whole_array(objective):
        centres, name = _STARTS[init](objective.X, k, rng, weights), init
    else:
        centres, name = _from_rows(objective, k, init, weights, rng)
    return np.ascontiguousarray(metric.place(centres, centres), dtype=objective.dtype), name


def _from_rows(objective: Objective, k: int, init: str, weights: NDArray | None, rng) -> tuple[NDArray, str]:
    """Starts of tables that are sparse or have holes; farthest-first is left to k-means++ there."""
    heavy = None if weights is None else np.flatnonzero(weights > 0)
    if heavy is not None and len(heavy) >= k:
        objective = objective.take(heavy) or objective
    n = objective.shape[0]
    if init == "partition":
        scheme = MeansOfSeen(objective, k)
        return scheme.means(rng.permutation(n) % k, row_mixture(objective, np.arange(k))), init
    if init == "random":
        return row_mixture(objective, rng.choice(n, k, replace=False)), init
    return row_mixture(objective, spread_rows(objective, k, rng)), "k-means++"


class LloydScheme:
    """Accelerated Lloyd as a scheme of the one loop."""

    def __init__(self, objective: Dense, k: int, weights: NDArray | None, metric: Euclidean):
        self.lloyd, self.left = Lloyd(objective.X, k, weights, metric.place), Nearest()
        self.start, self.step = self.lloyd.start, self.lloyd.step
        self.settled = self.fixed = self.lloyd.converged
        self.means, self.why = self.lloyd.means, self.lloyd.choice.why


class SeenScheme(MeansOfSeen):
    """Lloyd over the entries seen, as a scheme of the one loop."""

    why = "the table is sparse or has holes: nearest by the entries seen, then their means"


def make_scheme(
    objective: Objective, k: int, weights: NDArray | None, metric: Euclidean, repair: bool, tol: float, rng
):
    """(scheme, reasons in words)."""
    scheme: LloydScheme | SeenScheme
    if isinstance(objective, Dense) and objective.complete:
        scheme = LloydScheme(objective, k, weights, metric)
    else:
        scheme = SeenScheme(objective, k, weights, metric.place)
    reasons = [scheme.why]
    if not repair or k == 1:
        return scheme, reasons
    n, m = objective.shape
    if isinstance(scheme, LloydScheme) and metric.free and can_settle(n, m, k):
        settling = Settling(scheme.lloyd, int(rng.integers(2**31)))
        return settling, [settling.why, "then centres are moved, by promise and at random, as long as that lowers it"]
    if not rows_a_cluster(k, m):
        return scheme, [*reasons, f"{m} columns and {k} clusters are too many to look for swaps"]
    reasons.append("centres are swapped to where they are missing, until no swap lowers the objective")
    return Repaired(scheme, objective, weights, k, tol), reasons


def wants_repair(repair, init) -> bool:
    """Whether a fit is repaired: unless told, when the start was drawn and not given."""
    if not any(repair is known or repair == known for known in REPAIRS):
        raise ValueError(f"repair={repair!r} is not known; use 'auto', True or False")
    return isinstance(init, str) if repair == "auto" else bool(repair)
