"""Where a Gaussian mixture begins: k-means on a sample of rows, random rows, or what the user gives."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import numbers
from unweave.group import gaussian_shapes as shapes
from unweave.group.em import EM, Rows
from unweave.group.gaussian_family import GaussianFamily, label_moments
from unweave.group.kmeans.inside import trial_centres

STARTS = ("k-means", "random")
_SAMPLE = 20_000  # rows that a start is made from
_GIVEN = ("means", "weights", "covariances")


def sample_rows(rows: Rows, most: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """At most `most` rows that have weight, holes filled with the column's mean, and their weights."""
    weights = np.ones(rows.shape[0]) if rows.weights is None else rows.weights
    heavy = np.flatnonzero(weights)
    chosen = heavy if len(heavy) <= most else np.sort(rng.choice(heavy, most, replace=False))
    tables, masks = [], []
    for begin, table in rows.tables():
        own = chosen[(chosen >= begin) & (chosen < begin + table.shape[0])] - begin
        if len(own):
            part = table.take(own)
            assert part is not None  # tables in memory can be taken from
            X, seen = rows.read(part, 0, len(own))
            X = X.toarray() if sp.issparse(X) else X
            tables.append(X.astype(np.float64))
            masks.append(np.ones(X.shape, bool) if seen is None else np.asarray(seen) > 0)
    X, seen, w = np.concatenate(tables), np.concatenate(masks), weights[chosen].astype(np.float64)
    known = w @ seen
    means = (w @ (X * seen)) / np.where(known > 0, known, 1.0)
    return np.where(seen, X, means), w


def nearest(X: NDArray, centres: NDArray) -> NDArray:
    """The nearest centre of every row."""
    from unweave.group.kmeans.lloyd import assign

    return assign(np.ascontiguousarray(X), np.ascontiguousarray(centres))[0]


def centres_by(
    init: str, X: NDArray, weights: NDArray, k: int, rng: np.random.Generator, trial: int
) -> NDArray[np.float64]:
    """k centres of the sample, other ones for each trial: of k-means at first, or random rows."""
    if init == "random":
        return X[rng.choice(len(X), k, replace=len(X) < k)]
    return trial_centres(X, k, rng, trial, weights)


def begin(family: GaussianFamily, em: EM, rows: Rows, init, k: int, rng: np.random.Generator, trial: int) -> dict:
    """The first state of EM."""
    if isinstance(init, str) and init not in STARTS:
        raise ValueError(f"init={init!r} is not known; use 'k-means', 'random', an array of means or a dict")
    X, weights = sample_rows(rows, _SAMPLE, rng)
    if isinstance(init, str):
        return em.begin(_hard(family, X, weights, centres_by(init, X, weights, k, rng, trial)))
    given = check_given(init, family.kind, k, X.shape[1])
    if family.given is not None:
        given["covariances"] = family.given
    state = _hard(family, X, weights, given["means"])
    return em.begin_with({**family.maximise(state), "weights": state["weights"], **given})


def _hard(family: GaussianFamily, X: NDArray, weights: NDArray, centres: NDArray) -> dict:
    """Parameters and moments where every row belongs to its nearest centre alone."""
    k = len(centres)
    together = label_moments(family.kind, X, weights, np.zeros(len(X), np.intp), 1)
    _, scatter = shapes.scatters(together["count"], together["first"], together["second"])
    covariances = family.given
    if covariances is None:
        one = shapes.covariances(family.kind, together["count"], scatter, family.reg)
        covariances = one if family.kind == "tied" else np.repeat(one, k, axis=0)
    parameters = {"weights": np.full(k, 1 / k), "means": centres, "covariances": covariances}
    return {**parameters, **label_moments(family.kind, X, weights, nearest(X, centres), k)}


def check_given(init, kind: str, k: int, d: int) -> dict:
    """A start that the user gave: an array of means, or a dict of means and perhaps weights and covariances."""
    given = dict(init) if isinstance(init, dict) else {"means": init}
    unknown = [name for name in given if name not in _GIVEN]
    if unknown or "means" not in given:
        raise ValueError(
            f"init as a dict must hold 'means' and may hold 'weights' and 'covariances', got {list(given)}"
        )
    found = {"means": numbers(given["means"], "init: means", (k, d))}
    if "weights" in given:
        weights = numbers(given["weights"], "init: weights", (k,))
        if not (weights >= 0).all() or not np.isclose(weights.sum(), 1):
            raise ValueError(f"init: weights must be {k} numbers of at least 0 that add up to 1")
        found["weights"] = weights / weights.sum()
    if "covariances" in given:
        found["covariances"] = shapes.check_covariances(kind, given["covariances"], k, d)
    return found
