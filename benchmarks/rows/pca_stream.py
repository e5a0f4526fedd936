"""PCA of rows that come in blocks: one pass over a million rows, a block at a time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import evaluate
from benchmarks.harness import Fit, Row

K, COLUMNS = 10, 100
ROWS_OF = {"full": 1_000_000, "quick": 100_000, "tiny": 2000}
BLOCK = 10_000


def load(folder: Path, size: str) -> np.ndarray:
    """Planted: twenty directions of falling variance and noise, float64 rows about a mean that is not zero."""
    rng, n = np.random.default_rng(0), ROWS_OF[size]
    axes = np.linalg.qr(rng.standard_normal((COLUMNS, 20)))[0].T * np.linspace(5, 1, 20)[:, None]
    X = rng.standard_normal((n, COLUMNS), np.float32).astype(np.float64)
    X += rng.standard_normal((n, 20)) @ axes
    X += rng.uniform(-3, 3, COLUMNS)
    return X


def _blocks(X: np.ndarray, rows: int) -> list[np.ndarray]:
    return [X[i : i + rows] for i in range(0, len(X), rows)]


def ours(X: np.ndarray, target: float | None) -> Fit:
    """A call of partial_fit for every block, with the components brought up to date each time."""
    import unweave

    model = unweave.PCA(K)
    for block in _blocks(X, BLOCK):
        model.partial_fit(block)
    return Fit(model.components_, 1)


def sklearn(X: np.ndarray, threads: int, *, rows: int) -> Fit:
    from sklearn.decomposition import IncrementalPCA

    model = IncrementalPCA(K)
    for block in _blocks(X, rows):
        model.partial_fit(block)
    return Fit(model.components_, 1)


def objective(X: np.ndarray, components: Any) -> float:
    return evaluate.subspace(X, components, X.mean(axis=0))


def work(X: np.ndarray, iterations: int) -> tuple[float, float]:
    return X.shape[0] * X.shape[1] ** 2, X.nbytes


ROWS = [
    Row(
        name="pca-stream",
        title="streaming PCA, 1,000,000×100 planted, float64, partial_fit by blocks of 10,000, k=10",
        target=5.0,
        load=load,
        ours=ours,
        peers={f"sklearn IncrementalPCA, blocks of {b:,}": partial(sklearn, rows=b) for b in (1000, 10_000)},
        objective=objective,
        work=work,
        dtype="float64",
        stops=False,
        repeats=2,
    )
]
