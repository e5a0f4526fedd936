"""NDCG@10 over many tables of what happened: ours at its defaults, our EASE, implicit's ALS tuned for each table.

One random split of each table, four fifths of the pairs to train on and one fifth to find; lists leave out what was
trained on. **Tuned on**: the sets called ``TUNED`` in `benchmarks/pairs.py`, on which the search for the ridge was made
(row ``ranking-tuned-on``). **Reported on**: ``REPORTED`` there (rows ``ranking-reported`` and ``ranking-ease``); its
costs were looked at before the last constants were settled. The number is minus the mean over the sets.

implicit's ALS has 64 factors and the best of twelve pairs of regularisation and α, chosen for each table on a fifth of
its training pairs. EASE inverts items × items, so of wider tables it gets the 4000 items that most users have.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row
from benchmarks.pairs import REPORTED, TUNED, Loader
from benchmarks.rows.ranking import LISTED, Split, objective

GRID = list(product((0.3, 3.0, 30.0, 100.0), (1.0, 5.0, 20.0)))
WIDEST = 4000


def load(folder: Path, size: str, *, sets: dict[str, Loader]) -> list[Split]:
    """A split of every set; of few sets where it has to be quick."""
    if size == "tiny":
        return [_split(sp.coo_matrix(datasets.ratings(200, 150, 4000)), 0)]
    names = list(sets) if size == "full" else list(sets)[:3]
    return [_split(sp.coo_matrix(sets[name](folder)), 0) for name in names]


def _split(table: sp.coo_matrix, seed: int) -> Split:
    return Split(*(sp.csr_array(part.tocsr()) for part in datasets.split(table, 0.2, seed)))


def each(splits: list[Split], lists: Callable[[sp.csr_array], Any]) -> Fit:
    started = time.perf_counter()
    found = [lists(split.train) for split in splits]
    return Fit(found, 0, time.perf_counter() - started)


def ours(splits: list[Split], target: float | None) -> Fit:
    import unweave

    return each(splits, lambda X: _lists(unweave.ImplicitALS(random_state=0).fit(X), X))


def ease(splits: list[Split], target: float | None) -> Fit:
    import unweave

    def lists(X: sp.csr_array) -> Any:
        kept = np.sort(np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:WIDEST])
        found = _lists(unweave.EASE(random_state=0).fit(X[:, kept]), X)
        return np.where(found >= 0, kept[found], -1)

    return each(splits, lists)


def _lists(model: Any, X: sp.csr_array) -> Any:
    return model.recommend(np.arange(X.shape[0]), LISTED)[0]


def implicit(splits: list[Split], threads: int) -> Fit:
    """implicit's ALS, the best of the grid on a fifth of the training pairs."""
    from unweave.judge import ndcg_at

    def lists(X: sp.csr_array) -> Any:
        inner = _split(X.tocoo(), 1)
        gains = [ndcg_at(_implicit(inner.train, threads, *setting), inner.test, LISTED) for setting in GRID]
        return _implicit(X, threads, *GRID[int(np.argmax(gains))])

    return each(splits, lists)


def _implicit(X: sp.csr_array, threads: int, regularization: float, alpha: float) -> Any:
    from implicit.cpu.als import AlternatingLeastSquares
    from threadpoolctl import threadpool_limits

    from unweave.linalg.scores import top_columns

    model = AlternatingLeastSquares(
        factors=64, regularization=regularization, alpha=alpha, num_threads=threads, random_state=0
    )
    with threadpool_limits(limits=1, user_api="blas"):
        model.fit(sp.csr_matrix(X), show_progress=False)
    return top_columns(model.user_factors, np.asarray(model.item_factors.T), LISTED, seen=X)[0]


ROWS = [
    Row(
        name=name,
        title=title,
        target=0.0,
        load=partial(load, sets=sets),
        ours=fit,
        peers={"implicit ALS, tuned": implicit},
        objective=objective,
        aim="below",
        value="−NDCG@10",
        tuned_on="the 12 of `pairs.py`",
        repeats=1,
    )
    for name, title, fit, sets in (
        ("ranking-tuned-on", "ImplicitALS, the 12 sets tuned on: mean NDCG@10", ours, TUNED),
        ("ranking-reported", "ImplicitALS, 15 sets not tuned on: mean NDCG@10", ours, REPORTED),
        ("ranking-ease", "EASE, 15 sets not tuned on: mean NDCG@10", ease, REPORTED),
    )
]
