"""Run Lloyd's iterations on tables that are sparse or have holes: nearest, then the means of what is seen."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.storage import as_dense, row_squares
from unweave.group.kmeans.labels import nearest_by_entries
from unweave.group.kmeans.lloyd import CentreScheme, Place
from unweave.group.kmeans.passes import rows_for_empty
from unweave.objectives import Objective
from unweave.solve.start import row_mixture, spread_rows


class GeneralLloyd(CentreScheme):
    """Minimise ½ Σ_i w_i Σ_{j seen} (x_ij − c_{label i, j})² on any table in memory.

    A centre is the weighted mean of the entries seen in its rows (k-pod's objective); a column that a cluster never
    sees keeps its former centre. Empty clusters take the row with the largest loss. `place` and `centres` as in
    :class:`unweave.group.kmeans.lloyd.Lloyd`.

    References
    ----------
    Chi, Chi and Baraniuk (2016), k-POD: a method for k-means clustering of missing data.
    """

    why = "the table is sparse or has holes: nearest by the entries seen, then their means"

    def __init__(
        self,
        objective: Objective,
        n_clusters: int,
        sample_weight: NDArray | None = None,
        place: Place | None = None,
        centres: NDArray | None = None,
    ):
        self.objective, self.k, self.place, self.centres = objective, n_clusters, place, centres
        n = objective.shape[0]
        self.weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.values, self.seen = objective.values_and_seen()
        self.squares = row_squares(self.values)

    def first_centres(self, rng=None) -> NDArray:
        if self.centres is not None:
            return self.centres
        return row_mixture(self.objective, spread_rows(self.objective, self.k, rng))

    def state_at(self, centres: NDArray) -> dict:
        centres = np.array(centres, dtype=self.objective.dtype, order="C")
        return {"centres": centres, "labels": np.full(self.objective.shape[0], -1, np.int32), "moved": 1}

    def step(self, state: dict) -> tuple[dict, float]:
        labels, losses = nearest_by_entries(self.objective, state["centres"])
        self._refill(labels, losses)
        centres, value = self._means_and_value(labels, state["centres"])
        moved = int((labels != state["labels"]).sum())
        return {"centres": centres, "labels": labels, "moved": moved}, value

    def settled(self, state: dict) -> bool:
        return state["moved"] == 0

    fixed = settled

    def _refill(self, labels: NDArray, losses: NDArray) -> None:
        """Give each empty cluster the row that costs most; a row that lies on its centre up to rounding never."""
        counts = np.bincount(labels, minlength=self.k)
        empty = np.flatnonzero(counts == 0).astype(labels.dtype)
        if len(empty):
            grain = 8 * np.finfo(self.objective.dtype).eps
            costs = np.where(losses > grain * self.squares, losses * self.weights, 0.0)
            rows, after = rows_for_empty(empty, labels, costs, counts)
            labels[rows] = after

    def means(self, labels: NDArray, former: NDArray) -> NDArray:
        return self._means_and_value(labels, former)[0]

    def _means_and_value(self, labels: NDArray, former: NDArray) -> tuple[NDArray, float]:
        """Compute the centres that these labels want, and the objective there."""
        n = len(labels)
        rows = sp.csr_array((self.weights, (labels, np.arange(n))), shape=(self.k, n))
        sums = as_dense(rows @ self.values)
        counts = np.asarray(rows.sum(axis=1)).reshape(-1, 1) if self.seen is None else as_dense(rows @ self.seen)
        counts = np.broadcast_to(counts, sums.shape)
        centres = np.where(counts > 0, sums / np.where(counts > 0, counts, 1), former)
        centres = (centres if self.place is None else self.place(centres, former)).astype(former.dtype)
        total = float(self.weights @ self.squares)
        c = centres.astype(np.float64)
        return centres, max(0.0, 0.5 * (total - 2 * float((sums * c).sum()) + float((counts * c * c).sum())))
