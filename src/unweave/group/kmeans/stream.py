"""Fit k-means without all rows at hand: block by block from sums and counts, or to a coreset that stands for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import generator, row_weights, whole
from unweave.data.storage import product
from unweave.data.table import is_blocks
from unweave.factorization.run import fitting
from unweave.group.kmeans.labels import nearest, one_hot, total
from unweave.group.kmeans.metrics import metric_of
from unweave.group.kmeans.plan import first_centres
from unweave.group.large.blocks import OpenedRows
from unweave.group.large.coresets import draw_coreset
from unweave.objectives import Dense, Objective
from unweave.scale.door import as_blocks
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.updates import Nearest


def add_block(model, X, sample_weight=None) -> None:
    """Give every row of a block to its nearest centre, then move each centre to the mean of all rows it has won."""
    if is_blocks(as_blocks(X)):
        raise ValueError("partial_fit of KMeans takes one block at a time: call it once for each")
    with fitting(model):
        first = not hasattr(model, "cluster_centers_")
        objective = _opened_first(model, X) if first else model._reopen(X)
        if not objective.complete:
            raise ValueError(
                "partial_fit of KMeans needs every entry observed; fit the whole table for missing entries"
            )
        weights = row_weights(sample_weight, objective.shape[0])
        if first:
            _first_centres(model, objective, weights)
        Z = model._full_components
        model._sums = kept = _with_rows(model._sums, objective.X, nearest(objective, Z)[0], weights)
        filled = kept["counts"][:, None] > 0
        means = kept["sums"] / np.where(filled, kept["counts"][:, None], 1)
        means = metric_of(model.metric).place(np.where(filled, means, Z), Z)
        model._full_components = means.astype(objective.dtype)
        model._publish(model._sentence, model._full_components)
        model.labels_, losses = nearest(objective, model._full_components)
        model.n_iter_, model.history_ = kept["blocks"], History()
        model.codes_ = one_hot(model.labels_, len(Z), Z.dtype)
        _publish_value(model, total(losses, weights))


def _opened_first(model, X) -> Objective:
    """Open the first block of a model that nobody has fitted."""
    objective, model._learned = model._open(X)
    model._sentence = model._problem(model._learned.loss, objective.shape, False)
    model._left = Nearest()
    return objective


def _first_centres(model, objective: Objective, weights: NDArray | None) -> None:
    k, metric = model._sentence.n_components, metric_of(model.metric)
    Z, start = first_centres(objective, k, model.init, metric, weights, generator(model.random_state))
    model.plan_ = Plan("rows seen in blocks", "running means", "nearest component", "means", start)
    model._full_components = Z
    model._sums = {"sums": np.zeros(Z.shape), "counts": np.zeros(len(Z)), "blocks": 0}


def sums_of(centres: NDArray, labels: NDArray, weights: NDArray | None) -> dict:
    """Make the sums that a stream goes on from after a fit: every row counts, as if it lay on its centre."""
    counts = np.bincount(labels, weights, len(centres)).astype(np.float64)
    return {"sums": centres.astype(np.float64) * counts[:, None], "counts": counts, "blocks": 0}


def _with_rows(kept: dict, X, labels: NDArray, weights: NDArray | None) -> dict:
    """Add one more block to the sums and counts."""
    weights = np.ones(len(labels)) if weights is None else weights
    rows = sp.csr_array((weights, (labels, np.arange(len(labels)))), shape=(len(kept["counts"]), len(labels)))
    return {
        "sums": kept["sums"] + product(rows, X),
        "counts": kept["counts"] + np.bincount(labels, weights, len(kept["counts"])),
        "blocks": kept["blocks"] + 1,
    }


@dataclass(frozen=True)
class CoresetRows:
    """Hold the weighted rows of a coreset, which stand for all, as the table that k-means is fitted to."""

    objective: Objective
    weights: NDArray

    def label_all(self, model, objective: Objective, weights: NDArray | None) -> None:
        """Label every row of the whole table once with the centres that were fitted to these."""
        Z = model.cluster_centers_
        model.labels_, losses = nearest(objective, Z)
        model.codes_ = None if objective.in_blocks else one_hot(model.labels_, len(Z), Z.dtype)
        _publish_value(model, total(losses, weights))
        drawn = f"{len(self.weights)} of {objective.shape[0]} rows"
        model.plan_.reasons.append(f"the centres were fitted to a coreset of {drawn}")


def on_coreset(m, k: int, objective: Objective, weights: NDArray | None, random_state) -> CoresetRows:
    """Draw a lightweight coreset of m rows to fit k centres to."""
    m = whole(m, "coreset", 1)
    if m < k:
        raise ValueError(f"coreset={m} must be at least n_clusters={k}, better a hundred times as many")
    if not (objective.is_array or objective.in_blocks) or not objective.complete:
        raise ValueError("coreset needs a dense X with every entry observed; leave it out, or pass X.toarray()")
    drawn = draw_coreset(OpenedRows(objective), m, weights, generator(random_state))
    return CoresetRows(Dense(drawn.points, objective.loss), drawn.weights)


def _publish_value(model, value: float) -> None:
    """Publish the objective of rows that were labelled after the fit, of which no bound is known."""
    model.objective_, model.inertia_, model.reconstruction_err_ = value, 2 * value, float(np.sqrt(2 * value))
    model.certificate_ = Certificate.none(value)
