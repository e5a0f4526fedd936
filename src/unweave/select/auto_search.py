"""The search behind ``"auto"``: a part of the table, quick fits, few numbers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from unweave.data.arguments import number, whole
from unweave.data.table import is_blocks
from unweave.select.choose import search
from unweave.select.chosen import Choice
from unweave.select.climb import climb, told_apart, widen
from unweave.select.completion import Completion
from unweave.select.criteria import BIC, find_criterion
from unweave.select.groups import Groups
from unweave.select.held_out import HeldOut
from unweave.select.trial import Trial, n_rows, take, unnamed

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
    """The number that a model takes for ``n_clusters="auto"``: ``.best``, and ``.reason`` for its plan.

    "auto" is the criterion of :func:`choose`. It looks at 5000 rows at most, spread evenly (2000 documents; 2¹⁹ entries
    where some are hidden; 50 blocks of a table in blocks). It tries 1 to 20, and twice as many as long as the best is
    among the upper quarter. Errors at hidden entries and perplexities have one valley: there it doubles from 1 until
    they rise, and then halves the gaps beside the best, by short fits. For Gaussian mixtures it takes steps of √2 above
    20, and none where components lie side by side, which ``choice_.note`` says. No number is above 160 or a third of
    the rows.
    """
    estimator, X = unnamed(estimator, X)
    criterion = find_criterion(by, estimator)
    valley = isinstance(criterion, HeldOut | Completion)
    X = even_rows(X, _rows(criterion, X))
    most = max(1, min(_MOST, n_rows(X) // 3))
    verbose = bool(getattr(estimator, "verbose", False))
    if isinstance(criterion, HeldOut | Completion):
        estimator, criterion = _quick(estimator, X), _thrifty(criterion, X)
    if isinstance(criterion, HeldOut):
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
    """In how many groups the k components of a mixture lie."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return Trial(estimator, name, k).fit(X)._groups_apart()


def even_rows(X, most: int):
    """At most so many rows, spread evenly over a table or over its blocks.

    >>> even_rows(np.arange(10)[:, None], 4).ravel().tolist()
    [0, 3, 6, 9]
    >>> even_rows([np.zeros((5, 1)), np.ones((5, 1))], 4).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    if is_blocks(X):
        blocks = [X[i] for i in _spread(len(X), _BLOCKS)]
        parts = [even_rows(block, max(1, most // len(blocks))) for block in blocks]
        return sp.vstack(parts).tocsr() if sp.issparse(parts[0]) else np.concatenate([np.asarray(p) for p in parts])
    n = n_rows(X)
    return X if n <= most else take(X, _spread(n, most))


def _spread(n: int, most: int):
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)


def _width(X) -> int:
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


def _rows(criterion, X) -> int:
    if isinstance(criterion, Completion):
        return _DOCUMENTS
    if isinstance(criterion, HeldOut):
        return min(_ROWS, max(100, _CELLS // max(1, _width(X[0] if is_blocks(X) else X))))
    return _ROWS


def _quick(estimator: Any, X) -> Any:
    """A copy whose fits end early: the number that predicts best is the same before a fit has settled for good."""
    known = estimator.get_params(deep=False)
    steps, tol = _QUICK if "solver" in known else _QUICK_EM
    if "solver" in known and known.get("loss", "squared") not in ("squared", "weighted"):
        steps, tol = _SLOW_LARGE if n_rows(X) * _width(X) >= _LARGE else _SLOW
    else:
        tol = max(tol, number(known["tol"], "tol"))
    if known["max_iter"] is not None:
        steps = min(steps, whole(known["max_iter"], "max_iter", 1))
    return clone(estimator).set_params(max_iter=steps, tol=tol)


def _thrifty(criterion: HeldOut | Completion, X) -> HeldOut | Completion:
    entries, documents = _SURE
    sure = n_rows(X) * _width(X) >= entries if isinstance(criterion, HeldOut) else n_rows(X) >= documents
    return replace(criterion, n_repeats=1) if sure else criterion
