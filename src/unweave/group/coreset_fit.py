"""k-means through a coreset: the centres from a few weighted rows, labels and objective from all of them."""

from __future__ import annotations

from numpy.typing import NDArray

from unweave.data.arguments import generator, whole
from unweave.group.coreset_blocks import TablesOf
from unweave.group.coresets import coreset
from unweave.group.kmeans_assign import nearest, one_hot, total
from unweave.group.streaming import publish_value
from unweave.objectives import Blocks, Dense, Objective
from unweave.objectives.opening import Learned


def fit_on_coreset(model, m, objective: Objective, learned: Learned, weights: NDArray | None) -> None:
    """Fit a k-means model to a lightweight coreset of m draws, then label every row once."""
    m, k = whole(m, "coreset", 1), model._number()
    if m < k:
        raise ValueError(f"coreset={m} must be at least n_clusters={k}, better a hundred times as many")
    if not isinstance(objective, Dense | Blocks) or not objective.complete:
        raise ValueError("coreset needs a dense X with every entry observed; leave it out, or pass X.toarray()")
    X = TablesOf(objective) if isinstance(objective, Blocks) else objective.X
    few = coreset(X, m, sample_weight=weights, random_state=generator(model.random_state))
    model._weights = few.weights
    model._fit_objective(Dense(few.points, objective.loss), learned, few.weights)
    model.labels_, losses = nearest(objective, model.cluster_centers_)
    model.codes_ = None if objective.in_blocks else one_hot(model.labels_, k, model.cluster_centers_.dtype)
    publish_value(model, total(losses, weights))
    model.plan_.reasons.append(f"the centres were fitted to a coreset of {len(few)} of {objective.shape[0]} rows")
