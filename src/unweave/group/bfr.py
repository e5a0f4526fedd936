"""k-means in one pass over data that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, number, whole
from unweave.group.bfr_memory import share_memory
from unweave.group.bfr_stream import Stream, Summary, final_clusters
from unweave.group.coreset_blocks import RowBlocks, nearest_rows, need_array, open_rows
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan


class BFR(Counting, ClusterMixin, Reportable, BaseEstimator):
    """k-means of rows that are read once, in blocks, within a stated number of bytes (Bradley, Fayyad and Reina).

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
    def fit(self, X, y=None):
        """Read X once and find the centres.

        Parameters
        ----------
        X : array, sparse matrix, data frame, memory-mapped array or sequence of row blocks
            A sparse table is made dense a block at a time.
        y : ignored
        """
        with single_blas():
            rows = open_rows(self, X, reset=True, block_bytes=self._memory() // 8)
            stream = self._opened(rows)
            loop = make_loop(self, None if self.checkpoint is None else rows.digest())
            history = self._read(stream, rows, self._begin(stream, rows), loop)
            if rows.in_memory:
                self._label(rows)
            if loop.checkpoint is not None and history.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def partial_fit(self, X, y=None):
        """Take in one more block; the first one starts the model and must have at least `n_clusters` rows."""
        with single_blas():
            first = not hasattr(self, "_state")
            rows = open_rows(self, X, reset=first, block_bytes=self._memory() // 8)
            stream = self._opened(rows)
            loop = replace(make_loop(self), checkpoint=None)
            self._read(stream, rows, self._begin(stream, rows) if first else self._state, loop)
        return self

    def _read(self, stream: Stream, rows: RowBlocks, state: dict, loop: Loop) -> History:
        """Take in all the blocks, or as many as were read when somebody said stop."""
        before = state["blocks"]

        def step(state: dict) -> tuple[dict, float]:
            i = state["blocks"] - before
            new = stream.step(state, rows.load(i), last=i + 1 == len(rows))
            rows.let_go(i)
            return new

        loop = replace(loop, max_iter=len(rows), tol=0.0, ending="every block was read")
        state, history = iterate(step, state, loop)
        if not state["clusters"] and state["rows"]:  # stopped before there were rows enough
            state, _ = stream.step(state, state["retained"][:0], last=True)
        self._finish(stream, state, history)
        return history

    def _memory(self) -> int:
        return whole(self.memory, "memory", 1)

    def _opened(self, rows: RowBlocks) -> Stream:
        k = self._number()
        options = {"max_iter": whole(self.max_iter, "max_iter", 1), "tol": number(self.tol, "tol")}
        bounds = share_memory(self.memory, k, rows.n_columns, rows.dtype.itemsize)
        return Stream(k, bounds, number(self.threshold, "threshold"), number(self.tightness, "tightness"), options)

    def _begin(self, stream: Stream, rows: RowBlocks) -> dict:
        seed = int(generator(self.random_state).integers(1 << 62))
        return stream.begin(rows.n_columns, rows.dtype, seed)

    def _finish(self, stream: Stream, state: dict, history: History) -> None:
        if not state["rows"]:
            raise ValueError("X has no rows: 0 samples; give at least one")
        summary = Summary.of(state)
        centres, value = final_clusters(summary, stream.n_clusters, stream.options, state["seed"])
        self._state = state
        self.cluster_centers_ = self.components_ = np.ascontiguousarray(centres, dtype=state["retained"].dtype)
        self.labels_: NDArray | None = None
        self.objective_, self.inertia_ = value, 2 * value
        self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, value)
        self.set_sizes_ = {
            "discard": int(summary.discard.counts.sum()),
            "compressed": int(summary.compressed.counts.sum()),
            "retained": len(summary.retained),
            "compressed_sets": len(summary.compressed),
        }
        self.history_, self.n_iter_ = history, state["blocks"]
        self.plan_ = self._plan(stream, state)

    def _plan(self, stream: Stream, state: dict) -> Plan:
        bounds = stream.bounds
        return Plan(
            f"{state['rows']}×{self.cluster_centers_.shape[1]} table in {state['blocks']} blocks, "
            f"{stream.n_clusters} clusters, squared distance",
            "BFR: one pass", "nearest centre", "means", f"k-means of the first {bounds.start} rows at most",
            [f"memory={self.memory} bytes: blocks of at most {bounds.block} rows, {bounds.retained} retained rows and "
             f"{bounds.sets} compressed sets"],
        )  # fmt: skip

    def _label(self, rows: RowBlocks) -> None:
        labels, squares = zip(*nearest_rows(rows, self.cluster_centers_))
        self.labels_ = np.concatenate(labels)
        self.inertia_ = float(sum(part.sum(dtype=np.float64) for part in squares))
        self.objective_ = 0.5 * self.inertia_

    def fit_predict(self, X, y=None):
        """Fit, and the label of every row; blocks are read a second time for it."""
        labels = self.fit(X).labels_
        return self.predict(X) if labels is None else labels

    def _nearest(self, X) -> Iterator[tuple[NDArray, NDArray]]:
        check_is_fitted(self)
        with single_blas():
            rows = open_rows(self, X, reset=False, block_bytes=self._memory() // 8)
            yield from nearest_rows(rows, self.cluster_centers_)

    def predict(self, X):
        """The nearest centre of every row, read in blocks."""
        return np.concatenate([labels for labels, _ in self._nearest(X)])

    def anomaly_score(self, X):
        """Distance of every row to the nearest centre: higher is stranger."""
        return np.concatenate([np.sqrt(squares) for _, squares in self._nearest(X)])

    def score(self, X, y=None) -> float:
        """Minus the inertia of X: higher is better. Reads in blocks and keeps nothing of them."""
        return -float(sum(squares.sum(dtype=np.float64) for _, squares in self._nearest(X)))

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        state, n = self._state, self.n_features_in_
        if not all(type(state[name]) is int and state[name] >= 0 for name in ("clusters", "blocks", "rows", "seed")):
            raise ValueError("the counts of the stream must be whole numbers")
        sets, kept = len(state["counts"]), len(state["retained"])
        k = self._number()
        if state["clusters"] != k or sets < k:
            raise ValueError("the stream has another number of clusters than the model")
        for name, shape in (("counts", (sets,)), ("sums", (sets, n)), ("squares", (sets, n)), ("origin", (n,))):
            need_array(state[name], shape, (np.float64,), name, looked_at)
        need_array(state["retained"], (kept, n), (np.float32, np.float64), "retained", looked_at)
        need_array(self.cluster_centers_, (k, n), (state["retained"].dtype,), "centres", looked_at)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
