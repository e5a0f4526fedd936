"""Make the chains that Baum–Welch begins with, and let several of them race.

Gaussian states begin with k-means, symbols with random shares, or either with what the user gives.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unweave.group.kmeans.inside import plain_kmeans, trial_centres
from unweave.group.kmeans.lloyd import assign
from unweave.group.markov.chain import Chain, shares
from unweave.group.markov.emissions import ROUNDING, DiagonalGaussian, Emission, FullGaussian, Spread, Symbols
from unweave.solve.iterate import Loop, State, iterate
from unweave.solve.scheme import Scheme

_SAMPLE = 20_000  # rows that k-means sees
_BLOCK = 1 << 15
_SOME = 1e-3  # no share of a random start is zero, because it would stay so
# Probability, beyond chance, that a state of a random start stays: one start after the other. Random moves alone are a
# saddle of the likelihood for chains that stay, staying ones may be one for chains that do not. Set on three kinds of
# planted chains (3 and 4 states that stay, a coin that is at times unfair); the fast, the cyclic and the alternating
# chains of the tests were not among them.
_STAYS = (0.5, 0.0, 0.9)
_TIE = 1e-9  # relative difference of two objectives that rounding may make
_FIRST_LAP = 20  # steps of the first lap of a race; each next lap is twice as long, for the better half


def within_clusters(X: NDArray, spread: Spread, k: int) -> Spread:
    """Make the prior expect the variance of each column within k clusters of the rows.

    The variance of all rows is mostly that between the states, or that of one glitch. A column that varies between the
    clusters alone counts with its overall variance.
    """
    rows = _sampled(X, np.random.default_rng(0))
    standard = _standard(X[rows], spread)
    centres = plain_kmeans(standard, k, np.random.default_rng(0))
    labels = assign(standard, centres)[0]
    apart = X[rows] - (centres * np.sqrt(spread.variance) + spread.centre)[labels]
    free = np.maximum(1, (~np.isnan(apart)).sum(axis=0) - k)
    within = np.minimum(np.nansum(apart * apart, axis=0) / free, spread.variance)
    return replace(spread, expected=np.where(within > ROUNDING * spread.variance, within, spread.variance))


def gaussian_start(
    one: DiagonalGaussian | FullGaussian, k: int, X: NDArray, lengths: NDArray, rng: np.random.Generator, trial: int = 0
) -> Chain:
    """Put every row into the state of the nearest centre, in units of the columns' spread.

    Transitions are those of the labels, plus one. Each trial has other centres (:func:`trial_centres`).
    """
    spread = one.spread
    rows = _standard(X[_sampled(X, rng)], spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than states are no news here
        centres = trial_centres(rows, k, rng, trial)
    middle = centres * np.sqrt(spread.variance) + spread.centre
    emission = one.like({"means": middle, "covariances": one.expected_covariances(k)})
    labels, sums = np.empty(len(X), np.int32), emission.zeros()
    for i in range(0, len(X), _BLOCK):
        part = X[i : i + _BLOCK]
        labels[i : i + _BLOCK] = assign(_standard(part, spread), centres)[0]
        belongs = (labels[i : i + _BLOCK] == np.arange(k)[:, None]).astype(np.float64)
        emission.add(sums, np.ascontiguousarray(part.T, dtype=np.float64), belongs)
    start, moves = _label_counts(labels, lengths, k)
    none = np.full(k, 1.0 / k)
    return Chain(shares(start, 1.0, none), shares(moves, 1.0, none), emission.improved(sums, 1.0))


def _sampled(X: NDArray, rng: np.random.Generator) -> NDArray:
    """Choose rows of which something was seen, or some of them."""
    seen = np.flatnonzero(~np.isnan(X).all(axis=1))
    return seen if len(seen) <= _SAMPLE else np.sort(rng.choice(seen, _SAMPLE, replace=False))


def _standard(X: NDArray, spread: Spread) -> NDArray:
    """Centre and scale the columns; what was not seen becomes zero."""
    Y = (X - spread.centre) / np.sqrt(spread.variance)
    return np.where(np.isnan(Y), 0.0, Y)


def _label_counts(labels: NDArray, lengths: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Count the first states of the sequences, and the moves from state to state."""
    begin = np.cumsum(lengths) - lengths
    inside = np.ones(len(labels), bool)
    inside[begin] = False
    at = np.flatnonzero(inside)
    moves = np.bincount(labels[at - 1].astype(np.int64) * k + labels[at], minlength=k * k)
    return np.bincount(labels[begin], minlength=k).astype(np.float64), moves.reshape(k, k).astype(np.float64)


