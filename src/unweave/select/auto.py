"""Find the number that ``n_clusters="auto"`` and ``n_components="auto"`` leave to the data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from sklearn.base import clone, is_clusterer
from sklearn.exceptions import ConvergenceWarning

from unweave.data.arguments import number, whole
from unweave.data.atomic import need_place
from unweave.data.storage import stack_rows
from unweave.data.table import is_blocks
from unweave.losses import get_loss
from unweave.scale.door import as_blocks
from unweave.select.choose import Choice, joined, search
from unweave.select.criteria import BIC, Criterion, find_criterion
from unweave.select.held_out import Completion, HeldOut
from unweave.select.separation import Groups
from unweave.select.trial import Trial, count_name, evenly, n_rows, take, unnamed


def chooses(fit: Callable) -> Callable:
    """Wrap a `fit` so that it finds the number first where it is ``"auto"``, as ``choice_`` and in ``plan_``.

    The search is :func:`unweave.select.auto_count`; weights of rows are not asked.
    """

    @wraps(fit)
    def chosen(self, X, *args, **more):
        name = count_name(self)
        vars(self).pop("choice_", None)
        if not is_auto(getattr(self, name)):
            return fit(self, X, *args, **more)
        need_place(getattr(self, "checkpoint", None), "the checkpoint")  # before the search, which may take long
        asked = {name: value for name, value in more.items() if name != "client"}  # rows of a sample need no cluster
        choice = self._choose_number(X, *args, **asked)
        choice.name = name
        self.choice_ = choice
        found = fit(self, X, *args, **more)
        self.plan_.reasons.extend([choice.reason, choice.note] if choice.note else [choice.reason])
        return found

    return chosen


def is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"


_ROWS = 5000  # rows of a larger table that an automatic choice looks at
_DOCUMENTS = 2000
_CELLS = 1 << 19  # entries of a table of which some are hidden
_BLOCKS = 50  # blocks that are loaded
_SURE = 1 << 16, 1000  # entries and documents from which on one draw of what is hidden is as good as three
# Steps and tolerance of a fit whose prediction of what is hidden is all that is asked; EM comes nearer more slowly, and
# the updates of other losses than squares more slowly still: where there is little noise, a fit that is not settled is
# helped along by components too many. Set on twelve kinds of made counts and parts (KL), those of the tests among them.
_QUICK, _QUICK_EM = (50, 1e-3), (100, 1e-4)
_SLOW, _SLOW_LARGE = (300, 1e-5), (100, 1e-5)
_LARGE = 1 << 14  # entries from which on such a fit would take too long, and there is more to see in fewer steps
_MOST = 160


def auto_count(estimator: Any, X, name: str, by: Any = "auto") -> Choice:
    """Find the number that a model takes for ``n_clusters="auto"``: ``.best``, and ``.reason`` for its plan.

    "auto" is the criterion of :func:`choose`. It looks at 5000 rows at most, spread evenly (2000 documents; 2¹⁹ entries
    where some are hidden; 50 blocks of a table in blocks). It tries 1 to 20, and twice as many as long as the best is
    among the upper quarter. Errors at hidden entries and perplexities have one valley (except those of clusterings):
    there it doubles from 1 until they rise, and then halves the gaps beside the best, by short fits. For Gaussian
    mixtures it takes steps of √2 above 20, and none where components lie side by side, which ``choice_.note`` says. No
    number is above 160 or a third of the rows.
    """
    estimator, X = unnamed(estimator, as_blocks(X))
    criterion = find_criterion(by, estimator, X)
    # Errors of clusterings jump where a fit misses a cluster, so that every number is looked at.
    valley = isinstance(criterion, HeldOut | Completion) and not is_clusterer(estimator)
    X = even_rows(X, _rows(criterion, X))
    most = max(1, min(_MOST, n_rows(X) // 3))
    verbose = bool(getattr(estimator, "verbose", False))
    if isinstance(criterion, HeldOut | Completion):
        estimator, criterion = _quick(estimator, X), _thrifty(criterion, X)
    if isinstance(criterion, HeldOut) and valley:
        most = min(most, _width(X))
    if isinstance(criterion, Groups):
        criterion = criterion.ready(estimator, X, most, 0)  # once: the search may be widened

    def tried(ks: list[int]) -> Choice:
        return search(estimator, X, name, ks, criterion, verbose=verbose)

    if valley:
        return climb(tried, most, criterion)
    if hasattr(estimator, "_groups_apart") and isinstance(criterion, BIC):
        return told_apart(tried, most, criterion, lambda k: _groups(estimator, X, name, k))
    return widen(tried, most, criterion)


def _groups(estimator: Any, X, name: str, k: int) -> int:
    """Count the groups that the k components of a mixture lie in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Trial(estimator, name, k).fit(X)._groups_apart()


