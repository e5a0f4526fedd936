"""Time to an equal or lower objective: our SVD against scikit-learn's and SciPy's, on the same data in one run.

    python benchmarks/tune/svd.py pca <folder with Fashion-MNIST's train-images-idx3-ubyte.gz>
    python benchmarks/tune/svd.py sparse [--dtype float64] [--tol 1e-5] [--peers randomized arpack propack lobpcg]
    python benchmarks/tune/svd.py products

Ours and a peer's runs alternate, and the best of each counts; peers run with one and with two BLAS threads.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import svds
from sklearn.decomposition import PCA, TruncatedSVD
from threadpoolctl import threadpool_limits

from unweave import parallel
from unweave.linalg.products import gram
from unweave.linalg.sparse import SparseProduct
from unweave.solve.svd import truncated_svd


def seconds(call) -> tuple[float, object]:
    """Wall time of one call, and its answer."""
    start = time.perf_counter()
    answer = call()
    return time.perf_counter() - start, answer


def least_objective(X, V: np.ndarray, total: float, mean=None) -> float:
    """``1/2 ||X - mean - codes V^T||^2`` with the best codes for V (columns, any basis), in float64."""
    V = linalg.qr(np.asarray(V, dtype=np.float64), mode="economic")[0]
    explained = 0.0
    for start, stop in parallel.chunks(X.shape[0], 8192):
        W = X[start:stop].astype(np.float64) @ V
        explained += float(np.sum((W if mean is None else W - mean @ V) ** 2))
    return 0.5 * (total - explained)


def compare(ours, peers: dict, objective, repeats: int) -> None:
    """Alternate ours with every peer at one and two BLAS threads and print the best times."""
    ours()
    for name, peer in peers.items():
        times, theirs = [], {1: [], 2: []}
        V = V_peer = None
        for _ in range(repeats):
            for threads in (1, 2):
                with threadpool_limits(threads, user_api="blas"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    spent, V_peer = seconds(peer)
                theirs[threads].append(spent)
                spent, V = seconds(ours)
                times.append(spent)
        best = min(min(theirs[1]), min(theirs[2]))
        mine, other = objective(V), objective(V_peer)
        verdict = "not worse" if mine <= other * (1 + 1e-7) else "worse"
        print(
            f"{name:16s} ours {min(times):7.3f} s  peer {min(theirs[1]):7.3f} / {min(theirs[2]):7.3f} s (1/2 threads)  "
            f"{best / min(times):5.2f}x  objective {mine:.8g}, peer {other:.8g}: {verdict}",
            flush=True,
        )


def fashion(folder: Path) -> np.ndarray:
    """60,000 x 784 float32 in [0, 1]."""
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        raw = file.read()
    return (np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784) / 255).astype(np.float32)


def run_pca(folder: Path, k: int, repeats: int) -> None:
    """What PCA.fit needs: mean, components, singular values, total variance."""
    X = fashion(folder)
    mean = X.mean(axis=0, dtype=np.float64)
    total = sum(float(np.sum((X[a:b] - mean) ** 2)) for a, b in parallel.chunks(len(X), 8192))
    peers = {
        solver: lambda solver=solver: PCA(k, svd_solver=solver, random_state=0).fit(X).components_.T
        for solver in ("covariance_eigh", "randomized", "arpack", "full")
    }
    compare(
        lambda: truncated_svd(X, k, shift="mean", codes=False).Vt.T,
        peers,
        lambda V: least_objective(X, V, total, mean),
        repeats,
    )


def topic_matrix(n=100_000, m=50_000, nnz=5_000_000, topics=150, dtype=np.float32) -> sparse.csr_matrix:
    """tf-idf rows of documents: lengths and words follow power laws, each mixes two topics and common words."""
    rng = np.random.default_rng(0)
    lengths = np.minimum(rng.pareto(1.6, n) + 0.35, 40)
    lengths = np.maximum(3, lengths * nnz * 1.3 / lengths.sum()).astype(np.int64)
    size = int(lengths.sum())
    documents = np.repeat(np.arange(n), lengths)
    first, second, pick = rng.integers(0, topics, n), rng.integers(0, topics, n), rng.random(size)
    topic = np.where(pick < 0.4, first[documents], second[documents])
    common = np.minimum((m ** rng.random(size)).astype(np.int64), m - 1)
    own = (3000 ** rng.random(size)).astype(np.int64)
    special = (own * 7919 + topic * 337 + (topic * topic % 101) * 53) % m
    words = np.where(pick > 0.6, common, special)
    X = sparse.csr_matrix((np.ones(size), (documents, words)), shape=(n, m))
    X.sum_duplicates()
    X.data = (1 + np.log(X.data)) * np.log((1 + n) / (1 + np.bincount(X.indices, minlength=m)[X.indices]))
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags_array(1 / np.maximum(lengths, 1e-9)) @ X).astype(dtype)


def run_sparse(k: int, dtype: np.dtype, names: list[str], tol: float, repeats: int) -> None:
    """Truncated SVD of a sparse matrix, the transposed copy included in our time."""
    X = topic_matrix(dtype=dtype)
    total = float(np.sum(X.data.astype(np.float64) ** 2))
    print(f"{X.shape} {X.nnz} nonzeros {X.dtype}, k = {k}")

    def by_svds(solver):
        return svds(X, k=k, solver=solver, rng=np.random.default_rng(0), return_singular_vectors="vh")[2].T

    peers = {
        "randomized": lambda: TruncatedSVD(k, random_state=0).fit(X).components_.T,
        "sklearn arpack": lambda: TruncatedSVD(k, algorithm="arpack", random_state=0).fit(X).components_.T,
        **{solver: lambda solver=solver: by_svds(solver) for solver in ("arpack", "propack", "lobpcg")},
    }
    compare(
        lambda: truncated_svd(SparseProduct(X), k, tol=tol).Vt.T,
        {name: peers[name] for name in names},
        lambda V: least_objective(X, V, total),
        repeats,
    )


def run_products(repeats: int) -> None:
    """X @ B and X.T @ B against SciPy, and the Gram against numpy's."""
    for dtype in (np.float32, np.float64):
        X = topic_matrix(dtype=dtype)
        product, rng = SparseProduct(X), np.random.default_rng(0)
        print(f"transposed copy {seconds(lambda p=product: p.columns)[0]:.3f} s")
        for k in (1, 8, 16, 32, 64, 110, 256, 512):
            B, C = (rng.standard_normal((side, k)).astype(dtype) for side in X.shape[::-1])
            calls = [lambda: product.dot(B), lambda: X @ B, lambda: product.tdot(C), lambda: X.T @ C]  # noqa: B023
            best = np.min([[seconds(call)[0] for call in calls] for _ in range(repeats)], axis=0)
            print(
                f"{np.dtype(dtype).name} k={k:3d}  dot {best[0]:.4f} s {best[1] / best[0]:.1f}x   "
                f"tdot {best[2]:.4f} s {best[3] / best[2]:.1f}x",
                flush=True,
            )
    A = np.random.default_rng(0).standard_normal((60_000, 784)).astype(np.float32)
    with parallel.single_blas():
        ours = min(seconds(lambda: gram(A))[0] for _ in range(repeats))
        numpy_one = min(seconds(lambda: A.T @ A)[0] for _ in range(repeats))
    numpy_two = min(seconds(lambda: A.T @ A)[0] for _ in range(repeats))
    print(f"gram 60,000 x 784 float32: ours {ours:.3f} s, numpy {numpy_one:.3f} / {numpy_two:.3f} s (1/2 threads)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pca", "sparse", "products"])
    parser.add_argument("folder", nargs="?", type=Path, help="folder with Fashion-MNIST, for pca")
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--peers", nargs="+", default=["randomized", "sklearn arpack", "arpack", "propack", "lobpcg"])
    parser.add_argument("--tol", type=float, default=1e-3, help="ours, for sparse: 1e-5 to match ARPACK's objective")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.what == "pca":
        if args.folder is None:
            parser.error("pca needs the folder with Fashion-MNIST")
        run_pca(args.folder, 50, args.repeats)
    elif args.what == "sparse":
        run_sparse(100, np.dtype(args.dtype), args.peers, args.tol, args.repeats)
    else:
        run_products(args.repeats)


if __name__ == "__main__":
    main()
