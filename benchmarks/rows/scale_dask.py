"""k-means and PCA of a Dask array against dask-ml, which both find on threads of one process and on two workers.

The array is in memory (on the workers where there are some) before the clock starts, in the same chunks for both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row
from benchmarks.rows.scale import BLOCKS, SIZES, Cut, positive

TABLES: dict[str, Callable[[float], np.ndarray]] = {
    "kmeans": lambda share: datasets.blobs(int(1_000_000 * share), 16, 64),
    "pca": lambda share: positive(int(400_000 * share), 100, 20),
}


def load(folder: Path, size: str, *, name: str) -> Cut:
    return Cut(TABLES[name](SIZES[size]))


def ours_kmeans() -> Any:
    import unweave

    return unweave.KMeans(64, random_state=0)


def ours_pca() -> Any:
    import unweave

    return unweave.PCA(20)


def theirs_kmeans() -> Any:
    from dask_ml.cluster import KMeans

    return KMeans(64, random_state=0)


def theirs_pca(solver: str = "auto") -> Any:
    from dask_ml.decomposition import PCA

    return PCA(20, svd_solver=solver, random_state=0)


def answer(model: Any) -> np.ndarray:
    """Centres or components, whichever a model has."""
    return np.asarray(getattr(model, "cluster_centers_", None) if hasattr(model, "labels_") else model.components_)


def _array(data: Cut) -> Any:
    import dask.array as da

    return da.from_array(data.X, chunks=(-(-len(data.X) // BLOCKS), -1))


@contextmanager
def on_threads(data: Cut, threads: int) -> Iterator[tuple[Any, dict]]:
    """The array, and nothing to say to `fit`: chunks are computed on threads of this process."""
    import dask

    with dask.config.set(scheduler="threads", num_workers=threads):
        yield _array(data), {}


@contextmanager
def on_processes(data: Cut, threads: int) -> Iterator[tuple[Any, dict]]:
    """The array, spread over two workers of one thread each, and the client."""
    from distributed import wait

    from unweave.scale.cluster import start_cluster

    with start_cluster(2) as client:
        array = client.persist(_array(data))
        wait(array)
        yield array, {"client": client}


def fit(make: Callable[[], Any], where: Callable, told: bool, data: Cut, threads: int) -> Fit:
    """The seconds of a fit alone; `told` says whether the model is told of the client or finds it by itself."""
    with where(data, threads) as (array, keywords):
        if keywords:  # what workers import and compile is none of the fit
            few = data.X[: 50 * BLOCKS]
            with np.errstate(all="ignore"):
                make().fit(_array(Cut(few)), **(keywords if told else {}))
        started = time.perf_counter()
        model = make().fit(array, **(keywords if told else {}))
        return Fit(answer(model), int(getattr(model, "n_iter_", 1) or 1), time.perf_counter() - started)


def ours(data: Cut, target: float | None, *, make: Callable, where: Callable) -> Fit:
    from unweave import get_num_threads

    return fit(make, where, True, data, get_num_threads())


def theirs(data: Cut, threads: int, *, make: Callable, where: Callable) -> Fit:
    return fit(make, where, False, data, threads)


def left_by(data: Cut, components: np.ndarray) -> float:
    """½ of the squares about the mean that the components leave."""
    mean = data.X.mean(axis=0, dtype=np.float64)
    total = 0.0
    for start in range(0, len(data.X), 50_000):
        X = data.X[start : start + 50_000] - mean
        total += 0.5 * float(np.square(X - (X @ components.T) @ components).sum())
    return total


def cost(data: Cut, centres: np.ndarray) -> float:
    return evaluate.clustering(data.X, centres)


PLACES = {"": ("on threads", on_threads), "-workers": ("on two workers", on_processes)}

ROWS = [
    Row(
        name=f"dask-kmeans{end}",
        title=f"k-means of a Dask array, 1M×16 float32, k=64, default calls, {words}",
        target=3.0,
        load=partial(load, name="kmeans"),
        ours=partial(ours, make=ours_kmeans, where=where),
        peers={"dask-ml": partial(theirs, make=theirs_kmeans, where=where)},
        objective=cost,
        stops=False,
        repeats=2,
    )
    for end, (words, where) in PLACES.items()
] + [
    Row(
        name=f"dask-pca{end}",
        title=f"PCA of a Dask array, 400k×100 float32, k=20, {words}",
        target=3.0,
        load=partial(load, name="pca"),
        ours=partial(ours, make=ours_pca, where=where),
        peers={
            "dask-ml": partial(theirs, make=theirs_pca, where=where),
            "dask-ml tsqr": partial(theirs, make=partial(theirs_pca, "tsqr"), where=where),
        },
        objective=left_by,
        stops=False,
        repeats=3,
        slack=1e-5,
    )
    for end, (words, where) in PLACES.items()
]