def even_rows(X, most: int):
    """Take at most so many rows, spread evenly over a table or over its blocks.

    >>> import numpy as np
    >>> even_rows(np.arange(10)[:, None], 4).ravel().tolist()
    [0, 3, 6, 9]
    >>> even_rows([np.zeros((5, 1)), np.ones((5, 1))], 4).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    X = as_blocks(X)
    if is_blocks(X):
        blocks = [X[i] for i in evenly(len(X), _BLOCKS)]
        parts = [even_rows(block, max(1, most // len(blocks))) for block in blocks]
        return stack_rows(parts)
    n = n_rows(X)
    return X if n <= most else take(X, evenly(n, most))


def _width(X) -> int:
    """Count the columns of an array, frame, sparse matrix or list of rows."""
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def _rows(criterion, X) -> int:
    if isinstance(criterion, Completion):
        return _DOCUMENTS
    if isinstance(criterion, HeldOut):
        return min(_ROWS, max(100, _CELLS // max(1, _width(X[0] if is_blocks(X) else X))))
    return _ROWS


def _quick(estimator: Any, X) -> Any:
    """Make a copy whose fits end early: the best number is the same before a fit has settled for good."""
    known = estimator.get_params(deep=False)
    steps, tol = _QUICK if "solver" in known else _QUICK_EM
    if "solver" in known and not _of_squares(known.get("loss", "squared")):
        steps, tol = _SLOW_LARGE if n_rows(X) * _width(X) >= _LARGE else _SLOW
    else:
        tol = max(tol, number(known["tol"], "tol"))
    if known["max_iter"] is not None:
        steps = min(steps, whole(known["max_iter"], "max_iter", 1))
    return clone(estimator).set_params(max_iter=steps, tol=tol)


def _of_squares(loss: Any) -> bool:
    """Tell whether a loss is one of squares, for which updates are exact and settle soon."""
    return not isinstance(loss, dict) and get_loss(loss).degree == 2


def _thrifty(criterion: HeldOut | Completion, X) -> HeldOut | Completion:
    entries, documents = _SURE
    sure = n_rows(X) * _width(X) >= entries if isinstance(criterion, HeldOut) else n_rows(X) >= documents
    return replace(criterion, n_repeats=1) if sure else criterion


_FIRST = 20
_TURNED = 0.05  # a loss of this share of what was gained since the first number ends the search
# Components lie side by side where they form fewer groups than one in so many. Set on made rings, a spiral, even and
# long-tailed clouds, and blobs (30 to 100 of them), and on the sets a1, a2, a3 and d31.
_TILES = 4
_CLOSE = 20  # numbers closer than one part in so many are taken as one

Tried = Callable[[list[int]], Choice]


def widen(tried: Tried, most: int, criterion: Criterion) -> Choice:
    """Try every number up to 20, and twice as many as long as the best is among the upper quarter.

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
    """Try every number up to 20, then √2 times as many as long as the best is among the last tried, and between: for
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
    """Try 1, 2, 4, 8, … until the scores turn, then the middles of the gaps beside the best: for one valley.

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
    """Tell whether two numbers above the best are worse, or one is much worse."""
    sign = -1.0 if choice.larger_is_better else 1.0
    costs = {k: sign * score for k, score in choice.scores.items()}
    least = costs[choice.best]
    gained = costs[min(costs)] - least
    later = [costs[k] for k in costs if k > choice.best] + [math.inf for k in choice.skipped if k > choice.best]
    return len(later) > 1 or any(cost - least > _TURNED * gained for cost in later)


def _middles(choice: Choice) -> list[int]:
    """Return numbers halfway, by ratio, from the best to its neighbours, where these are not near already."""
    best, found = choice.best, []
    ks = set(choice.scores) | set(choice.skipped)
    below, above = max((k for k in ks if k < best), default=best), min((k for k in ks if k > best), default=best)
    for low, high in ((below, best), (best, above)):
        if high - low > max(1, best // _CLOSE):
            found.append(min(max(round(math.sqrt(low * high)), low + 1), high - 1))
    return found
