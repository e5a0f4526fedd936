"""Objectives from the answer alone, in float64: the same judge for ours and for every peer."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

BLOCK = 4096


def squared(X: Any, W: Any, H: Any) -> float:
    """½‖X − W·H‖², summed over blocks of rows; a sparse X is never made dense."""
    W, H = np.asarray(W, np.float64), np.asarray(H, np.float64)
    if sp.issparse(X):
        X = X.astype(np.float64)
        cross = np.sum((X @ H.T) * W)
        return 0.5 * float(X.multiply(X).sum() - 2 * cross + np.sum((W.T @ W) * (H @ H.T)))
    total = 0.0
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        total += float(np.sum((X[part].astype(np.float64) - W[part] @ H) ** 2))
    return 0.5 * total


def kl(X: sp.csr_matrix, W: Any, H: Any) -> float:
    """Σ x·log(x/p) − x + p with p = W·H; the logarithm is needed at the stored entries only."""
    W, H = np.asarray(W, np.float64), np.asarray(H, np.float64)
    Ht = np.ascontiguousarray(H.T)
    total = float(W.sum(axis=0) @ H.sum(axis=1))
    for start in range(0, X.shape[0], 512):
        part = X[start : start + 512].tocoo()
        x = part.data.astype(np.float64)
        p = np.einsum("ek,ek->e", W[start + part.row], Ht[part.col])
        total += float(np.sum(x * np.log(x / np.maximum(p, 1e-300)) - x))
    return total


def clustering(X: np.ndarray, centres: Any) -> float:
    """½·Σ min_c ‖x − c‖²: every row at its nearest centre, whatever labels were handed back."""
    C = np.asarray(centres, np.float64)
    half = 0.5 * np.sum(C * C, axis=1)
    total = 0.0
    for start in range(0, len(X), BLOCK):
        part = X[start : start + BLOCK].astype(np.float64)
        total += 0.5 * float(np.sum(part * part)) + float(np.sum(np.min(half - part @ C.T, axis=1)))
    return total


def subspace(X: Any, components: Any, mean: np.ndarray | None = None) -> float:
    """½‖X − X·V·Vᵀ‖² with V an orthonormal basis of the components' span; a mean is taken off X first."""
    V = np.linalg.qr(np.asarray(components, np.float64).T)[0]
    shift = 0.0 if mean is None else mean @ V
    total = 0.0
    for start in range(0, X.shape[0], BLOCK):
        part = X[start : start + BLOCK].astype(np.float64)
        total += _squares(part, mean) - float(np.sum((part @ V - shift) ** 2))
    return 0.5 * total


def _squares(part: Any, mean: np.ndarray | None) -> float:
    if sp.issparse(part):
        return float(np.sum(part.data**2))
    return float(np.sum((part if mean is None else part - mean) ** 2))


def rmse(predicted: Any, actual: Any) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((np.asarray(predicted, np.float64) - np.asarray(actual, np.float64)) ** 2)))
