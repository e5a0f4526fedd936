"""Splice junctions told by strings: the best string kernel against one-hot letters, an SVM behind both, ten folds.

Both sides choose among 27 or 28 settings by the same search, three folds inside the training rows of each of the ten
folds; nothing was chosen by a look at the rows that judge. Ours is ``exp(g·k)`` of a weighted-degree kernel k of the
letters about the junction: how many letters, how long the substrings and g are chosen inside. The peer is the Gaussian
kernel of one-hot letters, whose γ and C are.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import Fit, Row
from benchmarks.rows.strings import sequences

WINDOWS, LENGTHS, RATES, COST = (24, 40, 60), (2, 4, 6), (2.0, 4.0, 8.0), 10.0
GAMMAS, COSTS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12), (0.3, 1.0, 3.0, 10.0)
ROWS_OF = {"full": 3190, "quick": 600, "tiny": 120}


class Junctions(NamedTuple):
    """Strings of sixty letters about a place, what it is, and the fold of each."""

    texts: list[str]
    y: np.ndarray
    fold: np.ndarray


def load(folder: Path, size: str) -> Junctions:
    from sklearn.model_selection import StratifiedKFold

    texts, labels = sequences(folder, "splice")
    rows = np.random.default_rng(0).permutation(len(texts))[: ROWS_OF[size]]
    y = np.unique(np.array(labels), return_inverse=True)[1][rows]
    fold = np.empty(len(rows), dtype=np.int64)
    for i, (_, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=0).split(rows, y)):
        fold[test] = i
    return Junctions([texts[i] for i in rows], y, fold)


def string_grams(texts: list[str]) -> Iterable[tuple[np.ndarray, float]]:
    """Tables of inner products, each with the cost of mistakes that goes with it."""
    from unweave.predict import WeightedDegree

    for window in WINDOWS:
        middle = [text[len(text) // 2 - window // 2 : len(text) // 2 + window // 2] for text in texts]
        for length in LENGTHS:
            base = WeightedDegree(length).gram(middle, normalised=True)
            for rate in RATES:  # (rate * WeightedDegree(length).normalised()).exp().normalised(), from one table
                yield np.exp(rate * (base - 1.0)), COST


def one_hot_grams(texts: list[str]) -> Iterable[tuple[np.ndarray, float]]:
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.preprocessing import OneHotEncoder

    X = OneHotEncoder(sparse_output=False).fit_transform(np.array([list(text) for text in texts]))
    for gamma in GAMMAS:
        K = rbf_kernel(X, gamma=gamma)
        for cost in COSTS:
            yield K, cost


def wrong(K: np.ndarray, cost: float, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> int:
    """How many of the test rows are called wrongly after a fit to the training rows."""
    from sklearn.svm import SVC

    fitted = SVC(C=cost, kernel="precomputed", cache_size=500).fit(K[np.ix_(train, train)], y[train])
    return int((fitted.predict(K[np.ix_(test, train)]) != y[test]).sum())


def judged(data: Junctions, grams: Iterable[tuple[np.ndarray, float]]) -> Fit:
    """Wrong rows in each fold, by the setting that was best in three folds of the training rows."""
    from sklearn.model_selection import StratifiedKFold

    folds = range(int(data.fold.max()) + 1)
    trains = [np.flatnonzero(data.fold != i) for i in folds]
    best, found, inside = (
        [len(data.y) + 1] * len(folds),
        [0] * len(folds),
        StratifiedKFold(3, shuffle=True, random_state=1),
    )
    for K, cost in grams:
        for i, train in enumerate(trains):
            inner = sum(wrong(K, cost, data.y, train[a], train[b]) for a, b in inside.split(train, data.y[train]))
            if inner < best[i]:
                best[i], found[i] = inner, wrong(K, cost, data.y, train, np.flatnonzero(data.fold == i))
    return Fit(np.array(found), len(folds))


ROWS = [
    Row(
        name="splice-strings",
        title="3190 splice junctions, ten folds: share of wrong rows",
        target=0.0,
        load=load,
        ours=lambda data, target: judged(data, string_grams(data.texts)),
        peers={"one-hot letters, Gaussian SVM": lambda data, threads: judged(data, one_hot_grams(data.texts))},
        objective=lambda data, answer: float(answer.sum() / len(data.y)),
        aim="below",
        value="share of wrong rows",
        dtype="float64",
        repeats=1,
        tuned_on="chosen inside the training rows of each fold",
        reported_on="the rows left out of each fold",
    )
]
