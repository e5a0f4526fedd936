"""Silhouettes of all rows: n² distances, none of them kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Fit, Row

SIZES = {"full": 100_000, "quick": 10_000, "tiny": 1000}


@dataclass
class Labelled:
    """A table and the cluster of each row."""

    X: np.ndarray
    labels: np.ndarray


def load(folder: Path, size: str) -> Labelled:
    X = datasets.blobs(SIZES[size], 16, 16)
    centres = X[np.random.default_rng(0).choice(len(X), 16, replace=False)]
    squares = (X * X).sum(axis=1)[:, None] - 2 * X @ centres.T + (centres * centres).sum(axis=1)
    return Labelled(X, squares.argmin(axis=1))


def ours(data: Labelled, target: float | None) -> Fit:
    from unweave.select import silhouette_rows

    return Fit(silhouette_rows(data.X, data.labels))


def sklearn(data: Labelled, threads: int) -> Fit:
    from sklearn.metrics import silhouette_samples

    return Fit(silhouette_samples(data.X, data.labels))


def objective(data: Labelled, rows: Any) -> float:
    """The mean silhouette, which must be the same for both."""
    return float(np.mean(rows, dtype=np.float64))


def work(data: Labelled, iterations: int) -> tuple[float, float]:
    return 3.0 * data.X.size * len(data.X), float(data.X.nbytes)


ROWS = [
    Row(
        name="silhouette",
        title="silhouette of every row, 100k×16 float32, 16 clusters",
        target=3.0,
        load=load,
        ours=ours,
        peers={"sklearn": sklearn},
        objective=objective,
        work=work,
        stops=False,
        value="mean silhouette",
        slack=1e-4,
        repeats=1,
    )
]
