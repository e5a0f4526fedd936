"""NMF with the squared loss on tf-idf of 20 Newsgroups, same start, to scikit-learn's final objective."""

from __future__ import annotations

from pathlib import Path

from benchmarks import datasets
from benchmarks.harness import Row
from benchmarks.rows.nmf_dense import Problem, objective, ours, sklearn

K = 50


def load(folder: Path, size: str) -> Problem:
    X = datasets.tfidf(datasets.newsgroups(folder, {"full": None, "quick": 3000, "tiny": 300}[size]))
    return Problem(X, *datasets.nonnegative_start(X, K))


def work(data: Problem, iterations: int) -> tuple[float, float]:
    # Two sparse products, the two Grams, and the coordinate sweeps over both factors, an iteration.
    n, m = data.X.shape
    flops = 4.0 * data.X.nnz * K + 4.0 * (n + m) * K * K
    return flops * iterations, 2.0 * (data.X.data.nbytes + data.X.indices.nbytes) * iterations


ROWS = [
    Row(
        name="nmf-text",
        title="NMF squared, 20 Newsgroups tf-idf, float32, k=50",
        target=5.0,
        load=load,
        ours=ours,
        peers={"sklearn cd": sklearn},
        objective=objective,
        work=work,
    )
]
