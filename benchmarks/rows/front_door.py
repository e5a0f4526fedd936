"""Files in and out: reading a large CSV, saving and loading a large model, writing a report."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Fit, Row

CSV_ROWS = {"full": 1_100_000, "quick": 100_000, "tiny": 2000}  # of 50 numbers: about 1 GB
MODEL_MB = {"full": 1000, "quick": 100, "tiny": 1}


def scratch() -> Path:
    """A folder that goes away with the process."""
    folder = Path(tempfile.mkdtemp(prefix="unweave-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def load_csv(_: Path, size: str) -> Path:
    """A CSV file of numbers with a header, in the page cache: its reader is measured, not the disk."""
    import polars

    path = scratch() / "numbers.csv"
    block = polars.DataFrame(
        np.random.default_rng(0).standard_normal((10_000, 50)), schema=[f"c{j}" for j in range(50)]
    )
    with open(path, "wb") as file:
        for i in range(-(-CSV_ROWS[size] // 10_000)):
            file.write(block[: CSV_ROWS[size] - 10_000 * i].write_csv(include_header=i == 0).encode())
    return path


def read_ours(path: Path, target: float | None) -> Fit:
    import unweave

    return Fit(unweave.read(path).shape, 1)


def read_polars(path: Path, threads: int) -> Fit:
    import polars

    return Fit(polars.read_csv(path).shape, 1)


def load_model(_: Path, size: str) -> tuple[Any, Path]:
    """A fitted PCA whose components have been blown up to the size wanted."""
    import unweave

    model = unweave.PCA(4).fit(np.random.default_rng(0).random((50, 8)))
    columns = MODEL_MB[size] * 1_000_000 // (8 * 10)
    Z = np.random.default_rng(0).standard_normal((11, columns))
    model.components_, model._full_components, model.n_features_in_ = Z[:10], Z, columns
    model.mean_ = model.offset_ = Z[10]
    model.n_components_ = model._n_features_out = 10
    model._sentence = replace(model._sentence, n_components=10)
    return model, scratch()


def save_ours(data: tuple[Any, Path], target: float | None) -> Fit:
    model, folder = data
    model.save(folder / "model.unweave")
    return Fit(None, 1)


def save_numpy(data: tuple[Any, Path], threads: int) -> Fit:
    """The bytes alone, flushed to the disk like ours."""
    model, folder = data
    with open(folder / "bytes.npy", "wb") as file:
        np.save(file, model._full_components)
        file.flush()
        os.fsync(file.fileno())
    return Fit(None, 1)


def load_ours(data: tuple[Any, Path], target: float | None) -> Fit:
    """From the file to the first number of the components."""
    import unweave

    model, folder = data
    if not (folder / "model.unweave").exists():
        model.save(folder / "model.unweave")
    started = time.perf_counter()
    first = float(unweave.load(folder / "model.unweave").components_[0, 0])
    return Fit(first, 1, time.perf_counter() - started)


def load_numpy(data: tuple[Any, Path], threads: int) -> Fit:
    folder = data[1]
    if not (folder / "bytes.npy").exists():
        save_numpy(data, threads)
    started = time.perf_counter()
    first = float(np.load(folder / "bytes.npy")[0, 0])
    return Fit(first, 1, time.perf_counter() - started)


def nothing(data: Any, answer: Any) -> float:
    return 0.0


_row = partial(Row, objective=nothing, aim="none", stops=False)
ROWS = [
    _row(
        name="read-csv", title="reading 1 GB of CSV numbers (the peer leaves them in its own columns)", target=0.8,
        load=load_csv, ours=read_ours, peers={"polars read_csv": read_polars},
    ),
    _row(
        name="save", title="saving a 1 GB model with digests, against its bytes alone (np.save, fsync)", target=0.5,
        load=load_model, ours=save_ours, peers={"np.save and fsync": save_numpy},
    ),
    _row(
        name="load", title="loading a 1 GB model to first use, against np.load", target=1.0,
        load=load_model, ours=load_ours, peers={"np.load": load_numpy},
    ),
]  # fmt: skip
