"""Leading right singular vectors by block Lanczos on A^T A, every block kept and thick restarts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from unweave.linalg.products import cross, gram, matmul


class Ritz(NamedTuple):
    """What :func:`block_krylov` found: V (columns by k, orthonormal), s^2, ||A^T u - s v||, steps, reached tol?"""

    V: np.ndarray
    values: np.ndarray
    residuals: np.ndarray
    steps: int
    converged: bool


def orthonormalise(S: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """``S = Q R`` with orthonormal Q by Cholesky QR done twice; directions no longer than `floor` are dropped.

    Two passes over S with matrix products only, where Householder QR would be one column at a time. When S is nearly
    rank-deficient, Cholesky is replaced by the eigenvectors of S^T S and Q has fewer columns than S.

    Reference: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm" (2015).
    """
    Q, total = S, None
    for _ in range(2):
        G = gram(Q)
        R, inverse = _root(G, np.finfo(S.dtype).eps, floor if total is None else 0.0)
        total = R if total is None else R @ total
        Q = matmul(Q, inverse.astype(S.dtype))
    return Q, total


def _root(G: np.ndarray, eps: float, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """R with ``R^T R = G`` and its right inverse, of full row rank; Cholesky where that is safe."""
    scale = max(float(G.diagonal().max(initial=0.0)), floor**2)
    least = max(floor**2, 100 * eps * scale)
    R, failed = linalg.lapack.dpotrf(G, lower=0, clean=1)
    if not failed and len(R) and R.diagonal().min() ** 2 > least:
        return R, linalg.lapack.dtrtri(R, lower=0)[0]
    values, vectors = linalg.eigh(G, check_finite=False)
    # The eigenvectors of a float32 Gram are only good down to eps * scale; what is left is noise.
    keep = values > max(floor**2, 10 * eps * scale, np.finfo(np.float64).tiny)
    lengths, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return lengths[:, None] * vectors.T, vectors / lengths


def _project_out(V: np.ndarray, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``(S - V C, C)`` with ``C = V^T S``: once, and again where little of S is left and rounding would show."""
    C = cross(V, S)
    S = S - matmul(V, C.astype(S.dtype))
    left = np.einsum("ij,ij->j", S, S, dtype=np.float64)
    if np.any(left < 0.01 * (left + np.einsum("ij,ij->j", C, C))):
        again = cross(V, S)
        S = S - matmul(V, again.astype(S.dtype))
        C += again
    return S, C


def _fresh_block(operator, V: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions orthogonal to V: what goes on after an invariant subspace smaller than asked was found."""
    S = rng.standard_normal((operator.shape[1], width)).astype(operator.dtype)
    for _ in range(2):
        S = orthonormalise(_project_out(V, S)[0])[0]
    return S


def default_block(k: int) -> int:
    """Columns multiplied at once: narrow blocks reach higher degrees, wide ones use the memory bus better."""
    return int(min(max(8, -(-k // 3)), 64))


def block_krylov(
    operator,
    k: int,
    *,
    total: float,
    tol: float = 1e-3,
    max_iter: int = 200,
    rng: np.random.Generator | None = None,
    block: int | None = None,
    basis: int | None = None,
    watch=None,
) -> Ritz:
    """Top-k eigenpairs of A^T A, A given by ``operator.dot`` and ``operator.tdot``.

    The basis V = [V_1, V_2, ...] spans the Krylov space of A^T A on a random block; T = V^T A^T A V comes out of the
    orthogonalisation, and the Ritz residuals out of its last block, so no product is spent on checking. When V is full
    (`basis` columns) its best k + block Ritz vectors are kept and the rest dropped. It stops when every
    ``||A^T u_i - s_i v_i|| <= tol * s_i``, or when one step lowers the objective ``(total - sum s^2) / 2`` by less
    than ``tol / 100`` of itself; `total` is ``||A||^2``.

    Reference: Musco and Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
    decomposition" (2015); Baglama and Reichel, "Restarted block Lanczos bidiagonalization methods" (2006).
    """
    rng = np.random.default_rng(0) if rng is None else rng
    n, m = operator.shape
    width = min(block or default_block(k), m)
    limit = min(m, max(basis or 6 * k, k + 3 * width))
    eps = float(np.finfo(operator.dtype).eps)
    V = np.empty((m, limit), dtype=operator.dtype)
    T = np.zeros((limit, limit))
    start = rng.standard_normal((n, width)).astype(operator.dtype)
    fresh = orthonormalise(operator.tdot(start))[0]
    if fresh.shape[1] == 0:
        fresh = orthonormalise(rng.standard_normal((m, width)).astype(operator.dtype))[0]
    filled, captured, converged, step = 0, 0.0, False, 0
    for step in range(1, max_iter + 1):  # noqa: B007
        first, filled = filled, filled + fresh.shape[1]
        V[:, first:filled] = fresh
        basis_now = V[:, :filled]
        S, C = _project_out(basis_now, operator.tdot(operator.dot(fresh)))
        T[:filled, first:filled] = C
        T[first:filled, :filled] = C.T
        values, Y = linalg.eigh(T[:filled, :filled], check_finite=False)
        values, Y = np.maximum(values[::-1], 0.0), Y[:, ::-1]
        fresh, R = orthonormalise(S, floor=10 * eps * values[0])
        top = min(k, filled)
        lengths = np.linalg.norm(R @ Y[first:filled, :top], axis=0)
        residuals = lengths / np.sqrt(np.maximum(values[:top], np.finfo(np.float64).tiny))
        gain, captured = values[:top].sum() - captured, values[:top].sum()
        if watch is not None:
            watch(basis_now, values, Y, residuals, captured)
        if top == k:
            small = lengths <= np.maximum(tol, 4 * eps) * np.maximum(values[:k], eps * values[0])
            settled = first > 0 and gain <= 0.01 * tol * max(total - captured, 0.0)
            converged = bool(small.all()) or settled or filled == m
            if converged:
                break
        if fresh.shape[1] == 0 and filled < m:
            fresh = _fresh_block(operator, basis_now, min(width, m - filled), rng)
        if filled + fresh.shape[1] > limit:
            if limit == m:
                fresh = fresh[:, : m - filled]
            else:
                filled = _restart(V, T, values, Y, filled, min(k + width, limit - 2 * width))
    return Ritz(matmul(basis_now, Y[:, :k].astype(V.dtype)), values[:k], residuals, step, converged)


def _restart(V: np.ndarray, T: np.ndarray, values: np.ndarray, Y: np.ndarray, filled: int, keep: int) -> int:
    """Keep the best `keep` Ritz vectors as the new basis (in place); T becomes their values."""
    V[:, :keep] = matmul(V[:, :filled], np.ascontiguousarray(Y[:, :keep]).astype(V.dtype))
    T[:] = 0
    T[np.arange(keep), np.arange(keep)] = values[:keep]
    return keep
