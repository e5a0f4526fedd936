"""Make the graph of a spectral clustering, and find the smoothest functions on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.storage import stored
from unweave.group.kmeans.labels import one_hot
from unweave.parallel import get_num_threads

MOST_ROWS = 16_384  # a table of their affinities is 2 GiB
_SMALL = 600  # nodes up to which all eigenvectors are found at once


def for_copies(W: NDArray | sp.csr_array, copies: NDArray) -> NDArray | sp.csr_array:
    """Count the affinity to each distinct row as many times as there are rows equal to it."""
    return W if (copies == 1).all() else W @ sp.diags_array(copies)


def neighbour_table(rows: NDArray, X: NDArray, k: int) -> sp.csr_array:
    """Make the 0/1 table of the k nearest of `rows` for each row of X (itself among them, where it is one)."""
    from scipy.spatial import cKDTree

    k = min(k, len(rows))
    _, near = cKDTree(rows).query(X, k=list(range(1, k + 1)), workers=get_num_threads())
    ones, ends = np.ones(near.size), np.arange(0, near.size + 1, k)
    return sp.csr_array((ones, near.reshape(-1).astype(np.int32), ends), shape=(len(X), len(rows)))


def gaussian_table(rows: NDArray, X: NDArray, gamma: float) -> NDArray[np.float64]:
    """Compute exp(−γ‖x − y‖²) for each row of X and each of `rows`."""
    from scipy.spatial.distance import cdist

    return np.exp(-gamma * cdist(X.astype(np.float64), rows.astype(np.float64), "sqeuclidean"))


def asked_table(affinity: Callable, rows: NDArray, X: NDArray) -> NDArray[np.float64]:
    """Ask a function for the affinities of each row of X to each of `rows`."""
    W = np.asarray(affinity(X, rows), dtype=np.float64)
    if W.shape != (len(X), len(rows)):
        raise ValueError(f"affinity must give a table of the shape {(len(X), len(rows))}, got {W.shape}")
    if not np.isfinite(W).all() or (W < 0).any():
        raise ValueError("affinity must give numbers that are finite and not negative: use a Gaussian kernel, say")
    return W


def given_table(X, n: int | None) -> NDArray | sp.csr_array:
    """Check affinities that the user gave: not negative; square and symmetric unless `n` columns are expected."""
    W = X.astype(np.float64)
    values = stored(W)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("affinity='precomputed' needs affinities that are finite and not negative")
    if n is not None:
        return W
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"affinity='precomputed' needs a square table of affinities, got {W.shape[0]}×{W.shape[1]}")
    gap = abs(W - W.T)
    if float(gap.max()) > 1e-8 * max(1e-300, float(abs(W).max())):
        raise ValueError("affinity='precomputed' needs a symmetric table: pass (W + W.T) / 2")
    return W


def smoothest(W: NDArray | sp.csr_array, k: int, seed: int) -> tuple[NDArray, NDArray, int]:
    """Find the k largest eigenvalues of D⁻¹W and their eigenvectors f, and how many parts of the graph hang together.

    Eigenvectors are D-orthonormal: fᵀDf = 1. Each part has an eigenvalue 1 of its own, which one Krylov space would not
    tell apart: so parts are treated one by one. Of more than k parts the largest are taken.
    """
    W = sp.csr_array(W)
    parts, name = sp.csgraph.connected_components(W, directed=False)
    sizes = np.bincount(name, minlength=parts)
    found: list[tuple[float, int, NDArray, NDArray]] = []
    for part in np.lexsort((np.arange(parts), -sizes))[:k]:
        rows = np.flatnonzero(name == part)
        values, vectors = _part(W[rows][:, rows], min(k, len(rows)), seed)
        found += [(value, -len(rows), rows, vector) for value, vector in zip(values, vectors.T)]
    found.sort(key=lambda one: (-one[0], one[1], one[2][0]))
    F = np.zeros((W.shape[0], k))
    for j, (_, _, rows, vector) in enumerate(found[:k]):
        F[rows, j] = vector
    return np.array([one[0] for one in found[:k]]), F, parts


def _part(W: sp.csr_array, k: int, seed: int) -> tuple[NDArray, NDArray]:
    """Find the eigenpairs of one part that hangs together; the first value is 1 exactly."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    scale = sp.diags_array(1 / root)
    M = scale @ W @ scale
    if k > 1 and W.shape[0] > max(_SMALL, 4 * k):
        from scipy.sparse.linalg import eigsh

        start = np.random.default_rng(seed).standard_normal(W.shape[0])
        values, vectors = eigsh(M, k, which="LA", v0=start, tol=1e-8)
    else:
        from scipy.linalg import eigh

        n = W.shape[0]
        values, vectors = eigh(M.toarray(), subset_by_index=[n - k, n - 1])
    values, vectors = values[::-1].copy(), vectors[:, ::-1] / root[:, None]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[largest, np.arange(k)] < 0, -1.0, 1.0)
    values[0] = 1.0 if degree.any() else 0.0
    return values, vectors


def normalised_cut(W: NDArray | sp.csr_array, labels: NDArray, k: int) -> float:
    """Add up, over clusters, the share of the affinity that leaves the cluster (0 for a cluster without any)."""
    W = sp.csr_array(W)
    codes = one_hot(labels, k, np.float64)
    within = np.asarray((codes.T @ W @ codes).todense())
    volume = within.sum(axis=1)
    return float((1.0 - np.diag(within)[volume > 0] / volume[volume > 0]).sum())
