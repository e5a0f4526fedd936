"""Peers whose calls need more than a line: faiss, implicit, surprise. Each is imported when it is run."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.harness import Fit


def sklearn_nmf(X: Any, W0: Any, H0: Any, **options: Any) -> Fit:
    """scikit-learn's NMF from a given start, otherwise its defaults (tol=1e-4, at most 200 iterations)."""
    from sklearn.decomposition import NMF

    model = NMF(W0.shape[1], init="custom", **options)
    W = model.fit_transform(X, W=W0.copy(), H=H0.copy())
    return Fit((W, model.components_), model.n_iter_)


def sklearn_kmeans(X: Any, centres: Any, algorithm: str) -> Fit:
    """scikit-learn's k-means from given centres, otherwise its defaults (tol=1e-4, at most 300 iterations)."""
    from sklearn.cluster import KMeans

    model = KMeans(len(centres), init=centres, n_init=1, algorithm=algorithm).fit(X)
    return Fit(model.cluster_centers_, model.n_iter_)


def faiss_kmeans(X: Any, centres: Any, niter: int = 25) -> Fit:
    """faiss's k-means from given centres on all points (by default it would sample 256 a centre), 25 iterations."""
    import faiss

    model = faiss.Kmeans(
        X.shape[1], len(centres), niter=niter, max_points_per_centroid=10**9, min_points_per_centroid=1, verbose=False
    )
    model.train(X, init_centroids=centres)
    return Fit(np.array(model.centroids), niter)


def implicit_als(R: Any, factors: int, sweeps: int, threads: int, *, use_cg: bool) -> Fit:
    """implicit's ALS; the seconds are those of one sweep (both sides), the median over all but the first."""
    from implicit.cpu.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(
        factors=factors, regularization=0.1, iterations=sweeps, use_cg=use_cg, num_threads=threads, random_state=0
    )
    ends: list[float] = []
    model.fit_callback = lambda *_: ends.append(time.perf_counter())
    model.fit(R, show_progress=False)
    return Fit(None, sweeps, float(np.median(np.diff(ends))))


def surprise_svd(train: Any, test: Any, scale: tuple[float, float]) -> Fit:
    """surprise's SVD with its defaults (100 factors, 20 epochs); the seconds are those of training alone."""
    import pandas as pd
    from surprise import SVD, Dataset, Reader

    frame = pd.DataFrame({"user": train.row, "item": train.col, "rating": train.data})
    table = Dataset.load_from_df(frame, Reader(rating_scale=scale)).build_full_trainset()
    model = SVD(random_state=0)
    started = time.perf_counter()
    model.fit(table)
    seconds = time.perf_counter() - started
    predicted = [model.predict(u, i).est for u, i in zip(test.row, test.col)]
    return Fit(np.array(predicted), model.n_epochs, seconds)
