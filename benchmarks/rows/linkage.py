"""Trees of clusters, float64 as the peers have it: Ward and single in O(n) memory, the others from all pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Fit, Row

SIZES = {"full": 20_000, "quick": 5000, "tiny": 500}
PAIR_SIZES = {"full": 4096, "quick": 1500, "tiny": 400}


def load(folder: Path, size: str) -> np.ndarray:
    return np.asarray(datasets.blobs(SIZES[size], 16, 64), dtype=np.float64)


def load_all_pairs(folder: Path, size: str) -> np.ndarray:
    return np.asarray(datasets.blobs(PAIR_SIZES[size], 16, 64), dtype=np.float64)


def _vectors(linkage: str):
    def call(X: Any, threads: int) -> Fit:
        import fastcluster

        return Fit(fastcluster.linkage_vector(X, linkage)[:, 2])

    return call


def _fastcluster(linkage: str):
    def call(X: Any, threads: int) -> Fit:
        import fastcluster

        return Fit(fastcluster.linkage(X, linkage)[:, 2])

    return call


def _scipy(linkage: str):
    def call(X: Any, threads: int) -> Fit:
        from scipy.cluster.hierarchy import linkage as scipy_linkage

        return Fit(scipy_linkage(X, linkage)[:, 2])

    return call


def _ours(linkage: str):
    def call(X: Any, target: float | None) -> Fit:
        from unweave.group.trees.agglomerative import Agglomerative

        return Fit(Agglomerative(64, linkage=linkage).fit(X).distances_)

    return call


def _heights(X: Any, heights: Any) -> float:
    return float(np.sum(heights))


def _row(linkage: str, size: str, target: float, load: Any, peers: dict) -> Row:
    return Row(
        name=f"linkage-{linkage}",
        title=f"{linkage} linkage, {size} float64",
        target=target,
        load=load,
        ours=_ours(linkage),
        peers=peers,
        objective=_heights,
        dtype="float64",
        stops=False,
        value="sum of heights",
    )


ROWS = [
    *(_row(name, "20k×16", t, load, {"fastcluster": _vectors(name)}) for name, t in (("ward", 1.5), ("single", 1.2))),
    *(
        _row(name, "4096×16", 1.0, load_all_pairs, {"fastcluster": _fastcluster(name), "scipy": _scipy(name)})
        for name in ("average", "complete")
    ),
]
