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
    Q, total = S, np.eye(S.shape[1])
    for turn in range(2):
        G = gram(Q)
        R, inverse = _root(G, np.finfo(S.dtype).eps, floor if turn == 0 else 0.0)
        total = R @ total
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


def _split(V: np.ndarray, S: np.ndarray, largest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``S = V C + Q R`` with Q orthonormal and orthogonal to V; what is left at the level of rounding is dropped.

    A direction of which little was left has been stretched to length 1, rounding errors along V included, and A^T A
    would multiply these by s_1^2. So Q is measured against V and cleaned until they are gone.
    """
    eps = float(np.finfo(S.dtype).eps)
    C = cross(V, S)
    floor = 10 * eps * max(largest, float(np.linalg.norm(C, axis=0).max(initial=0.0)))
    Q, R = orthonormalise(S - matmul(V, C.astype(S.dtype)), floor)
    for _ in range(3):
        extra = cross(V, Q)
        if np.abs(extra).max(initial=0.0) <= 20 * eps:
            break
        C += extra @ R
        Q, again = orthonormalise(Q - matmul(V, extra.astype(S.dtype)))
        R = again @ R
    return C, Q, R


def _start_block(operator, width: int, rng: np.random.Generator) -> np.ndarray:
    """An orthonormal block of ``A^T`` times random numbers: half a step ahead of random numbers alone."""
    n, m = operator.shape
    start = rng.standard_normal((n, width)).astype(operator.dtype)
    block = orthonormalise(operator.tdot(start))[0]
    return block if block.shape[1] else _random_block(np.empty((m, 0), operator.dtype), width, rng)


def _random_block(V: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions orthogonal to V."""
    return _split(V, rng.standard_normal((len(V), width)).astype(V.dtype), 0.0)[1]


def _restart(V: np.ndarray, T: np.ndarray, values: np.ndarray, Y: np.ndarray, filled: int, keep: int) -> int:
    """Keep the best `keep` Ritz vectors as the new basis (in place); T becomes their values."""
    V[:, :keep] = matmul(V[:, :filled], np.ascontiguousarray(Y[:, :keep]).astype(V.dtype))
    T[:] = 0
    T[np.arange(keep), np.arange(keep)] = values[:keep]
    return keep


def _settled(former: np.ndarray, now: np.ndarray, tol: float, total: float, eps: float) -> bool:
    """Did the last step add less than `tol` to the values (mean of their relative gains) and to the objective?"""
    if len(former) < len(now):
        return False
    gains = now - former
    relative = gains / np.maximum(now, max(eps * now[0], np.finfo(np.float64).tiny))
    return bool(relative.mean() <= tol and gains.sum() <= max(tol * (total - now.sum()), 4 * eps * total))


def default_block(k: int) -> int:
    """Columns multiplied at once: narrow blocks reach higher degrees, wide ones use the memory bus better.

    Multiples of 16, because the sparse kernel works on whole vectors of numbers.
    """
    third = -(-k // 3)
    return 8 if third <= 8 else min(16 * -(-third // 16), 64)


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
) -> Ritz:
    """Top-k eigenpairs of A^T A, A given by ``operator.dot`` and ``operator.tdot``.

    The basis V = [V_1, V_2, ...] spans the Krylov space of A^T A on a random block; T = V^T A^T A V comes out of the
    orthogonalisation, and the Ritz residuals out of its last block, so no product is spent on checking. When V is full
    (`basis` columns) its best k + block Ritz vectors are kept and the rest dropped. It stops when every
    ``||A^T u_i - s_i v_i|| <= tol * s_i``, or when a step adds less than `tol` to the s_i^2, by the mean of their
    relative gains, and lowers the objective ``total - sum s_i^2`` by less than `tol` of it; `total` is ``||A||^2``.

    Reference: Musco and Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
    decomposition" (2015); Baglama and Reichel, "Restarted block Lanczos bidiagonalization methods" (2006).
    """
    rng = np.random.default_rng(0) if rng is None else rng
    m, eps = operator.shape[1], float(np.finfo(operator.dtype).eps)
    width = min(block or default_block(k), m)
    limit = min(m, max(basis or 6 * k, k + 3 * width))
    V, T = np.empty((m, limit), dtype=operator.dtype), np.zeros((limit, limit))
    fresh, probing = _start_block(operator, width, rng), False
    filled, steps, values = 0, 0, np.zeros(0)
    while True:
        first, filled, steps, former = filled, filled + fresh.shape[1], steps + 1, values[:k]
        V[:, first:filled] = fresh
        product = operator.tdot(operator.dot(fresh))
        C, fresh, R = _split(V[:, :filled], product, former.max(initial=0.0))
        T[:filled, first:filled] = C
        T[first:filled, :filled] = C.T
        values, Y = linalg.eigh(T[:filled, :filled], check_finite=False)
        values, Y = np.maximum(values[::-1], 0.0), Y[:, ::-1]
        lengths = np.linalg.norm(R @ Y[first:filled, :k], axis=0)  # ||A^T A v - s^2 v||
        missing = min(width, m - filled) - fresh.shape[1]
        done = _settled(former, values[:k], tol, total, eps)
        if missing <= 0:
            done = done or bool(np.all(lengths <= np.maximum(tol * values[:k], 4 * eps * values[0])))
        converged = filled == m or (done and filled >= k and (probing or missing <= 0))
        if converged or (steps >= max_iter and filled >= k):
            break
        probing = missing > 0
        if probing:  # V is all but invariant, yet values repeated more often than the block is wide may lie outside
            fresh = np.hstack([fresh, _random_block(np.hstack([V[:, :filled], fresh]), missing, rng)])
        if limit == m:
            fresh = fresh[:, : m - filled]
        elif filled + fresh.shape[1] > limit:
            filled = _restart(V, T, values, Y, filled, min(k + width, limit - 2 * width))
    residuals = lengths / np.sqrt(np.maximum(values[:k], np.finfo(np.float64).tiny))
    return Ritz(matmul(V[:, :filled], Y[:, :k].astype(V.dtype)), values[:k], residuals, steps, converged)
