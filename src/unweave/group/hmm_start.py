"""Where Baum–Welch begins: k-means for Gaussian states, random shares for symbols, or what the user gives."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from unweave.group.hmm_baum_welch import shares
from unweave.group.hmm_chain import Chain, Emission
from unweave.group.hmm_discrete import Symbols
from unweave.group.hmm_gaussian import GAUSSIANS, ROUNDING, Spread
from unweave.group.kmeans.inside import plain_kmeans, trial_centres
from unweave.group.kmeans.lloyd import assign

_SAMPLE = 20_000  # rows that k-means sees
_BLOCK = 1 << 15
_SOME = 1e-3  # no share of a random start is zero, because it would stay so
# Probability, beyond chance, that a state of a random start stays: one start after the other. Random moves alone are a
# saddle of the likelihood for chains that stay, staying ones may be one for chains that do not. Set on three kinds of
# planted chains (3 and 4 states that stay, a coin that is at times unfair); the fast, the cyclic and the alternating
# chains of the tests were not among them.
_STAYS = (0.5, 0.0, 0.9)


def within_clusters(X: NDArray, spread: Spread, k: int) -> Spread:
    """The spread with the variance of each column within k clusters of the rows as what the prior expects: the variance
    of all rows is mostly that between the states, or that of one glitch.

    A column that varies between the clusters alone counts with its overall variance.
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
    X: NDArray, lengths: NDArray, k: int, kind: str, spread: Spread, rng: np.random.Generator, trial: int = 0
) -> Chain:
    """States are the rows nearest to centres, in units of the columns' spread; transitions are those of the labels,
    plus one.

    Each trial has other centres (:func:`trial_centres`).
    """
    rows = _standard(X[_sampled(X, rng)], spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than states are no news here
        centres = trial_centres(rows, k, rng, trial)
    variances = spread.expected if kind == "diag" else np.diag(spread.expected)
    middle = centres * np.sqrt(spread.variance) + spread.centre
    emission: Emission = GAUSSIANS[kind](middle, np.stack([variances] * k), spread)
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
    """Rows of which something was seen, or some of them."""
    seen = np.flatnonzero(~np.isnan(X).all(axis=1))
    return seen if len(seen) <= _SAMPLE else np.sort(rng.choice(seen, _SAMPLE, replace=False))


def _standard(X: NDArray, spread: Spread) -> NDArray:
    Y = (X - spread.centre) / np.sqrt(spread.variance)
    return np.where(np.isnan(Y), 0.0, Y)


def _label_counts(labels: NDArray, lengths: NDArray, k: int) -> tuple[NDArray, NDArray]:
    begin = np.cumsum(lengths) - lengths
    inside = np.ones(len(labels), bool)
    inside[begin] = False
    at = np.flatnonzero(inside)
    moves = np.bincount(labels[at - 1].astype(np.int64) * k + labels[at], minlength=k * k)
    return np.bincount(labels[begin], minlength=k).astype(np.float64), moves.reshape(k, k).astype(np.float64)


def symbols_start(X: NDArray, k: int, n_symbols: int, rng: np.random.Generator, trial: int = 0) -> Chain:
    """Every state shows the symbols as often as the data do, times random factors; transitions are random shares, and
    states stay more or less often from trial to trial."""
    seen = X[~np.isnan(X)].astype(np.int64)
    often = np.bincount(seen, minlength=n_symbols) + 1.0
    shown = often * rng.exponential(size=(k, n_symbols)) + _SOME
    moves = rng.exponential(size=(k, k)) + _SOME
    stay = _STAYS[trial % len(_STAYS)]
    moves = (1 - stay) * moves / moves.sum(axis=1, keepdims=True) + stay * np.eye(k)
    return Chain(np.full(k, 1.0 / k), moves, Symbols(shown / shown.sum(axis=1, keepdims=True)))


def given_start(init: Mapping, k: int, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray]:
    """The arrays of a start that the user gives, checked."""
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
    return arrays
