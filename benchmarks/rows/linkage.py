"""Trees of clusters: Ward and single linkage in O(n) memory, float64 as the peer has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.harness import Fit, Row

SIZES = {"full": 20_000, "quick": 5000, "tiny": 500}


def load(folder: Path, size: str) -> np.ndarray:
    return np.asarray(datasets.blobs(SIZES[size], 16, 64), dtype=np.float64)


def _fastcluster(linkage: str):
    def call(X: Any, threads: int) -> Fit:
        import fastcluster

        return Fit(fastcluster.linkage_vector(X, linkage)[:, 2])

    return call


def _ours(linkage: str):
    def call(X: Any, target: float | None) -> Fit:
        from unweave.group.agglomerative import Agglomerative

        return Fit(Agglomerative(64, linkage=linkage).fit(X).distances_)

    return call


def _heights(X: Any, heights: Any) -> float:
    return float(np.sum(heights))


ROWS = [
    Row(
        name=f"linkage-{linkage}",
        title=f"{linkage} linkage, 20k×16 float64",
        target=target,
        load=load,
        ours=_ours(linkage),
        peers={"fastcluster": _fastcluster(linkage)},
        objective=_heights,
        dtype="float64",
        stops=False,
        value="sum of heights",
    )
    for linkage, target in (("ward", 1.5), ("single", 1.2))
]
