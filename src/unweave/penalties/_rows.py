"""The arithmetic of projections and shrinkages on 2-D float arrays, row by row, without checks.

Every function returns a new array of the dtype of `F`. Rows are first brought to a size of about one where squares or
sums could overflow or vanish.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg


def simplex(F: np.ndarray, total: float = 1.0) -> np.ndarray:
    """Each row onto {y >= 0, sum y = total}."""
    # Shifting a row changes nothing, and entries more than `total` below the largest end at 0 anyway: so values stay in
    # [-1, 0], no sum overflows, and the largest entry always ends above 0. Halves: the difference itself may overflow.
    half = F * F.dtype.type(0.5)
    with np.errstate(over="ignore"):
        gap = (half - half.max(axis=1, keepdims=True)) / F.dtype.type(0.5 * total)
    v = np.maximum(gap, -1)
    u = np.sort(v, axis=1)[:, ::-1]
    sums = np.cumsum(u, axis=1, dtype=np.float64) - 1
    last = np.count_nonzero(u * np.arange(1.0, F.shape[1] + 1) > sums, axis=1)[:, None] - 1
    theta = np.take_along_axis(sums, last, axis=1) / (last + 1)
    return np.maximum(v - theta.astype(F.dtype), 0) * F.dtype.type(total)


def l1_ball(F: np.ndarray, radius: float) -> np.ndarray:
    """Each row onto {sum |y| <= radius}."""
    size = np.abs(F)
    outside = size.sum(axis=1, dtype=np.float64) > radius
    out = F.copy()
    if outside.any():
        shrunk = simplex(size[outside], radius)
        out[outside] = np.where((F[outside] < 0) & (shrunk > 0), -shrunk, shrunk)
    return out


def row_norms(F: np.ndarray) -> np.ndarray:
    """Euclidean length of each row as a column of the dtype of `F`, without overflow."""
    top = np.abs(F).max(axis=1, keepdims=True)
    top[top == 0] = 1
    return top * np.sqrt(np.square(F / top).sum(axis=1, keepdims=True))


def stretched(F: np.ndarray, sizes: np.ndarray, size: float) -> np.ndarray:
    """Each row at another size than those given; a zero row stays."""
    sizes = sizes.reshape(-1, 1)
    return np.divide(F, sizes, out=np.zeros_like(F), where=sizes > 0, casting="same_kind") * F.dtype.type(size)


def l2_ball(F: np.ndarray, radius: float) -> np.ndarray:
    """Each row onto {||y|| <= radius}."""
    r = F.dtype.type(radius)
    top = np.maximum(np.abs(F).max(axis=1, keepdims=True), r)
    scaled = F / top
    norms = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    outside = norms > r / top
    return np.where(outside, scaled / np.where(outside, norms, 1) * r, F)


def sphere(F: np.ndarray) -> np.ndarray:
    """Each row onto {||y|| = 1}; a zero row becomes the first unit vector."""
    top = np.abs(F).max(axis=1, keepdims=True)
    zero = top[:, 0] == 0
    top[zero] = 1
    scaled = F / top
    scaled[zero, 0] = 1
    return scaled / np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))


def nonnegative_sphere(F: np.ndarray) -> np.ndarray:
    """Each row onto {y >= 0, ||y|| = 1}; one without a positive entry becomes 1 at its largest (the first on ties)."""
    return np.where(F.max(axis=1, keepdims=True) > 0, sphere(np.maximum(F, 0)), onehot(F))


def sparse(F: np.ndarray, nonzeros: int) -> np.ndarray:
    """Each row's `nonzeros` largest entries in size, the first on ties; 0 elsewhere."""
    if nonzeros >= F.shape[1]:
        return F.copy()
    # A stable sort, so that the first of equal entries wins.
    keep = np.argsort(-np.abs(F), axis=1, kind="stable")[:, :nonzeros]
    out = np.zeros_like(F)
    np.put_along_axis(out, keep, np.take_along_axis(F, keep, axis=1), axis=1)
    return out


def boolean(F: np.ndarray) -> np.ndarray:
    """1 where an entry is above 1/2, else 0."""
    return (F > 0.5).astype(F.dtype)


def onehot(F: np.ndarray) -> np.ndarray:
    """1 at each row's largest entry, the first on ties; 0 elsewhere."""
    out = np.zeros_like(F)
    out[np.arange(F.shape[0]), F.argmax(axis=1)] = 1
    return out


def soft(F: np.ndarray, threshold: np.ndarray | float) -> np.ndarray:
    """sign(F) max(|F| - threshold, 0), `threshold` of the dtype of `F`."""
    # F minus F clipped to +-threshold: one pass less than the formula, and no negative zero.
    return F - np.clip(F, -threshold, threshold)


def svd(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thin singular value decomposition; the slower driver steps in where the fast one does not converge."""
    try:
        return scipy.linalg.svd(F, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:
        return scipy.linalg.svd(F, full_matrices=False, check_finite=False, lapack_driver="gesvd")


def orthonormal(F: np.ndarray) -> np.ndarray:
    """The polar factor: orthonormal columns, or rows if there are fewer of them."""
    u, _, vt = svd(F)
    return u @ vt


def shrink(F: np.ndarray, threshold: float) -> np.ndarray:
    """Singular values lowered by `threshold`, to 0 at least."""
    u, s, vt = svd(F)
    return (u * np.maximum(s - F.dtype.type(threshold), 0)) @ vt
