"""k-means of ten million rows in a memory-mapped file: one pass of BFR against mini-batches."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row

SIZES = {"full": 10_000_000, "quick": 1_000_000, "tiny": 100_000}
CLUSTERS = 32
_PART = 500_000
_BATCH = 100_000


def load(folder: Path, size: str) -> np.memmap:
    """The table in a temporary file, which goes when the map does: it has no name once it is open."""
    n, d = SIZES[size], 8
    with tempfile.TemporaryFile() as file:
        table = np.memmap(file, np.float32, "w+", shape=(n, d))
    for start in range(0, n, _PART):
        # Every part has the same centres, those of the seed; its rows are told apart by a little noise.
        part = datasets.blobs(min(_PART, n - start), d, CLUSTERS)
        table[start : start + len(part)] = part
        table[start : start + len(part)] += np.random.default_rng(start).normal(0, 0.2, part.shape)
    table.flush()
    return table


def ours(X: np.memmap, target: float | None) -> Fit:
    import unweave

    model = unweave.BFR(CLUSTERS).fit(X)
    return Fit(model.cluster_centers_, model.n_iter_)


def mini_batch(X: np.memmap, threads: int) -> Fit:
    """Block by block, the peer's fastest way: its `fit` draws each batch at a cost of all the rows."""
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(CLUSTERS, random_state=0, n_init=3, batch_size=_BATCH)
    for start in range(0, len(X), _BATCH):
        model.partial_fit(X[start : start + _BATCH])
    return Fit(model.cluster_centers_, model.n_steps_)


def objective(X: np.memmap, centres: Any) -> float:
    return evaluate.clustering(X, centres)


ROWS = [
    Row(
        name="bfr",
        title=f"k-means of a memory-mapped file, 10M×8 float32, k={CLUSTERS}",
        target=1.0,
        load=load,
        ours=ours,
        peers={"MiniBatchKMeans": mini_batch},
        objective=objective,
        stops=False,
        repeats=1,
    )
]
