"""Choose how a k-means is fitted: where it starts, which scheme takes the steps, whether centres are moved after."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import numbers
from unweave.group.kmeans.escape import RowByRow, Swapped, can_settle
from unweave.group.kmeans.general import GeneralLloyd
from unweave.group.kmeans.lloyd import CentreScheme, Lloyd
from unweave.group.kmeans.metrics import Euclidean
from unweave.group.kmeans.moves import rows_per_cluster
from unweave.group.kmeans.start import farthest_first, kmeans_plus_plus, partition_means, random_rows
from unweave.objectives import Objective
from unweave.solve.start import row_mixture, spread_rows

_STARTS = {
    "k-means++": kmeans_plus_plus,
    "farthest": farthest_first,
    "random": random_rows,
    "partition": partition_means,
}
REPAIRS = ("auto", True, False)


def first_centres(
    objective: Objective, k: int, init, metric: Euclidean, weights: NDArray | None, rng
) -> tuple[NDArray, str]:
    """Find the centres to begin with, and name the way they were found."""
    if not isinstance(init, str):
        return metric.check_centres(numbers(init, "init", (k, objective.shape[1]), objective.dtype)), "given"
    if init not in _STARTS:
        raise ValueError(f"init={init!r} is not known; use one of {', '.join(_STARTS)} or an array of centres")
    if objective.is_array:
        centres, name = _STARTS[init](objective.X, k, rng, weights), init
    else:
        centres, name = _from_entries(objective, k, init, weights, rng)
    return np.ascontiguousarray(metric.place(centres, centres), dtype=objective.dtype), name


def _from_entries(objective: Objective, k: int, init: str, weights: NDArray | None, rng) -> tuple[NDArray, str]:
    """Find the first centres of a table that is sparse or has holes; farthest-first is left to k-means++ there."""
    heavy = None if weights is None else np.flatnonzero(weights > 0)
    if heavy is not None and len(heavy) >= k:
        objective = objective.take(heavy) or objective
    n = objective.shape[0]
    if init == "partition":
        scheme = GeneralLloyd(objective, k)
        return scheme.means(rng.permutation(n) % k, row_mixture(objective, np.arange(k))), init
    if init == "random":
        return row_mixture(objective, rng.choice(n, k, replace=False)), init
    return row_mixture(objective, spread_rows(objective, k, rng)), "k-means++"


def choose_scheme(
    objective: Objective, centres: NDArray, weights: NDArray | None, metric: Euclidean, repair: bool, tol: float, rng
) -> tuple[CentreScheme, list[str]]:
    """Choose the scheme that begins at these centres, with the reasons in words."""
    (n, m), k = objective.shape, len(centres)
    lloyd: Lloyd | GeneralLloyd
    if objective.is_array:
        lloyd = Lloyd(objective.X, k, weights, metric.place, centres)
        if repair and k > 1 and metric.free and can_settle(n, m, k):
            small = RowByRow(lloyd, int(rng.integers(2**31)))
            return small, [small.why, "then centres are moved, by promise and at random, as long as that lowers it"]
    else:
        lloyd = GeneralLloyd(objective, k, weights, metric.place, centres)
    if not repair or k == 1:
        return lloyd, [lloyd.why]
    if not rows_per_cluster(k, m):
        return lloyd, [lloyd.why, f"{m} columns and {k} clusters are too many to look for swaps"]
    why = "centres are swapped to where they are missing, until no swap lowers the objective"
    return Swapped(lloyd, objective, weights, k, tol), [lloyd.why, why]


def wants_repair(repair, init) -> bool:
    """Tell whether a fit is repaired: unless told, when the start was drawn and not given."""
    if not any(repair is known or repair == known for known in REPAIRS):
        raise ValueError(f"repair={repair!r} is not known; use 'auto', True or False")
    return isinstance(init, str) if repair == "auto" else bool(repair)
