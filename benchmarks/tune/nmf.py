"""How many inner sweeps, and does extrapolation pay? Time to scikit-learn's final objective from the same start.

    PYTHONPATH=src python -m benchmarks.tune.nmf dense              (squared loss, planted, 5000×2000, k=40)
    PYTHONPATH=src python -m benchmarks.tune.nmf tfidf --data DIR   (squared loss, 20 Newsgroups tf-idf, k=50)
    PYTHONPATH=src python -m benchmarks.tune.nmf counts --data DIR  (KL, 20 Newsgroups counts, k=50)

Ours and the peer alternate, and the best of `--rounds` counts. The peer runs with BLAS on 1 and on 2 threads. With
``--target`` the peer is left out (scikit-learn's KL takes minutes).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks import datasets
from unweave import parallel
from unweave.linalg.coordinate import coordinate_rows
from unweave.linalg.counts import kl_rows, multiply_rows
from unweave.linalg.products import matmul
from unweave.linalg.sparse import SparseProduct

Loop = Iterator[float]  # yields the objective after each iteration


class Products:
    """X·B and Xᵀ·B for dense and sparse X, and ‖X‖²; the seconds they take are added up."""

    def __init__(self, X):
        self.sparse = SparseProduct(X) if sparse.issparse(X) else None
        self.X, self.seconds = X, 0.0
        self.squared = self.sparse.squared_norm() if self.sparse else float(np.vdot(X, X.astype(np.float64)))
        if self.sparse:
            self.transposed = self.sparse.columns  # the copy is made before the clock starts

    def right(self, B: np.ndarray) -> np.ndarray:
        return self._timed(lambda: self.sparse.dot(B) if self.sparse else matmul(self.X, B))

    def left(self, B: np.ndarray) -> np.ndarray:
        return self._timed(lambda: self.sparse.tdot(B) if self.sparse else matmul(self.X.T, B))

    def _timed(self, call: Callable[[], np.ndarray]) -> np.ndarray:
        begin = time.perf_counter()
        answer = call()
        self.seconds += time.perf_counter() - begin
        return answer


def error(squared: float, A: np.ndarray, B: np.ndarray, F: np.ndarray) -> float:
    """1/2 ‖X - F Gᵀ‖² from A = X G and B = GᵀG."""
    cross = np.einsum("ij,ij->", A, F, dtype=np.float64)
    return 0.5 * squared - float(cross) + 0.5 * float(np.vdot(B.astype(np.float64), F.T @ F))


def hals(products: Products, U: np.ndarray, Z: np.ndarray, sweeps: int, drop: float) -> Loop:
    """Alternate; at most `sweeps` inner sweeps, a row stops when its change falls below `drop` of its first."""
    while True:
        U, _ = coordinate_rows(products.right(Z), Z.T @ Z, U, sweeps=sweeps, drop=drop)
        A, B = products.left(U), U.T @ U
        Z, _ = coordinate_rows(A, B, Z, sweeps=sweeps, drop=drop)
        yield error(products.squared, A, B, Z)


def extrapolated(
    products: Products,
    U: np.ndarray,
    Z: np.ndarray,
    sweeps: int,
    drop: float,
    beta: float = 0.5,
    grow: float = 1.01,
    slack: float = 1.005,
    shrink: float = 1.5,
) -> Loop:
    """Ang & Gillis (2019) with projection: the left factor is found at the extrapolated right one, and the pair of
    them is feasible, its objective free. A pair that is worse than the last is dropped and `beta` falls."""
    best, limit = np.inf, 1.0
    Uy, Uold, Zy, Zold, kept = U, U, Z, Z, (U, Z)
    while True:
        Znew, _ = coordinate_rows(products.left(Uy), Uy.T @ Uy, Zy, sweeps=sweeps, drop=drop)
        Ztry = np.maximum(Znew + Znew.dtype.type(beta) * (Znew - Zold), 0)
        A, B = products.right(Ztry), Ztry.T @ Ztry
        Unew, _ = coordinate_rows(A, B, Uy, sweeps=sweeps, drop=drop)
        now = error(products.squared, A, B, Unew)
        if now > best:
            (Uy, Zy), limit, beta = kept, beta, beta / shrink
            Uold, Zold = Uy, Zy
        else:
            Uy = np.maximum(Unew + Unew.dtype.type(beta) * (Unew - Uold), 0)
            Uold, Zold, Zy, kept, best = Unew, Znew, Ztry, (Unew, Ztry), now
            beta, limit = min(limit, grow * beta), min(1.0, slack * limit)
        yield best


def kl(products: Products, U: np.ndarray, Z: np.ndarray, update: Callable, passes: int) -> Loop:
    values = np.empty(len(Z))
    while True:
        U = update(*products.sparse.rows, Z, U, Z.sum(axis=0, dtype=np.float64), 0.0, 0.0, passes)
        Z = update(*products.sparse.columns, U, Z, U.sum(axis=0, dtype=np.float64), 0.0, 0.0, passes, values=values)
        yield float(values.sum())


def run(loop: Loop, target: float, limit: float = 20.0) -> tuple[float, int, float]:
    """Seconds and iterations until the objective is at most `target`; and the objective."""
    begin = time.perf_counter()
    with parallel.single_blas():
        for iteration, value in enumerate(loop, 1):
            seconds = time.perf_counter() - begin
            if value <= target or seconds > limit:
                return (seconds if value <= target else np.inf), iteration, value
    raise AssertionError("the loops never end by themselves")


def peer(X, U: np.ndarray, Z: np.ndarray, loss: str, threads: int) -> tuple[float, int, float]:
    from sklearn.decomposition import NMF

    model = NMF(U.shape[1], init="custom", solver="cd" if loss == "frobenius" else "mu", beta_loss=loss, max_iter=200)
    start = U.copy(), np.ascontiguousarray(Z.T)
    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        model.fit_transform(X, W=start[0], H=start[1])
        seconds = time.perf_counter() - begin
    return seconds, model.n_iter_, 0.5 * model.reconstruction_err_**2


def load(kind: str, folder: Path, dtype: type):
    if kind == "dense":
        X, k = datasets.planted_nonnegative(5000, 2000, 40), 40
    else:
        counts, k = datasets.newsgroups(folder), 50
        X = counts if kind == "counts" else datasets.tfidf(counts)
    X = X.astype(dtype)
    W, H = datasets.nonnegative_start(X, k)
    return X, W.astype(dtype), np.ascontiguousarray(H.T, dtype=dtype)


def contenders(kind: str) -> dict[str, Callable[[Products, np.ndarray, np.ndarray], Loop]]:
    if kind == "counts":
        choices = [("multiply", multiply_rows, 1), *(("coordinate", kl_rows, n) for n in (1, 2, 3))]
        return {f"{name} ×{n}": lambda P, U, Z, f=f, n=n: kl(P, U, Z, f, n) for name, f, n in choices}
    table = {}
    for name, method in (("hals", hals), ("extrapolated", extrapolated)):
        for sweeps, drop in ((1, 0.0), (2, 0.0), (4, 0.1), (8, 0.01), (20, 0.01)):
            label = f"{name} sweeps={sweeps} drop={drop}"
            table[label] = lambda P, U, Z, m=method, s=sweeps, d=drop: m(P, U, Z, s, d)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["dense", "tfidf", "counts"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--target", type=float)
    options = parser.parse_args()
    X, U, Z = load(options.kind, options.data, np.dtype(options.dtype).type)
    products, table = Products(X), contenders(options.kind)
    for loop in table.values():
        run(loop(products, U, Z), np.inf)
    best: dict[str, tuple] = {}
    target, loss = options.target, "kullback-leibler" if options.kind == "counts" else "frobenius"
    for _ in range(options.rounds):
        for threads in () if options.target else (1, 2):
            found = peer(X, U, Z, loss, threads)
            target = found[2] if target is None else target
            best["peer"] = min(best.get("peer", (np.inf,)), (*found, 0.0))
        for name, loop in table.items():
            products.seconds = 0.0
            found = run(loop(products, U, Z), target)
            found = (*found, products.seconds)
            best[name] = min(best.get(name, found), found)
    print(f"{options.kind} {options.dtype}: target {target:.8g}")
    for name, (seconds, iterations, value, inside) in best.items():
        ratio = best["peer"][0] / seconds if "peer" in best else np.nan
        print(f"  {name:34s} {seconds:8.3f} s {iterations:4d} it  {value:.8g}  products {inside:.3f} s  ×{ratio:.1f}")


if __name__ == "__main__":
    main()
