"""Cluster data that do not fit in memory by k-means in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.distances import need_floats
from unweave.group.kmeans.labels import nearest_in_blocks
from unweave.group.large.blocks import RowBlocks, open_rows
from unweave.group.large.reading import OnePass, Summary, final_clusters, share_memory
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.plan import Plan


class BFR(ClusterMixin, Model, BaseEstimator):
    """Find the centres of k-means in rows that are read once, within a number of bytes (Bradley, Fayyad and Reina).

    Minimises ½ Σ_i ‖x_i − c_{label i}‖² as k-means does, but forgets the rows. k-means of the first rows gives k
    clusters, kept as N, SUM and SUMSQ (the *discard* set). Every further row joins the cluster with the nearest centre
    if its Mahalanobis distance √(mean_j (x_j − c_j)²/σ_j²) is at most `threshold`; otherwise the nearest of the small
    *compressed* sets, likewise; otherwise it is *retained*. When too many rows are retained, tight groups of them
    become compressed sets, and compressed sets whose union is tight are merged. At the end a weighted k-means of all
    three gives the centres, so that clusters which the first rows did not show are found too.

    Use it for a file that is larger than memory, or a stream. For rows in memory :class:`unweave.KMeans` is more exact.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number of :class:`unweave.select.Groups` on 5000 rows, spread evenly over 50 blocks at most,
        which are read first (:func:`unweave.select.auto_count`); kept as ``choice_``. ``partial_fit`` needs a number.
    memory : int, default=2**25
        Most bytes to keep and work with: the block under way, statistics, retained rows and scratch. Blocks that you
        hand over yourself, and the file's pages, are not counted; pages of a memory-mapped array are released as soon
        as they are read.
    threshold : float, default=3.0
        How many standard deviations (root mean square over the columns) a row may be from a set that it joins.
    tightness : float, default=0.5
        Largest standard deviation of a compressed set, in units of that of the clusters.
    max_iter, tol
        Of the k-means at the start and at the end.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; an iteration is a block, its objective is that of a row, on average.

    Attributes
    ----------
    cluster_centers_ : array (k, m)
        Also ``components_``.
    labels_ : array (n,) or None
        Of the training rows, if they came as one table in memory; ``predict`` labels any others in blocks.
    objective_, inertia_ : float
        Of `labels_`; without them, of the sets that rows joined as they were read, which is never below that of
        the nearest centres. ``inertia_`` is twice ``objective_``.
    set_sizes_ : dict
        Rows in the discard, compressed and retained sets when the reading ended, and the number of compressed sets.
    n_iter_ : int
        Blocks read.
    history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import BFR
    >>> rng = np.random.default_rng(0)
    >>> blocks = [np.repeat([[0.0, 0], [9, 9]], 500, axis=0) + rng.normal(size=(1000, 2)) for _ in range(5)]
    >>> np.sort(BFR(2).fit(blocks).cluster_centers_, axis=0).round()
    array([[0., 0.],
           [9., 9.]])

    References
    ----------
    Bradley, Fayyad and Reina (1998), Scaling clustering algorithms to large databases, KDD. Leskovec, Rajaraman and
    Ullman (2020), Mining of massive datasets, section 7.3.
    """

    _takes_cluster = False

    _limits_shape = True  # max_iter and tol are limits of the k-means of the first rows and of each block

    def __init__(
        self,
        n_clusters=8,
        *,
        memory=2**25,
        threshold=3.0,
        tightness=0.5,
        max_iter=300,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.memory = memory
        self.threshold = threshold
        self.tightness = tightness
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None, *, client=None):
        """Read X once and find the centres.

        Parameters
        ----------
        X : array, sparse matrix, data frame, memory-mapped array or sequence of row blocks
            A sparse table is made dense a block at a time.
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        with fitting(self, client):
            rows = open_rows(self, X, reset=True, block_bytes=self._memory() // 8)
            scheme = self._scheme(rows, 0)
            run = Run(self, None if self.checkpoint is None else rows.digest())
            value = self._publish(scheme, run.through(scheme))
            if rows.in_memory:
                value = self._label(rows)
            run.close(value)
        return self

    def partial_fit(self, X, y=None):
        """Take in one more block; the first one starts the model and must have at least `n_clusters` rows."""
        with fitting(self):
            first = not hasattr(self, "_state")
            rows = open_rows(self, X, reset=first, block_bytes=self._memory() // 8)
            scheme = self._scheme(rows, 0 if first else self._state["blocks"])
            run = Run(self)
            run.loop = replace(run.loop, checkpoint=None)  # a stream goes on from the model itself
            run.close(self._publish(scheme, run.through(scheme, state=None if first else self._state)))
        return self

    def _memory(self) -> int:
        return whole(self.memory, "memory", 1)

    def _scheme(self, rows: RowBlocks, done: int) -> OnePass:
        """Make the scheme that reads these blocks after `done` others."""
        k = self._number()
        options = {"max_iter": whole(self.max_iter, "max_iter", 1), "tol": number(self.tol, "tol")}
        bounds = share_memory(self.memory, k, rows.n_columns, rows.dtype.itemsize)
        threshold, tightness = number(self.threshold, "threshold"), number(self.tightness, "tightness")
        return OnePass(rows, k, bounds, threshold, tightness, options, done)

    def _publish(self, scheme: OnePass, state: dict) -> float:
        """Cluster the summary of the rows and publish the centres: the objective."""
        if not state["rows"]:
            raise ValueError("X has no rows: 0 samples; give at least one")
        summary = Summary.of(state)
        centres, value = final_clusters(summary, scheme.n_clusters, scheme.options, state["seed"])
        self._state = state
        self.cluster_centers_ = self.components_ = np.ascontiguousarray(centres, dtype=state["retained"].dtype)
        self.labels_: NDArray | None = None
        self.inertia_ = 2 * value
        self.set_sizes_ = {
            "discard": int(summary.discard.counts.sum()),
            "compressed": int(summary.compressed.counts.sum()),
            "retained": len(summary.retained),
            "compressed_sets": len(summary.compressed),
        }
        self.n_iter_ = state["blocks"]
        self.plan_ = self._plan(scheme, state)
        return value

    def _plan(self, scheme: OnePass, state: dict) -> Plan:
        bounds = scheme.bounds
        return Plan(
            f"{state['rows']}×{self.cluster_centers_.shape[1]} table in {state['blocks']} blocks, "
            f"{scheme.n_clusters} clusters, squared distance",
            "BFR: one pass", "nearest centre", "means", f"k-means of the first {bounds.start} rows at most",
            [f"memory={self.memory} bytes: blocks of at most {bounds.block} rows, {bounds.retained} retained rows and "
             f"{bounds.sets} compressed sets"],
        )  # fmt: skip

    def _label(self, rows: RowBlocks) -> float:
        """Label all rows by the nearest centres: their objective."""
        labels, squares = zip(*nearest_in_blocks(rows, self.cluster_centers_))
        self.labels_ = np.concatenate(labels)
        self.inertia_ = float(sum(part.sum(dtype=np.float64) for part in squares))
        return 0.5 * self.inertia_

    def fit_predict(self, X, y=None):
        """Fit, and return the label of every row; blocks are read a second time for it."""
        labels = self.fit(X).labels_
        return self.predict(X) if labels is None else labels

    def _nearest(self, X) -> Iterator[tuple[NDArray, NDArray]]:
        check_is_fitted(self)
        with single_blas():
            rows = open_rows(self, X, reset=False, block_bytes=self._memory() // 8)
            yield from nearest_in_blocks(rows, self.cluster_centers_)

    def predict(self, X):
        """Find the nearest centre of every row, read in blocks."""
        return np.concatenate([labels for labels, _ in self._nearest(X)])

    def anomaly_score(self, X):
        """Score how strange rows are: the distance to the nearest centre (higher is stranger)."""
        return np.concatenate([np.sqrt(squares) for _, squares in self._nearest(X)])

    def score(self, X, y=None) -> float:
        """Return minus the inertia of X: higher is better. Reads in blocks and keeps nothing of them."""
        return -float(sum(squares.sum(dtype=np.float64) for _, squares in self._nearest(X)))

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        state, n = self._state, self.n_features_in_
        if not all(type(state[name]) is int and state[name] >= 0 for name in ("clusters", "blocks", "rows", "seed")):
            raise ValueError("the counts of the stream must be whole numbers")
        sets, kept = len(state["counts"]), len(state["retained"])
        k = self._number()
        if state["clusters"] != k or sets < k:
            raise ValueError("the stream has another number of clusters than the model")
        for name, shape in (("counts", (sets,)), ("sums", (sets, n)), ("squares", (sets, n)), ("origin", (n,))):
            need_floats(state[name], shape, name, looked_at, (np.float64,))
        need_floats(state["retained"], (kept, n), "retained", looked_at)
        need_floats(self.cluster_centers_, (k, n), "cluster_centers_", looked_at, (state["retained"].dtype,))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
