"""How many components a share of the variance asks for, or where the spectrum bends: read off the singular values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.select.curves import clear_knee
from unweave.solve.closed import decompose, decomposes_at_once

_FIRST = 32  # triplets that are looked at first where each costs a search, then twice as many, and so on
_FOR_KNEE = 100  # triplets among which the bend is looked for there


@dataclass(frozen=True)
class Rule:
    """A number of components that the singular values decide.

    Parameters
    ----------
    share : float or None
        Of the sum of squares (about the means, where these are taken off) that is to be kept; None asks for the knee.
    lead : int
        Values at the front that a bend is not looked for among: without centring the first is mostly the mean.
    """

    share: float | None
    lead: int

    def enough(self, s: NDArray, total: float, shape: tuple[int, int]) -> int:
        """How many of these singular values of a table of this shape are asked for.

        >>> share, bend = Rule(0.9, 0), Rule(None, 0)
        >>> share.enough(np.array([3.0, 1.0, 0.5]), 10.25, (9, 3)), bend.enough(np.array([3.0, 2, 0, 0]), 13.0, (9, 4))
        (2, 2)
        """
        squares = np.square(s, dtype=np.float64)
        if self.share is not None:
            reached = np.cumsum(squares) >= self.share * total * (1 - 1e-12)
            return int(np.argmax(reached)) + 1 if reached.any() else len(s)
        bend = bend_of(squares[self.lead :], shape)
        return len(s) if bend is None else bend + self.lead

    def reason(self, s: NDArray, k: int, total: float) -> str:
        """What was found, in words for a plan."""
        kept = float(np.square(s[:k], dtype=np.float64).sum()) / total if total > 0 else 1.0
        of = "the variance" if self.lead == 0 else "the sum of squares"
        if self.share is not None:
            return f"n_components={self.share:g}: the fewest that keep this share of {of}; {k} keep {kept:.4g} of it"
        if k == len(s):
            return f"n_components='knee': the spectrum has no clear bend among its {k} values; all are kept"
        return (
            f"n_components='knee': the squared singular values lie farthest below the line through their ends after {k}"
            f" (of {len(s)} looked at); these keep {kept:.4g} of {of}"
        )


def bend_of(squares: NDArray, shape: tuple[int, int]) -> int | None:
    """How many squared singular values lie before the bend of their curve; None where there is none.

    A curve that is as flat as that of noise alone has none: of n rows of m independent columns of equal variance the
    least and the largest of all values differ by a factor of ((1 + √(m/n)) / (1 − √(m/n)))² (Marchenko and Pastur).

    >>> bend_of(np.array([9.0, 8.0, 1.0, 0.9, 0.8]), (1000, 5)), bend_of(np.array([9.0, 8.9, 8.7, 8.6, 8.5]), (1000, 5))
    (2, None)
    """
    long, short = max(shape), min(shape)
    root = np.sqrt(short / long)
    whole = len(squares) >= short - 1
    if whole and len(squares) and squares[-1] > 0 and squares[-1] >= squares[0] * ((1 - root) / (1 + root)) ** 2:
        return None
    return clear_knee(squares)


def rule_of(asked, lead: int) -> Rule | None:
    """The rule in `n_components`, None where it is a number, None or "auto".

    >>> rule_of(0.9, 0), rule_of("knee", 1), rule_of(3, 0)
    (Rule(share=0.9, lead=0), Rule(share=None, lead=1), None)
    """
    if isinstance(asked, str) and asked == "knee":
        return Rule(None, lead)
    if not isinstance(asked, Real) or isinstance(asked, bool | int | np.integer):
        return None
    share = float(asked)
    if not 0 < share < 1:
        raise ValueError(
            f"n_components={asked} must be a whole number, a share of the variance between 0 and 1, 'knee' or 'auto'"
        )
    return Rule(share, lead)


def to_be_fitted(rule: Rule, objective: Objective, shift: str | None, weights: NDArray | None) -> int:
    """How many triplets a fit must find for the rule to be read off them.

    All, where the whole spectrum is found at once. Of a larger table 32 are searched for, then 64, and so on until they
    hold the share; a few are added, because a search finds values that are a little too small.
    """
    if not objective.complete:
        raise ValueError("n_components as a share of the variance or 'knee' needs every entry observed: give a number")
    most = min(objective.shape)
    if decomposes_at_once(objective, 1):
        return most
    if rule.share is None:
        return min(_FOR_KNEE, most)
    k = min(_FIRST, most)
    while k < most:
        svd = decompose(objective, k, shift, weights)
        found = rule.enough(svd.s, svd.total, objective.shape)
        if found < k:
            return min(most, found + 2 + found // 20)
        k = min(2 * k, most)
    return most
