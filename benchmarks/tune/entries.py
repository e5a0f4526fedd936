"""Time one ALS sweep over a rating table (exact and by conjugate gradients) against implicit's, interleaved.

    PYTHONPATH=src python benchmarks/tune/entries.py sweep --factors 64 --repeats 5
    PYTHONPATH=src python benchmarks/tune/entries.py parts

The table looks like MovieLens-1M: 6040 users x 3706 items, about a million ratings of 1 to 5, power-law counts, rank 10
and noise. implicit counts the missing entries in as zeros, so its answers differ; the work an entry is the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from unweave import parallel
from unweave.kernels.entries import gram_scratch, row_gram
from unweave.linalg import entries


def ratings(n: int = 6040, m: int = 3706, total: int = 1_000_000, rank: int = 10, seed: int = 0) -> sp.csr_matrix:
    """Users of at least 20 ratings with power-law counts, items drawn by power-law popularity, planted rank."""
    rng = np.random.default_rng(seed)
    share = (np.arange(n) + 100.0) ** -1.0
    counts = np.clip(20 + share / share.sum() * (total - 20 * n), 20, m // 2).astype(int)
    popularity = np.log((np.arange(m) + 60.0) ** -1.2)
    chosen = [np.argpartition(-(popularity + rng.gumbel(size=m)), c)[:c] for c in rng.permutation(counts)]
    indptr = np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
    users, items = np.repeat(np.arange(n), np.diff(indptr)), np.concatenate(chosen)
    left, right = rng.normal(size=(n, rank)), rng.normal(size=(m, rank))
    taste = 3.5 + 0.7 * (left[users] * right[items]).sum(axis=1) / np.sqrt(rank) + 0.5 * rng.normal(size=len(items))
    X = sp.csr_matrix((np.clip(np.round(taste), 1, 5).astype(np.float32), items, indptr), shape=(n, m))
    X.sort_indices()
    return X


def arrays(X: sp.csr_matrix) -> tuple:
    """indptr, indices, data, weights as the kernels take them."""
    return X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, np.empty(0, X.dtype)


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def best_of(calls: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Least time of each call, the calls taking turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call))
    return best


def ours(X: sp.csr_matrix, k: int) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    rows, columns = arrays(X), arrays(X.T.tocsr())
    U, V = (rng.normal(scale=0.1, size=(size, k)).astype(X.dtype) for size in X.shape)

    def exact():
        entries.solve_rows(*columns, entries.solve_rows(*rows, V, U, 5.0), V, 5.0)

    def steps():
        entries.descend_rows(*columns, entries.descend_rows(*rows, V, U, 5.0, 3), V, 5.0, 3)

    return {"exact": exact, "three steps": steps}


def peers(X: sp.csr_matrix, k: int, threads: int) -> dict[str, Callable[[], object]]:
    """implicit's half-steps, called as its ``fit`` calls them (its default is the first)."""
    try:
        from implicit.cpu import _als
    except ImportError:
        print("implicit is not installed: ours only")
        return {}
    rng = np.random.default_rng(0)
    X, turned = X.astype(np.float32), X.T.tocsr().astype(np.float32)
    U, V = (rng.random((size, k), dtype=np.float32) * 0.01 for size in X.shape)

    def gradients():
        _als.least_squares_cg(X, U, V, 0.05, num_threads=threads, cg_steps=3)
        _als.least_squares_cg(turned, V, U, 0.05, num_threads=threads, cg_steps=3)

    def cholesky():
        _als.least_squares(X, U, V, 0.05, num_threads=threads)
        _als.least_squares(turned, V, U, 0.05, num_threads=threads)

    return {"implicit cg": gradients, "implicit Cholesky": cholesky}


def sweep(k: int, repeats: int, dtype: str) -> None:
    X = ratings().astype(dtype)
    calls = ours(X, k)
    for call in calls.values():
        call()
    for threads in (1, 2):
        parallel.set_num_threads(threads)
        times = best_of(calls | peers(X, k, threads), repeats)
        print(f"k = {k}, {dtype}, {threads} thread(s): " + ", ".join(f"{n} {t:.3f} s" for n, t in times.items()))


def parts(repeats: int) -> None:
    """The Gram alone against the whole solve, by k: what is left is factorisation and solve."""
    X = ratings()
    parallel.set_num_threads(1)
    for k in (8, 16, 32, 64, 128, 256):
        table = arrays(X)
        H = np.random.default_rng(0).normal(size=(X.shape[1], k)).astype(X.dtype)
        F = np.zeros((X.shape[0], k), X.dtype)
        scratch = np.empty(gram_scratch(k), X.dtype)
        B, a = np.empty((k, k), X.dtype), np.empty(k, X.dtype)

        def grams(table=table, H=H, scratch=scratch, B=B, a=a):
            indptr, indices, data, weights = table
            for i in range(X.shape[0]):
                row_gram(indices, data, weights, indptr[i], indptr[i + 1], H, scratch, B, a)

        def whole(table=table, H=H, F=F):
            entries.solve_rows(*table, H, F, 5.0)

        grams()
        whole()
        times = best_of({"grams": grams, "solve_rows": whole}, repeats)
        print(f"k = {k}: " + ", ".join(f"{name} {took:.3f} s" for name, took in times.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["sweep", "parts"])
    parser.add_argument("--factors", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    options = parser.parse_args()
    with parallel.single_blas():
        if options.what == "sweep":
            sweep(options.factors, options.repeats, options.dtype)
        else:
            parts(options.repeats)


if __name__ == "__main__":
    main()
