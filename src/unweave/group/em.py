"""Expectation–maximisation, written once: a scheme of the one loop, and the pass over rows that mixtures share.

θ ← argmax Σ_z q(z) log p(x, z | θ) after q(z) ← p(z | x, θ). Each step raises the lower bound
Σ_z q(z) log(p(x, z | θ) / q(z)), which touches the log-likelihood whenever q is new.

Reference: Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.gaussian import responsibilities
from unweave.objectives import Blocks, Objective
from unweave.parallel import chunks, run

_NOTHING_YET = -1e300  # the bound before the first step: finite, so that a checkpoint can hold it
_TRIES = 3  # revivals of dead components that may fail before no more are tried
_AT_ONCE = 64  # pieces that are under way together, at most,
_HELD = 1 << 24  # and numbers in their results


@dataclass(frozen=True)
class EM:
    """Expectation–maximisation as a scheme for :func:`unweave.solve.iterate.iterate`.

    A step maximises given the statistics of the state, then expects anew, so the objective it hands out (minus the
    bound) is that of its own parameters. The bound never falls: a step that would lower it (by rounding, or where a
    floor under the covariances is not a maximum of the likelihood) is not taken, and the fit has settled.

    Parameters
    ----------
    expect : callable
        ``parameters -> (statistics, bound)``.
    maximise : callable
        ``state -> parameters``, from the statistics in it.
    revive : callable, optional
        ``(state, parameters, trial) -> parameters or None``: other parameters where a component has died. They are
        kept if the bound does not fall, otherwise the component stays dead.

    Examples
    --------
    Grades A, B, C, D have the probabilities ½, μ, 2μ, ½ − 3μ; 20 students have A or B, 10 have C and 10 have D.

    >>> import math
    >>> def expect(state):
    ...     mu = state["mu"]
    ...     bound = 20 * math.log(0.5 + mu) + 10 * math.log(2 * mu) + 10 * math.log(0.5 - 3 * mu)
    ...     return {"b": 20 * mu / (0.5 + mu)}, bound
    >>> em = EM(expect, lambda state: {"mu": (state["b"] + 10) / (6 * (state["b"] + 20))})
    >>> state, path = em.begin({"mu": 0.0, "b": 0.0}), []
    >>> for _ in range(4):
    ...     state, objective = em.step(state)
    ...     path.append(round(state["mu"], 5))
    >>> path
    [0.08333, 0.09375, 0.0947, 0.09478]
    """

    expect: Callable[[dict], tuple[dict, float]]
    maximise: Callable[[dict], dict]
    revive: Callable[[dict, dict, int], dict | None] | None = None

    def begin(self, state: dict, bound: float = _NOTHING_YET) -> dict:
        """A first state: parameters and the statistics that the first step maximises with."""
        return {**state, "bound": bound, "gain": -_NOTHING_YET, "failures": 0}

    def begin_with(self, parameters: dict) -> dict:
        """A first state from parameters alone, which are expected with once."""
        statistics, bound = self.expect(parameters)
        return self.begin({**parameters, **statistics}, bound)

    def step(self, state: dict) -> tuple[dict, float]:
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
        statistics, bound = self.expect(parameters)
        if bound < state["bound"]:
            return None
        return {**state, **parameters, **statistics, "bound": bound, "gain": bound - state["bound"]}


class Form(Protocol):
    """The E-step of one family of densities with parameters fixed, on pieces of the table."""

    size: int  # rows of a piece
    held: int  # numbers in its statistics

    def log_joint(self, X: Any, seen: NDArray | None) -> tuple[NDArray[np.float64], Any]:
        """log π_c p(x_i | c) as a table (components, rows), and whatever `statistics` can use again."""

    def statistics(self, memo: Any, R: NDArray[np.float64]) -> tuple[NDArray, ...]:
        """Sums over rows, weighted by R (components, rows)."""

    def collect(self, totals: list[NDArray]) -> dict:
        """The statistics of the whole table, by name."""


class Rows:
    """The rows of a table or of blocks of one, read in pieces, each row with its weight.

    Parameters
    ----------
    objective : Objective
        From :func:`unweave.objectives.opening.open_table`.
    weights : array (n,), optional
    read : callable
        ``(objective, start, stop) -> (rows, what was seen of them or None)``.
    """

    def __init__(self, objective: Objective, weights: NDArray | None, read: Callable):
        self.objective, self.weights, self.read = objective, weights, read
        self.shape, self.complete = objective.shape, objective.complete
        self.total = float(self.shape[0] if weights is None else weights.sum())

    def tables(self) -> Iterator[tuple[int, Objective]]:
        """(first row, table in memory) of every block."""
        if isinstance(self.objective, Blocks):
            yield from ((start, block) for start, _, block in self.objective)
        else:
            yield 0, self.objective

    def map(self, task: Callable, size: int, held: int = 1) -> Iterator:
        """``task(X, seen, weights)`` of every piece of at most `size` rows, in order, on the pool.

        A result holds about `held` numbers: only so many pieces are run before their results are handed on.
        """
        together = size * min(_AT_ONCE, max(4, _HELD // held))
        for begin, table in self.tables():
            for low, high in chunks(table.shape[0], together):

                def piece(start: int, stop: int, table=table, begin=begin, low=low):
                    X, seen = self.read(table, low + start, low + stop)
                    own = None if self.weights is None else self.weights[begin + low + start : begin + low + stop]
                    return task(X, seen, own)

                yield from run(piece, high - low, size)


def expectation(rows: Rows, form: Form) -> tuple[dict, float]:
    """The E-step of a mixture: statistics of all rows, and the mean log-likelihood of a row."""

    def piece(X, seen, weights):
        L, memo = form.log_joint(X, seen)
        logs = responsibilities(L, weights)
        value = float(logs.sum() if weights is None else weights @ logs)
        return np.float64(value), *form.statistics(memo, L)

    totals: list[Any] = []
    for part in rows.map(piece, form.size, form.held):
        totals = [a + b for a, b in zip(totals, part)] if totals else list(part)
    return form.collect(totals[1:]), float(totals[0]) / rows.total


class Family(Protocol):
    """Densities whose mixtures EM fits."""

    def bound_to(self, rows: Rows) -> Callable[[dict], Form]:
        """``parameters -> form`` for one table."""

    def maximise(self, state: dict) -> dict:
        """Parameters from the statistics of a state."""

    def revive(self, state: dict, parameters: dict, trial: int) -> dict | None:
        """Parameters in which a dead component begins anew, None if none is dead."""

    def log_prior(self, parameters: dict) -> float:
        """Logarithm of the prior density of the parameters, up to a constant."""

    def blend(self, old: dict, new: dict, share: float) -> dict:
        """Mean statistics of two samples, `share` of the second."""


def mixture_em(family: Family, rows: Rows) -> EM:
    """The EM of a mixture on a table; its bound is the mean of log p(x) (+ log prior / total weight)."""
    form_of = family.bound_to(rows)

    def expect(parameters: dict) -> tuple[dict, float]:
        statistics, bound = expectation(rows, form_of(parameters))
        return statistics, bound + family.log_prior(parameters) / rows.total

    return EM(expect, family.maximise, family.revive)


def posteriors(rows: Rows, form: Form) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """log p(x) of every row, and the probability of every component (rows, components)."""

    def piece(X, seen, weights):
        L, _ = form.log_joint(X, seen)
        logs = responsibilities(L)
        return logs, np.ascontiguousarray(L.T)

    logs, codes = zip(*rows.map(piece, form.size), strict=True)
    return np.concatenate(logs), np.concatenate(codes)
