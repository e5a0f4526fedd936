"""k-means against ten starts: how low does one default call end, and in what time?

Every table twice: raw with its true number of clusters, and standardised with 2, 5, 10 or 20. The row has the tables
that nothing was tuned on, seed 0; ``python -m benchmarks.rows.kmeans_best --data FOLDER`` prints both halves, medians
of five seeds: problems on which ours is worse and better by more than 1e-4, and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks.grouping_data import OTHER_NUMBERS, Labelled, standardised, tables
from benchmarks.harness import Fit, Row

Problem = tuple[str, np.ndarray, int]


def problems(loaders: dict[str, Callable[[], Labelled]]) -> list[Problem]:
    """(name, table, number of clusters), two a table."""
    found: list[Problem] = []
    for i, (name, loader) in enumerate(loaders.items()):
        table = loader()
        other = min(OTHER_NUMBERS[i % 4], len(table.X) // 3)
        found.append((f"{name}, k = {table.counts[0]}", np.ascontiguousarray(table.X), table.counts[0]))
        found.append((f"{name} standardised, k = {other}", np.ascontiguousarray(standardised(table.X)), other))
    return found


def load(folder: Path, size: str) -> list[Problem]:
    reported = tables(folder)[1]
    return problems(dict(list(reported.items())[: {"full": None, "quick": 8, "tiny": 1}[size]]))


def library(k: int, seed: int) -> Any:
    import unweave

    return unweave.KMeans(k, random_state=seed)


def scikit(k: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed)


def shares(data: list[Problem], make: Callable[[int, int], Any], seed: int = 0) -> list[float]:
    """The share of its sum of squares that each table is left with."""
    return [make(k, seed).fit(X).inertia_ / float(((X - X.mean(axis=0)) ** 2).sum()) for _, X, k in data]


def ours(data: list[Problem], target: float | None) -> Fit:
    return Fit(shares(data, library))


def peer(data: list[Problem], threads: int) -> Fit:
    return Fit(shares(data, scikit))


def objective(data: list[Problem], answer: Any) -> float:
    return float(np.mean(answer))


ROWS = [
    Row(
        name="kmeans-best",
        tuned_on="31 other tables (`grouping_data.py`)",
        reported_on="30 tables, twice each",
        title="k-means, 60 problems not tuned on, default call: mean share of the squares left",
        target=1.0,
        load=load,
        ours=ours,
        peers={"sklearn, n_init=10": peer},
        objective=objective,
        dtype="float64",
        aim="below",
        stops=False,
        value="share left",
    )
]


def _timed(make: Callable[[int, int], Any], X: np.ndarray, k: int, seeds: int) -> tuple[float, float]:
    """(median inertia, CPU seconds of a fit)."""
    began = time.process_time()
    found = [make(k, seed).fit(X).inertia_ for seed in range(seeds)]
    return float(np.median(found)), (time.process_time() - began) / seeds


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--seeds", type=int, default=5)
    given = options.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for title, loaders in zip(("tuned on", "reported on"), tables(given.data)):
            worse = better = 0
            spent = np.zeros(2)
            found = problems(loaders)
            shares(found[:1], library), shares(found[:1], scikit)  # whatever is loaded at first use
            for name, X, k in found:
                (mine, own), (theirs, other) = (_timed(make, X, k, given.seeds) for make in (library, scikit))
                gap = mine / theirs - 1
                worse, better = worse + (gap > 1e-4), better + (gap < -1e-4)
                spent += own, other
                print(f"{name:44} {gap:+.5f}  {own * 1e3:7.1f} / {other * 1e3:7.1f} ms", flush=True)
            print(f"{title}: {len(found)} problems, worse {worse}, better {better}, {spent[0]:.2f} / {spent[1]:.2f} s")


if __name__ == "__main__":
    main()
