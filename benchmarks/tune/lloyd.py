"""Time Lloyd's iterations against scikit-learn and faiss: same data, same start.

    python -m benchmarks.tune.lloyd FOLDER [blobs|fashion] [iterations ...]

FOLDER holds Fashion-MNIST's ``train-images-idx3-ubyte.gz``. For each number of iterations (0: until no label changes)
the contenders take turns, on one and on two threads; the best of three turns counts.
"""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from unweave import parallel
from unweave.group.kmeans.lloyd import Lloyd


def fashion(folder: Path) -> np.ndarray:
    """60,000×784 float32 in [0, 1]."""
    raw = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784) / np.float32(255)


def blobs(n: int = 1_000_000, d: int = 16, k: int = 64, spread: float = 2.0) -> np.ndarray:
    """Gaussian clusters that touch."""
    rng = np.random.default_rng(0)
    middles = rng.uniform(-10, 10, (k, d))
    return (middles[rng.integers(k, size=n)] + spread * rng.standard_normal((n, d))).astype(np.float32)


def ours(X: np.ndarray, start: np.ndarray, iterations: int, threads: int) -> tuple[int, float]:
    """Steps made and twice the objective."""
    former = parallel.set_num_threads(threads)
    try:
        with parallel.single_blas():
            scheme = Lloyd(X, len(start))
            state, steps = scheme.state_at(start), 0
            while steps < (iterations or 1000):
                state, value = scheme.step(state)
                steps += 1
                if scheme.settled(state):
                    break
    finally:
        parallel.set_num_threads(former)
    return steps, 2 * value


def sklearn(X: np.ndarray, start: np.ndarray, iterations: int, threads: int, algorithm="lloyd") -> tuple[int, float]:
    """KMeans with tol=0."""
    from sklearn.cluster import KMeans

    with threadpool_limits(threads):
        model = KMeans(len(start), init=start, n_init=1, max_iter=iterations or 1000, tol=0, algorithm=algorithm).fit(X)
    return model.n_iter_, float(model.inertia_)


def elkan(X: np.ndarray, start: np.ndarray, iterations: int, threads: int) -> tuple[int, float]:
    """scikit-learn's own bounds."""
    return sklearn(X, start, iterations, threads, "elkan")


def faiss(X: np.ndarray, start: np.ndarray, iterations: int, threads: int) -> tuple[int, float]:
    """faiss.Kmeans on all rows; it has no stopping rule, so it is timed for given iterations only."""
    import faiss as library

    library.omp_set_num_threads(threads)
    model = library.Kmeans(
        X.shape[1], len(start), niter=iterations, max_points_per_centroid=10**9, min_points_per_centroid=1
    )
    model.train(X, init_centroids=start)
    return iterations, float(model.obj[-1])


def compare(name: str, X: np.ndarray, k: int, iterations: int, turns: int) -> None:
    """Print the best time of everyone."""
    start = X[np.random.default_rng(1).choice(len(X), k, replace=False)].copy()
    ours(X[: 20 * k], start, 10, 2)
    everyone = (ours, sklearn, elkan, faiss) if iterations else (ours, sklearn, elkan)
    contenders = {(fit.__name__, threads): fit for threads in (1, 2) for fit in everyone}
    best = dict.fromkeys(contenders, np.inf)
    answers = {}
    for _ in range(turns):
        for (who, threads), fit in contenders.items():
            began = time.perf_counter()
            answers[who, threads] = fit(X, start, iterations, threads)
            best[who, threads] = min(best[who, threads], time.perf_counter() - began)
    for (who, threads), seconds in best.items():
        steps, value = answers[who, threads]
        print(
            f"{name:8} {iterations:4} {who:8} threads {threads}  {seconds:8.3f} s  {1e3 * seconds / steps:7.2f} ms/it"
            f"  {steps:4} it  inertia {value:.8g}",
            flush=True,
        )
    mine = min(v for (who, _), v in best.items() if who == "ours")
    peer = min(v for (who, _), v in best.items() if who != "ours")
    print(f"{name:8} {iterations:4} ratio {peer / mine:.2f}", flush=True)


def main(folder: str, which: str = "blobs", *iterations: str) -> None:
    """Run one data set."""
    X, k = (fashion(Path(folder)), 100) if which == "fashion" else (blobs(), 64)
    for count in map(int, iterations or ("10", "0")):
        compare(which, X, k, count, 3 if count else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
