"""Holes in tables of mixed columns: error of the cells filled and seconds, against scikit-learn's imputers.

20 % of the known cells of every table are hidden. The error of a numeric column is the root mean square error over its
standard deviation, that of any other the share of wrong levels. Peers get what suits them: standardised numbers, a 0/1
column for two levels, one-hot levels for more (filled by the largest). The command
``python -m benchmarks.rows.imputer --data FOLDER`` prints every table and how many columns each method fills better.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from benchmarks.datasets import need
from benchmarks.harness import Fit, Row

MOST_ROWS = 3000
SHARE = 0.2
FCPS = ("hepta", "lsun", "tetra", "twodiamonds", "wingnut", "chainlink", "atom", "target", "engytime")
SIPU = ("a1", "aggregation", "compound", "d31", "flame", "jain", "pathbased", "r15", "s1", "s4", "spiral", "unbalance")
CLUSTERS = [f"fcps/{name}" for name in FCPS] + [f"sipu/{name}" for name in SIPU]


@dataclass
class Holed:
    """A table, the same with holes, and where they are."""

    name: str
    truth: Any
    table: Any
    holes: np.ndarray


def bundled() -> dict[str, Any]:
    """scikit-learn's small tables with their target as one more column."""
    import pandas
    from sklearn import datasets

    out = {}
    for name in ("iris", "wine", "breast_cancer", "diabetes"):
        bunch = getattr(datasets, f"load_{name}")()
        frame = pandas.DataFrame(bunch.data, columns=[str(c) for c in bunch.feature_names])
        known = name != "diabetes"
        frame["target"] = pandas.Categorical(bunch.target_names[bunch.target]) if known else bunch.target.astype(float)
        out[name] = frame
    return out


def categorical(folder: Path) -> dict[str, Any]:
    import pandas

    out = {}
    for name, header in (("car", 0), ("house-votes-84", None)):
        path = need(folder / "uci-categorical", f"{name}.csv.gz")
        frame = pandas.read_csv(path, dtype=str, header=header, na_values=["?"], skipinitialspace=True)
        frame.columns = [str(c) for c in frame.columns]
        out[name] = frame.astype(object)
    return out


def clusters(folder: Path) -> dict[str, Any]:
    """Points of the plane or space with their cluster as a categorical column."""
    import pandas

    out = {}
    for name in CLUSTERS:
        need(folder / "clustering", f"{name}.data.gz")
        with gzip.open(folder / "clustering" / f"{name}.data.gz", "rt") as file:
            X = np.loadtxt(file)
        with gzip.open(folder / "clustering" / f"{name}.labels0.gz", "rt") as file:
            labels = np.loadtxt(file).astype(int)
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        frame = pandas.DataFrame(X[rows], columns=[f"x{j}" for j in range(X.shape[1])])
        frame["cluster"] = pandas.Categorical([f"c{v}" for v in labels[rows]])
        out[name] = frame
    return out


def hide(name: str, frame: Any, seed: int) -> Holed:
    holes = np.random.default_rng(1000 + seed).random(frame.shape) < SHARE
    holes &= frame.notna().to_numpy()
    table = frame.mask(holes)
    return Holed(name, frame, table.astype(frame.dtypes.to_dict()), holes)


def load(folder: Path, size: str, seed: int = 0) -> list[Holed]:
    tables = bundled()
    if size != "tiny":
        tables |= categorical(folder)
    if size == "full":
        tables |= clusters(folder)
    return [hide(name, frame, seed) for name, frame in tables.items()]


def errors(data: Holed, filled: Any) -> dict[str, float]:
    """Error of every column that has holes."""
    from pandas.api.types import is_numeric_dtype

    out = {}
    for j, name in enumerate(data.truth.columns):
        own = data.holes[:, j]
        truth, found = data.truth[name][own], filled[name][own]
        if not own.any():
            continue
        if is_numeric_dtype(data.truth[name]):
            square = np.mean((truth.to_numpy(float) - found.to_numpy(float)) ** 2)
            out[name] = float(np.sqrt(square) / data.truth[name].std())
        else:
            out[name] = float(np.mean(truth.astype(str).to_numpy() != found.astype(str).to_numpy()))
    return out


def run(data: list[Holed], fill: Callable[[Any], Any], clock: Callable[[], float] = time.perf_counter) -> Fit:
    answers, seconds = [], 0.0
    for one in data:
        started = clock()
        filled = fill(one.table)
        seconds += clock() - started
        answers.append(errors(one, filled))
    return Fit(answers, 1, seconds)


