"""Rows as nodes of a graph: what a spectral clustering keeps of them, and their affinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from unweave.data.table import refuse_blocks
from unweave.data.tiny_values import need_spread
from unweave.factorization.settings import number, whole
from unweave.group.linkage_door import whole_rows
from unweave.group.spectral_graph import (
    MOST_ROWS,
    distinct_rows,
    for_copies,
    gaussian_table,
    given_table,
    neighbour_table,
)

# What makes a graph of each affinity hang together.
AFFINITIES = {
    "nearest": "raise n_neighbors or n_clusters",
    "rbf": "lower gamma or raise n_clusters",
    "precomputed": "raise n_clusters",
}


class RowGraph:
    """Affinities of rows, for :class:`unweave.SpectralClustering`. Equal rows are one node: `_first` is the first row
    of each node and `_copies` how many rows it stands for; `_rows` is None where affinities were given."""

    affinity: str
    n_neighbors: Any
    gamma: Any
    labels_: NDArray
    _rows: NDArray | None

    def _graph(self, X) -> tuple[NDArray | sp.csr_array, NDArray]:
        """The affinities of the nodes, and the node of each training row; keeps what new rows are compared with."""
        refuse_blocks(self, X)
        if self.affinity == "precomputed":
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1)
            self._rows, self._first, self._copies = None, np.arange(X.shape[0]), np.ones(X.shape[0])
            return given_table(X, None), self._first
        self._rows = X = whole_rows(self, X, reset=True)
        need_spread(X, np.float64)
        whole(self.n_neighbors, "n_neighbors", 1)
        self._gamma = self._scale(X)
        if self.affinity == "rbf" and len(X) > MOST_ROWS:
            raise ValueError(
                f"affinity='rbf' keeps all affinities of {len(X)} rows, and {MOST_ROWS} is the limit (2 GiB): use "
                "affinity='nearest'"
            )
        self._first, nodes, self._copies = distinct_rows(X)
        W = self._affinities(X[self._first])
        if self.affinity == "nearest":
            W = sp.csr_array(0.5 * (W + W.T))
        return for_copies(for_copies(W, self._copies).T, self._copies), nodes

    def _affinities(self, X) -> NDArray | sp.csr_array:
        """Of checked rows to the training rows that differ."""
        if self._rows is None:
            return given_table(X, len(self.labels_))
        rows = self._rows[self._first]
        if self.affinity == "nearest":
            return neighbour_table(rows, X, self.n_neighbors)
        return gaussian_table(rows, X, self._gamma)

    def _scale(self, X: NDArray) -> float:
        if self.gamma != "scale":
            return number(self.gamma, "gamma")
        variance = float(X.var(dtype=np.float64))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _known(self, X) -> NDArray | sp.csr_array:
        """New rows, or their affinities, checked."""
        check_is_fitted(self)
        if self._rows is None:
            return validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return whole_rows(self, X, reset=False)
