"""Singular triplets as a result, and how one side of them is made from the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SVDResult(NamedTuple):
    """``X - 1 shift^T ~ U diag(s) Vt``.

    `tail` is the sum of the squared singular values beyond k, `exact` says whether s are singular values of X up to
    rounding (gram, full) or lower bounds of them (krylov, power), `total` is ``||X - 1 shift^T||^2``.
    """

    U: np.ndarray | None
    s: np.ndarray
    Vt: np.ndarray
    tail: float
    exact: bool
    method: str
    shift: np.ndarray | None = None
    total: float = 0.0
    converged: bool = True


def unit_columns(W: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Columns of W at length 1; those of vanishing singular values become directions orthogonal to the others."""
    eps = np.sqrt(np.finfo(np.float64).eps) if W.dtype == np.float64 else np.finfo(np.float32).eps
    good = s > max(eps * s[0], 0.0) * 10
    lengths = np.sqrt(np.einsum("ij,ij->j", W, W, dtype=np.float64))
    unit = np.divide(W, np.where(good, lengths, 1.0), out=np.empty_like(W), casting="same_kind")
    for j in np.flatnonzero(~good):
        others = np.flatnonzero(good | (np.arange(len(s)) < j))
        unit[:, j] = _orthogonal_to(unit[:, others])
    return unit


def _orthogonal_to(Q: np.ndarray) -> np.ndarray:
    v = np.random.default_rng(0).standard_normal(len(Q))
    for _ in range(3):
        v = v - Q @ (Q.T @ v)
        v /= np.linalg.norm(v)
    return v
