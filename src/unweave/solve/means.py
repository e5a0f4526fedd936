"""Lloyd's iterations for tables that are sparse or have holes: nearest, then the means of what is seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.objectives import Dense, Objective, Observed, Sparse
from unweave.objectives.models import Quadratic
from unweave.penalties import OneHot
from unweave.updates import Effort, Half, Nearest


class MeansOfSeen:
    """k-means on any table in memory: ½ Σ_i w_i Σ_{j seen} (x_ij − c_{label i, j})².

    A centre is the weighted mean of the entries seen in its rows (k-pod's objective); a column that a cluster never
    sees keeps its former centre. Empty clusters take the row with the largest loss. `place` as in
    :class:`unweave.solve.lloyd.Lloyd`.

    References
    ----------
    Chi, Chi and Baraniuk (2016), k-POD: a method for k-means clustering of missing data.
    """

    def __init__(
        self,
        objective: Objective,
        n_clusters: int,
        sample_weight: NDArray | None = None,
        place: Callable[[NDArray, NDArray], NDArray] | None = None,
    ):
        self.objective, self.k, self.place = objective, n_clusters, place
        n = objective.shape[0]
        self.weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.left = Nearest()
        self.values, self.seen = _values_and_seen(objective)
        squares = self.values.multiply(self.values) if sp.issparse(self.values) else self.values**2
        self.squares = np.asarray(squares.sum(axis=1)).ravel()

    def start(self, centres: NDArray) -> dict:
        centres = np.array(centres, dtype=self.objective.dtype, order="C")
        return {"centres": centres, "labels": np.full(self.objective.shape[0], -1, np.int32), "moved": 1}

    def step(self, state: dict) -> tuple[dict, float]:
        labels, losses = nearest_labels(self.objective, state["centres"])
        labels = self._refill(labels, losses)
        centres, value = self._means(labels, state["centres"])
        moved = int((labels != state["labels"]).sum())
        return {"centres": centres, "labels": labels, "moved": moved}, value

    def settled(self, state: dict) -> bool:
        return state["moved"] == 0

    fixed = settled

    def _refill(self, labels: NDArray, losses: NDArray) -> NDArray:
        """Give each empty cluster the row that costs most; a row that lies on its centre up to rounding never."""
        counts = np.bincount(labels, minlength=self.k)
        empty = np.flatnonzero(counts == 0)
        if not len(empty):
            return labels
        costs = np.where(losses > 8 * np.finfo(self.objective.dtype).eps * self.squares, losses * self.weights, 0.0)
        order = iter(np.argsort(-costs, kind="stable"))
        for t in empty:
            for i in order:
                if costs[i] == 0:
                    return labels
                if counts[labels[i]] > 1:
                    counts[labels[i]] -= 1
                    labels[i] = t
                    break
        return labels

    def means(self, labels: NDArray, former: NDArray) -> NDArray:
        """The centres that these labels want."""
        return self._means(labels, former)[0]

    def _means(self, labels: NDArray, former: NDArray) -> tuple[NDArray, float]:
        n = len(labels)
        rows = sp.csr_array((self.weights, (labels, np.arange(n))), shape=(self.k, n))
        sums = _dense(rows @ self.values)
        counts = np.asarray(rows.sum(axis=1)).reshape(-1, 1) if self.seen is None else _dense(rows @ self.seen)
        counts = np.broadcast_to(counts, sums.shape)
        centres = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), former)
        centres = (centres if self.place is None else self.place(centres, former)).astype(former.dtype)
        total = float(self.weights @ self.squares)
        c = centres.astype(np.float64)
        return centres, max(0.0, 0.5 * (total - 2 * float((sums * c).sum()) + float((counts * c * c).sum())))


def _values_and_seen(objective: Objective):
    """The table and a 0/1 table of what is seen (None: everything), both in float64."""
    if isinstance(objective, Observed):
        X = objective.X.astype(np.float64)
        return X, sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
    if isinstance(objective, Sparse):
        return objective.X.astype(np.float64), None
    assert isinstance(objective, Dense)
    X = objective.X.astype(np.float64)
    return X, None if objective.weights is None else objective.weights.astype(np.float64)


def _dense(X) -> NDArray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def nearest_labels(objective: Objective, centres: NDArray) -> tuple[NDArray, NDArray]:
    """The centre of least loss for every row (over what it shows), and that loss."""
    model = objective.rows_given(np.ascontiguousarray(centres))
    U = Nearest()(model, np.zeros((objective.shape[0], len(centres)), dtype=objective.dtype), Half(OneHot()), Effort())
    losses = model.row_values(U)
    if isinstance(model, Quadratic):
        losses = np.maximum(losses + 0.5 * model.row_norms(), 0)
    return U.argmax(axis=1).astype(np.int32), losses
