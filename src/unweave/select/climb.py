"""Which numbers to try when nobody says."""

from __future__ import annotations

import math
from collections.abc import Callable

from unweave.select.choose import joined
from unweave.select.chosen import Choice
from unweave.select.criteria import Criterion

_FIRST = 20
_TURNED = 0.05  # a loss of this share of what was gained since the first number ends the search
# Components lie side by side where they form fewer groups than one in so many. Set on made rings, a spiral, even and
# long-tailed clouds, and blobs (30 to 100 of them), and on the sets a1, a2, a3 and d31.
_TILES = 4
_CLOSE = 20  # numbers closer than one part in so many are taken as one

Tried = Callable[[list[int]], Choice]


def widen(tried: Tried, most: int, criterion: Criterion) -> Choice:
    """Every number up to 20, and up to twice as many as long as the best is among the upper quarter.

    The best is the number chosen, or that of the best score where the choice went by more.
    """
    last = min(_FIRST, most)
    choice = tried(list(range(1, last + 1)))
    while last < most and _highest(choice) > 0.75 * last and not choice.interrupted:
        first, last = last + 1, min(2 * last, most)
        choice = joined(choice, tried(list(range(first, last + 1))), criterion)
    return choice


def _highest(choice: Choice) -> int:
    sign = 1.0 if choice.larger_is_better else -1.0
    return max(choice.best, max(choice.scores, key=lambda k: sign * choice.scores[k]))


def told_apart(tried: Tried, most: int, criterion: Criterion, groups: Callable[[int], int]) -> Choice:
    """Every number up to 20, then √2 times as many as long as the best is among the last tried, and between: for
    densities, whose BIC may fall for long.

    Components that describe one shape bit by bit lie side by side: where ``groups(best)``, the number of groups that
    the components of the best number lie in, is below a quarter of them, more of them find no more groups, and the
    search ends. A note says so.
    """
    last = min(_FIRST, most)
    choice = tried(list(range(1, last + 1)))
    seen: dict[int, int] = {}

    def tiles(k: int) -> bool:
        seen.setdefault(k, groups(k))
        return _TILES * seen[k] < k

    while last < most and choice.best > 0.75 * last and not choice.interrupted and not tiles(choice.best):
        last = min(most, math.ceil(last * math.sqrt(2)))
        choice = joined(choice, tried([last]), criterion)
    while choice.best > _FIRST and not choice.interrupted and (middles := _middles(choice)):
        choice = joined(choice, tried(middles), criterion)
    if not choice.interrupted and choice.best > _TILES and tiles(choice.best):
        choice.note = _side_by_side(choice, seen[choice.best], last)
    elif most > _FIRST and choice.best > 0.75 * most:
        choice.note = f"no number of Gaussians fits this table well: {choice.by} still improves at {choice.best}"
    return choice


def _side_by_side(choice: Choice, groups: int, last: int) -> str:
    falls = f"{choice.by} still improves at {last}, but " if choice.best == last else ""
    held = f"{groups} group{'s' * (groups > 1)}"
    return (
        f"no number of Gaussians fits this table well: {falls}the {choice.best} components lie side by side in {held}; "
        "for the groups try SpectralClustering or CURE"
    )


def climb(tried: Tried, most: int, criterion: Criterion) -> Choice:
    """1, 2, 4, 8, … until the scores turn, then the middles of the gaps beside the best: for curves with one valley.

    Some ten numbers of 160 are tried, twenty at most; the answer is the best of them to one part in twenty. A criterion
    that picks the first good number does not turn below 16: many topics alike gain little until most are there.
    """
    first = 5 if hasattr(criterion, "pick") else 3
    ladder = [1 << i for i in range(most.bit_length()) if 1 << i < most] + [most]
    choice, ladder = tried(ladder[:first]), ladder[first:]
    while ladder and not choice.interrupted and not _turned(choice):
        choice, ladder = joined(choice, tried(ladder[:1]), criterion), ladder[1:]
    while not choice.interrupted and (middles := _middles(choice)):
        choice = joined(choice, tried(middles), criterion)
    return choice


def _turned(choice: Choice) -> bool:
    """Two numbers above the best are worse, or one is much worse."""
    sign = -1.0 if choice.larger_is_better else 1.0
    costs = {k: sign * score for k, score in choice.scores.items()}
    least = costs[choice.best]
    gained = costs[min(costs)] - least
    later = [costs[k] for k in costs if k > choice.best] + [math.inf for k in choice.skipped if k > choice.best]
    return len(later) > 1 or any(cost - least > _TURNED * gained for cost in later)


def _middles(choice: Choice) -> list[int]:
    """Numbers halfway, by ratio, from the best to its neighbours, where these are not near already."""
    best, found = choice.best, []
    ks = set(choice.scores) | set(choice.skipped)
    below, above = max((k for k in ks if k < best), default=best), min((k for k in ks if k > best), default=best)
    for low, high in ((below, best), (best, above)):
        if high - low > max(1, best // _CLOSE):
            found.append(min(max(round(math.sqrt(low * high)), low + 1), high - 1))
    return found
