"""Nuclear-norm completion of a 2000×2000 table of which a tenth is observed, against qolmat's dense soft-impute."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Fit, Row

SIZES = {"full": 2000, "quick": 600, "tiny": 120}
RANK, LIMIT, SHARE = 10, 20, 0.1
ITERATIONS = 100  # qolmat's default; it stops earlier only when it is verbose


@dataclass
class Holes:
    """Rank 10 plus noise of size 1, the entries observed, and a strength just above the noise."""

    size: int

    def __post_init__(self) -> None:
        rng, n = np.random.default_rng(0), self.size
        M = rng.standard_normal((n, RANK)) @ rng.standard_normal((RANK, n)) + rng.standard_normal((n, n))
        self.seen = rng.random((n, n)) < SHARE
        self.X = np.where(self.seen, M, 0)
        self.sparse = sp.csr_array(self.X)
        self.tau = 2.1 * float(np.sqrt(n * SHARE))


def load(folder: Path, size: str) -> Holes:
    return Holes(SIZES[size])


def ours(data: Holes, target: float | None) -> Fit:
    """Stops at the peer's objective; the certificate and the final codes are part of the time."""
    from unweave.complete.nuclear.soft_impute import SoftImpute

    def reached(progress: Any) -> bool:
        return target is not None and progress.objective <= target

    model = SoftImpute(strength=data.tau, callback=reached, random_state=0)
    started = time.perf_counter()
    model.fit(data.sparse)
    seconds = time.perf_counter() - started
    return Fit(model.codes_ @ model.components_, model.n_iter_, seconds)


def qolmat(data: Holes, threads: int) -> Fit:
    """qolmat's decomposition, without the two nuclear norms that it computes only to warn."""
    from qolmat.imputations.softimpute import SoftImpute

    model = SoftImpute(rank=LIMIT, tau=data.tau, max_iterations=ITERATIONS, random_state=0)
    former = SoftImpute.cost_function
    SoftImpute.cost_function = staticmethod(lambda *_: 0.0)
    try:
        started = time.perf_counter()
        M, _ = model.decompose(data.X, data.seen)
        seconds = time.perf_counter() - started
    finally:
        SoftImpute.cost_function = former
    return Fit(M, ITERATIONS, seconds)


def objective(data: Holes, M: Any) -> float:
    """½ Σ over the entries seen of (x − m)², plus τ times the nuclear norm."""
    error = np.where(data.seen, data.X - M, 0)
    return 0.5 * float(np.vdot(error, error)) + data.tau * float(np.linalg.svd(M, compute_uv=False).sum())


ROWS = [
    Row(
        name="soft-impute",
        title="soft-impute, 2000×2000, 10 % observed, rank 10 plus noise: to the peer's objective",
        target=10.0,
        load=load,
        ours=ours,
        peers={"qolmat": qolmat},
        objective=objective,
        dtype="float64",
        repeats=1,
    ),
]
