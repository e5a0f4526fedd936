"""Gaussian components as a family for the EM of mixtures: the forms of its E-step, and its M-step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.group import gaussian_shapes as shapes
from unweave.group.em import Rows
from unweave.group.gaussian_rows import choose_form

_DEAD = 1e-10  # of all weight: a component with less explains not one row
_APART = 0.7  # standard deviations by which a component is split


def columns_reach(rows: Rows) -> tuple[NDArray, NDArray]:
    """Smallest and largest number of every column (unseen entries stand at 0)."""
    size = max(1, (1 << 20) // rows.shape[1])
    ends = list(rows.map(lambda X, seen, weights: (X.min(axis=0), X.max(axis=0)), size))
    low, high = (np.array(end, dtype=np.float64) for end in zip(*ends, strict=True))
    return low.min(axis=0), high.max(axis=0)


@dataclass(frozen=True)
class GaussianFamily:
    """Normal densities N(μ_c, Σ_c) with covariances of one kind.

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

    def bound_to(self, rows: Rows):
        """``parameters -> form`` for one table: its reach is measured once."""
        reach = columns_reach(rows)
        return lambda state: choose_form(self.kind, state, reach, rows.complete)

    def log_prior(self, parameters: dict) -> float:
        """Nothing is assumed of the parameters."""
        return 0.0

    def blend(self, old: dict, new: dict, share: float) -> dict:
        """Mean moments of two samples, `share` of the second, about the points of the second."""
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
        """The most likely parameters given the moments; a component that has died stays where it was, weight 0."""
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
        """A dead component becomes one half of the heaviest, split along its longest axis; mean and scatter stay."""
        weights, means = parameters["weights"].copy(), parameters["means"].copy()
        dead = np.flatnonzero(weights == 0)
        if not len(dead):
            return None
        parent, child = int(np.argmax(weights)), dead[0]
        _, scatter = shapes.scatters(state["count"], state["first"], state["second"])
        axis = _longest_axis(scatter[parent]) * (_APART / 2**trial)
        weights[[parent, child]] = weights[parent] / 2
        means[child] = means[parent] - axis
        means[parent] += axis
        found = parameters["covariances"].copy()
        if self.given is None and self.kind in ("full", "diag"):
            taken = np.outer(axis, axis) if self.kind == "full" else axis**2
            found[parent] -= taken
            found[child] = found[parent]
        elif self.kind != "tied":
            found[child] = found[parent]
        return {"weights": weights, "means": means, "covariances": found}


def _longest_axis(scatter: NDArray) -> NDArray:
    """The principal axis of a scatter (full, or its diagonal), as long as a standard deviation along it."""
    if scatter.ndim == 1:
        axis = np.zeros(len(scatter))
        axis[np.argmax(scatter)] = np.sqrt(scatter.max())
        return axis
    values, vectors = np.linalg.eigh(scatter)
    return vectors[:, -1] * np.sqrt(max(values[-1], 0.0))


def label_moments(kind: str, Y: NDArray, weights: NDArray, labels: NDArray, k: int) -> dict:
    """Moments of rows that each belong to one component, about its own mean: about a common one, those of components
    that lie far apart would cancel to nothing."""
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
