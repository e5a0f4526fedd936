"""PCA from summaries that add up, and may be taken off again: counts, sums and the Gram about a fixed point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.quality import r2_of
from unweave.data.arguments import row_weights
from unweave.objectives.opening import open_table, reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free
from unweave.solve.certificate import bounded
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.updates import LeastSquares

_MOST_COLUMNS = 8192
_NEGATIVE = 1e3  # times the rounding of all that was added: a variance below minus that is no rounding


def add_block(pca, X, sample_weight=None) -> None:
    """Fold one block of rows into a PCA and bring its components up to date.

    The Gram is kept about the mean of the first block, so later means near it do not cancel.
    """
    with single_blas():
        if hasattr(pca, "components_"):
            objective, learned = reopen_table(pca, X, pca.missing, pca._learned), pca._learned
        else:
            objective, learned = open_table(pca, X, pca.missing, "squared")
        _check(objective, "partial_fit")
        weights = row_weights(sample_weight, objective.shape[0])
        kept = getattr(pca, "_sums", None)
        if kept is None:
            kept = _of_fit(pca) if hasattr(pca, "components_") else _of_first(objective)
        learned.weighted = learned.weighted or weights is not None
        pca._learned, pca._sums = learned, _with(kept, objective, weights, 1)
        _update(pca, objective)


def take_block_out(pca, X, sample_weight=None) -> None:
    """Take one block of rows out of a PCA that has learned them, and bring its components up to date."""
    with single_blas():
        objective = reopen_table(pca, X, pca.missing, pca._learned)
        _check(objective, "forget")
        weights = row_weights(sample_weight, objective.shape[0])
        kept = getattr(pca, "_sums", None)
        kept = _of_fit(pca) if kept is None else kept
        fewer, there = _with(kept, objective, weights, -1), f"the model has learned {kept['rows']}"
        if fewer["rows"] < 0 or fewer["n"] < -1e-9 * kept["n"]:
            raise ValueError(f"X has more rows ({objective.shape[0]}) than can be forgotten: {there}")
        if fewer["rows"] < 1 or not fewer["n"] > 1e-9 * kept["n"]:
            raise ValueError(f"X holds every row there is ({there}): make a new model instead of forgetting all")
        least = float(np.linalg.eigvalsh(_about_the_mean(fewer))[0])
        rounding = float(np.finfo(objective.dtype).eps) * fewer["added"]
        if least < -_NEGATIVE * rounding:
            raise ValueError(
                f"X holds rows that the model has not learned: without them a variance would be {least:.3g}, below zero"
            )
        pca._sums = fewer
        _update(pca, objective)


def _check(objective, what: str) -> None:
    if objective.shape[1] > _MOST_COLUMNS:
        raise ValueError(f"{what} keeps a covariance: X may have at most {_MOST_COLUMNS} columns")
    if not objective.complete:
        raise ValueError(f"{what} of PCA needs every entry observed; fit the whole table for missing entries")


def _of_first(objective) -> dict:
    pivot = np.asarray(objective.X.mean(axis=0, dtype=np.float64)).ravel()
    return {"n": 0, "rows": 0, "pivot": pivot, "sum": 0.0, "gram": 0.0, "added": 0.0}


def _of_fit(pca) -> dict:
    """Sums that a fitted model stands for: its components, and what it left spread evenly over other directions."""
    Z, s = pca.components_.astype(np.float64), pca.singular_values_.astype(np.float64)
    k, m = Z.shape
    noise = 2 * pca.objective_ / (m - k) if m > k else 0.0
    gram = (Z.T * (s**2 - noise)) @ Z + noise * np.eye(m)
    counted = getattr(pca, "_counted", pca.n_samples_)  # models of before there were weights have none
    return {
        "n": counted, "rows": pca.n_samples_, "pivot": pca.mean_.astype(np.float64), "sum": np.zeros(m), "gram": gram,
        "added": float(np.trace(gram)),
    }  # fmt: skip


def _with(sums: dict, objective, weights: NDArray | None, sign: int) -> dict:
    """The sums with a block more (sign 1) or less (−1); `added` is what was ever added to the trace, for rounding."""
    X, pivot = objective.X, sums["pivot"].astype(objective.dtype)
    counted = X.shape[0] if weights is None else float(weights.sum())
    column_sums = X.sum(axis=0, dtype=np.float64) if weights is None else weights @ X
    gram = objective.column_gram(pivot, weights)
    return {
        "n": sums["n"] + sign * counted,
        "rows": sums.get("rows", sums["n"]) + sign * X.shape[0],
        "pivot": sums["pivot"],
        "sum": sums["sum"] + sign * (np.asarray(column_sums).ravel() - counted * pivot),
        "gram": sums["gram"] + sign * gram,
        "added": sums.get("added", 0.0) + float(np.trace(gram)),
    }


def _about_the_mean(sums: dict) -> NDArray[np.float64]:
    """The Gram about the mean: that about the pivot, less what the mean lies off it."""
    drift = sums["sum"] / sums["n"]
    return sums["gram"] - sums["n"] * np.outer(drift, drift)


def _update(pca, objective) -> None:
    sums, m = pca._sums, objective.shape[1]
    rows, drift = int(sums["rows"]), sums["sum"] / sums["n"]
    values, vectors = np.linalg.eigh(_about_the_mean(sums))
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1].T
    plan = Plan(f"{rows} rows seen in blocks", "running covariance", "", "", "none needed")
    wanted = pca._problem(pca._learned.loss, (max(rows, 1), m), False).n_components
    s, total = np.sqrt(values[:wanted]), float(values.sum())
    k = pca._enough(s, total, (max(rows, 1), m), plan.reasons)
    Vt = vectors[:k] * np.sign(vectors[np.arange(k), np.abs(vectors[:k]).argmax(axis=1)])[:, None]
    problem = Problem(k, pca._learned.loss, Free(), Free(), offset=True)
    pca._sentence, pca._left = problem, LeastSquares()
    pca._full_components = np.vstack([Vt, sums["pivot"] + drift]).astype(objective.dtype)
    pca._publish(problem, pca._full_components)
    pca.n_samples_, pca._counted, pca.plan_ = rows, sums["n"], plan
    pca._set_variances(objective.dtype, s[:k], total, min(max(rows, int(sums["n"])), m) - k)
    pca.objective_ = 0.5 * float(values[k:].sum())
    pca.r2_ = r2_of(2 * pca.objective_, total)
    rounding = float(np.finfo(objective.dtype).eps) * 0.5 * total  # blocks are multiplied in the type of the rows
    pca.certificate_ = bounded("eckart-young", pca.objective_, pca.objective_, 0.5 * total, rounding=rounding)
    pca.codes_, pca.history_, pca.n_iter_ = None, History(), getattr(pca, "n_iter_", 0) + 1
