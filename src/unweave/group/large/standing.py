"""Gather rows that stand for a table in blocks, in one visit: a start is made from them.

Every block draws its share on its own, in proportion to the weight of its rows, by the chances of a lightweight coreset
about the mean of the block; a row weighs what makes every sum over the table right on average. Where no array is at
hand (sparse tables, holes) rows are drawn by their weight alone. A table that is small is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.storage import as_dense
from unweave.group.large.coresets import block_moments, row_chances
from unweave.objectives import Objective
from unweave.objectives.joined import joined
from unweave.scale.kept import Kept


class Standing(NamedTuple):
    """Hold rows that stand for all, in memory; `weights` is None where they are all there are, unweighted."""

    objective: Objective
    weights: NDArray | None


def stand_for(
    objective, m: int, weights: NDArray | None, rng: np.random.Generator, check: Callable[[Objective], object]
) -> tuple[Standing, Kept | None]:
    """Draw about m rows of a table in blocks, each with the weight it stands for; `check` looks at every block.

    Returns them, and the weights of all rows, kept with the blocks, for the visits that follow.
    """
    whole = objective.shape[0] <= m
    seed = 0 if whole else int(rng.integers(2**62))
    masses = _masses(objective, weights)
    parts = [
        {
            "many": np.array(size if whole else np.ceil(m * mass / masses.sum()), dtype=np.int64),
            "seed": np.array([seed, i]),
        }
        for i, (size, mass) in enumerate(zip(np.diff(objective.bounds), masses, strict=True))
    ]
    if weights is not None:
        for part, low, high in zip(parts, objective.bounds[:-1], objective.bounds[1:], strict=True):
            part["weights"] = np.ascontiguousarray(weights[low:high], dtype=np.float64)
    found, kept = objective.visit(_stand, check, Kept(parts))
    drawn = None if whole and weights is None else np.concatenate(found["weights"])
    return Standing(joined(found["rows"]), drawn), kept


def _masses(objective, weights: NDArray | None) -> NDArray[np.float64]:
    """Find the weight of every block."""
    if weights is None:
        return np.diff(objective.bounds).astype(np.float64)
    return np.add.reduceat(weights, objective.bounds[:-1]).astype(np.float64)


def _stand(block, check, own):
    """Draw the rows of one block."""
    check(block)
    weights, many, n = own.get("weights"), int(own["many"]), block.shape[0]
    kept = None if weights is None else {"weights": weights}
    if many >= n:
        return {"rows": [block], "weights": [np.ones(n) if weights is None else weights]}, kept
    if not many:
        return {"rows": [], "weights": []}, kept
    chances = _chances(block, weights)
    ends = np.cumsum(chances)
    points = np.random.default_rng(own["seed"]).random(many) * ends[-1] * (1.0 - 1e-9)
    rows, times = np.unique(np.searchsorted(ends, points, side="right"), return_counts=True)
    mass = 1.0 if weights is None else weights[rows]
    return {"rows": [block.take(rows)], "weights": [times * mass * ends[-1] / (many * chances[rows])]}, kept


def _chances(block, weights: NDArray | None) -> NDArray[np.float64]:
    """Find how likely each row of a block is drawn; the chances add up to about one."""
    if not block.complete or block.fills_if_shifted:
        return np.ones(block.shape[0]) if weights is None else weights
    X, stride = np.ascontiguousarray(as_dense(block.X)), int(weights is not None)
    own = np.ones(1) if weights is None else weights
    total, mean, spread = block_moments(X, own, stride)
    even, steep = (0.5 / total, 0.5 / spread) if spread > 0 else (1.0 / total, 0.0)
    return row_chances(X, mean, own, stride, even, steep)
