"""The number of states of a hidden Markov model, left to the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unweave.select.auto import climb
from unweave.select.choose import Choice, search
from unweave.select.trial import Trial

_ROWS, _STRETCH = 20_000, 1000
_MOST = 64


@dataclass(frozen=True)
class StateBIC:
    """−2 log L plus log(rows of its state) for each parameter.

    BIC charges log n for each, as if all rows told of it. What a state shows and where it goes next is learned from the
    rows that it is seen in: with k states their logarithm is less by log k or so, and states that tell rows apart only
    weakly are found with fewer rows. A parameter costs at least 2, as in AIC. No constant here was set on data.
    """

    name = "state-bic"
    title = "BIC by rows of each state (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        model = trial.fit(X)
        rows = model.predict_proba(X).sum(axis=0)
        k = len(rows)
        each = (model.n_parameters_ - (k - 1)) / k  # of a state: what it shows, and its moves
        price = float(np.maximum(np.log(np.maximum(rows, 1.0)), 2.0).sum())
        return np.array([-2 * float(model.score_samples(X).sum()) + each * price + 2.0 * (k - 1)])


def choose_states(model, rows: NDArray, lengths: NDArray) -> Choice:
    """The number with the least :class:`StateBIC`: 1, 2, 4, … until it rises, then between; neighbours in time stay
    neighbours."""
    parts = stretches(rows, lengths)
    steps = sum(int((~np.isnan(part).all(axis=1)).sum()) for part in parts)
    # Prepared rows mark what was not seen by NaN whatever the table did.
    quiet = clone(model).set_params(init=None)

    def tried(ks: list[int]) -> Choice:
        return search(quiet, parts, "n_components", ks, StateBIC(), verbose=bool(model.verbose))

    return climb(tried, max(1, min(_MOST, steps // 10)), StateBIC())


def stretches(rows: NDArray, lengths: NDArray) -> list[NDArray]:
    """The sequences; of more than 20 000 rows in all, stretches of at most 1000 rows spread evenly.

    >>> [len(part) for part in stretches(np.zeros((5, 1)), np.array([2, 3]))]
    [2, 3]
    >>> len(stretches(np.zeros((100_000, 1)), np.array([100_000])))
    20
    """
    starts = np.cumsum(lengths) - lengths
    if len(rows) <= _ROWS:
        return [rows[a : a + n] for a, n in zip(starts, lengths)]
    cuts = [(a + i, min(a + n, a + i + _STRETCH)) for a, n in zip(starts, lengths) for i in range(0, n, _STRETCH)]
    sizes = np.array([stop - start for start, stop in cuts])
    count = max(1, int(_ROWS / sizes.mean()))
    chosen = np.linspace(0, len(cuts) - 1, min(count, len(cuts))).astype(np.int64)
    return [rows[slice(*cuts[i])] for i in chosen]
