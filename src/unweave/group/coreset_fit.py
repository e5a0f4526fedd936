"""k-means through a coreset: the centres from a few weighted rows, labels and objective from all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import generator, whole
from unweave.factorization.door import Learned
from unweave.group.coresets import coreset
from unweave.group.kmeans_assign import nearest, one_hot
from unweave.objectives import Dense, Objective
from unweave.solve.certificate import Certificate


def fit_on_coreset(model, m, objective: Objective, learned: Learned, weights: NDArray | None) -> None:
    """Fit a k-means model to a lightweight coreset of m draws, then label every row once."""
    m, k = whole(m, "coreset", 1), whole(model.n_clusters, "n_clusters", 1)
    if m < k:
        raise ValueError(f"coreset={m} must be at least n_clusters={k}, better a hundred times as many")
    if not isinstance(objective, Dense) or not objective.complete:
        raise ValueError("coreset needs a dense X with every entry observed; leave it out, or pass X.toarray()")
    few = coreset(objective.X, m, sample_weight=weights, random_state=generator(model.random_state))
    model._weights = few.weights
    model._fit_objective(Dense(few.points, objective.loss), learned)
    model.labels_, losses = nearest(objective, model.cluster_centers_)
    value = float(losses.sum(dtype=np.float64) if weights is None else losses @ weights)
    model.objective_, model.inertia_, model.reconstruction_err_ = value, 2 * value, float(np.sqrt(2 * value))
    model.codes_ = one_hot(model.labels_, k, model.cluster_centers_.dtype)
    model.certificate_ = Certificate("none", float("-inf"), float("inf"), False, value)
    model.plan_.reasons.append(f"the centres were fitted to a coreset of {len(few)} of {objective.shape[0]} rows")
