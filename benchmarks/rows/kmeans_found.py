"""Clusters found: on how many seeds does one call of k-means find every cluster of the SIPU sets?

A run has found them if every true centroid is the nearest one to some centre and the other way round (centroid index 0,
Fränti, Rezaei and Zhao 2014). The row compares misses over all sets; ``python -m benchmarks.rows.kmeans_found --data
FOLDER --seeds 100`` prints every set: ours with 100 seeds, scikit-learn with 100 (10 on the two Birch sets, where its
runs take seconds) and with n_init=10 on 5 (not on Birch), so that all of it takes less than four minutes on two idle
cores. Aggregation is taken without its cluster 7 (34 points joined to a neighbour by a bridge): on the whole set the
smallest sum of squares does not have the centroids of the seven shapes.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks.datasets import need
from benchmarks.harness import Fit, Row

SETS = ("s1", "s2", "s3", "s4", "a1", "a2", "a3", "birch1", "birch2", "unbalance", "d31", "r15", "aggregation")
LEFT_OUT = {"aggregation": 7}
SIZES = {"full": (SETS, 10), "quick": (("s2", "a3", "d31", "unbalance"), 5), "tiny": (("r15",), 1)}


@dataclass
class Found:
    """Tables with their true centroids, and the seeds to try."""

    tables: dict[str, tuple[np.ndarray, np.ndarray]]
    seeds: int


def table(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points and the means of the true clusters."""
    need(folder / "clustering" / "sipu", f"{name}.data.gz", f"{name}.labels0.gz")
    with gzip.open(folder / "clustering" / "sipu" / f"{name}.data.gz", "rt") as file:
        X = np.loadtxt(file)
    with gzip.open(folder / "clustering" / "sipu" / f"{name}.labels0.gz", "rt") as file:
        labels = np.loadtxt(file).astype(int)
    X, labels = X[labels != LEFT_OUT.get(name)], labels[labels != LEFT_OUT.get(name)]
    return X, np.array([X[labels == t].mean(axis=0) for t in np.unique(labels[labels > 0])])


def load(folder: Path, size: str) -> Found:
    names, seeds = SIZES[size]
    return Found({name: table(folder, name) for name in names}, seeds)


def centroid_index(A: np.ndarray, B: np.ndarray) -> int:
    """Centroids of either side that are nearest to none of the other."""
    squares = ((A[:, None] - B) ** 2).sum(axis=2)
    return max(len(B) - len(np.unique(squares.argmin(axis=1))), len(A) - len(np.unique(squares.argmin(axis=0))))


def library(k: int, seed: int) -> Any:
    import unweave

    return unweave.KMeans(k, random_state=seed)


def scikit(k: int, seed: int, n_init: Any = "auto") -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, random_state=seed, n_init=n_init)


def misses(data: Found, make: Callable[[int, int], Any]) -> int:
    """Runs, over all tables and seeds, that did not find every cluster."""
    return sum(
        centroid_index(make(len(truth), seed).fit(X).cluster_centers_, truth) > 0
        for X, truth in data.tables.values()
        for seed in range(data.seeds)
    )


def ours(data: Found, target: float | None) -> Fit:
    return Fit(misses(data, library))


def peer(data: Found, threads: int, *, n_init: Any) -> Fit:
    with threadpoolctl.threadpool_limits(threads):
        return Fit(misses(data, partial(scikit, n_init=n_init)))


def objective(data: Found, answer: Any) -> float:
    return float(answer)


ROWS = [
    Row(
        name="kmeans-found",
        tuned_on="31 tables, some of these among them",
        title="k-means, 13 SIPU sets, 10 seeds each, default calls: runs that miss a cluster",
        target=1.0,
        load=load,
        ours=ours,
        peers={"sklearn": partial(peer, n_init="auto")},
        objective=objective,
        dtype="float64",
        aim="below",
        stops=False,
        value="misses",
        repeats=1,
    )
]


def _contenders(n: int, seeds: int) -> list[tuple[str, Callable[[int, int], Any], int]]:
    """Who is run on a table of n points, and with how many seeds: fewer where one run of a peer takes seconds."""
    large = n > 50_000
    given = [("unweave", library, seeds), ("sklearn", scikit, min(seeds, 10) if large else seeds)]
    return given if large else [*given, ("n_init=10", partial(scikit, n_init=10), min(seeds, 5))]


def main() -> None:
    """Every set, every contender: runs that found all clusters, of how many, and the milliseconds of a run."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("sets", nargs="*", default=SETS)
    given = options.parse_args()
    for name in given.sets:
        X, truth = table(given.data, name)
        words = []
        for title, make, seeds in _contenders(len(X), given.seeds):
            began = time.perf_counter()
            found = seeds - misses(Found({name: (X, truth)}, seeds), make)
            words.append(f"{title} {found}/{seeds} {(time.perf_counter() - began) / seeds * 1e3:.1f} ms")
        print(f"{name:12}", " | ".join(words), flush=True)


if __name__ == "__main__":
    main()