def unweave_fill(table: Any) -> Any:
    from unweave.complete.imputer.table_imputer import TableImputer

    return TableImputer().fit_transform(table)


def sklearn_fill(table: Any, kind: str) -> Any:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    make = {"iterative": partial(IterativeImputer, random_state=0), "knn": KNNImputer, "mean": SimpleImputer}[kind]
    X, parts = _encode(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _decode(table, make().fit_transform(X), parts)


def _encode(table: Any) -> tuple[np.ndarray, list]:
    from pandas.api.types import is_numeric_dtype

    blocks, parts = [], []
    for name in table.columns:
        column = table[name]
        holes = column.isna().to_numpy()
        if is_numeric_dtype(column):
            mean, spread = column.mean(), column.std() or 1.0
            blocks.append(((column.to_numpy(float) - mean) / spread)[:, None])
            parts.append((name, None, mean, spread))
            continue
        levels = sorted(column.dropna().astype(str).unique())
        hot = np.equal.outer(column.astype(str).to_numpy(), np.array(levels, dtype=object)).astype(float)
        hot[holes] = np.nan
        blocks.append(hot[:, 1:] if len(levels) == 2 else hot)
        parts.append((name, levels, 0.0, 1.0))
    return np.hstack(blocks), parts


def _decode(table: Any, X: np.ndarray, parts: list) -> Any:
    out, at = table.copy(), 0
    for name, levels, mean, spread in parts:
        holes = table[name].isna().to_numpy()
        width = 1 if levels is None or len(levels) == 2 else len(levels)
        own, at = X[:, at : at + width], at + width
        if levels is None:
            values = table[name].to_numpy(float).copy()
            values[holes] = own[holes, 0] * spread + mean
        else:
            picked = (own[:, 0] > 0.5).astype(int) if len(levels) == 2 else own.argmax(axis=1)
            values = table[name].astype(object).to_numpy().copy()
            values[holes] = np.array(levels, dtype=object)[picked[holes]]
        out[name] = values
    return out


PEERS = {"sklearn IterativeImputer": "iterative", "sklearn KNNImputer": "knn", "mean or mode": "mean"}


def objective(data: list[Holed], answers: Any) -> float:
    return float(np.mean([error for table in answers for error in table.values()]))


ROWS = [
    Row(
        name="imputer",
        tuned_on="not written down when it was set",
        title="27 tables of mixed columns, 20 % holes: mean error of a column",
        target=0.0,
        load=load,
        ours=lambda data, target: run(data, unweave_fill),
        peers={
            name: lambda data, threads, kind=kind: run(data, partial(sklearn_fill, kind=kind))
            for name, kind in PEERS.items()
        },
        objective=objective,
        aim="below",
        value="mean error",
        repeats=1,
    )
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--size", default="full")
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor, for a machine that is busy")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    fills = {"unweave": unweave_fill} | {name: partial(sklearn_fill, kind=kind) for name, kind in PEERS.items()}
    unweave_fill(load(options.data, "tiny")[0].table)  # kernels are compiled before anything is timed
    wins, seconds, total, columns = dict.fromkeys(PEERS, 0.0), dict.fromkeys(fills, 0.0), dict.fromkeys(fills, 0.0), 0
    # One thread for all: on tables this small more threads of BLAS only get in each other's way.
    threadpoolctl.threadpool_limits(1)
    for group in zip(*(load(options.data, options.size, seed) for seed in range(options.seeds))):
        found, took = {}, {}
        for name, fill in fills.items():
            fits = [run([one], fill, clock) for one in group]
            found[name] = np.mean([list(fit.answer[0].values()) for fit in fits], axis=0)
            took[name] = float(np.mean([fit.seconds for fit in fits]))
            seconds[name] += took[name]
            total[name] += found[name].sum()
        columns += len(found["unweave"])
        for name in PEERS:
            wins[name] += (found["unweave"] < found[name]).sum() + 0.5 * (found["unweave"] == found[name]).sum()
        shown = "  ".join(f"{name.split()[-1]} {found[name].mean():.3f} {took[name]:.3f}s" for name in fills)
        print(f"{group[0].name:18} {group[0].truth.shape!s:11} {shown}", flush=True)
    for name in fills:
        better = f", ours better on {wins[name]:g} of {columns} columns" if name in wins else ""
        print(f"{name}: mean error {total[name] / columns:.4f}, {seconds[name]:.2f} s{better}")


if __name__ == "__main__":
    main()
