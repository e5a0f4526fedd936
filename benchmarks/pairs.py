"""Tables of users × items in which something happened: films, music, web pages, jokes, permissions, words, planted.

``TUNED`` are the sets on which the ways of `ImplicitALS` and `EASE` to choose a ridge were tried out. ``REPORTED``
share no source with them, but they are not blind any more: several variants of the search were run on them, and how
many users and scores it takes was settled with their results in view.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets


def movielens(folder: Path, *, least: float) -> sp.csr_array:
    """MovieLens-100K: films with at least so many stars, as ones."""
    path = datasets.need(folder / "movielens-100k", "u.data.gz")
    user, item, stars = np.loadtxt(path, dtype=np.int64, usecols=(0, 1, 2)).T
    return _liked(user, item, stars, least)


def latest(folder: Path, *, least: float) -> sp.csr_array:
    """MovieLens latest-small: films with at least so many stars, as ones."""
    path = datasets.need(folder / "movielens-latest-small", "ratings.csv.gz")
    user, item, stars = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    return _liked(user, item, stars, least)


def flixster(folder: Path, *, least: float) -> sp.csr_array:
    """Flixster, 3000 × 3000: films with at least so many stars, as ones."""
    table = np.load(datasets.need(folder / "flixster-3k", "flixster.npz"))
    return _liked(table["user"], table["item"], table["rating"], least)


def lastfm(folder: Path, *, counts: bool) -> sp.csr_array:
    """Artists that were played: log(1 + plays), or ones."""
    path = datasets.need(folder / "lastfm-hetrec", "user_artists.tsv.gz")
    user, artist, plays = np.loadtxt(path, dtype=np.int64, skiprows=1).T
    return _pairs(user, artist, np.log1p(plays) if counts else np.ones(len(plays)))


def jester(folder: Path) -> sp.csr_array:
    """Jokes that were rated above zero, as ones."""
    X = sp.load_npz(datasets.need(folder / "jester5k", "ratings_csr.npz")).tocoo()
    return _liked(X.row, X.col, X.data, 1e-6)


def stored(folder: Path, *, name: str, file: str, most: int | None = None) -> sp.csr_array:
    """A sparse matrix on disk, its stored entries as ones; at most so many rows."""
    X = sp.csr_array(sp.load_npz(datasets.need(folder / name, file)))[:most].tocoo()
    return _pairs(X.row, X.col, np.ones(X.nnz))


def access(folder: Path) -> sp.csr_array:
    """Amazon's access requests: which resources (columns) the people of a manager (rows) were given."""
    path = datasets.need(folder / "amazon-access", "train.csv.gz")
    granted, resource, manager = np.loadtxt(path, dtype=np.int64, delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    return _pairs(manager[granted == 1], resource[granted == 1], np.ones(int(granted.sum())))


def kos(folder: Path) -> sp.csr_array:
    """KOS blog entries: words that occur, as ones."""
    path = datasets.need(folder / "kos", "docword.kos.txt.gz")
    row, word, _ = np.loadtxt(path, dtype=np.int64, skiprows=3).T
    return _pairs(row, word, np.ones(len(row)))


def reuters(folder: Path) -> sp.csr_array:
    """395 Reuters items: words that occur, as ones."""
    with gzip.open(datasets.need(folder / "reuters395", "reuters.ldac.gz"), "rt") as file:
        lines = [[int(pair.split(":")[0]) for pair in line.split()[1:]] for line in file]
    row = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return _pairs(row, np.concatenate([np.array(line) for line in lines]), np.ones(len(row)))


def blocks(folder: Path, *, n: int, m: int, groups: int, inside: float, outside: float) -> sp.csr_array:
    """Planted groups of users who like the items of their group, and little else."""
    rng = np.random.default_rng(0)
    same = rng.integers(0, groups, n)[:, None] == rng.integers(0, groups, m)[None, :]
    return sp.csr_array((rng.random((n, m)) < np.where(same, inside, outside)).astype(np.float32))


def tastes(folder: Path, *, n: int, m: int, mean: float, k: int, strength: float, seed: int) -> sp.csr_array:
    """Shaped like MovieLens-1M: `k` planted tastes, fame by a power law, people of very unequal activity.

    User i draws n_i items without replacement with log-odds log(fame_j) + strength·u_i·z_j.
    """
    rng = np.random.default_rng(seed)
    counts = np.clip(rng.lognormal(0, 1.0, n) * mean / np.exp(0.5), 5, m // 3).astype(np.int64)
    fame = -0.9 * np.log(20 + np.arange(m))
    decay = 1 / np.sqrt(1 + np.arange(k))  # a few large tastes and many small ones
    U, Z = rng.standard_normal((n, k)) * decay, rng.standard_normal((m, k))
    scale = strength / np.linalg.norm(decay)
    rows, columns = [], []
    for i in range(n):
        score = fame + scale * (Z @ U[i]) + rng.gumbel(size=m)
        columns.append(np.argpartition(-score, counts[i])[: counts[i]])
        rows.append(np.full(counts[i], i))
    return _pairs(np.concatenate(rows), np.concatenate(columns), np.ones(int(counts.sum())))


def sample(folder: Path, *, of: Callable[[Path], sp.csr_array], users: float, pairs: float) -> sp.csr_array:
    """A share of the users of a set, and a share of their pairs."""
    rng = np.random.default_rng(0)
    X = of(folder)
    X = X[rng.random(X.shape[0]) < users].tocoo()
    kept = rng.random(X.nnz) < pairs
    return _pairs(X.row[kept], X.col[kept], X.data[kept])


def _liked(user: np.ndarray, item: np.ndarray, stars: np.ndarray, least: float) -> sp.csr_array:
    liked = stars >= least
    return _pairs(user[liked], item[liked], np.ones(int(liked.sum())))


def _pairs(user: np.ndarray, item: np.ndarray, value: np.ndarray) -> sp.csr_array:
    places = [np.unique(ids, return_inverse=True)[1] for ids in (user, item)]
    X = sp.csr_array(sp.coo_array((value.astype(np.float32), (places[0], places[1]))))
    X.sum_duplicates()
    return X


Loader = Callable[[Path], sp.csr_array]
_LARGE = partial(tastes, n=6040, m=3706, mean=165.0, k=30, strength=2.0, seed=1)

TUNED: dict[str, Loader] = {
    "MovieLens-100K, ≥ 4": partial(movielens, least=4),
    "MovieLens-100K, all": partial(movielens, least=0),
    "MovieLens-100K, half the users": partial(sample, of=partial(movielens, least=0), users=0.5, pairs=1.0),
    "MovieLens-100K, a third of the pairs": partial(sample, of=partial(movielens, least=0), users=1.0, pairs=0.33),
    "last.fm, log plays": partial(lastfm, counts=True),
    "last.fm, ones": partial(lastfm, counts=False),
    "KOS words": kos,
    "permissions, americas small": partial(stored, name="role-mining", file="americas_small_csr.npz"),
    "20 Newsgroups, 2000 posts": partial(stored, name="20newsgroups", file="train_counts_csr.npz", most=2000),
    "planted groups": partial(blocks, n=800, m=500, groups=10, inside=0.15, outside=0.01),
    "planted tastes, 1M pairs": _LARGE,
    "planted tastes, a quarter of the users": partial(sample, of=_LARGE, users=0.25, pairs=1.0),
}
REPORTED: dict[str, Loader] = {
    "MovieLens-small, all": partial(latest, least=0),
    "MovieLens-small, ≥ 4": partial(latest, least=4),
    "Flixster, all": partial(flixster, least=0),
    "Flixster, ≥ 4": partial(flixster, least=4),
    "Microsoft web": partial(stored, name="msweb", file="visits_bool_csr.npz"),
    "Jester, > 0": jester,
    "Amazon access": access,
    "permissions, americas large": partial(stored, name="role-mining", file="americas_large_csr.npz"),
    "permissions, customer": partial(stored, name="role-mining", file="customer_csr.npz"),
    "permissions, firewall": partial(stored, name="role-mining", file="firewall1_csr.npz"),
    "Reuters words": reuters,
    "AP words": partial(stored, name="ap", file="ap_counts_csr.npz"),
    "mushroom": partial(stored, name="boolean-fimi", file="mushroom_csr.npz"),
    "planted tastes, weaker": partial(tastes, n=4000, m=2500, mean=100.0, k=10, strength=1.2, seed=2),
    "planted groups, denser": partial(blocks, n=2000, m=300, groups=6, inside=0.3, outside=0.05),
}
