"""The lasso of one row over all strengths: piecewise linear, followed from knot to knot (least-angle regression)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.arguments import number, numbers

_ROUNDS = 16  # knots for each atom: a bound, so that rounding cannot make it hang
_NOISE = 1e-10  # of a strength: closer than this two knots are one


def lasso_path(x: ArrayLike, dictionary: ArrayLike, *, least: float = 0.0, nonnegative: bool = False):
    """The codes of one row for every strength: min ½‖x − f·D‖² + λ‖f‖₁ at each λ where an atom enters or leaves.

    Between two knots the codes are linear in λ, so these are all of them. Use it to see in which order atoms come in,
    or to choose a strength by what it leaves.

    Parameters
    ----------
    x : array (m,)
        The row.
    dictionary : array (k, m)
        Atoms as rows.
    least : float, default=0
        The strength to stop at.
    nonnegative : bool, default=False
        Whether codes may not be negative.

    Returns
    -------
    strengths : array (knots,)
        Falling, from the strength above which the code is zero.
    codes : array (knots, k)

    Examples
    --------
    >>> import unweave
    >>> strengths, codes = unweave.lasso_path([3.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
    >>> strengths.tolist(), codes.tolist()
    ([3.0, 1.0, 0.0], [[0.0, 0.0], [2.0, 0.0], [3.0, 1.0]])

    References
    ----------
    Osborne, Presnell and Turlach (2000), A new approach to variable selection in least squares problems. Efron, Hastie,
    Johnstone and Tibshirani (2004), Least angle regression.
    """
    D = np.asarray(dictionary, dtype=np.float64)
    if D.ndim != 2:
        raise ValueError(f"dictionary must be a table with atoms as rows, got the shape {D.shape}")
    D = numbers(D, "dictionary", D.shape)
    x = numbers(x, "x", (D.shape[1],))
    return lasso_path_of(D @ x, D @ D.T, number(least, "least"), nonnegative)


def lasso_path_of(a: NDArray, B: NDArray, least: float, nonnegative: bool) -> tuple[NDArray, NDArray]:
    """The same from products a = D·x and the Gram B = D·Dᵀ."""
    k = len(a)
    f, signs = np.zeros(k), np.zeros(k)
    support: list[int] = []
    level = max(float((a if nonnegative else np.abs(a)).max(initial=0.0)), 0.0)
    strengths, codes = [max(level, least)], [f.copy()]
    barred: set[int] = set()  # left at this very knot: must not come back at once
    for _ in range(_ROUNDS * (k + 1)):
        if level <= least:
            break
        slope = a - B @ f
        out = np.setdiff1d(np.flatnonzero(np.diag(B) > 0), [*support, *barred])
        pull = slope[out] if nonnegative else np.abs(slope[out])
        for t in out[pull >= level * (1 - _NOISE)]:
            if _independent(B, [*support, int(t)]):
                support.append(int(t))
                signs[t] = np.sign(slope[t])
        if not support:
            break
        way = np.linalg.solve(B[np.ix_(support, support)], signs[support])  # of the codes, as the strength falls by one
        drop, barred = _next(a, B, f, way, support, signs, level, least, nonnegative)
        if level - drop <= least + _NOISE * strengths[0]:
            drop, barred = level - least, set()  # what knots there may be below is rounding
        f[support] += drop * way
        f[list(barred)] = 0
        signs[list(barred)] = 0
        support = [t for t in support if t not in barred]
        level = max(level - drop, least)
        strengths.append(level)
        codes.append(f.copy())
    return np.array(strengths), np.array(codes)


def _independent(B: NDArray, support: list[int]) -> bool:
    values = np.linalg.eigvalsh(B[np.ix_(support, support)])
    return bool(values[0] > 1e-10 * values[-1])


def _next(a, B, f, way, support, signs, level, least, nonnegative) -> tuple[float, set[int]]:
    """How far the strength falls to the next knot, and which atoms leave there."""
    slope, turn = a - B @ f, B[:, support] @ way
    drop = level - least
    leaving: set[int] = set()
    for t in np.setdiff1d(np.flatnonzero(np.diag(B) > 0), support):
        for sign in (1.0,) if nonnegative else (1.0, -1.0):
            # sign·(slope − d·turn) = level − d
            speed = 1 - sign * turn[t]
            far = (level - sign * slope[t]) / speed if speed > _NOISE else np.inf
            if _NOISE * level < far < drop:
                drop = float(far)
    for t, pace in zip(support, way, strict=True):
        far = -f[t] / pace if pace * signs[t] < 0 else np.inf
        if far < drop * (1 + _NOISE):
            leaving = leaving | {t} if far > drop * (1 - _NOISE) else {t}
            drop = min(drop, float(far))
    return drop, leaving
