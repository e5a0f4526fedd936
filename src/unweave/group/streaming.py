"""k-means block by block: sums and counts of every cluster are all that is kept."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from unweave.factorization.settings import generator
from unweave.group.kmeans_assign import nearest
from unweave.group.kmeans_metrics import metric_of
from unweave.parallel import single_blas
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.updates import Nearest


def add_block(model, X, sample_weight=None) -> None:
    """Give every row of a block to its nearest centre, then move each centre to the mean of all rows it has won."""
    with single_blas():
        if not hasattr(model, "cluster_centers_"):
            objective, model._learned = model._open(X)
            model._sentence = model._problem(model._learned.loss, objective.shape, False)
            model._left = Nearest()
            Z, start = model._centres(objective, model._sentence.n_components, generator(model.random_state))
            model.plan_ = Plan("rows seen in blocks", "running means", "nearest component", "means", start)
            model._sums = {"sums": np.zeros(Z.shape), "counts": np.zeros(len(Z)), "blocks": 0}
        else:
            objective, Z = model._reopen(X), model.cluster_centers_
        if not objective.complete:
            raise ValueError(
                "partial_fit of KMeans needs every entry observed; fit the whole table for missing entries"
            )
        kept = _running(model, Z)
        model.labels_, losses = nearest(objective, Z)
        weights = np.ones(len(losses)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        rows = sp.csr_array((weights, (model.labels_, np.arange(len(weights)))), shape=(len(Z), len(weights)))
        won = rows @ objective.X
        kept["sums"] += won.toarray() if sp.issparse(won) else won
        kept["counts"] += np.bincount(model.labels_, weights, len(Z))
        kept["blocks"] += 1
        filled = kept["counts"][:, None] > 0
        means = kept["sums"] / np.where(filled, kept["counts"][:, None], 1)
        means = metric_of(model.metric).place(np.where(filled, means, Z), Z)
        model._full_components = means.astype(objective.dtype)
    model._publish(model._sentence, model._full_components)
    model.n_iter_, model.history_ = kept["blocks"], History()
    model.objective_ = float(losses @ weights)
    model.inertia_ = 2 * model.objective_


def _running(model, Z) -> dict:
    """The sums so far; a model that was fitted before counts its own rows once."""
    if getattr(model, "_sums", None) is None:
        counts = np.bincount(model.labels_, minlength=len(Z)).astype(np.float64)
        model._sums = {"sums": Z.astype(np.float64) * counts[:, None], "counts": counts, "blocks": 0}
    return model._sums
