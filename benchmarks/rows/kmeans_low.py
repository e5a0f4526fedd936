"""k-means of many points in few dimensions: bound by memory and by the search for the nearest."""

from __future__ import annotations

from pathlib import Path

from benchmarks import datasets
from benchmarks.harness import Row
from benchmarks.rows.kmeans_high import PEERS, Points, objective, ours, start, work

SIZES = {"full": 1_000_000, "quick": 100_000, "tiny": 5000}


def load(folder: Path, size: str) -> Points:
    return start(datasets.blobs(SIZES[size], 16, 64), 64)


ROWS = [
    Row(
        name="kmeans-low",
        title="k-means, 1M×16 float32, k=64, same centres",
        target=1.5,
        load=load,
        ours=ours,
        peers=PEERS,
        objective=objective,
        work=work,
    )
]
