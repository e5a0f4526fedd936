"""Tables about their middle: shares that sum to one do not care where the origin is, but rounding and step sizes do.

X ≈ U·Z with Σ_j u_ij = 1 says the same as X − 1mᵀ ≈ U·(Z − 1mᵀ) for any row m.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.group.coreset_blocks import each_block
from unweave.linalg.products import squared_norm
from unweave.objectives import Blocks, Dense, Objective, Observed, Sparse


def middle_of(objective: Objective) -> NDArray:
    """The mean of the entries seen in each column; zeros for a sparse table whose zeros are data, to keep it sparse."""
    sums, counts = _sums(objective)
    return (sums / np.maximum(counts, 1.0)).astype(objective.dtype)


def _sums(objective: Objective) -> tuple[NDArray, NDArray]:
    """Sum and number of the entries seen in each column."""
    m = objective.shape[1]
    if isinstance(objective, Blocks):
        parts = [_sums(block) for _, _, block in objective]
        return np.sum([sums for sums, _ in parts], axis=0), np.sum([counts for _, counts in parts], axis=0)
    if isinstance(objective, Dense):
        seen = objective.weights
        counts = np.full(m, float(len(objective.X))) if seen is None else np.count_nonzero(seen, axis=0)
        return objective.X.sum(axis=0, dtype=np.float64), counts
    if isinstance(objective, Observed):
        indices = objective.X.indices
        return np.bincount(indices, objective.X.data, m), np.bincount(indices, minlength=m).astype(np.float64)
    return np.zeros(m), np.ones(m)


def squares(objective: Objective) -> float:
    """The sum of squares of the entries seen."""
    if isinstance(objective, Blocks):
        return sum(squares(block) for _, _, block in objective)
    if isinstance(objective, Observed):
        return squared_norm(objective.X.data[None, :])
    return float(2 * objective.half_norm)


def about(objective: Objective, middle: NDArray) -> Objective:
    """The table less a row, where it was seen; a sparse table is made dense unless that row is zero."""
    if not middle.any():
        return objective
    if isinstance(objective, Blocks):
        return each_block(objective, lambda block: about(block, middle))
    X, middle = objective.X, middle.astype(objective.dtype)
    if isinstance(objective, Observed):
        less = sp.csr_array((X.data - middle[X.indices], X.indices, X.indptr), shape=X.shape)
        return Observed(less, objective.loss, objective.weights)
    if isinstance(objective, Sparse):
        return Dense(X.toarray() - middle, objective.loss)
    assert isinstance(objective, Dense)
    less = X - middle
    if objective.weights is not None:
        less[objective.weights == 0] = 0
    return Dense(less, objective.loss, objective.weights)
