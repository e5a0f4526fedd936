"""NMF with the KL loss on word counts of 20 Newsgroups, same start, to scikit-learn's final objective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import datasets, evaluate, peers
from benchmarks.harness import Fit, Row, stop_at
from benchmarks.rows.nmf_dense import Problem

K = 50


def load(folder: Path, size: str) -> Problem:
    X = datasets.newsgroups(folder, {"full": None, "quick": 2000, "tiny": 300}[size])
    return Problem(X, *datasets.nonnegative_start(X, K))


def ours(data: Problem, target: float | None) -> Fit:
    import unweave

    limit = 5 if target is None else 2000
    model = unweave.NMF(
        K, loss="kl", init=(data.W.copy(), data.H.copy()), callback=stop_at(target), tol=0, max_iter=limit
    ).fit(data.X)
    return Fit((model.codes_, model.components_), model.n_iter_)


def sklearn(data: Problem, threads: int) -> Fit:
    return peers.sklearn_nmf(data.X, data.W, data.H, solver="mu", beta_loss="kullback-leibler")


def objective(data: Problem, answer: tuple[Any, Any]) -> float:
    return evaluate.kl(data.X, *answer)


def work(data: Problem, iterations: int) -> tuple[float, float]:
    # For each side: the prediction at the stored entries, and the product of the ratios with the other factor.
    return 8.0 * data.X.nnz * K * iterations, 4.0 * (data.X.data.nbytes + data.X.indices.nbytes) * iterations


ROWS = [
    Row(
        name="nmf-kl",
        title="NMF KL, 20 Newsgroups counts, float32, k=50",
        target=10.0,
        load=load,
        ours=ours,
        peers={"sklearn mu": sklearn},
        objective=objective,
        work=work,
    )
]
