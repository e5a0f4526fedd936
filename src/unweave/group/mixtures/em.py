"""Fit by expectation–maximisation, written once: a scheme of the one loop, and the pass over rows that mixtures share.

θ ← argmax Σ_z q(z) log p(x, z | θ) after q(z) ← p(z | x, θ). Each step raises the lower bound
Σ_z q(z) log(p(x, z | θ) / q(z)), which touches the log-likelihood whenever q is new.

Reference: Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.group.mixtures.rows import WeightedRows
from unweave.linalg.gaussian import responsibilities
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme

_NOTHING_YET = -1e300  # the bound before the first step: finite, so that a checkpoint can hold it
_TRIES = 3  # revivals of dead components that may fail before no more are tried


@dataclass(eq=False)
class EM(Scheme):
    """Maximise the likelihood by expectation–maximisation.

    A step maximises given the statistics of the state, then expects anew, so the objective it hands out (minus the
    bound) is that of its own parameters. The bound never falls: a step that would lower it (by rounding, or where a
    floor under the covariances is not a maximum of the likelihood) is not taken, and the fit has settled.

    Parameters
    ----------
    expect : callable
        ``parameters -> (statistics, bound)``.
    maximise : callable
        ``state -> parameters``, from the statistics in it.
    first : callable
        ``(em, rng, trial) -> state``: the first state, by :meth:`state_at` or :meth:`state_with`; other ones for other
        trials.
    revive : callable, optional
        ``(state, parameters, trial) -> parameters or None``: other parameters where a component has died. They are
        kept if the bound does not fall, otherwise the component stays dead.
    tol : float, default=0.0
        The fit has settled when a step raises the bound by no more than this.

    Examples
    --------
    Grades A, B, C, D have the probabilities ½, μ, 2μ, ½ − 3μ; 20 students have A or B, 10 have C and 10 have D.

    >>> import math
    >>> def expect(state):
    ...     mu = state["mu"]
    ...     bound = 20 * math.log(0.5 + mu) + 10 * math.log(2 * mu) + 10 * math.log(0.5 - 3 * mu)
    ...     return {"b": 20 * mu / (0.5 + mu)}, bound
    >>> def maximise(state):
    ...     return {"mu": (state["b"] + 10) / (6 * (state["b"] + 20))}
    >>> em = EM(expect, maximise, lambda em, rng, trial: em.state_with({"mu": 0.0, "b": 0.0}))
    >>> state, path = em.begin(), []
    >>> for _ in range(4):
    ...     state, objective = em.step(state)
    ...     path.append(round(state["mu"], 5))
    >>> path
    [0.08333, 0.09375, 0.0947, 0.09478]
    """

    expect: Callable[[dict], tuple[dict, float]]
    maximise: Callable[[dict], dict]
    first: Callable[[EM, Any, int], dict]
    revive: Callable[[dict, dict, int], dict | None] | None = None
    tol: float = 0.0

    def __post_init__(self):
        self.ending = f"the mean log-likelihood of a row rose by no more than tol={self.tol:g}"

    def begin(self, rng=None, trial: int = 0) -> dict:
        """Make the first state; each trial has another."""
        return self.first(self, rng, trial)

    def state_with(self, state: dict, bound: float = _NOTHING_YET) -> dict:
        """Make the state that holds these parameters, and the statistics that the first step maximises with."""
        return {**state, "bound": bound, "gain": -_NOTHING_YET, "failures": 0}

    def state_at(self, parameters: dict) -> dict:
        """Make the state of these parameters, which are expected with once."""
        statistics, bound = self.expect(parameters)
        return self.state_with({**parameters, **statistics}, bound)

    def settled(self, state: dict) -> bool:
        """Whether the last step raised the bound by no more than `tol`."""
        return state["gain"] <= self.tol

    def adapt(self, loop: Loop) -> Loop:
        """Ask `settled` alone, unless the user wants every step (``tol=0``)."""
        return replace(loop, tol=None) if loop.tol else loop

    def step(self, state: dict) -> tuple[dict, float]:
        """Maximise, revive what has died, and expect anew."""
        parameters = self.maximise(state)
        if self.revive is not None and state["failures"] < _TRIES:
            revived = self.revive(state, parameters, state["failures"])
            if revived is not None:
                found = self._attempt(state, revived)
                if found is not None:
                    return found, -found["bound"]
                state = {**state, "failures": state["failures"] + 1}
        found = self._attempt(state, parameters) or {**state, "gain": 0.0}
        return found, -found["bound"]

    def _attempt(self, state: dict, parameters: dict) -> dict | None:
        """Expect with new parameters; None if the bound would fall."""
        statistics, bound = self.expect(parameters)
        if bound < state["bound"]:
            return None
        return {**state, **parameters, **statistics, "bound": bound, "gain": bound - state["bound"]}


class Form(Protocol):
    """Expect on pieces of the table, for one family of densities with fixed parameters."""

    size: int  # rows of a piece
    held: int  # numbers in its statistics

    def log_joint(self, X: Any, seen: NDArray | None) -> tuple[NDArray[np.float64], Any]:
        """Compute log π_c p(x_i | c) as a table (components, rows), and whatever `statistics` can use again."""

    def statistics(self, memo: Any, R: NDArray[np.float64]) -> tuple[NDArray, ...]:
        """Sum over rows, weighted by R (components, rows)."""

    def collect(self, totals: list[NDArray]) -> dict:
        """Return the statistics of the whole table, by name."""


def expectation(rows: WeightedRows, family: Family, known: Any, parameters: dict) -> tuple[dict, float]:
    """Expect with fixed parameters: statistics of all rows, and the mean log-likelihood of a row."""
    form = family.form(parameters, known)
    value, *totals = rows.add_up(_expected, form)
    return form.collect(totals), float(value) / rows.total


def _expected(rows: WeightedRows, form: Form) -> tuple:
    """Add up the log-likelihood and the statistics of rows in memory."""

    def piece(X, seen, weights):
        L, memo = form.log_joint(X, seen)
        logs = responsibilities(L, weights)
        value = float(logs.sum() if weights is None else weights @ logs)
        return np.float64(value), *form.statistics(memo, L)

    totals: list[Any] = []
    for part in rows.map(piece, form.size, form.held):
        totals = [a + b for a, b in zip(totals, part)] if totals else list(part)
    return tuple(totals)


def split_heaviest(parameters: dict, step: Callable[[int], NDArray]) -> tuple[dict, int, int, NDArray] | None:
    """Make the first dead component one half of the heaviest, their means `step(parent)` to both sides of its own.

    Returns weights and means, the one that was split, the one that is back, and the step; None if none is dead.
    """
    weights, means = parameters["weights"].copy(), parameters["means"].copy()
    dead = np.flatnonzero(weights == 0)
    if not len(dead):
        return None
    parent, child = int(np.argmax(weights)), int(dead[0])
    aside = step(parent)
    weights[[parent, child]] = weights[parent] / 2
    means[child] = means[parent] - aside
    means[parent] += aside
    return {"weights": weights, "means": means}, parent, child, aside


class Family(Protocol):
    """Describe densities whose mixtures EM fits."""

    def look(self, rows: WeightedRows) -> Any:
        """Find out what forms must know of rows in memory."""

    def known(self, looks: list) -> Any:
        """Put together what was found in the stretches of a table."""

    def form(self, parameters: dict, known: Any) -> Form:
        """Make the form for these parameters, on a table of which that much is known."""

    def maximise(self, state: dict) -> dict:
        """Find the parameters from the statistics of a state."""

    def revive(self, state: dict, parameters: dict, trial: int) -> dict | None:
        """Find parameters in which a dead component begins anew, None if none is dead."""

    def log_prior(self, parameters: dict) -> float:
        """Compute the logarithm of the prior density of the parameters, up to a constant."""

    def blend(self, old: dict, new: dict, share: float) -> dict:
        """Average the statistics of two samples, `share` of the second."""


def mixture_em(family: Family, rows: WeightedRows, first: Callable[[EM, Any, int], dict], tol: float = 0.0) -> EM:
    """Make the EM of a mixture on a table; its bound is the mean of log p(x) (+ log prior / total weight)."""
    looks = rows.looked_at(family.look)
    known = cache(lambda: family.known(looks()))

    def expect(parameters: dict) -> tuple[dict, float]:
        statistics, bound = expectation(rows, family, known(), parameters)
        return statistics, bound + family.log_prior(parameters) / rows.total

    return EM(expect, family.maximise, first, family.revive, tol)


def posteriors(rows: WeightedRows, state: tuple) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute log p(x) of rows in memory, and the probability of every component (rows, components).

    `state` is the family and its parameters.
    """
    family, parameters = state
    form = family.form(parameters, family.known([family.look(rows)]))

    def piece(X, seen, weights):
        L, _ = form.log_joint(X, seen)
        logs = responsibilities(L)
        return logs, np.ascontiguousarray(L.T)

    logs, codes = zip(*rows.map(piece, form.size), strict=True)
    return np.concatenate(logs), np.concatenate(codes)


def log_likelihoods(rows: WeightedRows, state: tuple) -> NDArray[np.float64]:
    """Compute log p(x) of rows in memory."""
    return posteriors(rows, state)[0]


def probabilities(rows: WeightedRows, state: tuple) -> NDArray[np.float64]:
    """Compute the probability of every component for rows in memory."""
    return posteriors(rows, state)[1]


def most_probable(rows: WeightedRows, state: tuple) -> NDArray[np.intp]:
    """Find the most probable component of rows in memory."""
    return posteriors(rows, state)[1].argmax(axis=1)
