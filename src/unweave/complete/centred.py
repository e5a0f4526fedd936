"""Observed entries less their mean."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.objectives import Dense, Objective, Observed


def observed_mean(objective: Objective) -> float:
    """Mean of the observed entries."""
    if isinstance(objective, Dense) and objective.weights is None:
        return float(objective.X.mean(dtype=np.float64))
    if isinstance(objective, Dense):
        return float(objective.X.sum(dtype=np.float64) / max(1, objective.n_observed))
    return (
        float(objective.X.data.mean(dtype=np.float64)) if isinstance(objective, Observed) else float(objective.X.mean())
    )


def shifted(objective: Objective, mean: float) -> Objective:
    """The same entries less their mean."""
    if isinstance(objective, Dense):
        X = objective.X - objective.dtype.type(mean)
        return Dense(
            X if objective.weights is None else np.where(objective.weights != 0, X, 0),
            objective.loss,
            objective.weights,
        )
    assert isinstance(objective, Observed), "sparse tables are partly observed here"
    X = objective.X
    return Observed(sp.csr_array((X.data - X.dtype.type(mean), X.indices, X.indptr), shape=X.shape), objective.loss)
