"""Cluster data of any length into clusters of any shape, by representatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.data.arguments import generator, number, whole
from unweave.data.tiny_values import need_spread
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.distances import distinct_rows, gap_to_several, need_floats, need_numbers_below
from unweave.group.kmeans.labels import nearest_in_blocks, warn_of_empty
from unweave.group.kmeans.passes import assign
from unweave.group.large.blocks import RowBlocks, open_rows
from unweave.kernels.large import merge_nearest, nearest_clusters
from unweave.parallel import single_blas
from unweave.select import auto_count
from unweave.select.auto import chooses
from unweave.solve.iterate import Loop
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme

# Sampled rows near a row that is not strange; on four kinds of made noise 3 to 40 do as well (area ± 0.01).
_AROUND = 10
_WORK = 1 << 25  # multiplications of one step, about
_SLOW = 3  # one cluster in so many is left when those that have not grown are looked at
_RARE = 20  # a cluster of less than this part of an even share is rare


class CURE(ClusterMixin, Model, BaseEstimator):
    """Know clusters by several representatives each, so that they need not be round (Guha, Rastogi and Shim).

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

    _takes_cluster = False

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
    def fit(self, X, y=None, *, client=None):
        """Cluster a sample of X, and label X if it is one table in memory.

        Parameters
        ----------
        X : array, sparse matrix, data frame, memory-mapped array or sequence of row blocks
            A sparse table is made dense a block at a time.
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        with fitting(self, client):
            rows = open_rows(self, X, reset=True)
            merging = self._merging(rows)
            run = Run(self, merging.X, max_iter=merging.most_steps())
            state = run.through(merging)
            self.n_iter_ = state["merges"]
            self._publish(merging, state, rows.dtype)
            self.labels_ = self.predict(X) if rows.in_memory else None
            warn_of_empty(distinct_rows(merging.X)[1], merging.n_clusters, "n_clusters")
            run.close(0.5 * float(assign(merging.X, self.representatives_)[1].sum()))
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
        self.plan_ = Plan(
            f"{len(merging.X)} sampled rows of {merging.X.shape[1]} columns, {merging.n_clusters} clusters",
            "CURE: nearest clusters merged", "nearest representative", "scattered rows, shrunk", "every row alone",
            [f"{state['aside']} rows of the sample were set aside as outliers"],
        )  # fmt: skip

    def fit_predict(self, X, y=None):
        """Fit, and return the label of every row; blocks are read a second time for it."""
        labels = self.fit(X).labels_
        return self.predict(X) if labels is None else labels

    def _nearest(self, X) -> Iterator[tuple[NDArray, NDArray]]:
        check_is_fitted(self)
        with single_blas():
            yield from nearest_in_blocks(open_rows(self, X, reset=False), self.representatives_)

    def predict(self, X):
        """Find the cluster of the nearest representative of every row, read in blocks."""
        return np.concatenate([self.representative_labels_[which] for which, _ in self._nearest(X)])

    def anomaly_score(self, X):
        """Score how strange rows are: the distance to the tenth nearest row of the sample (higher is stranger).

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
        """Check what a file may not get wrong, because kernels trust it."""
        (k, n), many = self.cluster_centers_.shape, len(self.representatives_)
        need_floats(self.cluster_centers_, (k, self.n_features_in_), "cluster_centers_", looked_at)
        need_floats(self.representatives_, (many, n), "representatives_", looked_at)
        need_floats(self._sampled, (len(self._sampled), n), "the sampled rows", looked_at)
        need_numbers_below(self.representative_labels_, (many,), k, "representative_labels_", looked_at)
        if not many or not len(self._sampled):
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
    """Draw at most `size` rows, every set of them equally likely, in one pass: those with the smallest random keys."""
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


@dataclass(frozen=True)
class Merging(Scheme):
    """Merge the two nearest clusters, of which every row of the sample is one at first, until `n_clusters` are left.

    At most `spare` rows are set aside as outliers: rows that are still alone when a third of the clusters is left, the
    most isolated first, and tiny clusters when few are left.
    """

    X: NDArray
    n_clusters: int
    n_representatives: int
    shrink: float
    spare: int

    ending = "all merges done"

    def begin(self, rng=None) -> dict:
        n, d = self.X.shape
        reps = np.zeros((n, self.n_representatives, d))
        reps[:, 0] = self.X
        state = {
            "labels": np.arange(n, dtype=np.int32), "sums": self.X.copy(), "sizes": np.ones(n, np.int64), "reps": reps,
            "many": np.ones(n, np.int64), "near": np.empty(n, np.int64), "gaps": np.empty(n), "left": n,
            "merges": 0, "aside": 0, "looked": 0,
        }  # fmt: skip
        self._look_around(state)
        return state

    def step(self, state: dict) -> tuple[dict, float]:
        """Merge for a while; the objective is the number of clusters that are too many."""
        new = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        goals = self._goals()
        goal = max((g for g in goals if g < new["left"]), default=self.n_clusters)
        n, d = self.X.shape
        times = min(new["left"] - goal, max(1, _WORK // (n * self.n_representatives * d)))
        if times > 0:
            merge_nearest(
                self.X, new["labels"], new["sums"], new["sizes"], new["reps"], new["many"], new["near"], new["gaps"],
                self.shrink, times,
            )  # fmt: skip
        new["left"], new["merges"] = new["left"] - times, new["merges"] + times
        if new["looked"] < 2 and new["left"] <= goals[new["looked"]]:
            self._set_aside(new, 1 if new["looked"] == 0 else n // (_RARE * self.n_clusters))
            new["looked"] += 1
        return new, float(new["left"] - self.n_clusters)

    def adapt(self, loop: Loop) -> Loop:
        """Go on until so many clusters are left: no tolerance ends it."""
        return replace(loop, tol=None, ending=self.ending)

    def settled(self, state: dict) -> bool:
        return state["left"] <= self.n_clusters

    def most_steps(self) -> int:
        """Count the steps that are always enough."""
        n, d = self.X.shape
        return 4 + n // max(1, _WORK // (n * self.n_representatives * d))

    def _goals(self) -> tuple[int, int, int]:
        """List numbers of clusters at which to stop: twice to look for outliers, then for good."""
        k = self.n_clusters
        return max(k, len(self.X) // _SLOW), min(max(k, len(self.X) // _SLOW), 3 * k), k

    def _set_aside(self, state: dict, most: int) -> None:
        """Drop clusters of at most `most` rows, the farthest from the others first, within what may be spared."""
        small = np.flatnonzero((state["sizes"] > 0) & (state["sizes"] <= most))
        small = small[np.argsort(-state["gaps"][small], kind="stable")]
        room = np.cumsum(state["sizes"][small]) <= self.spare - state["aside"]
        drop = small[room][: state["left"] - self.n_clusters]
        if not len(drop):
            return
        state["aside"] += int(state["sizes"][drop].sum())
        state["labels"][np.isin(state["labels"], drop)] = -1
        state["sizes"][drop], state["many"][drop] = 0, 0
        state["left"] -= len(drop)
        self._look_around(state)

    def _look_around(self, state: dict) -> None:
        """Find the nearest other cluster of every cluster."""
        reps, many, near, gaps = state["reps"], state["many"], state["near"], state["gaps"]
        n, _, d = reps.shape
        size = max(1, (1 << 22) // (n * d))
        parallel.run(lambda start, stop: nearest_clusters(reps, many, near, gaps, start, stop), n, size)
