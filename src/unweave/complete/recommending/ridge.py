"""Solve ridge least squares of one user: how strong the ridge is, the code, and which ratings drove a score.

A ridge may grow with what is known, λ·n^p for a row with n observed entries. With p = 0 a user with a thousand ratings
is shrunk as little as a user with one is shrunk much; with p = 1 all are shrunk alike. The least held-out error lies
between: p = ½.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

POWERS = {"plain": 0.0, "root": 0.5, "count": 1.0}


def power_of(weighting) -> float:
    """Look up the power p of a `weighting`, or raise an error that names it."""
    if not isinstance(weighting, str) or weighting not in POWERS:
        raise ValueError(f"weighting={weighting!r} is not known; use one of {', '.join(POWERS)}")
    return POWERS[weighting]


def counted_ridges(counts: NDArray, strength: float, power: float) -> NDArray[np.float64]:
    """Compute the ridge of every row from the number of its entries; a row without any counts as one with one.

    >>> import numpy as np
    >>> counted_ridges(np.array([0, 1, 4]), 2.0, 0.5).tolist()
    [2.0, 2.0, 4.0]
    """
    return strength * np.maximum(counts, 1).astype(np.float64) ** power


@dataclass(frozen=True)
class Explanation:
    """Explain why a user gets a score for an item: score = baseline + the sum of contributions + rest.

    Parameters
    ----------
    score : float
        What the model predicts.
    baseline : float
        What it would predict for somebody who has rated nothing.
    items : array
        Ids (or positions) of the user's rated items that moved the score most, by size of their contribution.
    ratings, contributions : arrays of float
        The user's ratings of them, and what each added to the score.
    rest : float
        What the user's other ratings added together.
    """

    score: float
    baseline: float
    items: NDArray
    ratings: NDArray
    contributions: NDArray
    rest: float

    def __str__(self) -> str:
        lines = [f"score {self.score:.4g} = baseline {self.baseline:.4g}"]
        for item, rating, part in zip(self.items, self.ratings, self.contributions, strict=True):
            lines.append(f"  {part:+.4g}  {item} (rated {rating:g})")
        if abs(self.rest) > 1e-6 * max(1.0, abs(self.score)):
            lines.append(f"  {self.rest:+.4g}  other ratings")
        return "\n".join(lines)


def ridge_code(Z: NDArray, values: NDArray, ridge: float | NDArray, held: list[int]) -> NDArray:
    """Find the code f of least ½ Σ_j (x_j − f·z_j)² + ½ridge·|f|² over the columns z_j of Z, held entries at one.

    The held entries are not penalised; `ridge` is one number, or one for each of the others. Use it for a single
    row: it costs what the row's own entries cost.

    >>> import numpy as np
    >>> ridge_code(np.array([[1.0, 2.0], [3.0, 3.0]]), np.array([4.0, 5.0]), 0.0, held=[1]).tolist()
    [1.0, 1.0]
    """
    H, offset, free = _free(Z, held)
    code = np.ones(len(Z))
    code[free] = _solve(_normal(H, ridge), H.T @ (values - offset))
    return code


def ridge_influence(
    Z: NDArray, values: NDArray, z: NDArray, ridge: float | NDArray, held: list[int]
) -> tuple[NDArray, float]:
    """Compute what each rating adds to the score of an item with vector z, and the score without any rating.

    The code is linear in the ratings, so the score is too: score = offset(z) + Σ_j z'(H'H + ridge·I)⁻¹h_j (x_j −
    offset_j), where h_j are the free entries of the columns of Z and the offsets the held ones. Reference: Hu, Koren
    and Volinsky (2008), Collaborative filtering for implicit feedback datasets, section 5.

    >>> import numpy as np
    >>> parts, baseline = ridge_influence(np.eye(2), np.array([4.0, 2.0]), np.array([1.0, 1.0]), 1.0, [])
    >>> parts.tolist(), baseline
    ([2.0, 1.0], 0.0)
    """
    H, offset, free = _free(Z, held)
    z = np.asarray(z, np.float64)
    pull = H @ _solve(_normal(H, ridge), z[free])
    return pull * (values - offset), float(z[held].sum())


def _free(Z: NDArray, held: list[int]) -> tuple[NDArray, NDArray, NDArray]:
    Z = np.asarray(Z, np.float64)
    free = np.setdiff1d(np.arange(len(Z)), held)
    return np.ascontiguousarray(Z[free].T), Z[held].sum(axis=0), free


def _normal(H: NDArray, ridge: float | NDArray) -> NDArray:
    return H.T @ H + np.diag(np.broadcast_to(np.asarray(ridge, np.float64), H.shape[1]))


def _solve(A: NDArray, b: NDArray) -> NDArray:
    """Compute A⁻¹b, the solution of least norm where A is singular (no ridge, too few ratings)."""
    try:
        factor = scipy.linalg.cho_factor(A, check_finite=False)
        if np.abs(np.diag(factor[0])).min() > 1e-7 * np.sqrt(np.trace(A)):
            return scipy.linalg.cho_solve(factor, b, check_finite=False)
    except scipy.linalg.LinAlgError:
        pass
    return np.linalg.pinv(A, hermitian=True) @ b
