"""Twenty million ratings by alternating least squares on two workers: ours on Dask against Spark MLlib (``local[2]``).

Both have rank 32, ten sweeps, and the ridge (of three) that predicts ratings best that were taken out of the training
table; choosing it is not counted. The table is made once, in a folder for temporary files, and is where each reads it
best before the clock starts: cached by Spark, in blocks of users for ours. Ours turns the blocks over in its fit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Fit, Missing, Row
from benchmarks.spark_als import ITERATIONS, RANK

BLOCKS = 16
SIZES = {"full": (200_000, 20_000, 20_000_000), "quick": (20_000, 4000, 1_000_000), "tiny": (2000, 500, 40_000)}
RIDGES = {"spark": (0.06, 0.12, 0.24), "ours": (0.7, 2.0, 5.0)}
_PIECE = 2_000_000


@dataclass(frozen=True)
class Split:
    """Ratings to learn from and to predict, as files; and the ridge that each side has chosen."""

    folder: Path
    shape: tuple[int, int]
    ridges: dict[str, float]

    def table(self, name: str) -> sp.csr_array:
        """Users × items."""
        user, item, stars = (np.load(self.folder / f"{name}-{part}.npy") for part in ("user", "item", "rating"))
        return sp.csr_array((stars, (user, item)), shape=self.shape)


def planted(n: int, m: int, count: int, k: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Users, items and ratings 1…5: biases, `k` hidden tastes and noise; few users and items have most ratings."""
    rng = np.random.default_rng(seed)
    activity, fame = np.cumsum(rng.lognormal(0, 1.2, n)), np.cumsum((10.0 + np.arange(m)) ** -0.9)
    pairs = np.empty(0, np.int64)
    while len(pairs) < count:
        user = np.searchsorted(activity, rng.random(_PIECE) * activity[-1])
        item = np.searchsorted(fame, rng.random(_PIECE) * fame[-1])
        pairs = np.unique(np.concatenate([pairs, user * m + item]))
    pairs = np.sort(rng.choice(pairs, count, replace=False))
    user, item = (pairs // m).astype(np.int32), (pairs % m).astype(np.int32)
    P, Q = (rng.standard_normal((side, k)).astype(np.float32) / k**0.25 for side in (n, m))
    a, b = (0.45 * rng.standard_normal(side).astype(np.float32) for side in (n, m))
    stars = np.empty(count, np.float32)
    for start in range(0, count, _PIECE):
        part = slice(start, start + _PIECE)
        u, i = user[part], item[part]
        taste = np.einsum("rk,rk->r", P[u], Q[i])
        level = 3.6 + a[u] + b[i] + 0.45 * taste + 0.8 * rng.standard_normal(len(u), np.float32)
        stars[part] = np.clip(np.rint(level), 1, 5)
    return user, item, stars


def write(folder: Path, parts: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Each part as arrays, and as a Parquet file for Spark."""
    import polars

    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in parts.items():
        named = dict(zip(("user", "item", "rating"), columns))
        for column, values in named.items():
            np.save(folder / f"{name}-{column}.npy", values)
        polars.DataFrame(named).write_parquet(folder / f"{name}.parquet")


def load(folder: Path, size: str) -> Split:
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise Missing("pyspark is not installed (pip install -e .[bench]; it needs Java)") from error
    (n, m, count), place = SIZES[size], Path(tempfile.gettempdir()) / f"unweave-ratings-{size}"
    told = place / "ridges.json"
    if not told.exists():
        ratings = planted(n, m, count)
        rng = np.random.default_rng(1)
        held = rng.random(count) < 0.05
        inner = ~held & (rng.random(count) < 0.05)  # of the training table, to choose the ridges by
        masks = {"train": ~held, "test": held}
        write(place, {name: tuple(one[mask] for one in ratings) for name, mask in masks.items()})
        masks = {"train": ~held & ~inner, "test": inner}
        write(place / "choose", {name: tuple(one[mask] for one in ratings) for name, mask in masks.items()})
        chosen = {"spark": best("spark", lambda ridge: spark_fit(place / "choose", ridge).answer)}
        data = Split(place / "choose", (n, m), {})
        chosen["ours"] = best("ours", lambda ridge: our_fit(data, ridge).answer)
        told.write_text(json.dumps(chosen))
    return Split(place, (n, m), json.loads(told.read_text()))


def best(side: str, error: Callable[[float], float]) -> float:
    """The ridge with the least error on ratings that were held out."""
    errors = {ridge: error(ridge) for ridge in RIDGES[side]}
    print(f"  held-out RMSE by ridge, {side}: {errors}", file=sys.stderr, flush=True)
    return min(errors, key=lambda ridge: errors[ridge])


def spark_fit(folder: Path, ridge: float) -> Fit:
    command = [sys.executable, "-m", "benchmarks.spark_als", str(folder), str(ridge)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["Spark said nothing"])[-1])
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Fit(found["rmse"], ITERATIONS, found["seconds"])


def our_fit(data: Split, ridge: float) -> Fit:
    """The fit on two workers alone; the test ratings are predicted from the codes of `transform` afterwards."""
    import unweave
    from unweave.scale.cluster import start_cluster

    X, test = data.table("train"), data.table("test").tocoo()
    bounds = np.searchsorted(X.indptr, np.linspace(0, X.nnz, BLOCKS + 1)[1:-1])
    blocks = [X[a:b] for a, b in zip([0, *bounds], [*bounds, X.shape[0]])]
    model = unweave.MatrixCompletion(RANK, ridge=ridge, max_iter=ITERATIONS, tol=0, random_state=0)
    with start_cluster(2) as client:
        few = [block[:200] for block in blocks]
        unweave.MatrixCompletion(4, ridge=ridge, max_iter=2, tol=0, random_state=0).fit(few, client=client)
        started = time.perf_counter()
        model.fit(blocks, client=client)
        seconds = time.perf_counter() - started
    codes, Z = model.transform(X), np.ascontiguousarray(model.components_.T)
    total = 0.0
    for start in range(0, test.nnz, _PIECE):
        part = slice(start, start + _PIECE)
        scores = np.einsum("rk,rk->r", codes[test.row[part]], Z[test.col[part]], dtype=np.float64)
        total += float(np.square(np.clip(scores, X.data.min(), X.data.max()) - test.data[part]).sum())
    return Fit(float(np.sqrt(total / test.nnz)), model.n_iter_, seconds)


def ours(data: Split, target: float | None) -> Fit:
    return our_fit(data, data.ridges["ours"])


def spark(data: Split, threads: int) -> Fit:
    return spark_fit(data.folder, data.ridges["spark"])


ROWS = [
    Row(
        name="spark-als",
        title=f"ALS, 20M ratings 200k×20k, k={RANK}, {ITERATIONS} sweeps, two workers",
        target=5.0,
        load=load,
        ours=ours,
        peers={"Spark MLlib local[2]": spark},
        objective=lambda data, error: float(error),
        value="RMSE",
        stops=False,
        slack=0.0,
        repeats=1,
        tuned_on="held-out ratings of the table itself, on both sides",
    )
]
