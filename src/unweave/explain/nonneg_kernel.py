"""Kernels for models that need inner products only: by name, as a function, or as a table of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.table import check_table
from unweave.explain.nonneg_gram import symmetric

NAMES = ("linear", "rbf", "polynomial", "sigmoid", "cosine", "laplacian", "chi2")


def check_kernel(kernel) -> None:
    """Raise unless `kernel` is None, "precomputed", a known name or a function of two tables."""
    if kernel is None or callable(kernel) or (isinstance(kernel, str) and kernel in ("precomputed", *NAMES)):
        return
    raise ValueError(
        f"kernel={kernel!r} is not known; use None, 'precomputed', one of {', '.join(NAMES)}, or a function of two "
        "tables"
    )


def dense_rows(estimator, X, *, reset: bool) -> NDArray:
    """A checked table as an array."""
    values = check_table(estimator, X, None, reset=reset).values
    return values.toarray() if sp.issparse(values) else values  # type: ignore[union-attr]


def training_table(kernel, X: NDArray) -> NDArray:
    """Inner products of all rows, checked to be such."""
    if isinstance(kernel, str) and kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square table of inner products, got the shape {X.shape}")
    K = X if isinstance(kernel, str) and kernel == "precomputed" else between(kernel, X, X)
    diagonal = np.diag(K)
    slack = 100 * np.finfo(K.dtype).eps * max(float(np.abs(K).max(initial=0)), np.finfo(K.dtype).tiny)
    if np.abs(K - K.T).max(initial=0) > 1e3 * slack:
        raise ValueError("kernel: the table of inner products must be symmetric")
    most = np.outer(diagonal, diagonal) + 1e3 * slack * np.abs(K).max(initial=0)
    if (diagonal < -slack).any() or (np.square(K) > most).any():
        raise ValueError(
            f"kernel: these are not inner products (k(x, y)² is above k(x, x)·k(y, y) somewhere){_instead(kernel)}"
        )
    return np.ascontiguousarray(symmetric(K), dtype=K.dtype)


def _instead(kernel) -> str:
    if isinstance(kernel, str) and kernel == "sigmoid":
        return "; tanh is one for few tables only: use 'rbf' or 'cosine', or a function with another slope and offset"
    return ""


def between(kernel, X: NDArray, rows: NDArray) -> NDArray:
    """Inner products of the rows of X with `rows`."""
    if callable(kernel):
        K = np.asarray(kernel(X, rows))
    else:
        from sklearn.metrics.pairwise import pairwise_kernels

        K = pairwise_kernels(X, rows, metric=kernel)
    if K.shape != (len(X), len(rows)):
        raise ValueError(f"kernel must give a table of the shape {(len(X), len(rows))}, got {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("kernel gave numbers that are not finite")
    return np.ascontiguousarray(K, dtype=X.dtype)
