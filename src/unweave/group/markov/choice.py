"""Choose the number of states of a hidden Markov model."""

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
# Price of a parameter of discrete states, times log log n, and the least price (that of AIC). Set on twelve kinds of
# made chains of 400 to 4000 steps (1 to 5 states that stay, change fast or come in a circle, 2 to 25 symbols) with six
# to eight seeds each (benchmarks/tune/hidden_states.py): one state too many gained 1.3 for each of its parameters on
# average, more than 2 in 5 of 100 chains, and 2.7 at most.
_PRICE, _LEAST = 1.2, 2.0


@dataclass(frozen=True)
class SymbolPrice:
    """Price every parameter of discrete states by log log n, after Hannan and Quinn.

    What one state too many gains grows with the rows, but far more slowly than log n (Gassiat and Keribin, 2000): the
    price of BIC hides states that show nearly the same symbols long after they can be told apart. Symbols that never
    occur are no parameters.

    References
    ----------
    Hannan and Quinn (1979), The determination of the order of an autoregression. Gassiat and Keribin (2000), The
    likelihood ratio test for the number of components in a mixture with Markov regime.
    """

    name = "hannan-quinn"
    title = "−2 log L with log log n for each parameter (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        model = trial.fit(X)
        seen = np.concatenate([part[~np.isnan(part)] for part in X])
        k, n_symbols = model.emission_probabilities_.shape
        parameters = model.n_parameters_ - k * (n_symbols - len(np.unique(seen)))
        price = max(_LEAST, _PRICE * float(np.log(np.log(max(len(seen), 3)))))
        return np.array([-2 * float(model.score_samples(X).sum()) + parameters * price])


@dataclass(frozen=True)
class StateBIC:
    """Price every parameter of a state by the logarithm of its rows, as BIC does by that of all rows.

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
    """Choose the number with the least criterion: 1, 2, 4, … until it rises, then between.

    Discrete states are priced by :class:`SymbolPrice`, Gaussian ones by :class:`StateBIC`. Rows that are neighbours in
    time stay neighbours.
    """
    criterion = SymbolPrice() if model.emission == "discrete" else StateBIC()
    parts = stretches(rows, lengths)
    steps = sum(int((~np.isnan(part).all(axis=1)).sum()) for part in parts)
    # Prepared rows mark what was not seen by NaN whatever the table did.
    quiet = clone(model).set_params(init=None)

    def tried(ks: list[int]) -> Choice:
        return search(quiet, parts, "n_components", ks, criterion, verbose=bool(model.verbose))

    return climb(tried, max(1, min(_MOST, steps // 10)), criterion)


def stretches(rows: NDArray, lengths: NDArray) -> list[NDArray]:
    """List the sequences; of more than 20 000 rows in all, stretches of at most 1000 rows spread evenly.

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
