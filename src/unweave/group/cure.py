"""Clusters of any shape, by representatives, in data of any length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.tiny_values import need_spread
from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, number, whole
from unweave.group.coreset_blocks import RowBlocks, nearest_rows, need_array, open_rows
from unweave.group.cure_merge import Merging
from unweave.group.kmeans_assign import warn_of_few
from unweave.group.linkage_door import gap_to_several
from unweave.group.spectral_graph import distinct_rows
from unweave.parallel import single_blas
from unweave.select import auto_count
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan

_AROUND = (
    10  # sampled rows near a row that is not strange; on four kinds of made noise 3 to 40 do as well (area ± 0.01)
)


class CURE(Counting, ClusterMixin, Reportable, BaseEstimator):
    """Clusters known by several representatives each, so that they need not be round (Guha, Rastogi and Shim).

    A sample of the rows is clustered from the bottom up: the distance of two clusters is the smallest distance between
    their representatives, which are up to `n_representatives` rows far apart in the cluster, each moved towards its
    mean, r = x + shrink·(mean − x). Then every row, of a table of any length, goes to the cluster of its nearest
    representative. shrink = 0 with many representatives is single linkage; shrink = 1 compares centroids.

    Use it for clusters that are long, bent or of unlike sizes, where k-means cuts through them; for round ones k-means
    is faster and has an objective. Two passes over the rows at most, in blocks: memory for the sample, its
    representatives (16·sample·n_representatives·columns bytes), and one block.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the largest number of clusters that stand apart on the graph of neighbours
        (:class:`unweave.select.Separation`), of 5000 rows spread evenly over 50 blocks at most; kept as ``choice_``.
    n_representatives : int, default=10
    shrink : float from 0 to 1, default=0.2
    sample : int, default=2000
        Rows that are clustered; the time grows with its square.
    outliers : float from 0 to 1, default=0.05
        Largest share of the sample that may be set aside: rows alone when a third of the clusters is left, the most
        isolated first, and tiny clusters near the end. They are labelled all the same, as every row is.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; the objective of an iteration is the number of clusters still too many,
        and a fit that is stopped early has that many more.

    Attributes
    ----------
    representatives_ : array (r, m)
        Of all clusters.
    representative_labels_ : array (r,)
        The cluster of each.
    cluster_centers_ : array (k, m)
        Means of the sampled rows of each cluster; also ``components_``.
    labels_ : array (n,) or None
        Of the training rows, if they came as one table in memory; ``predict`` labels any others in blocks.
    objective_ : float
        ½ Σ of squared distances from the sampled rows to their nearest representatives.
    n_iter_ : int
        Merges.
    history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import CURE
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 600)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) * np.repeat([1.0, 3.0], 300)[:, None]
    >>> labels = CURE(2).fit(X).labels_
    >>> len(set(labels[:300])), len(set(labels[300:])), bool(labels[0] != labels[-1])
    (1, 1, True)

    References
    ----------
    Guha, Rastogi and Shim (1998), CURE: an efficient clustering algorithm for large databases, SIGMOD.
    """

    # Read by make_loop: the merges end when the clusters are as many as asked, not by a tolerance.
    max_iter = 1
    tol = 0.0

    def __init__(
        self,
        n_clusters=8,
        *,
        n_representatives=10,
        shrink=0.2,
        sample=2000,
        outliers=0.05,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.n_representatives = n_representatives
        self.shrink = shrink
        self.sample = sample
        self.outliers = outliers
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None):
        """Cluster a sample of X, and label X if it is one table in memory.

        Parameters
        ----------
        X : array, sparse matrix, data frame, memory-mapped array or sequence of row blocks
            A sparse table is made dense a block at a time.
        y : ignored
        """
        with single_blas():
            rows = open_rows(self, X, reset=True)
            merging = self._merging(rows)
            loop = make_loop(self, merging.X)
            loop = replace(loop, max_iter=merging.most_steps(), tol=None, ending="all merges done")
            state, history = iterate(merging.step, merging.start(), loop, settled=merging.settled)
            self.history_, self.n_iter_ = history, state["merges"]
            self._publish(merging, state, rows.dtype)
            self.labels_ = self.predict(X) if rows.in_memory else None
            warn_of_few(distinct_rows(merging.X)[1], merging.n_clusters, "n_clusters")
            if loop.checkpoint is not None and history.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def _choose_number(self, X, y=None):
        return auto_count(self, X, "n_clusters", by="separation")

    def _merging(self, rows: RowBlocks) -> Merging:
        k, size = self._number(), whole(self.sample, "sample", 1)
        shrink, spare = _share(self.shrink, "shrink"), _share(self.outliers, "outliers")
        many = whole(self.n_representatives, "n_representatives", 1)
        if size < k:
            raise ValueError(f"sample={size} must be at least n_clusters={k}: raise sample")
        X = draw_rows(rows, size, generator(self.random_state))
        if len(X) < k:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={k}")
        need_spread(X, rows.dtype)
        return Merging(X.astype(np.float64), k, many, shrink, int(spare * len(X)))

    def _publish(self, merging: Merging, state: dict, dtype: np.dtype) -> None:
        """Keep the clusters that are left, numbered in the order of their means."""
        alive = np.flatnonzero(state["sizes"] > 0)
        means = state["sums"][alive] / state["sizes"][alive, None]
        order = np.lexsort(means.T[::-1])
        alive, many = alive[order], state["many"][alive[order]]
        self.cluster_centers_ = self.components_ = np.ascontiguousarray(means[order], dtype=dtype)
        self.representatives_ = np.concatenate([state["reps"][a, :m] for a, m in zip(alive, many)]).astype(dtype)
        self.representative_labels_ = np.repeat(np.arange(len(alive), dtype=np.int32), many)
        self._sampled = merging.X.astype(dtype)
        sampled = RowBlocks([merging.X], np.dtype(np.float64), merging.X.shape[1], True, True)
        self.objective_ = 0.5 * sum(float(part.sum()) for _, part in nearest_rows(sampled, self.representatives_))
        self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, self.objective_)
        self.plan_ = Plan(
            f"{len(merging.X)} sampled rows of {merging.X.shape[1]} columns, {merging.n_clusters} clusters",
            "CURE: nearest clusters merged", "nearest representative", "scattered rows, shrunk", "every row alone",
            [f"{state['aside']} rows of the sample were set aside as outliers"],
        )  # fmt: skip

    def fit_predict(self, X, y=None):
        """Fit, and the label of every row; blocks are read a second time for it."""
        labels = self.fit(X).labels_
        return self.predict(X) if labels is None else labels

    def _nearest(self, X) -> Iterator[tuple[NDArray, NDArray]]:
        check_is_fitted(self)
        with single_blas():
            yield from nearest_rows(open_rows(self, X, reset=False), self.representatives_)

    def predict(self, X):
        """The cluster of the nearest representative of every row, read in blocks."""
        return np.concatenate([self.representative_labels_[which] for which, _ in self._nearest(X)])

    def anomaly_score(self, X):
        """Distance of every row to the tenth nearest row of the sample: higher is stranger.

        Representatives would not tell: they lie at the edges of clusters, so that a row amidst one is farther from them
        than noise is, and noise in the sample is itself made a representative, or a cluster.
        """
        check_is_fitted(self)
        rows = open_rows(self, X, reset=False)
        gaps = [gap_to_several(self._sampled, block, _AROUND) for block in rows if len(block)]
        if not gaps:
            raise ValueError("X has no rows: 0 samples; give at least one")
        return np.concatenate(gaps)

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        (k, n), many = self.cluster_centers_.shape, len(self.representatives_)
        floats, labels = (np.float32, np.float64), self.representative_labels_
        need_array(self.cluster_centers_, (k, self.n_features_in_), floats, "centres", looked_at)
        need_array(self.representatives_, (many, n), floats, "representatives", looked_at)
        need_array(self._sampled, (len(self._sampled), n), floats, "sampled rows", looked_at)
        need_array(labels, (many,), (np.int32,), "labels of representatives", looked_at)
        if not many or not len(self._sampled) or (looked_at and not (labels.min() >= 0 and labels.max() < k)):
            raise ValueError("representatives must belong to clusters of the model")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _share(value, name: str) -> float:
    value = number(value, name)
    if value > 1:
        raise ValueError(f"{name} must be between 0 and 1, got {value}")
    return value


def draw_rows(rows: RowBlocks, size: int, rng: np.random.Generator) -> NDArray:
    """At most `size` rows, every set of them equally likely, in one pass: those with the smallest random keys."""
    kept, keys = np.empty((0, rows.n_columns), rows.dtype), np.empty(0)
    for block in rows:
        new = rng.random(len(block))
        mine = new < (keys.max() if len(keys) == size else np.inf)
        kept, keys = np.concatenate([kept, block[mine]]), np.concatenate([keys, new[mine]])
        if len(keys) > size:
            best = np.sort(np.argpartition(keys, size)[:size])
            kept, keys = kept[best], keys[best]
    if not len(kept):
        raise ValueError("X has no rows: 0 samples; give at least one")
    return kept
