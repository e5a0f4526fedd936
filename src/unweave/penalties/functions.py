"""Projections and shrinkages as plain functions of a vector or of the rows of a matrix.

Each takes a 1-D array (one vector) or a 2-D array (one vector a row; lists are accepted), leaves it untouched and
returns a new array of the same shape; float32 stays float32. The checks are here, the arithmetic in ``_rows``.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from unweave.penalties import _rows


def _checked(F: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """`F` as 2-D floats, and its own shape."""
    try:
        F = np.asarray(F)
        F = F if F.dtype in (np.float32, np.float64) else F.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("F must be a vector or a matrix of numbers") from None
    if F.ndim not in (1, 2) or F.size == 0:
        raise ValueError(f"F must be a vector or a matrix with at least one entry, got the shape {F.shape}")
    if not np.isfinite(F).all():
        raise ValueError("F must be finite: it contains NaN or infinity")
    return np.atleast_2d(F), F.shape


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


def project_nonnegative(F: Any) -> np.ndarray:
    """Nearest point with no negative entry: max(F, 0).

    >>> project_nonnegative([1, -2])
    array([1., 0.])
    """
    F, shape = _checked(F)
    return np.maximum(F, 0).reshape(shape)


def project_simplex(F: Any, total: float = 1.0) -> np.ndarray:
    """Nearest point of {y >= 0, sum y = total}: max(F - theta, 0), theta found by sorting.

    Reference: Duchi et al., "Efficient projections onto the l1-ball", ICML 2008.

    >>> project_simplex([0.5, 1.5, -3.0])
    array([0., 1., 0.])
    """
    F, shape = _checked(F)
    return _rows.simplex(F, _positive(total, "total")).reshape(shape)


def project_l1_ball(F: Any, radius: float = 1.0) -> np.ndarray:
    """Nearest point of {sum |y| <= radius}. Reference: Duchi et al., ICML 2008.

    >>> project_l1_ball([3.0, -1.0], radius=2.0)
    array([2., 0.])
    """
    F, shape = _checked(F)
    return _rows.l1_ball(F, _positive(radius, "radius")).reshape(shape)


def project_l2_ball(F: Any, radius: float = 1.0) -> np.ndarray:
    """Nearest point of {||y|| <= radius}: F scaled down if it is longer.

    >>> project_l2_ball([3.0, 4.0])
    array([0.6, 0.8])
    """
    F, shape = _checked(F)
    return _rows.l2_ball(F, _positive(radius, "radius")).reshape(shape)


def project_sphere(F: Any) -> np.ndarray:
    """Nearest point of {||y|| = 1}: F/||F||; for zero, where all points are equally near, the first unit vector.

    >>> project_sphere([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [1. , 0. ]])
    """
    F, shape = _checked(F)
    return _rows.sphere(F).reshape(shape)


def project_orthonormal(F: Any) -> np.ndarray:
    """Nearest matrix with orthonormal columns (rows, if there are fewer rows): the polar factor U V^T of F = U S V^T.

    A vector counts as one row. Where singular values vanish the answer is one of several equally near ones.
    Reference: Higham, "Functions of matrices", 2008, chapter 8.

    >>> project_orthonormal([[2.0, 0.0], [0.0, 3.0], [0.0, 0.0]])
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    F, shape = _checked(F)
    return _rows.orthonormal(F).reshape(shape)


def project_sparse(F: Any, nonzeros: int = 1) -> np.ndarray:
    """Nearest point with at most `nonzeros` entries other than 0: the largest in size are kept, the first on ties.

    >>> project_sparse([1.0, -3.0, 2.0], nonzeros=2)
    array([ 0., -3.,  2.])
    """
    F, shape = _checked(F)
    if isinstance(nonzeros, bool) or not isinstance(nonzeros, Integral) or nonzeros < 1:
        raise ValueError(f"nonzeros must be a whole number of at least 1, got {nonzeros!r}")
    return _rows.sparse(F, int(nonzeros)).reshape(shape)


def project_boolean(F: Any) -> np.ndarray:
    """Nearest point of {0, 1}^k: 1 where F > 1/2 (so 1/2 itself goes to 0).

    >>> project_boolean([0.2, 0.7])
    array([0., 1.])
    """
    F, shape = _checked(F)
    return _rows.boolean(F).reshape(shape)


def project_onehot(F: Any) -> np.ndarray:
    """Nearest unit vector: 1 at the largest entry, the first on ties.

    >>> project_onehot([0.2, 0.7])
    array([0., 1.])
    """
    F, shape = _checked(F)
    return _rows.onehot(F).reshape(shape)


def soft_threshold(F: Any, threshold: Any) -> np.ndarray:
    """sign(F) max(|F| - threshold, 0): the prox of threshold * sum |y|. `threshold` may be an array that broadcasts.

    >>> soft_threshold([3.0, -0.5], 1.0)
    array([2., 0.])
    """
    F, shape = _checked(F)
    try:
        t = np.asarray(threshold, dtype=np.float64)
        fits = np.broadcast_shapes(t.shape, F.shape) == F.shape
    except (TypeError, ValueError):
        t, fits = np.asarray(np.nan), False
    if not fits or not np.isfinite(t).all() or t.min() < 0:
        raise ValueError(f"threshold must be finite, at least 0 and of a shape that fits F, got {threshold!r}")
    return _rows.soft(F, t.astype(F.dtype)).reshape(shape)


def shrink_singular_values(F: Any, threshold: float) -> np.ndarray:
    """U max(S - threshold, 0) V^T for F = U S V^T: the prox of threshold * (sum of singular values).

    A vector counts as one row. Reference: Cai, Candes and Shen, "A singular value thresholding algorithm", 2010.

    >>> shrink_singular_values([[3.0, 0.0], [0.0, 1.0]], 2.0)
    array([[1., 0.],
           [0., 0.]])
    """
    F, shape = _checked(F)
    if threshold != 0:
        threshold = _positive(threshold, "threshold")
    return _rows.shrink(F, threshold).reshape(shape)
