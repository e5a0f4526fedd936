"""Ask what a fitted model relies on: how much more it errs when the values of one column are dealt to other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.predict.learned.pipe import Pipe
from unweave.predict.learned.search import Task

_REPEATS = 3
_ROWS = 1000
_WORK = 8e6  # rows times trees (or support vectors) that are asked: some seconds
_COLUMNS = 100  # of a wide table those that go with the target most


def reliance(pipe: Pipe, task: Task, numbers, y: NDArray) -> NDArray:
    """Return the rise of the error for each used column, on rows that were no part of the fit.

    The error is the share of rows that are wrong, or the root of the mean squared error. All numbers that a column
    became (its levels, say) are dealt anew together. Zero where a column of a wide table was not looked at.
    """
    rng, owner = np.random.default_rng(task.seed), pipe.reader.owner
    n_columns = len(pipe.reader.columns.used)
    looked = _candidates(numbers, y, owner, n_columns)
    parts = len(getattr(getattr(pipe.predictor, "trees", None), "roots", getattr(pipe.predictor, "rows", [0] * 50)))
    most = int(max(50, min(_ROWS, _WORK / (max(1, parts) * max(1, len(looked)) * _REPEATS))))
    rows = np.sort(rng.permutation(len(y))[:most])
    some, y = numbers[rows], y[rows]
    dense = some if isinstance(some, np.ndarray) else some.toarray()
    store = (lambda X: X) if isinstance(some, np.ndarray) else type(some)
    before = _error(task, pipe.answers(some), y)
    out = np.zeros(n_columns)
    for j in looked:
        own, rises = np.flatnonzero(owner == j), []
        for _ in range(_REPEATS):
            dealt = dense.copy()
            dealt[:, own] = dense[rng.permutation(len(y))][:, own]
            rises.append(_error(task, pipe.answers(store(dealt)), y) - before)
        out[j] = np.mean(rises)
    return out


def _error(task: Task, answers: NDArray, y: NDArray) -> float:
    mean = float(task.errors(answers, y).mean())
    return mean if task.n_classes else mean**0.5


def _candidates(numbers, y: NDArray, owner: NDArray, n_columns: int) -> list[int]:
    """List the columns to look at: all, or of many those that go with the target most."""
    if n_columns <= _COLUMNS:
        return list(range(n_columns))
    sure = np.nan_to_num(numbers) if isinstance(numbers, np.ndarray) else numbers
    mean = np.asarray(sure.mean(axis=0)).ravel()
    square = np.asarray((sure * sure if isinstance(sure, np.ndarray) else sure.multiply(sure)).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - mean**2, 1e-300))
    target = np.eye(int(y.max()) + 1)[y] if y.dtype.kind == "i" else y[:, None].astype(np.float64)
    target = target - target.mean(axis=0)
    together = np.abs(np.asarray(sure.T @ target)).max(axis=1) / spread
    best = np.zeros(n_columns)
    np.maximum.at(best, owner, together)
    return sorted(np.argsort(-best, kind="stable")[:_COLUMNS].tolist())
