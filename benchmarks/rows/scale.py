"""Tables in blocks against tables in memory, and two workers against one: the same fit, an iteration of each.

Starts differ between memory and blocks (a table in blocks is begun from rows that stand for it), so that what is
compared is the median iteration of a fit of so many. PCA has one, which is its fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row

BLOCKS = 16
ITERATIONS = 12
SIZES = {"full": 1.0, "quick": 0.2, "tiny": 0.01}


@dataclass
class Cut:
    """A table, and the same in blocks of equally many rows."""

    X: Any
    blocks: list = field(init=False)

    def __post_init__(self) -> None:
        bounds = np.linspace(0, self.X.shape[0], BLOCKS + 1).astype(int)
        self.blocks = [self.X[a:b] for a, b in pairwise(bounds)]


def positive(n: int, m: int, k: int) -> np.ndarray:
    """A low-rank table of positive numbers with noise."""
    rng = np.random.default_rng(0)
    table = rng.gamma(1.0, 1.0, (n, k)).astype(np.float32) @ rng.gamma(1.0, 1.0, (k, m)).astype(np.float32)
    return table + rng.random((n, m), np.float32)


def counts(n: int, m: int, words: int) -> sp.csr_array:
    """Counts of about so many different words in all of n documents, which mix a few topics."""
    table = sp.csr_array(datasets.documents(n, m, words, topics=50))
    rng = np.random.default_rng(0)
    table.data = (1 + rng.poisson(0.5, table.nnz)).astype(np.float32)
    return table


def stars(n: int, m: int, count: int) -> sp.csr_array:
    """Ratings 1…5, most of them of few items."""
    return sp.csr_array(datasets.ratings(n, m, count))


@dataclass(frozen=True)
class Work:
    """One kind of fit: what it is called, its table at a share of the full size, and the model."""

    title: str
    table: Callable[[float], Any]
    model: Callable[..., Any]


def _model(name: str, *arguments: Any, **keywords: Any) -> Callable[..., Any]:
    def make(**limits: Any) -> Any:
        import unweave

        return getattr(unweave, name)(*arguments, **keywords, **limits)

    return make


WORKS = {
    "pca": Work("PCA, 400k×100 float32, k=20", lambda s: positive(int(400_000 * s), 100, 20), _model("PCA", 20)),
    "nmf": Work(
        "NMF squared, 200k×200 float32, k=20",
        lambda s: positive(int(200_000 * s), 200, 20),
        _model("NMF", 20, init="random"),
    ),
    "nmf-kl": Work(
        "NMF KL, 50k×200 float32, k=20",
        lambda s: positive(int(50_000 * s), 200, 20),
        _model("NMF", 20, loss="kl", init="random"),
    ),
    "kmeans": Work(
        "k-means, 2M×32 float32, k=256",
        lambda s: datasets.blobs(int(2_000_000 * s), 32, 256),
        _model("KMeans", 256, init="random", repair=False),
    ),
    "gmm": Work(
        "Gaussian mixture, 2M×16 float32, k=16, full",
        lambda s: datasets.blobs(int(2_000_000 * s), 16, 16),
        _model("GaussianMixture", 16),
    ),
    "lda": Work(
        "LDA (collapsed), 100k documents, 10M counts, k=50",
        lambda s: counts(int(100_000 * s), 20_000, int(1e7 * s)),
        _model("LDA", 50, inference="collapsed"),
    ),
    "als": Work(
        "ALS, 4M ratings 60k×6k float32, k=32",
        lambda s: stars(int(60_000 * s), int(6000 * max(s, 0.1)), int(4e6 * s)),
        _model("MatrixCompletion", 32, ridge=5.0),
    ),
}


def load(folder: Path, size: str, *, name: str) -> Cut:
    return Cut(WORKS[name].table(SIZES[size]))


def timed(name: str, X: Any, **keywords: Any) -> Fit:
    """Fit, and the seconds of an iteration where the fit makes several; the first may set things up."""
    make, ends = WORKS[name].model, []
    if name == "pca":
        fitted = make()
    else:
        note = lambda _: ends.append(time.perf_counter())  # noqa: E731
        fitted = make(max_iter=ITERATIONS, tol=0, random_state=0, callback=note)
    fitted.fit(X, **keywords)
    steps = np.diff(ends)[1:]
    return Fit(fitted.objective_, fitted.n_iter_, float(np.median(steps)) if len(steps) else None)


def in_blocks(data: Cut, target: float | None, *, name: str) -> Fit:
    return timed(name, data.blocks)


def in_memory(data: Cut, threads: int, *, name: str) -> Fit:
    import unweave

    former = unweave.set_num_threads(threads)
    try:
        return timed(name, data.X)
    finally:
        unweave.set_num_threads(former)


def on_workers(data: Cut, count: int, *, name: str) -> Fit:
    """The same fit on a cluster of this machine; its workers have imported and compiled what they need before."""
    from unweave.scale.cluster import start_cluster

    few = Cut(WORKS[name].table(SIZES["tiny"]))
    with start_cluster(count, None) as client:
        timed(name, few.blocks, client=client)
        return timed(name, data.blocks, client=client)


def on_two(data: Cut, target: float | None, *, name: str) -> Fit:
    return on_workers(data, 2, name=name)


def on_one(data: Cut, threads: int, *, name: str) -> Fit:
    return on_workers(data, 1, name=name)


def same(data: Cut, answer: Any) -> float:
    return float(answer)


ROWS = [
    Row(
        name=f"blocks-{name}",
        title=f"{work.title}: {'the fit' if name == 'pca' else 'an iteration'} in {BLOCKS} blocks against in memory",
        target=1 / 1.3,
        load=partial(load, name=name),
        ours=partial(in_blocks, name=name),
        peers={"unweave in memory": partial(in_memory, name=name)},
        objective=same,
        aim="none",
        stops=False,
        unit="s" if name == "pca" else "s an iteration",
        repeats=3,
    )
    for name, work in WORKS.items()
] + [
    Row(
        name=f"workers-{name}",
        title=f"{WORKS[name].title}: an iteration on two workers against one",
        target=1.6,
        load=partial(load, name=name),
        ours=partial(on_two, name=name),
        peers={"one worker": partial(on_one, name=name)},
        objective=same,
        aim="none",
        stops=False,
        unit="s an iteration",
        repeats=2,
    )
    for name in ("als", "nmf-kl", "gmm", "lda", "kmeans")
]