def symbols_start(
    one: Symbols, k: int, X: NDArray, lengths: NDArray, rng: np.random.Generator, trial: int = 0
) -> Chain:
    """Let every state show the symbols as often as the data do, times random factors.

    Transitions are random shares, and states stay more or less often from trial to trial.
    """
    n_symbols = one.probabilities.shape[1]
    seen = X[~np.isnan(X)].astype(np.int64)
    often = np.bincount(seen, minlength=n_symbols) + 1.0
    shown = often * rng.exponential(size=(k, n_symbols)) + _SOME
    moves = rng.exponential(size=(k, k)) + _SOME
    stay = _STAYS[trial % len(_STAYS)]
    moves = (1 - stay) * moves / moves.sum(axis=1, keepdims=True) + stay * np.eye(k)
    return Chain(np.full(k, 1.0 / k), moves, one.like({"probabilities": shown / shown.sum(axis=1, keepdims=True)}))


def given_start(init: Mapping, one: Emission, k: int) -> Chain:
    """Check the arrays of a start that the user gives, and make a chain of them."""
    shapes: dict[str, tuple[int, ...]] = {"start": (k,), "transition": (k, k), **one.shapes(k)}
    if not isinstance(init, Mapping) or set(init) != set(shapes):
        raise ValueError(f"init must be None or a dict with the arrays {', '.join(shapes)}")
    arrays = {name: np.array(init[name], dtype=np.float64) for name in shapes}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise ValueError(f"init[{name!r}] must have the shape {shape}, got {arrays[name].shape}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"init[{name!r}] must hold finite numbers")
    for name in ("start", "transition", "probabilities"):
        if name in arrays and ((arrays[name] < 0).any() or (np.abs(arrays[name].sum(axis=-1) - 1) > 1e-6).any()):
            raise ValueError(f"init[{name!r}] must hold probabilities that add up to one in every row")
    return Chain(arrays["start"], arrays["transition"], one.like(arrays))


def race(scheme: Scheme, starts: list[State]) -> State:
    """Find the state of the start that leads after short runs, then longer ones of those that lead.

    One that has settled waits for the others. Few steps tell a bad start from a good one, but not two good ones: EM
    that leaves a saddle is behind for a while.

    >>> class Shrink(Scheme):  # two paths down, of which the slower one begins lower
    ...     def begin(self, rng=None):
    ...         return {"x": 1.0, "factor": 0.99}
    ...     def step(self, state):
    ...         x = state["x"] * state["factor"]
    ...         return {**state, "x": x}, x
    >>> starts = [{"x": 1.0, "factor": 0.99}, {"x": 8.0, "factor": 0.5}, {"x": 9.0, "factor": 0.9}]
    >>> race(Shrink(), starts)["factor"]
    0.5
    """
    lap = _FIRST_LAP
    while len(starts) > 1:
        loop = Loop(max_iter=lap, tol=None, ending="a trial")
        run = [iterate(scheme, state, loop) for state in starts]
        starts = [run[i][0] for i in leaders([float(history.objective[-1]) for _, history in run], len(run) // 2)]
        lap *= 2
    return starts[0]


def leaders(values: list[float], count: int) -> list[int]:
    """Find the places of the `count` lowest values, ascending; of values that differ by rounding alone the first.

    Starts that find the same answer end with the same value but for its last digits, which differ between processors.

    >>> leaders([3.0, 2.0 + 1e-13, 5.0, 2.0], 1)
    [1]
    """
    left = list(range(len(values)))
    found = []
    for _ in range(count):
        least = min(values[i] for i in left)
        first = next(i for i in left if values[i] <= least + _TIE * max(1.0, abs(least)))
        found.append(first)
        left.remove(first)
    return sorted(found)
