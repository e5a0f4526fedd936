"""Tables to group: the clustering suite, scikit-learn's own, one-hot tables and codes; tuned on and reported on.

The split was made before anything was run: names sorted within a family, every second one is reported on. Of the
numbers of clusters nothing was set on Graves's and the "other" sets.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import need

LARGE = ("birch1", "birch2", "worms_2")
BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine")
CATEGORIES = ("car", "house-votes-84", "kr-vs-kp", "mushroom", "tic-tac-toe", "zoo")
OTHER_NUMBERS = (2, 5, 10, 20)


@dataclass
class Labelled:
    """A table and the numbers of clusters that its labellings have."""

    X: np.ndarray
    counts: list[int]


def suite(folder: Path, family: str, name: str) -> Labelled:
    """A set of the clustering suite; points labelled 0 are noise."""
    place = folder / "clustering" / family
    need(place, f"{name}.data.gz", f"{name}.labels0.gz")
    with gzip.open(place / f"{name}.data.gz", "rt") as file:
        X = np.loadtxt(file, ndmin=2)
    counts = []
    for path in sorted(place.glob(f"{name}.labels*.gz")):
        with gzip.open(path, "rt") as file:
            labels = np.loadtxt(file).astype(int)
        counts.append(len(np.unique(labels[labels > 0])))
    return Labelled(X, counts)


def suite_names(folder: Path, family: str) -> list[str]:
    """The sets of a family, without the three of 100,000 rows."""
    need(folder / "clustering", "README.md")
    names = {path.name.split(".")[0] for path in (folder / "clustering" / family).glob("*.data.gz")}
    return sorted(names - set(LARGE))


def bundled(name: str) -> Labelled:
    """A table that comes with scikit-learn; 3 clusters where the target is a number."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    kinds = len(np.unique(found.target)) if name not in ("diabetes", "linnerud") else 3
    return Labelled(found.data, [kinds])


def thinned(X: np.ndarray, most: int) -> np.ndarray:
    """At most so many rows, spread evenly."""
    return X[np.linspace(0, len(X) - 1, min(most, len(X))).astype(int)]


def one_hot(folder: Path, name: str) -> Labelled:
    """A table of categories as zeros and ones, 2000 rows at most."""
    with gzip.open(need(folder / "uci-categorical", f"{name}.csv.gz"), "rt") as file:
        _, *rows = csv.reader(file)
    columns = thinned(np.array(rows), 2000).T
    kinds = [(column, np.unique(column)) for column in columns]
    return Labelled(
        np.array([column == kind for column, all_of_it in kinds if 1 < len(all_of_it) <= 30 for kind in all_of_it])
        .astype(float)
        .T,
        [2],
    )


def _codes(X, k: int) -> np.ndarray:
    from scipy.sparse.linalg import svds

    u, s, _ = svds(X.astype(float), k, random_state=0)
    return u * s


def _counted(folder: Path, name: str, skip: int, log: bool) -> sp.csr_array:
    with gzip.open(folder / name, "rt") as file:
        row, column, value = np.loadtxt(file, skiprows=skip)[:, :3].T
    values = np.log1p(value) if log else value
    return sp.csr_array((values, (row.astype(int) - 1, column.astype(int) - 1)))


def _largest(folder: Path, name: str) -> np.ndarray:
    with np.load(folder / name) as file:
        X = max((file[key] for key in file.files), key=lambda array: array.size)
    return X.reshape(-1, X.shape[-1]) if name.startswith("tensors") else X.reshape(len(X), -1)


def codes(folder: Path, name: str) -> Labelled:
    """Faces, words, texts, ratings and spectra as tables of 15 to 50 columns."""
    if name == "cbcl":
        return Labelled(_codes(thinned(_largest(folder, "cbcl-faces/cbcl_19x19.npz"), 1500), 30), [10])
    if name == "glove":
        words = _largest(folder, "glove-6b-50d-top100k/vectors_f16.npz")[:20_000]
        return Labelled(thinned(words, 2500).astype(float), [20])
    if name == "kos":
        return Labelled(_codes(_counted(folder, "kos/docword.kos.txt.gz", 3, True), 20), [10])
    if name == "movielens":
        return Labelled(_codes(_counted(folder, "movielens-100k/u.data.gz", 0, False), 15), [5])
    if name == "olivetti":
        return Labelled(_codes(_largest(folder, "olivetti-faces/olivetti_64x64.npz"), 50), [40])
    spectra = _largest(folder, "tensors/Indian_pines_corrected.npz")
    return Labelled(thinned(spectra, 2000)[:, ::4].astype(float), [16])


def tables(folder: Path) -> tuple[dict[str, Callable[[], Labelled]], dict[str, Callable[[], Labelled]]]:
    """(tuned on, reported on): how to load each table, by name."""
    families: list[dict[str, Callable[[], Labelled]]] = [
        {f"{family}/{name}": lambda family=family, name=name: suite(folder, family, name) for name in names}  # type: ignore[misc]
        for family in ("fcps", "graves", "other", "sipu")
        for names in [suite_names(folder, family)]
    ]
    families += [
        {f"sklearn/{name}": lambda name=name: bundled(name) for name in BUNDLED},  # type: ignore[misc]
        {f"uci/{name}": lambda name=name: one_hot(folder, name) for name in CATEGORIES},  # type: ignore[misc]
        {
            f"codes/{name}": lambda name=name: codes(folder, name)  # type: ignore[misc]
            for name in ("cbcl", "glove", "kos", "movielens", "olivetti", "pines")
        },
    ]
    tuned: dict[str, Callable[[], Labelled]] = {}
    reported: dict[str, Callable[[], Labelled]] = {}
    for family in families:
        for i, name in enumerate(sorted(family)):
            (reported if i % 2 else tuned)[name] = family[name]
    return tuned, reported


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and spread 1, constant ones left out."""
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)
