"""Compute covariances of every shape: from moments to covariances, to factors of precisions, and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

SHAPES = ("full", "tied", "diag", "spherical")
_LEAST = 1e-10  # eigenvalues of a correlation that rounding made singular are lifted to this


def dense(kind: str) -> bool:
    """Whether covariances between columns are kept."""
    return kind in ("full", "tied")


def shape_of(kind: str, k: int, d: int) -> tuple[int, ...]:
    """Return the shape of the array of covariances."""
    return {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]


def n_parameters(kind: str, k: int, d: int) -> int:
    """Count the free numbers of the covariances.

    >>> [n_parameters(kind, 2, 3) for kind in SHAPES]
    [12, 6, 6, 2]
    """
    return {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}[kind]


def scatters(count: NDArray, first: NDArray, second: NDArray) -> tuple[NDArray, NDArray]:
    """Compute (means, scatter about them) of each component from its moments about some point; 0 for empty ones."""
    mass = np.maximum(count, np.finfo(float).tiny)
    move = first / mass[:, None]
    if second.ndim == 3:
        scatter = second / mass[:, None, None] - move[:, :, None] * move[:, None, :]
        diagonal = np.einsum("kii->ki", scatter)
        diagonal[:] = np.maximum(diagonal, 0.0)
        return move, scatter
    return move, np.maximum(second / mass[:, None] - move**2, 0.0)


def covariances(kind: str, count: NDArray, scatter: NDArray, reg: float) -> NDArray:
    """Compute the most likely covariances of that shape, plus `reg` on the diagonal."""
    if kind == "spherical":
        return scatter.mean(axis=1) + reg
    if kind == "diag":
        return scatter + reg
    if kind == "tied":
        scatter = np.einsum("k,kij->ij", count / count.sum(), scatter)
    found = scatter.copy()
    np.einsum("...ii->...i", found)[:] += reg
    return found


def precision_factors(kind: str, found: NDArray) -> NDArray:
    """Compute upper T with T·T' = Σ⁻¹ of every covariance; for diagonal ones the roots of the precisions."""
    if not dense(kind):
        if not (found > 0).all():
            raise ValueError("a column is constant within a component and reg_covar is 0; raise reg_covar")
        return 1 / np.sqrt(found)
    if kind == "tied":
        return _factor(found)
    return np.stack([_factor(one) for one in found])


def _factor(covariance: NDArray) -> NDArray:
    """Factor one inverse covariance."""
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        lower = _second_try(covariance)
    return np.ascontiguousarray(solve_triangular(lower, np.eye(len(lower)), lower=True).T)


def _second_try(covariance: NDArray) -> NDArray:
    """Factor a covariance that rounding made singular, or raise an error with the remedy."""
    try:
        return np.linalg.cholesky(_lifted(covariance))
    except np.linalg.LinAlgError:
        raise ValueError(
            "the covariance of a component is not positive definite up to rounding: raise reg_covar, or centre and "
            "rescale X"
        ) from None


def _lifted(covariance: NDArray) -> NDArray:
    """Lift the eigenvalues of the correlation of a covariance that is too near to singular to at least 1e-10."""
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).all():
        raise ValueError("a column is constant within a component and reg_covar is 0; raise reg_covar")
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return (vectors * np.maximum(values, _LEAST * len(scale))) @ vectors.T * np.outer(scale, scale)


def precisions(kind: str, factors: NDArray) -> NDArray:
    """Compute inverse covariances, in the shape of the covariances."""
    return factors @ np.swapaxes(factors, -1, -2) if dense(kind) else factors**2


def each(kind: str, values: NDArray, k: int, d: int) -> NDArray:
    """Give covariances or their factors one per component: (k, d, d), or (k, d) for the diagonal kinds."""
    if kind == "tied":
        return np.broadcast_to(values, (k, d, d))
    return np.broadcast_to(values[:, None], (k, d)) if kind == "spherical" else values


def half_log_det(kind: str, factors: NDArray) -> NDArray:
    """Compute ½ log|Σ⁻¹| of each component, from the factors :func:`each` gave."""
    diagonal = np.einsum("kii->ki", factors) if dense(kind) else factors
    return np.log(diagonal).sum(axis=1)


def check_covariances(kind: str, given, k: int, d: int) -> NDArray[np.float64]:
    """Check covariances that a user gave: the right shape, symmetric and positive definite."""
    given = np.asarray(given, dtype=np.float64)
    if kind == "spherical" and given.ndim == 0:
        given = np.full(k, float(given))
    if given.shape != shape_of(kind, k, d):
        raise ValueError(f"covariances must have the shape {shape_of(kind, k, d)} ({kind}), got {given.shape}")
    if not np.isfinite(given).all():
        raise ValueError("covariances must be finite numbers")
    if not dense(kind):
        if not (given > 0).all():
            raise ValueError("covariances must be positive")
        return given
    every = given.reshape(-1, d, d)
    if not np.allclose(every, np.swapaxes(every, 1, 2)) or not (np.linalg.eigvalsh(every) > 0).all():
        raise ValueError("covariances must be symmetric and positive definite")
    return given
