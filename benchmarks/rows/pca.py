"""PCA of Fashion-MNIST: one pass over a tall dense table, near the machine's limit for everybody."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row

K = 50


def load(folder: Path, size: str) -> np.ndarray:
    return datasets.fashion(folder, {"full": None, "quick": 10_000, "tiny": 1000}[size])


def ours(X: np.ndarray, target: float | None) -> Fit:
    import unweave

    return Fit(unweave.PCA(K).fit(X).components_, 1)


def peer(X: np.ndarray, threads: int, *, solver: str) -> Fit:
    from sklearn.decomposition import PCA

    return Fit(PCA(K, svd_solver=solver, random_state=0).fit(X).components_, 1)


def objective(X: np.ndarray, components: Any) -> float:
    return evaluate.subspace(X, components, X.mean(axis=0, dtype=np.float64))


def work(X: np.ndarray, iterations: int) -> tuple[float, float]:
    # One triangle of XᵀX, and one reading of X.
    return X.shape[0] * X.shape[1] ** 2, X.nbytes


ROWS = [
    Row(
        name="pca",
        title="PCA, Fashion-MNIST 60,000×784 float32, k=50",
        target=1.1,
        load=load,
        ours=ours,
        peers={f"sklearn {s}": partial(peer, solver=s) for s in ("covariance_eigh", "randomized", "arpack", "full")},
        objective=objective,
        work=work,
        stops=False,
        repeats=5,
    )
]
