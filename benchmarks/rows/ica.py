"""ICA of 200,000 moments of 20 mixed signals: time to the same Amari error, averaged over planted mixtures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Fit, Row

K = 20


class Mixed(NamedTuple):
    """Columns that were mixed, and how."""

    X: np.ndarray
    mixing: np.ndarray


def load(folder: Path, size: str, seed: int = 100) -> Mixed:
    """A quarter each of Laplace, uniform, heavy-tailed and two-valued noisy sources, mixed at random."""
    n = {"full": 200_000, "quick": 50_000, "tiny": 3000}[size]
    rng = np.random.default_rng(seed)
    S = np.empty((n, K))
    for j in range(K):
        draws = (
            lambda: rng.laplace(size=n),
            lambda: rng.uniform(-1, 1, n),
            lambda: rng.standard_t(5, n),
            lambda: rng.choice([-1.0, 1.0], n) + 0.5 * rng.normal(size=n),
        )
        S[:, j] = draws[j % 4]()
    mixing = rng.normal(size=(K, K))
    return Mixed((S / S.std(axis=0)) @ mixing.T, mixing)


def ours(data: Mixed, target: float | None) -> Fit:
    import unweave

    model = unweave.ICA(K, random_state=0).fit(data.X)
    return Fit(model.components_, model.n_iter_)


def sklearn(data: Mixed, threads: int, *, tol: float) -> Fit:
    from sklearn.decomposition import FastICA

    model = FastICA(K, whiten="unit-variance", whiten_solver="eigh", tol=tol, random_state=0).fit(data.X)
    return Fit(model.components_, model.n_iter_)


def picard(data: Mixed, threads: int) -> Fit:
    from picard import picard

    whitening, rotation, _, steps = picard(data.X.T, ortho=True, fastica_it=10, random_state=0, return_n_iter=True)
    return Fit(rotation @ whitening, steps)


def amari(data: Mixed, components: Any) -> float:
    """How far unmixing times mixing is from a permutation with scales: 0 is perfect, 1 the worst."""
    P = np.abs(components @ data.mixing)
    rows, columns = P / P.max(axis=1, keepdims=True), P / P.max(axis=0, keepdims=True)
    return float((rows.sum() + columns.sum() - 2 * len(P)) / (2 * len(P) * (len(P) - 1)))


ROWS = [
    Row(
        name="ica",
        title="ICA, 200,000×20 planted, log-cosh",
        target=2.5,
        load=load,
        ours=ours,
        peers={
            "sklearn FastICA": partial(sklearn, tol=1e-4),
            "sklearn FastICA tol 1e-2": partial(sklearn, tol=1e-2),
            "picard": picard,
        },
        objective=amari,
        stops=False,
        repeats=5,
        tuned_on="planted mixture of seed 0; the length of a stretch of rows on this one",
        reported_on="planted mixture of seed 100",
    )
]
