"""Cluster the nodes of a graph of likeness."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from unweave.data.arguments import generator, need_rows_compared, number, whole
from unweave.data.atomic import need_place
from unweave.data.table import refuse_blocks
from unweave.data.tiny_values import need_spread
from unweave.factorization.model import Model
from unweave.factorization.run import fitting
from unweave.group.distances import (
    distinct_rows,
    gap_to_others,
    group_means,
    need_floats,
    need_numbers_below,
    warn_of_equal_rows,
    whole_rows,
)
from unweave.group.kmeans import KMeans
from unweave.group.kmeans.labels import one_hot
from unweave.group.kmeans.passes import assign
from unweave.group.spectral.graph import (
    MOST_ROWS,
    asked_table,
    for_copies,
    gaussian_table,
    given_table,
    neighbour_table,
    normalised_cut,
    smoothest,
)
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.certificate import bounded
from unweave.solve.plan import Plan
from unweave.solve.progress import warn_user

# What makes a graph of each affinity hang together.
AFFINITIES = {
    "nearest": "raise n_neighbors or n_clusters",
    "rbf": "lower gamma or raise n_clusters",
    "precomputed": "raise n_clusters",
}
_ASKED = "raise n_clusters, or take a kernel that reaches farther"


class SpectralClustering(Model, ClusterMixin, BaseEstimator):
    """Cut a graph of likeness W into k parts with little affinity between them: clusters of any shape.

    The normalised cut Σ_c cut(c)/vol(c) is relaxed: the k eigenvectors of D⁻¹W with the largest eigenvalues (the
    smallest of the normalised Laplacian I − D^−½WD^−½) are the smoothest functions on the graph. They are the new
    columns of each row, and k-means (with repair) finds the clusters there. Use it where clusters are connected and
    not round.

    Equal rows are one node of the graph, as heavy as they are many: they are never separated, and where fewer than
    `n_clusters` rows differ, there are fewer clusters, with a warning.

    New rows are placed by Nyström's formula f(x) = Σ_i w(x, x_i) f(x_i) / (λ Σ_i w(x, x_i)), then get the nearest
    centre. For "rbf" training rows get their own place again; for "nearest" theirs was found with the rows whose
    neighbours they are, too, so that `predict` may differ from ``labels_`` at the borders.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number that :class:`unweave.select.Groups` finds, kept as ``choice_``.
    affinity : {"nearest", "rbf", "precomputed"} or function of two tables, default="nearest"
        1 for the `n_neighbors` nearest rows and ½ if only one of two counts the other; exp(−gamma ‖x − y‖²) (at most
        16 384 rows); or X is the table W itself, square and symmetric. A function (a kernel of :mod:`unweave.predict`)
        gives the table of two, without negative numbers.
    n_neighbors : int, default=10
        Each row counts as one of its own neighbours; rows that are equal count as one.
    gamma : float or "scale", default="scale"
        "scale" is 1 / (number of columns · variance of X).
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.KMeans`, of the k-means at the end.

    Attributes
    ----------
    labels_ : array (n,)
        Also ``codes_``, a sparse one-hot table.
    embedding_ : array (n, k)
        The eigenvectors, D-orthonormal times √(total affinity); ``eigenvalues_`` of D⁻¹W.
    cluster_centers_ : array (k, m)
        Means of the clusters in the columns of X, also ``components_`` (not for precomputed affinities).
    objective_ : float
        The normalised cut. The sum of the k smallest eigenvalues of the Laplacian is a bound below it that no other
        clustering can undercut: ``certificate_``.
    n_iter_, history_, plan_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SpectralClustering
    >>> turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> labels = SpectralClustering(2, n_neighbors=5).fit_predict(np.vstack([ring, 3 * ring]))
    >>> len(set(labels[:60])), len(set(labels[60:])), bool(labels[0] != labels[60])
    (1, 1, True)

    References
    ----------
    Shi and Malik (2000), Normalized cuts and image segmentation. von Luxburg (2007), A tutorial on spectral clustering.
    Bengio et al. (2004), Out-of-sample extensions.
    """

    _takes_cluster = False

    def __init__(
        self,
        n_clusters=8,
        *,
        affinity="nearest",
        n_neighbors=10,
        gamma="scale",
        max_iter=300,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None, *, client=None):
        """Make the graph, find its smoothest functions, and cluster.

        Parameters
        ----------
        X : array or data frame; for precomputed affinities a square table, dense or sparse
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        if not callable(self.affinity) and (not isinstance(self.affinity, str) or self.affinity not in AFFINITIES):
            raise ValueError(
                f"affinity={self.affinity!r} is not known; use one of {', '.join(AFFINITIES)}, or a function of two "
                "tables"
            )
        need_rows_compared(self.affinity, "affinity")
        need_place(self.checkpoint, "the checkpoint")  # before the eigenvectors, which may take long
        with fitting(self, client):
            W, nodes = self._graph(X)
            k = self._wanted(len(nodes), W.shape[0])
            seed = int(generator(self.random_state).integers(2**31))
            self.eigenvalues_, F, parts = smoothest(W, k, seed)
            self.embedding_ = F[nodes] * float(np.sqrt(W.sum()))
            self._cluster(k, seed)
            self._tell(W, k, parts)
        return self

    def fit_predict(self, X, y=None):
        """Fit, and return the cluster of every row."""
        return self.fit(X).labels_

    def _graph(self, X) -> tuple[NDArray | sp.csr_array, NDArray]:
        """Measure the affinities of the nodes, and find the node of each training row.

        Equal rows are one node. Keeps what new rows are compared with: `_first`, the first row of each node, `_copies`,
        how many rows it stands for, and `_rows`, None where affinities were given.
        """
        refuse_blocks(self, X)
        if self.affinity == "precomputed":
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=1)
            self._rows: NDArray | None = None
            self._first, self._copies = np.arange(X.shape[0]), np.ones(X.shape[0])
            return given_table(X, None), self._first
        self._rows = X = whole_rows(self, X, reset=True)
        need_spread(X, np.float64)
        whole(self.n_neighbors, "n_neighbors", 1)
        self._gamma = self._scale(X)
        if self.affinity != "nearest" and len(X) > MOST_ROWS:
            raise ValueError(
                f"affinity={self.affinity!r} keeps all affinities of {len(X)} rows, and {MOST_ROWS} is the limit (2 "
                "GiB): use affinity='nearest'"
            )
        self._first, nodes, self._copies = distinct_rows(X)
        W = self._affinities(X[self._first])
        if self.affinity == "nearest":
            W = sp.csr_array(0.5 * (W + W.T))
        return for_copies(for_copies(W, self._copies).T, self._copies), nodes

    def _affinities(self, X) -> NDArray | sp.csr_array:
        """Measure the affinities of checked rows to the training rows that differ."""
        if self._rows is None:
            return given_table(X, len(self.labels_))
        rows = self._rows[self._first]
        if self.affinity == "nearest":
            return neighbour_table(rows, X, self.n_neighbors)
        if callable(self.affinity):
            return asked_table(self.affinity, rows, X)
        return gaussian_table(rows, X, self._gamma)

    def _scale(self, X: NDArray) -> float:
        if self.gamma != "scale":
            return number(self.gamma, "gamma")
        variance = float(X.var(dtype=np.float64))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _known(self, X) -> NDArray | sp.csr_array:
        """Check new rows, or their affinities."""
        check_is_fitted(self)
        if self._rows is None:
            return validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return whole_rows(self, X, reset=False)

    def _wanted(self, n: int, distinct: int) -> int:
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={k}")
        if k > distinct:
            warn_of_equal_rows(distinct, k)
        return min(k, distinct)

    def _cluster(self, k: int, seed: int) -> None:
        inner = KMeans(
            k, max_iter=self.max_iter, tol=self.tol, random_state=seed, callback=self.callback,
            checkpoint=self.checkpoint, verbose=self.verbose,
        ).fit(self.embedding_)  # fmt: skip
        used, labels = np.unique(inner.labels_, return_inverse=True)
        self.labels_, self._places = labels.reshape(-1).astype(np.int64), inner.cluster_centers_[used]
        self.n_clusters_ = len(used)
        self.n_iter_, self.history_ = inner.n_iter_, inner.history_

    def _tell(self, W, k: int, parts: int) -> None:
        """Publish plan, codes, the normalised cut and its bound."""
        name = self.affinity if isinstance(self.affinity, str) else "given"
        why = f"the graph has {parts} part{'s' if parts > 1 else ''} that hang together"
        if parts > k > 1:
            warn_user(
                f"the graph falls into {parts} parts, more than n_clusters={k}: small parts share a cluster; "
                f"{AFFINITIES.get(name, _ASKED)}",
                ConvergenceWarning,
            )
        told = f"graph of {len(self.labels_)} rows into {k}"
        self.plan_ = Plan(told, "eigenvectors, then k-means", "", "", name, [why])
        found = self.n_clusters_
        self.codes_ = one_hot(self.labels_, found, np.float64)
        self.objective_ = normalised_cut(W, self.labels_[self._first], found)
        bound = float(np.maximum(0.0, 1.0 - self.eigenvalues_[:found]).sum())
        # Eigenvalues of a large graph are searched for, to 1e-8 from below.
        self.certificate_ = bounded("duality", bound, self.objective_, float(k), rounding=1e-8 * found)
        if self._rows is not None:
            self.cluster_centers_ = self.components_ = group_means(self._rows, self.labels_, found)

    def _place(self, X) -> NDArray[np.float64]:
        """Place new rows among the eigenvectors (Nyström)."""
        w = for_copies(self._affinities(self._known(X)), self._copies)
        total = np.asarray(w.sum(axis=1)).reshape(-1, 1)
        # A function that is not smooth says nothing.
        pull = np.where(self.eigenvalues_ > 1e-6, self.eigenvalues_, np.inf)
        return np.asarray(w @ self.embedding_[self._first]) / np.where(total > 0, total, 1.0) / pull

    def predict(self, X) -> NDArray[np.int64]:
        """Find the clusters of new rows (for precomputed affinities: a table of theirs to the training rows)."""
        with single_blas():
            return assign(self._place(X), self._places)[0].astype(np.int64)

    def anomaly_score(self, X) -> NDArray[np.float64]:
        """Score how strange rows are: the distance to the nearest training row other than itself (higher is stranger).

        Of precomputed affinities, minus their sum.
        """
        X = self._known(X)
        if self._rows is None:
            return -np.asarray(self._affinities(X).sum(axis=1)).reshape(-1)
        return gap_to_others(self._rows, X)

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        (n, width), k, nodes = np.shape(self.embedding_), self.n_clusters_, len(self._first)
        need_floats(self.embedding_, (n, width), "embedding_", looked_at)
        need_floats(self.eigenvalues_, (width,), "eigenvalues_", looked_at)
        need_floats(self._places, (k, width), "the places of the centres", looked_at)
        need_numbers_below(self.labels_, (n,), k, "labels_", looked_at)
        need_numbers_below(self._first, (nodes,), n, "the rows that differ", looked_at)
        need_floats(self._copies, (nodes,), "how many rows are equal", looked_at)
        if self._rows is not None:
            need_floats(self._rows, (n, self.n_features_in_), "the training rows", looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        return tags
