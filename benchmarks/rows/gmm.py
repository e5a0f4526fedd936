"""A Gaussian mixture with full covariances: seconds of one EM step from the same parameters."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Fit, Row

SIZES = {"full": 200_000, "quick": 20_000, "tiny": 2000}
K, STEPS = 16, 5


@dataclass
class Start:
    """A table, and the parameters that both begin from."""

    X: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def load(folder: Path, size: str) -> Start:
    X = datasets.blobs(SIZES[size], 16, K).astype(np.float64)
    means = X[np.random.default_rng(0).choice(len(X), K, replace=False)].copy()
    return Start(X, np.full(K, 1 / K), means, np.tile(np.cov(X.T), (K, 1, 1)))


def ours(data: Start, target: float | None) -> Fit:
    from unweave.group.mixtures.gaussian import GaussianMixture

    init = {"weights": data.weights, "means": data.means, "covariances": data.covariances}
    model = GaussianMixture(K, init=init, tol=0, max_iter=STEPS + 1).fit(data.X)
    seconds = model.history_.seconds
    # the first step is left out, because the peer's start is not timed either
    return Fit(_answer(model), STEPS, (seconds[-1] - seconds[0]) / STEPS)


def sklearn(data: Start, threads: int) -> Fit:
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(
        K, weights_init=data.weights, means_init=data.means, precisions_init=np.linalg.inv(data.covariances)
    )
    # its own two halves of a step, so that its start by k-means is not timed
    model._initialize(data.X, np.full((len(data.X), K), 1 / K))
    began, steps = 0.0, STEPS + 1
    for step in range(steps):
        began = time.perf_counter() if step == 1 else began
        _, log_responsibilities = model._e_step(data.X)
        model._m_step(data.X, log_responsibilities)
    return Fit(_answer(model), STEPS, (time.perf_counter() - began) / STEPS)


def _answer(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return model.weights_, model.means_, model.covariances_


def objective(data: Start, answer: Any) -> float:
    """Minus the mean log-likelihood, by the book."""
    from scipy.special import logsumexp
    from scipy.stats import multivariate_normal

    weights, means, covariances = answer
    X = data.X[:: max(1, len(data.X) // 20_000)]
    logs = [np.log(w) + multivariate_normal.logpdf(X, m, S) for w, m, S in zip(weights, means, covariances)]
    return -float(logsumexp(np.array(logs), axis=0).mean())


def work(data: Start, iterations: int) -> tuple[float, float]:
    n, features = len(data.X), 16 * 17 / 2 + 17
    return 4.0 * n * features * K, float(data.X.nbytes)


ROWS = [
    Row(
        name="gmm",
        title=f"Gaussian mixture, 200k×16 float64, k={K}, full covariances, one EM step",
        target=4.0,
        load=load,
        ours=ours,
        peers={"sklearn": sklearn},
        objective=objective,
        work=work,
        dtype="float64",
        stops=False,
    )
]
