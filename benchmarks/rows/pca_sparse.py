"""PCA of sparse texts with implicit centring: the table is only multiplied, never written out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row, stop_at

K = 100


def load(folder: Path, size: str) -> sp.csr_matrix:
    counts = datasets.newsgroups(folder, {"full": None, "quick": 2000, "tiny": 300}[size])
    return datasets.tfidf(counts)


def ours(X: sp.csr_matrix, target: float | None) -> Fit:
    import unweave

    model = unweave.PCA(K, tol=1e-10, callback=stop_at(target), random_state=0).fit(X)
    return Fit(model.components_, model.n_iter_)


def sklearn(X: sp.csr_matrix, threads: int, *, solver: str) -> Fit:
    from sklearn.decomposition import PCA

    return Fit(PCA(K, svd_solver=solver, random_state=0).fit(X).components_, 1)


def objective(X: sp.csr_matrix, components: Any) -> float:
    """Half of what the axes leave about the mean, ½(‖X‖² − n‖μ‖² − ‖XZᵀ − 1·μZᵀ‖²): float64, X never written out."""
    Z = np.linalg.qr(np.asarray(components, dtype=np.float64).T)[0]
    wide, mean = X.astype(np.float64), np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    codes = wide @ Z - mean @ Z
    whole = float(wide.data @ wide.data) - X.shape[0] * float(mean @ mean)
    return 0.5 * (whole - float(np.square(codes).sum()))


ROWS = [
    Row(
        name="pca-sparse",
        title="PCA, 20 Newsgroups tf–idf (sparse, implicit centring), float32, k=100",
        target=3.0,
        load=load,
        ours=ours,
        peers={"sklearn arpack": partial(sklearn, solver="arpack")},
        objective=objective,
        repeats=2,
        tuned_on="the width of a block: six sparse tables, this one among them",
    )
]
