"""Implicit feedback: seconds to the peer's objective, and seconds a sweep on 20 million entries."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row, stop_at

K, RIDGE, ALPHA, SWEEPS = 64, 0.1, 1.0, 15
LARGE_SWEEPS = 3
SIZES = {"full": (6040, 3706, 1_000_000), "quick": (2000, 1200, 150_000), "tiny": (200, 150, 4000)}
LARGE = {"full": (138_000, 27_000, 20_000_000), "quick": (20_000, 8000, 2_000_000), "tiny": (200, 150, 4000)}


@dataclass
class Pairs:
    """Counts for us, and the same as confidences 1 + alpha·r, which is what the peers take."""

    counts: sp.csr_matrix

    def __post_init__(self) -> None:
        X = self.counts
        self.confidence = sp.csr_matrix((1 + ALPHA * X.data, X.indices, X.indptr), shape=X.shape)


def load(folder: Path, size: str, sizes: dict[str, tuple[int, int, int]] = SIZES) -> Pairs:
    return Pairs(sp.csr_matrix(datasets.ratings(*sizes[size])))


def ours(data: Pairs, target: float | None, *, solver: str = "auto") -> Fit:
    """Until the objective is the peer's; the last exact half-step of the users is part of the time."""
    from unweave.complete.implicit.als import ImplicitALS

    model = ImplicitALS(
        K,
        ridge=RIDGE,
        weighting="plain",
        alpha=ALPHA,
        solver=solver,
        max_iter=SWEEPS,
        tol=0,
        random_state=0,
        callback=stop_at(target),
    ).fit(data.counts)
    return Fit((model.codes_, model.components_), model.n_iter_)


def sweep(data: Pairs, target: float | None) -> Fit:
    """Median seconds of one sweep over both sides, the first left out (it may set things up)."""
    from unweave.complete.implicit.als import ImplicitALS

    ends: list[float] = []
    ImplicitALS(
        K,
        ridge=RIDGE,
        weighting="plain",
        alpha=ALPHA,
        max_iter=LARGE_SWEEPS,
        tol=0,
        callback=lambda _: ends.append(time.perf_counter()),
    ).fit(data.counts)
    return Fit(None, LARGE_SWEEPS, float(np.median(np.diff(ends))))


def implicit(data: Pairs, threads: int, *, use_cg: bool, sweeps: int, one_sweep: bool = False) -> Fit:
    """implicit's ALS with one BLAS thread, as it asks for."""
    from implicit.cpu.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # it warns otherwise
    model = AlternatingLeastSquares(
        factors=K, regularization=RIDGE, iterations=sweeps, use_cg=use_cg, num_threads=threads, random_state=0
    )
    ends: list[float] = []
    model.fit_callback = lambda *_: ends.append(time.perf_counter())
    with threadpool_limits(limits=1, user_api="blas"):
        model.fit(data.confidence, show_progress=False)
    seconds = float(np.median(np.diff(ends))) if one_sweep else None
    return Fit((model.user_factors, model.item_factors.T), sweeps, seconds)


def objective(data: Pairs, answer: Any) -> float:
    """½ Σ c (p − u·z)² over all entries + ½λ(‖U‖² + ‖Z‖²), in float64, a block of users at a time."""
    U, Z = (np.asarray(part, np.float64) for part in answer)
    total = np.sum((U.T @ U) * (Z @ Z.T)) + RIDGE * (np.sum(U * U) + np.sum(Z * Z))
    Zt = np.ascontiguousarray(Z.T)
    for start in range(0, len(U), 256):
        part = data.confidence[start : start + 256].tocoo()
        s = np.einsum("ek,ek->e", U[start + part.row], Zt[part.col])
        total += float(np.sum(part.data * (1 - s) ** 2 - s * s))
    return 0.5 * float(total)


def work(data: Pairs, sweeps: int) -> tuple[float, float]:
    # A sweep of two steps: three visits of each entry on both sides, a dot product and an update each.
    return sweeps * 2.0 * 3 * 4 * data.counts.nnz * K, sweeps * 2.0 * data.counts.nnz * (8 + 4 * K)


ROWS = [
    Row(
        name="implicit-cg",
        title="implicit ALS, 1M pairs 6040×3706, float32, k=64: time to 15 sweeps' objective",
        target=1.5,
        load=load,
        ours=ours,
        peers={"implicit cg": partial(implicit, use_cg=True, sweeps=SWEEPS)},
        objective=objective,
        work=work,
    ),
    Row(
        name="implicit-cholesky",
        title="implicit ALS by Cholesky, 1M pairs 6040×3706, float32, k=64: time to 15 sweeps' objective",
        target=4.0,
        load=load,
        ours=partial(ours, solver="cholesky"),
        peers={"implicit cholesky": partial(implicit, use_cg=False, sweeps=SWEEPS)},
        objective=objective,
        repeats=2,
    ),
    Row(
        name="implicit-large",
        title="implicit ALS, 20M entries 138k×27k, float32, k=64: one sweep",
        target=1.5,
        load=partial(load, sizes=LARGE),
        ours=sweep,
        peers={"implicit cg": partial(implicit, use_cg=True, sweeps=LARGE_SWEEPS, one_sweep=True)},
        objective=lambda data, answer: float("nan"),
        work=work,
        aim="none",
        unit="s a sweep",
        repeats=1,
    ),
]
