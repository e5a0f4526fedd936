"""MovieLens-100K, the five official folds: mean held-out RMSE and time against surprise, cmfrec and myFM.

Rank and ridge of every contender come from entries held out of the training part of fold 1; ours chooses its ridge
itself in each fold, except in the row about time, where everybody is given it.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, evaluate, peers
from benchmarks.harness import Fit, Row
from benchmarks.rows.als import Ratings, predict

Folds = list[Ratings]
RIDGES = {"ridge": 1.3, "bias_ridge": 0.82}  # what ridge="auto" takes in fold 1


def load(folder: Path, size: str) -> Folds:
    if size == "tiny":
        return [Ratings(*datasets.split(datasets.ratings(200, 150, 4000)))]
    return [Ratings(*datasets.movielens_fold(folder, fold)) for fold in range(1, 6)]


def ours(folds: Folds, target: float | None, **options: Any) -> Fit:
    """A model a fold; the seconds are those of fitting, the search for the ridge included where there is one."""
    import unweave

    answers, seconds, sweeps = [], 0.0, 0
    for data in folds:
        started = time.perf_counter()
        model = unweave.MatrixCompletion(random_state=0, **options).fit(data.csr)
        seconds += time.perf_counter() - started
        sweeps += model.n_iter_
        answers.append(predict(model, data.csr, data.test))
    return Fit(answers, sweeps, seconds)


def cmfrec(folds: Folds, threads: int) -> Fit:
    """cmfrec's ALS with biases, rank 8 and ridge 10: the best of ranks 8…50 and ridges 5…20 on held-out entries."""
    import pandas as pd
    from cmfrec import CMF

    answers, seconds = [], 0.0
    for data in folds:
        train = pd.DataFrame({"UserId": data.train.row, "ItemId": data.train.col, "Rating": data.train.data})
        model = CMF(k=8, lambda_=10, method="als", nthreads=threads, verbose=False)
        started = time.perf_counter()
        model.fit(train)
        seconds += time.perf_counter() - started
        answers.append(_clipped(model.predict(data.test.row, data.test.col), data))
    return Fit(answers, 0, seconds)


def surprise(folds: Folds, threads: int) -> Fit:
    fits = [peers.surprise_svd(data.train, data.test, (1, 5)) for data in folds]
    return Fit([fit.answer for fit in fits], 0, sum(fit.seconds or 0.0 for fit in fits))


def myfm(folds: Folds, threads: int) -> Fit:
    """myFM's Gibbs sampler, rank 10, 512 draws."""
    from myfm import MyFMRegressor

    answers, seconds = [], 0.0
    for data in folds:
        train, test = (_one_hot(part) for part in (data.train, data.test))
        started = time.perf_counter()
        model = MyFMRegressor(rank=10, random_seed=0).fit(train, data.train.data, n_iter=512, n_kept_samples=480)
        seconds += time.perf_counter() - started
        answers.append(_clipped(model.predict(test), data))
    return Fit(answers, 512 * len(folds), seconds)


def _one_hot(part: sp.coo_matrix) -> sp.csr_matrix:
    n, m = part.shape
    rows = np.repeat(np.arange(part.nnz), 2)
    columns = np.stack([part.row, n + part.col], axis=1).ravel()
    return sp.csr_matrix((np.ones(2 * part.nnz), (rows, columns)), shape=(part.nnz, n + m))


def _clipped(predicted: Any, data: Ratings) -> np.ndarray:
    return np.clip(np.asarray(predicted), data.train.data.min(), data.train.data.max())


def objective(folds: Folds, answers: Any) -> float:
    """The mean over the folds of the root mean squared error."""
    return float(np.mean([evaluate.rmse(answer, data.test.data) for answer, data in zip(answers, folds)]))


ROWS = [
    Row(
        name="movielens-folds",
        tuned_on="held-out ratings of the table itself; the search: ten sets, fold 1 among them",
        title="MovieLens-100K, five folds, point estimate: mean RMSE",
        target=0.0,
        load=load,
        ours=partial(ours, n_components=8),
        peers={"cmfrec": cmfrec, "surprise SVD": surprise},
        objective=objective,
        aim="below",
        value="RMSE",
        repeats=1,
    ),
    Row(
        name="movielens-time",
        tuned_on="held-out ratings of the table itself; the search: ten sets, fold 1 among them",
        title="MovieLens-100K, five folds, hyper-parameters given: time to the peer's mean RMSE",
        target=2.0,
        load=load,
        ours=partial(ours, n_components=8, **RIDGES, max_iter=4),  # sweeps that are enough for the peer's RMSE
        peers={"cmfrec": cmfrec},
        objective=objective,
        stops=False,
        value="RMSE",
    ),
    Row(
        name="movielens-gibbs",
        tuned_on="held-out ratings of the table itself; the search: ten sets, fold 1 among them",
        title="MovieLens-100K, five folds, Bayesian: mean RMSE",
        target=0.0,
        load=load,
        ours=partial(ours, n_components=16, solver="gibbs"),
        peers={"myFM": myfm},
        objective=objective,
        aim="below",
        value="RMSE",
        repeats=1,
    ),
]
