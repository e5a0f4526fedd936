"""Data of the rows: read from the folder given, or made here from a fixed seed."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Missing


def need(folder: Path, *names: str) -> Path:
    """The first of the files asked for; all must be there."""
    for name in names:
        if not (folder / name).is_file():
            raise Missing(f"{folder / name} is not there (pass --data FOLDER, or make bench DATA=FOLDER)")
    return folder / names[0]


def fashion(folder: Path, rows: int | None = None) -> np.ndarray:
    """Fashion-MNIST's training images as float32 in [0, 1], one a row."""
    path = need(folder / "fashion-mnist", "train-images-idx3-ubyte.gz")
    with gzip.open(path) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    return np.ascontiguousarray(pixels[:rows], np.float32) / np.float32(255)


def newsgroups(folder: Path, rows: int | None = None) -> sp.csr_matrix:
    """Word counts of 20 Newsgroups' training posts, words of two posts at least, float32."""
    path = need(folder / "20newsgroups", "train_counts_csr.npz")
    counts = sp.csr_matrix(sp.load_npz(path))[:rows].astype(np.float32)
    counts = counts[:, counts.getnnz(axis=0) >= 2]
    counts = counts[counts.getnnz(axis=1) > 0]
    return sp.csr_matrix(counts)


def tfidf(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Smoothed tf-idf with rows of length one (scikit-learn's defaults)."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_matrix(TfidfTransformer().fit_transform(counts)).astype(np.float32)


def documents(n: int, m: int, nonzeros: int, topics: int = 200, seed: int = 0) -> sp.csr_matrix:
    """A sparse table like text: Zipf's law over the columns, `topics` hidden topics, float32, about `nonzeros` stored.

    Each row mixes two topics with the common vocabulary; each topic prefers its own shuffle of the columns.
    """
    rng = np.random.default_rng(seed)
    draws = int(nonzeros * 1.2 / n)
    own = rng.integers(0, topics, (n, 2))
    which = rng.integers(0, 3, (n, draws))  # common vocabulary, first topic, second topic
    # Inverse-CDF draws of a Zipf-like rank, then a topic's ranks are shifted to its own stretch of the columns.
    rank = np.minimum((m ** rng.random((n, draws)) - 1).astype(np.int64), m - 1)
    shift = rng.integers(0, m, topics + 1)
    shift[topics] = 0
    topic = np.where(which == 0, topics, np.take_along_axis(own, np.maximum(which - 1, 0), axis=1))
    columns = (rank + shift[topic]) % m
    rows = np.repeat(np.arange(n), draws)
    X = sp.csr_matrix((np.ones(n * draws, np.float32), (rows, columns.ravel())), shape=(n, m))
    X.sum_duplicates()
    X.data = 1 + np.log(X.data)
    weight = np.log((1 + n) / (1 + X.getnnz(axis=0))).astype(np.float32) + 1
    X.data *= weight[X.indices]
    return X


def planted_nonnegative(n: int, m: int, k: int, seed: int = 0) -> np.ndarray:
    """Sparse non-negative codes times non-negative components plus a little non-negative noise, float32."""
    rng = np.random.default_rng(seed)
    U = rng.gamma(0.5, 1.0, (n, k))
    Z = rng.gamma(0.5, 1.0, (k, m))
    noise = np.abs(rng.standard_normal((n, m), np.float32))
    return (U @ Z).astype(np.float32) + np.float32(0.1 * k / 4) * noise


def nonnegative_start(X: np.ndarray | sp.csr_matrix, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random non-negative factors of the right scale: √(mean(X)/k)·|normal|, as scikit-learn's ``init="random"``."""
    rng = np.random.default_rng(seed)
    scale = np.sqrt(X.mean() / k)
    W, H = (np.abs(scale * rng.standard_normal(shape)) for shape in ((X.shape[0], k), (k, X.shape[1])))
    return W.astype(np.float32), H.astype(np.float32)


def blobs(n: int, m: int, groups: int, seed: int = 0) -> np.ndarray:
    """Overlapping Gaussian groups of unequal size and spread, float32."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.standard_normal((groups, m))
    share = rng.dirichlet(np.full(groups, 2.0))
    label = rng.choice(groups, n, p=share)
    spread = rng.uniform(0.5, 1.5, groups).astype(np.float32)
    noise = rng.standard_normal((n, m), np.float32)
    return centres.astype(np.float32)[label] + spread[label, None] * noise


def ratings(n: int, m: int, count: int, k: int = 12, seed: int = 0) -> sp.coo_matrix:
    """Ratings 1…5 shaped like MovieLens-1M: popularity by a power law, biases, `k` hidden tastes, noise."""
    rng = np.random.default_rng(seed)
    activity, fame = rng.lognormal(0, 1.0, n), (1 + np.arange(m)) ** -0.8
    user = rng.choice(n, int(1.6 * count), p=activity / activity.sum())
    item = rng.choice(m, int(1.6 * count), p=fame / fame.sum())
    pairs = np.unique(user.astype(np.int64) * m + item)
    pairs = rng.permutation(pairs)[:count]
    user, item = pairs // m, pairs % m
    P, Q = (rng.standard_normal((side, k)) / k**0.25 for side in (n, m))
    taste = np.einsum("rk,rk->r", P[user], Q[item])
    level = 3.6 + 0.45 * rng.standard_normal(n)[user] + 0.45 * rng.standard_normal(m)[item]
    stars = np.clip(np.rint(level + 0.45 * taste + 0.8 * rng.standard_normal(len(user))), 1, 5)
    return sp.coo_matrix((stars.astype(np.float32), (user, item)), shape=(n, m))


def split(table: sp.coo_matrix, share: float = 0.1, seed: int = 1) -> tuple[sp.coo_matrix, sp.coo_matrix]:
    """Random training and held-out entries."""
    held = np.random.default_rng(seed).random(table.nnz) < share
    return _entries(table, ~held), _entries(table, held)


def _entries(table: sp.coo_matrix, keep: np.ndarray) -> sp.coo_matrix:
    return sp.coo_matrix((table.data[keep], (table.row[keep], table.col[keep])), shape=table.shape)


def movielens_fold(folder: Path, fold: int = 1) -> tuple[sp.coo_matrix, sp.coo_matrix]:
    """MovieLens-100K: everything but an official test fold, and that fold."""
    folder = folder / "movielens-100k"
    need(folder, "u.data.gz", f"u{fold}.test.gz")
    whole, test = (np.loadtxt(folder / name, dtype=np.int64)[:, :3] for name in ("u.data.gz", f"u{fold}.test.gz"))
    held = np.isin(whole[:, 0] * 10_000 + whole[:, 1], test[:, 0] * 10_000 + test[:, 1])
    table = sp.coo_matrix((whole[:, 2].astype(np.float32), (whole[:, 0] - 1, whole[:, 1] - 1)))
    return _entries(table, ~held), _entries(table, held)
