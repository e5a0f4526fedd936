"""k-means block by block: sums and counts of every cluster are all that is kept."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import row_weights
from unweave.data.table import is_blocks
from unweave.factorization.settings import generator
from unweave.group.kmeans_assign import nearest, one_hot, total
from unweave.group.kmeans_metrics import metric_of
from unweave.group.kmeans_plan import first_centres
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.updates import Nearest


def add_block(model, X, sample_weight=None) -> None:
    """Give every row of a block to its nearest centre, then move each centre to the mean of all rows it has won."""
    if is_blocks(X):
        raise ValueError("partial_fit of KMeans takes one block at a time: call it once for each")
    with single_blas():
        first = not hasattr(model, "cluster_centers_")
        objective = _begun(model, X) if first else model._reopen(X)
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
    publish_value(model, total(losses, weights))


def _begun(model, X):
    """The first block of a model that nobody has fitted."""
    objective, model._learned = model._open(X)
    model._sentence = model._problem(model._learned.loss, objective.shape, False)
    model._left = Nearest()
    return objective


def _first_centres(model, objective, weights: NDArray | None) -> None:
    k, metric = model._sentence.n_components, metric_of(model.metric)
    Z, start = first_centres(objective, k, model.init, metric, weights, generator(model.random_state))
    model.plan_ = Plan("rows seen in blocks", "running means", "nearest component", "means", start)
    model._full_components = Z
    model._sums = {"sums": np.zeros(Z.shape), "counts": np.zeros(len(Z)), "blocks": 0}


def sums_of(centres: NDArray, labels: NDArray, weights: NDArray | None) -> dict:
    """What a stream that goes on after a fit starts from: every row counts, as if it lay on its centre."""
    counts = np.bincount(labels, weights, len(centres)).astype(np.float64)
    return {"sums": centres.astype(np.float64) * counts[:, None], "counts": counts, "blocks": 0}


def _with_rows(kept: dict, X, labels: NDArray, weights: NDArray | None) -> dict:
    """The sums and counts with those of one more block."""
    weights = np.ones(len(labels)) if weights is None else weights
    rows = sp.csr_array((weights, (labels, np.arange(len(labels)))), shape=(len(kept["counts"]), len(labels)))
    won = rows @ X
    return {
        "sums": kept["sums"] + (won.toarray() if sp.issparse(won) else won),
        "counts": kept["counts"] + np.bincount(labels, weights, len(kept["counts"])),
        "blocks": kept["blocks"] + 1,
    }


def publish_value(model, value: float) -> None:
    """The objective of rows that were labelled after the fit, of which no bound is known."""
    model.objective_, model.inertia_, model.reconstruction_err_ = value, 2 * value, float(np.sqrt(2 * value))
    model.certificate_ = Certificate("none", float("-inf"), float("inf"), False, value)
