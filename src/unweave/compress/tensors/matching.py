"""Compare components with known ones: how well do two sets of factors agree, whatever their order, signs and scales?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


class Match(NamedTuple):
    """How well components agree with known ones.

    Attributes
    ----------
    score : float
        Mean over the known components of the product of the cosines on all sides; 1 is perfect, unmatched ones count 0.
    order : array
        For each known component the one that was found for it, -1 where there is none.
    cosines : array (sides, known components)
        |cosine| of each pair on each side.
    """

    score: float
    order: NDArray
    cosines: NDArray


def factor_match(found: Any, known: Any) -> Match:
    """Match components found to known ones so that they agree best: the factor match score.

    For the pairs of the best assignment the score is the mean of Π_d |cos(u_d, v_d)|. Order, signs and scales of
    components do not matter.

    Parameters
    ----------
    found, known : fitted CP, or list of arrays (side, components), one for each side
        Fewer sides may be compared by leaving out some in both.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> known = [np.eye(3)[:, :2], np.eye(4)[:, :2], np.eye(2)]
    >>> match = unweave.factor_match([F[:, ::-1] * -2 for F in known], known)
    >>> match.score, match.order.tolist()
    (1.0, [1, 0])

    References
    ----------
    Acar, Dunlavy, Kolda and Mørup (2011), Scalable tensor factorizations for incomplete data.
    """
    ours, theirs = _factors(found, "found"), _factors(known, "known")
    if [len(F) for F in ours] != [len(F) for F in theirs]:
        raise ValueError(
            f"found has sides of lengths {[len(F) for F in ours]}, known of {[len(F) for F in theirs]}: they must agree"
        )
    cosines = np.array([np.abs(_unit(b).T @ _unit(a)) for a, b in zip(ours, theirs, strict=True)])
    together = cosines.prod(axis=0)
    rows, columns = linear_sum_assignment(-together)
    order = np.full(together.shape[0], -1)
    order[rows] = columns
    pairs = np.zeros((len(cosines), len(order)))
    pairs[:, rows] = cosines[:, rows, columns]
    return Match(float(together[rows, columns].sum() / len(order)), order, pairs)


def _factors(given: Any, name: str) -> list[NDArray]:
    factors = [np.asarray(F, dtype=np.float64) for F in getattr(given, "factors_", given)]
    if not factors or any(F.ndim != 2 or not F.shape[1] for F in factors):
        raise ValueError(f"{name} must be a fitted CP or a list of arrays (side, components), one for each side")
    if len({F.shape[1] for F in factors}) > 1:
        raise ValueError(f"{name}: every side must have the same number of components")
    if not all(np.isfinite(F).all() for F in factors):
        raise ValueError(f"{name} must hold finite numbers")
    return factors


def _unit(F: NDArray) -> NDArray:
    return F / np.maximum(np.linalg.norm(F, axis=0), np.finfo(np.float64).tiny)
