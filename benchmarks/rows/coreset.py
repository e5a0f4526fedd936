"""k-means of a million rows through a coreset of twenty thousand, against Lloyd on all of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row

SIZES = {"full": 1_000_000, "quick": 200_000, "tiny": 20_000}
CLUSTERS = 64
DRAWS = 20_000


def load(folder: Path, size: str) -> np.ndarray:
    return datasets.blobs(SIZES[size], 16, CLUSTERS)


def ours(X: np.ndarray, target: float | None) -> Fit:
    import unweave

    # Building, fitting and the pass that labels every row.
    model = unweave.KMeans(CLUSTERS, coreset=min(DRAWS, len(X) // 5)).fit(X)
    return Fit(model.cluster_centers_, model.n_iter_)


def sklearn(X: np.ndarray, threads: int, *, algorithm: str) -> Fit:
    from sklearn.cluster import KMeans

    model = KMeans(CLUSTERS, n_init=1, algorithm=algorithm, random_state=0).fit(X)
    return Fit(model.cluster_centers_, model.n_iter_)


def objective(X: np.ndarray, centres: Any) -> float:
    return evaluate.clustering(X, centres)


ROWS = [
    Row(
        name="coreset",
        title=f"k-means, 1M×16 float32, k={CLUSTERS}, through a coreset of {DRAWS} (objective within 3 %)",
        target=10.0,
        load=load,
        ours=ours,
        peers={
            "sklearn lloyd": partial(sklearn, algorithm="lloyd"),
            "sklearn elkan": partial(sklearn, algorithm="elkan"),
        },
        objective=objective,
        stops=False,
        slack=0.03,
    )
]
