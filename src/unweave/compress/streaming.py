"""PCA from summaries that add up: counts, sums and the Gram about a fixed point."""

from __future__ import annotations

import numpy as np

from unweave.objectives.opening import open_table, reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free
from unweave.solve.certificate import bounded
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.updates import LeastSquares

_MOST_COLUMNS = 8192


def add_block(pca, X) -> None:
    """Fold one block of rows into a PCA and bring its components up to date.

    The Gram is kept about the mean of the first block, so later means near it do not cancel.
    """
    with single_blas():
        if hasattr(pca, "components_"):
            objective = reopen_table(pca, X, pca.missing, pca._learned)
        else:
            objective, pca._learned = open_table(pca, X, pca.missing, "squared")
        if objective.shape[1] > _MOST_COLUMNS:
            raise ValueError(f"partial_fit keeps a covariance: X may have at most {_MOST_COLUMNS} columns")
        if not objective.complete:
            raise ValueError("partial_fit of PCA needs every entry observed; fit the whole table for missing entries")
        if getattr(pca, "_sums", None) is None:
            pca._sums = _of_fit(pca) if hasattr(pca, "components_") else _of_first(objective)
        _add(pca._sums, objective)
        _update(pca, objective)


def _of_first(objective) -> dict:
    pivot = np.asarray(objective.X.mean(axis=0, dtype=np.float64)).ravel()
    return {"n": 0, "pivot": pivot, "sum": 0.0, "gram": 0.0}


def _of_fit(pca) -> dict:
    """Sums that a fitted model stands for: its components, and what it left spread evenly over other directions."""
    Z, s = pca.components_.astype(np.float64), pca.singular_values_.astype(np.float64)
    k, m = Z.shape
    noise = 2 * pca.objective_ / (m - k) if m > k else 0.0
    gram = (Z.T * (s**2 - noise)) @ Z + noise * np.eye(m)
    return {"n": pca.n_samples_, "pivot": pca.mean_.astype(np.float64), "sum": np.zeros(m), "gram": gram}


def _add(sums: dict, objective) -> None:
    X = objective.X
    total = X.sum(axis=0, dtype=np.float64)
    sums["n"] += X.shape[0]
    sums["sum"] = sums["sum"] + np.asarray(total).ravel() - X.shape[0] * sums["pivot"]
    sums["gram"] = sums["gram"] + objective.column_gram(sums["pivot"].astype(objective.dtype))


def _update(pca, objective) -> None:
    sums, m = pca._sums, objective.shape[1]
    drift = sums["sum"] / sums["n"]
    values, vectors = np.linalg.eigh(sums["gram"] - sums["n"] * np.outer(drift, drift))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1].T
    wanted = pca._problem(pca._learned.loss, (max(sums["n"], 1), m), False).n_components
    s, total = np.sqrt(values[:wanted]), float(values.sum())
    k = pca._enough(s, total)
    Vt = vectors[:k] * np.sign(vectors[np.arange(k), np.abs(vectors[:k]).argmax(axis=1)])[:, None]
    problem = Problem(k, pca._learned.loss, Free(), Free(), offset=True)
    pca._sentence, pca._left = problem, LeastSquares()
    pca._full_components = np.vstack([Vt, sums["pivot"] + drift]).astype(objective.dtype)
    pca._publish(problem, pca._full_components)
    pca._set_variances(_Shape((sums["n"], m), objective.dtype), s[:k], total, sums["n"])
    pca.objective_ = 0.5 * float(values[k:].sum())
    rounding = float(np.finfo(objective.dtype).eps) * 0.5 * total  # blocks are multiplied in the type of the rows
    pca.certificate_ = bounded("eckart-young", pca.objective_, pca.objective_, 0.5 * total, rounding=rounding)
    pca.codes_, pca.history_, pca.n_iter_ = None, History(), getattr(pca, "n_iter_", 0) + 1
    pca.plan_ = Plan(f"{sums['n']} rows seen in blocks", "running covariance", "", "", "none needed")


class _Shape:
    """Shape and type of all rows seen so far, for the variances."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype
