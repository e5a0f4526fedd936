"""Matrix completion: seconds a sweep against implicit, held-out error against surprise."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, evaluate, peers
from benchmarks.harness import Fit, Row

K = 64
SWEEPS = 6
SIZES = {"full": (6040, 3706, 1_000_000), "quick": (2000, 1200, 150_000), "tiny": (200, 150, 4000)}


@dataclass
class Ratings:
    """Training entries (the same as CSR for the solvers), and held-out ones."""

    train: sp.coo_matrix
    test: sp.coo_matrix

    def __post_init__(self) -> None:
        self.csr = sp.csr_matrix(self.train)


def load(folder: Path, size: str) -> Ratings:
    return Ratings(*datasets.split(datasets.ratings(*SIZES[size])))


def load_movielens(folder: Path, size: str) -> Ratings:
    return load(folder, "tiny") if size == "tiny" else Ratings(*datasets.movielens_fold(folder))


def sweep(data: Ratings, target: float | None) -> Fit:
    """Median seconds of one sweep over both sides, the first left out (it may set things up)."""
    import unweave

    ends: list[float] = []
    unweave.MatrixCompletion(
        K, ridge=5.0, max_iter=SWEEPS, tol=0, random_state=0, callback=lambda _: ends.append(time.perf_counter())
    ).fit(data.csr)
    return Fit(None, SWEEPS, float(np.median(np.diff(ends))))


def complete(data: Ratings, target: float | None, *, k: int) -> Fit:
    """A whole fit with the ridge chosen on held-out entries, and its predictions of the test entries."""
    import unweave

    started = time.perf_counter()
    model = unweave.MatrixCompletion(k, ridge="auto", random_state=0).fit(data.csr)
    seconds = time.perf_counter() - started
    return Fit(predict(model, data.csr, data.test), model.n_iter_, seconds)


def predict(model: Any, train: sp.csr_matrix, test: sp.coo_matrix) -> np.ndarray:
    """Predictions of the test entries, a block of users at a time, kept within the range of the ratings."""
    codes = model.transform(train)
    out = np.empty(test.nnz)
    for start in range(0, train.shape[0], 1000):
        block = np.asarray(model.inverse_transform(codes[start : start + 1000]))
        mine = (test.row >= start) & (test.row < start + 1000)
        out[mine] = block[test.row[mine] - start, test.col[mine]]
    return np.clip(out, train.data.min(), train.data.max())


def implicit(data: Ratings, threads: int, *, use_cg: bool) -> Fit:
    return peers.implicit_als(data.csr, K, SWEEPS, threads, use_cg=use_cg)


def surprise(data: Ratings, threads: int) -> Fit:
    return peers.surprise_svd(data.train, data.test, (1, 5))


def objective(data: Ratings, predicted: Any) -> float:
    return evaluate.rmse(predicted, data.test.data)


def work(data: Ratings, sweeps: int) -> tuple[float, float]:
    # A sweep: a k×k Gram over the entries of each row on both sides, and a Cholesky factor (k³/3) a row.
    n, m = data.csr.shape
    flops = 2.0 * data.csr.nnz * K * K + (n + m) * K**3 / 3
    return flops, 2.0 * data.csr.nnz * (8 + 4 * K)


ROWS = [
    Row(
        name="als-sweep",
        title="ALS, 1M ratings 6040×3706, float32, k=64: one sweep",
        target=1.0,
        load=load,
        ours=sweep,
        peers={"implicit cg": partial(implicit, use_cg=True), "implicit cholesky": partial(implicit, use_cg=False)},
        objective=lambda data, answer: float("nan"),
        work=work,
        aim="none",
        unit="s a sweep",
    ),
    Row(
        name="als-rmse",
        tuned_on="held-out ratings of the table itself; the search: ten sets",
        title="matrix completion, 1M ratings, k=64: held-out RMSE",
        target=0.0,
        load=load,
        ours=partial(complete, k=K),
        peers={"surprise SVD": surprise},
        objective=objective,
        aim="below",
        value="RMSE",
        repeats=1,
    ),
    Row(
        name="als-movielens",
        tuned_on="held-out ratings of the table itself; the search: ten sets, this fold among them",
        title="matrix completion, MovieLens-100K fold u1, k=64: held-out RMSE",
        target=0.0,
        load=load_movielens,
        ours=partial(complete, k=K),
        peers={"surprise SVD": surprise},
        objective=objective,
        aim="below",
        value="RMSE",
        repeats=1,
    ),
]
