"""Describe Gaussian components to the EM of mixtures: where they begin, how they are maximised and revived."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import numbers
from unweave.group.mixtures import shapes
from unweave.group.mixtures.em import EM, split_heaviest
from unweave.group.mixtures.forms import choose_form
from unweave.group.mixtures.rows import SAMPLE, STARTS, WeightedRows, centres_by, nearest, sample_rows

_DEAD = 1e-10  # of all weight: a component with less explains not one row
_APART = 0.7  # standard deviations by which a component is split
_GIVEN = ("means", "weights", "covariances")


def columns_reach(rows: WeightedRows) -> tuple[NDArray, NDArray]:
    """Find the smallest and the largest number of every column (unseen entries stand at 0)."""
    size = max(1, (1 << 20) // rows.shape[1])
    ends = list(rows.map(lambda X, seen, weights: (X.min(axis=0), X.max(axis=0)), size))
    low, high = (np.array(end, dtype=np.float64) for end in zip(*ends, strict=True))
    return low.min(axis=0), high.max(axis=0)


@dataclass(frozen=True)
class GaussianFamily:
    """Describe normal densities N(μ_c, Σ_c) with covariances of one kind.

    Parameters
    ----------
    kind : {"full", "tied", "diag", "spherical"}
    reg : float
        Added to the diagonals.
    given : array, optional
        Covariances that are not learned.
    """

    kind: str
    reg: float
    given: NDArray | None = None

    def look(self, rows: WeightedRows) -> tuple[NDArray, NDArray, bool]:
        """Measure the reach of the numbers."""
        return *columns_reach(rows), rows.complete

    def known(self, looks: list) -> tuple[tuple[NDArray, NDArray], bool]:
        """Put together how far numbers reach, and whether all were seen."""
        low, high, complete = zip(*looks, strict=True)
        return (np.min(low, axis=0), np.max(high, axis=0)), all(complete)

    def form(self, parameters: dict, known: tuple):
        """Choose the fastest form that keeps the digits."""
        return choose_form(self.kind, parameters, *known)

    def log_prior(self, parameters: dict) -> float:
        """Assume nothing of the parameters."""
        return 0.0

    def blend(self, old: dict, new: dict, share: float) -> dict:
        """Average the moments of two samples, `share` of the second, about the points of the second."""
        shift = old["about"] - new["about"]
        count, first, second = old["count"], old["first"], old["second"]
        if second.ndim == 3:
            cross = first[:, :, None] * shift[:, None, :]
            second = second + cross + np.swapaxes(cross, 1, 2)
            second = second + count[:, None, None] * shift[:, :, None] * shift[:, None, :]
        else:
            second = second + 2 * first * shift + count[:, None] * shift**2
        moved = {"count": count, "first": first + count[:, None] * shift, "second": second}
        return {name: (1 - share) * moved[name] + share * new[name] for name in moved} | {"about": new["about"]}

    def maximise(self, state: dict) -> dict:
        """Find the most likely parameters given the moments; a component that has died stays where it was, weight 0."""
        count = state["count"]
        alive = count > _DEAD * count.sum()
        move, scatter = shapes.scatters(count, state["first"], state["second"])
        means = np.where(alive[:, None], state["about"] + move, state["means"])
        found = state["covariances"]
        if self.given is None:
            new = shapes.covariances(self.kind, np.where(alive, count, 0.0), scatter, self.reg)
            found = new if self.kind == "tied" else np.where(alive.reshape(-1, *[1] * (new.ndim - 1)), new, found)
        count = np.where(alive, count, 0.0)
        return {"weights": count / count.sum(), "means": means, "covariances": found}

    def revive(self, state: dict, parameters: dict, trial: int) -> dict | None:
        """Make a dead component one half of the heaviest, split along its longest axis; mean and scatter stay."""

        def aside(parent: int) -> NDArray:
            _, scatter = shapes.scatters(state["count"], state["first"], state["second"])
            return _longest_axis(scatter[parent]) * (_APART / 2**trial)

        split = split_heaviest(parameters, aside)
        if split is None:
            return None
        new, parent, child, axis = split
        found = parameters["covariances"].copy()
        if self.given is None and self.kind in ("full", "diag"):
            taken = np.outer(axis, axis) if self.kind == "full" else axis**2
            found[parent] -= taken
            found[child] = found[parent]
        elif self.kind != "tied":
            found[child] = found[parent]
        return {**new, "covariances": found}


def _longest_axis(scatter: NDArray) -> NDArray:
    """Find the principal axis of a scatter (full, or its diagonal), as long as a standard deviation along it."""
    if scatter.ndim == 1:
        axis = np.zeros(len(scatter))
        axis[np.argmax(scatter)] = np.sqrt(scatter.max())
        return axis
    values, vectors = np.linalg.eigh(scatter)
    return vectors[:, -1] * np.sqrt(max(values[-1], 0.0))


def label_moments(kind: str, Y: NDArray, weights: NDArray, labels: NDArray, k: int) -> dict:
    """Sum the moments of rows that each belong to one component, about its own mean.

    About a common mean, those of components that lie far apart would cancel to nothing.
    """
    count, first = np.bincount(labels, weights, k), np.zeros((k, Y.shape[1]))
    about = np.tile(np.average(Y, axis=0, weights=weights), (k, 1))
    second = np.zeros((k, Y.shape[1], Y.shape[1]) if shapes.dense(kind) else (k, Y.shape[1]))
    for c in range(k):
        own = labels == c
        if not own.any():
            continue
        w = weights[own]
        about[c] = np.average(Y[own], axis=0, weights=w)
        D = Y[own] - about[c]
        first[c] = w @ D
        second[c] = (D * w[:, None]).T @ D if shapes.dense(kind) else w @ D**2
    return {"count": count, "first": first, "second": second, "about": about}


def first_state(
    family: GaussianFamily, em: EM, rows: WeightedRows, init, k: int, rng: np.random.Generator, trial: int
) -> dict:
    """Make the first state of EM: from k-means or random rows of a sample, or from what the user gives."""
    if isinstance(init, str) and init not in STARTS:
        raise ValueError(f"init={init!r} is not known; use 'k-means', 'random', an array of means or a dict")
    X, weights = sample_rows(rows, SAMPLE, rng)
    if isinstance(init, str):
        return em.state_with(_hard(family, X, weights, centres_by(init, X, weights, k, rng, trial)))
    given = check_given(init, family.kind, k, X.shape[1])
    if family.given is not None:
        given["covariances"] = family.given
    state = _hard(family, X, weights, given["means"])
    return em.state_at({**family.maximise(state), "weights": state["weights"], **given})


def _hard(family: GaussianFamily, X: NDArray, weights: NDArray, centres: NDArray) -> dict:
    """Make parameters and moments where every row belongs to its nearest centre alone."""
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
    """Check a start that the user gave: an array of means, or a dict of means and perhaps weights and covariances."""
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
