"""What a user asks of the factor of each side, as half-steps: penalties read, completed and kept from running away."""

from __future__ import annotations

from typing import Any

from unweave.data.arguments import number
from unweave.penalties import Both, ElasticNet, Free, L2Ball, Ridge, get_penalty
from unweave.penalties.base import Penalty
from unweave.updates import Half


def halves_of(factors: Any, ridge: float, order: int) -> tuple[list[Half], list[str]]:
    """The half-step of every side, and notes on what was decided that the user did not say.

    >>> [half.penalty.name for half in halves_of(["free", "nonnegative", "free"], 0.0, 3)[0]]
    ['free', 'nonnegative', 'free']
    """
    given = list(factors) if isinstance(factors, list) else [factors] * order
    if len(given) != order:
        raise ValueError(
            f"factors must be one penalty or a list of {order}, one for each side of X; got a list of {len(given)}"
        )
    penalties = [_readable(get_penalty(one, "factors")) for one in given]
    more = number(ridge, "ridge")
    penalties = [_with_ridge(one, more) for one in penalties] if more else penalties
    penalties, notes = _well_posed(penalties)
    return [Half(penalty, transposed=True) for penalty in penalties], notes


def of_new_slices(half: Half) -> Half:
    """What binds slices that are found one by one: a penalty that ties them together cannot."""
    if not half.tied:
        return half
    return Half(get_penalty("nonnegative") if half.penalty.nonnegative else Free(), transposed=True)


def _readable(penalty: Penalty) -> Penalty:
    if penalty.is_fixed or penalty.mixes_rows or penalty.on_product or penalty.picks_one:
        raise ValueError(
            f"factors: {penalty.name!r} says nothing of one side of a tensor; use 'free', 'nonnegative', 'l1', "
            "'ridge', 'elastic-net', 'smooth', 'orthonormal', 'simplex' or another on vectors"
        )
    return penalty


def _with_ridge(penalty: Penalty, ridge: float) -> Penalty:
    """The penalty and ½·ridge‖F‖², on sides whose penalty is one on single entries; others are as they were."""
    terms = penalty.separable_terms()
    if terms is None:
        return penalty
    l1, square, nonnegative = terms
    strength = l1 + square + ridge
    pulled: Penalty = ElasticNet(strength, l1 / strength) if l1 else Ridge(square + ridge)
    return Both("nonnegative", pulled) if nonnegative else pulled


def _well_posed(penalties: list[Penalty]) -> tuple[list[Penalty], list[str]]:
    """A penalty on one side pushes the scale to the others without end, so these are kept in a ball."""
    pulled = next((penalty.name for penalty in penalties if penalty.is_penalty), None)
    loose = [d for d, penalty in enumerate(penalties) if penalty.scale_free]
    if pulled is None or not loose:
        return penalties, []
    bound = list(penalties)
    for d in loose:
        if penalties[d].separable_terms() is None:
            raise ValueError(
                f"factors: {pulled!r} beside {penalties[d].name!r} (side {d}) has no minimum: one shrinks and the "
                "other grows without end. Bound that side by 'l2-ball' or 'unit-norm', or leave the penalty out"
            )
        bound[d] = Both("nonnegative", L2Ball()) if penalties[d].nonnegative else L2Ball()
    where = ", ".join(map(str, loose))
    return bound, [
        f"beside {pulled!r} the scale of other sides would run away: columns of side {where} are at most 1 long"
    ]
