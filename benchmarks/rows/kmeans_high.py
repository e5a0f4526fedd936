"""k-means in many dimensions: a GEMM an iteration unless distances are pruned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate, peers
from benchmarks.harness import Fit, Row, stop_at


@dataclass
class Points:
    """A table and the centres that every contender starts from."""

    X: np.ndarray
    centres: np.ndarray


def start(X: np.ndarray, k: int) -> Points:
    """Centres are k random rows."""
    return Points(X, X[np.random.default_rng(0).choice(len(X), k, replace=False)].copy())


def load(folder: Path, size: str) -> Points:
    return start(datasets.fashion(folder, {"full": None, "quick": 10_000, "tiny": 1000}[size]), 100)


def ours(data: Points, target: float | None) -> Fit:
    import unweave

    limit = 5 if target is None else 1000
    model = unweave.KMeans(
        len(data.centres), init=data.centres.copy(), callback=stop_at(target), tol=0, max_iter=limit
    ).fit(data.X)
    return Fit(model.cluster_centers_, model.n_iter_)


def sklearn(data: Points, threads: int, *, algorithm: str) -> Fit:
    return peers.sklearn_kmeans(data.X, data.centres, algorithm)


def faiss(data: Points, threads: int) -> Fit:
    return peers.faiss_kmeans(data.X, data.centres)


def objective(data: Points, centres: Any) -> float:
    return evaluate.clustering(data.X, centres)


def work(data: Points, iterations: int) -> tuple[float, float]:
    # All products of rows with centres, as if nothing were pruned: pruning may go past 100 %.
    return 2.0 * data.X.size * len(data.centres) * iterations, float(data.X.nbytes) * iterations


PEERS = {
    "sklearn lloyd": partial(sklearn, algorithm="lloyd"),
    "sklearn elkan": partial(sklearn, algorithm="elkan"),
    "faiss": faiss,
}

ROWS = [
    Row(
        name="kmeans-high",
        title="k-means, Fashion-MNIST 60,000×784 float32, k=100, same centres",
        target=1.3,
        load=load,
        ours=ours,
        peers=PEERS,
        objective=objective,
        work=work,
    )
]
