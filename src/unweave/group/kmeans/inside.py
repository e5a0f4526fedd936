"""Run k-means inside other models: as the start of a mixture or of hidden states, and for summaries of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.kmeans.lloyd import Lloyd
from unweave.group.kmeans.model import KMeans
from unweave.group.kmeans.start import kmeans_plus_plus, random_rows
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate


def trial_centres(
    X: NDArray, k: int, rng: np.random.Generator, trial: int, weights: NDArray | None = None
) -> NDArray[np.float64]:
    """Find k centres of complete rows, each trial by another way.

    Trial 0 has the best centres that k-means finds. These are nearly the same for every seed, a component need not be a
    cluster, and k-means would rather cut a large group than see a small one: so the trials after it take, in turn, rows
    far apart, any rows, and k-means without repair.
    """
    make = _best_centres if trial == 0 else (plain_kmeans, _far_apart, random_rows)[trial % 3]
    return np.ascontiguousarray(make(X, k, rng, weights), dtype=np.float64)


def _best_centres(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None) -> NDArray:
    model = KMeans(k, random_state=int(rng.integers(2**31)))
    return model._fit_counted(X, weights, "n_components").cluster_centers_


def _far_apart(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None) -> NDArray:
    return kmeans_plus_plus(X, k, rng, weights, trials=1)


def plain_kmeans(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None = None) -> NDArray:
    """Find centres by Lloyd's iterations from k-means++, not repaired."""
    lloyd = Lloyd(X, k, weights)
    return iterate(lloyd, lloyd.begin(rng), Loop(max_iter=50, tol=1e-4, ending="a start"))[0]["centres"]


def fitted_kmeans(X: NDArray, k: int, weights: NDArray | None = None, **options) -> KMeans:
    """Fit k-means with these options inside another fit; Ctrl-C ends that one too."""
    model = KMeans(k, **options).fit(X, sample_weight=weights)
    _pass_on_interrupt(model.history_)
    return model


def rough_labels(X: NDArray, k: int, rng: np.random.Generator, weights: NDArray | None = None) -> NDArray:
    """Label rows by a quick k-means: a good start and a few iterations."""
    lloyd = Lloyd(X, k, weights, centres=kmeans_plus_plus(X, k, rng, weights, trials=1))
    state, history = iterate(lloyd, lloyd.begin(), Loop(max_iter=4, tol=0.0))
    _pass_on_interrupt(history)
    return state["labels"]


def _pass_on_interrupt(history: History) -> None:
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
