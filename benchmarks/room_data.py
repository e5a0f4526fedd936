"""Twenty labelled sets of the clustering suite, fixed before any result was seen.

All nine of FCPS, the eight shape sets of SIPU, and S1, S2, S3: in the order of the alphabet until there are twenty.
The first labelling of each counts and gives the number of clusters; rows it calls noise (0) are fitted, not judged.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.datasets import need

FCPS = ("atom", "chainlink", "engytime", "hepta", "lsun", "target", "tetra", "twodiamonds", "wingnut")
SHAPES = ("aggregation", "compound", "d31", "flame", "jain", "pathbased", "r15", "spiral")
SETS = tuple(f"fcps/{name}" for name in FCPS) + tuple(f"sipu/{name}" for name in (*SHAPES, "s1", "s2", "s3"))


@dataclass(frozen=True)
class Labelled:
    """A table and its true clusters (0 = noise)."""

    X: np.ndarray
    truth: np.ndarray

    @property
    def k(self) -> int:
        return len(np.unique(self.truth[self.truth > 0]))

    def rand_index(self, labels: np.ndarray) -> float:
        """Adjusted Rand index, noise left out."""
        from sklearn.metrics import adjusted_rand_score

        judged = self.truth > 0
        return float(adjusted_rand_score(self.truth[judged], np.asarray(labels)[judged]))


def labelled(folder: Path, name: str) -> Labelled:
    need(folder / "clustering", f"{name}.data.gz", f"{name}.labels0.gz")
    parts = []
    for kind in ("data", "labels0"):
        with gzip.open(folder / "clustering" / f"{name}.{kind}.gz", "rt") as file:
            parts.append(np.loadtxt(file, ndmin=1))
    return Labelled(parts[0], parts[1].astype(int))


def made(seed: int = 0) -> Labelled:
    """Two rings and a ball, to see that everything runs."""
    rng = np.random.default_rng(seed)
    turn, radius = rng.uniform(0, 2 * np.pi, 240), np.repeat([1.0, 3.0], 120)
    rings = radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.05 * rng.standard_normal((240, 2))
    return Labelled(np.vstack([rings, rng.normal(9, 0.5, (120, 2))]), np.repeat([1, 2, 3], 120))
