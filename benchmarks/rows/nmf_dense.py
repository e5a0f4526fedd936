"""NMF with the squared loss on a dense table, same start, to scikit-learn's final objective."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate, peers
from benchmarks.harness import Fit, Row, stop_at

K = 40
SIZES = {"full": (5000, 2000), "quick": (1500, 600), "tiny": (200, 100)}


@dataclass
class Problem:
    """A table and the start that every contender gets."""

    X: Any
    W: np.ndarray
    H: np.ndarray


def load(folder: Path, size: str) -> Problem:
    X = datasets.planted_nonnegative(*SIZES[size], K)
    return Problem(X, *datasets.nonnegative_start(X, K))


def ours(data: Problem, target: float | None) -> Fit:
    import unweave

    # Without a target (warming up) a few iterations are enough.
    limit = 5 if target is None else 2000
    start = (data.W.copy(), data.H.copy())
    model = unweave.NMF(data.W.shape[1], init=start, callback=stop_at(target), tol=0, max_iter=limit).fit(data.X)
    return Fit((model.codes_, model.components_), model.n_iter_)


def sklearn(data: Problem, threads: int) -> Fit:
    return peers.sklearn_nmf(data.X, data.W, data.H, solver="cd")


def objective(data: Problem, answer: tuple[Any, Any]) -> float:
    return evaluate.squared(data.X, *answer)


def work(data: Problem, iterations: int) -> tuple[float, float]:
    # Two products of X with a factor an iteration (the k×k Grams are small beside them); X read twice.
    n, m = data.X.shape
    return 4.0 * n * m * K * iterations, 2.0 * data.X.nbytes * iterations


ROWS = [
    Row(
        name="nmf-dense",
        title="NMF squared, dense 5000×2000 float32, k=40",
        target=3.0,
        load=load,
        ours=ours,
        peers={"sklearn cd": sklearn},
        objective=objective,
        work=work,
    )
]
