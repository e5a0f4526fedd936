"""Truncated SVD of a large sparse table that looks like text."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row, stop_at

K = 100
SIZES = {"full": (100_000, 50_000, 5_000_000), "quick": (20_000, 10_000, 600_000), "tiny": (1000, 500, 20_000)}


def load(folder: Path, size: str) -> sp.csr_matrix:
    return datasets.documents(*SIZES[size])


def ours(X: sp.csr_matrix, target: float | None) -> Fit:
    """The Krylov method runs in the one loop, so it stops as soon as its objective is the peer's."""
    import unweave

    model = unweave.TruncatedSVD(K, tol=1e-10, callback=stop_at(target), random_state=0).fit(X)
    return Fit(model.components_, model.n_iter_)


def sklearn(X: sp.csr_matrix, threads: int, *, algorithm: str) -> Fit:
    from sklearn.decomposition import TruncatedSVD

    return Fit(TruncatedSVD(K, algorithm=algorithm, random_state=0).fit(X).components_, 1)


def scipy(X: sp.csr_matrix, threads: int, *, solver: str) -> Fit:
    from scipy.sparse.linalg import svds

    return Fit(svds(X, K, solver=solver, rng=0)[2], 1)


def objective(X: sp.csr_matrix, components: Any) -> float:
    return evaluate.subspace(X, components)


def work(X: sp.csr_matrix, iterations: int) -> tuple[float, float]:
    # Two blocks of 16 columns times X and its transpose in each iteration, seven in the first; X read twice for each.
    blocks = 2 * iterations + 5
    return 4.0 * X.nnz * 16 * blocks, 2.0 * blocks * (X.data.nbytes + X.indices.nbytes)


ROWS = [
    Row(
        name="svd-sparse",
        tuned_on="the width of a block: six sparse tables, this one among them",
        title="truncated SVD, sparse 100k×50k, 5M stored, float32, k=100",
        target=2.0,
        load=load,
        ours=ours,
        peers={
            "sklearn randomized": partial(sklearn, algorithm="randomized"),
            "sklearn arpack": partial(sklearn, algorithm="arpack"),
            "scipy svds arpack": partial(scipy, solver="arpack"),
            "scipy svds propack": partial(scipy, solver="propack"),
        },
        objective=objective,
        work=work,
        repeats=2,
    )
]
