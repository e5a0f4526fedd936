"""Centres that the starts of a mixture or of hidden states are made from: each trial by another way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.kmeans import KMeans
from unweave.solve.iterate import Loop, iterate
from unweave.solve.kmeans_start import kmeans_plus_plus, random_rows
from unweave.solve.lloyd import Lloyd


class KMeansOfStart(KMeans):
    """k-means inside a model: what it warns of goes by the name of the model's number."""

    _counted = "n_components"


def trial_centres(
    X: NDArray, k: int, rng: np.random.Generator, trial: int, weights: NDArray | None = None
) -> NDArray[np.float64]:
    """k centres of complete rows.

    Trial 0 has the best centres that k-means finds. These are nearly the same for every seed, a component need not be a
    cluster, and k-means would rather cut a large group than see a small one: so the trials after it take, in turn, rows
    far apart, any rows, and k-means without repair.
    """
    make = _repaired if trial == 0 else (plain_kmeans, _far_apart, random_rows)[trial % 3]
    return np.ascontiguousarray(make(X, k, rng, weights), dtype=np.float64)


def _repaired(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None) -> NDArray:
    model = KMeansOfStart(k, random_state=int(rng.integers(2**31)))
    return model.fit(X, sample_weight=weights).cluster_centers_


def _far_apart(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None) -> NDArray:
    return kmeans_plus_plus(X, k, rng, weights, trials=1)


def plain_kmeans(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None = None) -> NDArray:
    """Centres of Lloyd's iterations from k-means++, not repaired."""
    lloyd = Lloyd(X, k, weights)
    begin = lloyd.start(kmeans_plus_plus(X, k, rng, weights))
    loop = Loop(max_iter=50, tol=1e-4, ending="a start")
    return iterate(lloyd.step, begin, loop, settled=lloyd.converged)[0]["centres"]
