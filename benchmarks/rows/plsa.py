"""pLSA on word counts of 20 Newsgroups against scikit-learn's KL-NMF: seconds of one sweep at equal likelihood."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row

K, SWEEPS, EARLY = 50, 6, 2


def load(folder: Path, size: str) -> sp.csr_matrix:
    return datasets.newsgroups(folder, {"full": None, "quick": 2000, "tiny": 300}[size])


def ours(X: sp.csr_matrix, target: float | None) -> Fit:
    """Median seconds of a sweep; as many sweeps as bring the likelihood to the peer's."""
    import unweave.explain.topics.plsa as plsa

    ends: list[float] = []

    def watch(progress: Any) -> bool:
        ends.append(time.perf_counter())
        return target is not None and progress.iteration > SWEEPS and progress.objective <= target

    model = plsa.PLSA(K, max_iter=SWEEPS if target is None else 500, tol=0, callback=watch).fit(X)
    return Fit((model.codes_, model.topics_), model.n_iter_, float(np.median(np.diff(ends))))


def sklearn(X: sp.csr_matrix, threads: int) -> Fit:
    """Seconds a sweep of ``solver="mu"``: the difference between two numbers of sweeps."""
    from sklearn.decomposition import NMF

    took = []
    for sweeps in (EARLY, EARLY + SWEEPS):
        started = time.perf_counter()
        model = NMF(K, solver="mu", beta_loss="kullback-leibler", init="random", max_iter=sweeps, tol=0, random_state=0)
        W = model.fit_transform(X)
        took.append(time.perf_counter() - started)
    H = model.components_
    codes = W * H.sum(axis=1)
    codes /= np.maximum(codes.sum(axis=1, keepdims=True), 1e-30)
    topics = H / np.maximum(H.sum(axis=1, keepdims=True), 1e-30)
    return Fit((codes, topics), EARLY + SWEEPS, (took[1] - took[0]) / SWEEPS)


def objective(X: sp.csr_matrix, answer: tuple[Any, Any]) -> float:
    """Minus the log-likelihood of the words."""
    from unweave.explain.topics.measures import log_sum

    theta, phi = (np.asarray(part, dtype=np.float64) for part in answer)
    return -log_sum(theta, np.maximum(phi, 1e-300), sp.csr_array(X))


ROWS = [
    Row(
        name="plsa",
        title="pLSA, 20 Newsgroups, k=50: one EM sweep at equal likelihood",
        target=10.0,
        load=load,
        ours=ours,
        peers={"sklearn mu": sklearn},
        objective=objective,
        unit="s a sweep",
        repeats=1,
    )
]
