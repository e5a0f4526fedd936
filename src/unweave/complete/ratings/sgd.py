"""Fit ratings by stochastic gradient descent, in blocks that share no user and no item.

    u_i ← u_i + η(e·z_j − λ_i u_i),   z_j ← z_j + η(e·u_i − λ_j z_j),   e = x_ij − u_i·z_j

Users and items are cut into eight parts each. Eight blocks that share neither are worked on side by side, then the
next eight, so the answer is the same on any number of threads.

Reference: Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems. Gemulla, Nijkamp,
Haas and Sismanis (2011), Large-scale matrix factorization with distributed stochastic gradient descent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.complete.ratings.least_squares import CountedAlternate
from unweave.complete.ratings.side_information import SideRecords
from unweave.complete.ratings.units import Units
from unweave.data.arguments import number, whole
from unweave.data.hold_out import hold_out
from unweave.kernels.sgd import descend_block
from unweave.objectives import Observed
from unweave.objectives.observed import observed
from unweave.parallel import run
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme, State

_PARTS = 8
_SHARE = 0.05  # of the entries tells when to stop
SCHEDULES = ("constant", "inverse", "exponential")


class SGD(BaseEstimator):
    """Say how stochastic gradient descent is to run: ``MatrixCompletion(solver=SGD(momentum=0.5))``.

    Parameters
    ----------
    learning_rate : float
        η of the first pass.
    momentum : float
        Share of the last step that is added to the next one, from 0 to below 1.
    schedule : "inverse", "constant" or "exponential"
        η/(1 + decay·t), η, or η·exp(−decay·t) in pass t.
    decay : float
    early_stopping : int
        Passes without a lower error on 5 % of the entries, which are held out for it, after which the fit ends with
        the best state; 0 uses all entries and never ends early.

    Examples
    --------
    >>> SGD(momentum=0.5).rate(3)
    0.02
    """

    def __init__(self, learning_rate=0.02, momentum=0.0, schedule="inverse", decay=0.0, early_stopping=3):
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.schedule = schedule
        self.decay = decay
        self.early_stopping = early_stopping

    def validate(self) -> SGD:
        """Raise unless every parameter makes sense."""
        number(self.learning_rate, "learning_rate")
        number(self.decay, "decay")
        if not 0 <= number(self.momentum, "momentum") < 1:
            raise ValueError(f"momentum must be from 0 to below 1, got {self.momentum}")
        if self.schedule not in SCHEDULES:
            raise ValueError(f"schedule={self.schedule!r} is not known; use one of {', '.join(SCHEDULES)}")
        whole(self.early_stopping, "early_stopping", 0)
        return self

    def rate(self, t: int) -> float:
        """Compute η of pass t."""
        if self.schedule == "constant":
            return float(self.learning_rate)
        if self.schedule == "inverse":
            return float(self.learning_rate / (1 + self.decay * t))
        return float(self.learning_rate * np.exp(-self.decay * t))


class Descent(Scheme):
    """Descend along the gradient: a step is one pass over the entries in random order.

    Passes are noisy, so the fit stops on the held-out error and keeps the state where it was least.
    """

    rises = True

    def __init__(self, counted: CountedAlternate, how: SGD, rng: np.random.Generator):
        self.problem, self.counted, self.how = counted.problem, counted, how
        self.objective = train = observed(counted.objective)
        self.test: Observed | None = None
        parts = hold_out(train.X, rng, _SHARE) if how.early_stopping else None
        if parts is not None:
            train, self.test = (Observed(part, train.loss) for part in parts)
        table = train.by_row
        self.users = table.rows.astype(np.int32)
        self.items, self.values = table.indices, table.data
        self.blocks = self._cut()
        self.ridges = [self._by_entry(half.ridges, at) for half, at in self._sides()]

    def _sides(self):
        (n, m) = self.objective.shape
        counts = np.bincount(self.users, minlength=n), np.bincount(self.items, minlength=m)
        return zip((self.counted.code_half, self.counted.component_half), counts, strict=True)

    def _by_entry(self, ridges, counts: NDArray) -> NDArray:
        """Share the ridge of a row out over its entries, so that a pass adds up to the gradient of the objective."""
        return (np.broadcast_to(ridges, counts.shape) / np.maximum(counts, 1)).astype(self.objective.dtype)

    def _cut(self) -> list[list[NDArray]]:
        """Cut the entries into blocks, by stratum: part p of the users with part (p + s) mod 8 of the items."""
        (n, m) = self.objective.shape
        p = self.users.astype(np.int64) * _PARTS // n
        q = self.items.astype(np.int64) * _PARTS // m
        cell = ((q - p) % _PARTS) * _PARTS + p
        order, ends = np.argsort(cell, kind="stable"), np.searchsorted(np.sort(cell), np.arange(_PARTS * _PARTS + 1))
        found = [order[ends[c] : ends[c + 1]] for c in range(_PARTS * _PARTS)]
        return [found[s * _PARTS : (s + 1) * _PARTS] for s in range(_PARTS)]

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=None if self.test is not None else 0.0, ending="all passes were made")

    def begin(self, rng=None) -> State:
        """Begin with small vectors of the planned start and no biases: full size would make the first steps too long.

        Small random vectors would lie across the data, and grow so slowly that the held-out error seems to stand still.
        """
        k, width, first = self.problem.n_components, self.problem.width, self.counted.first
        rng = np.random.default_rng(0) if rng is None else rng
        U, F = (np.zeros((size, width), self.objective.dtype) for size in self.objective.shape)
        U[:, :k], F[:, :k] = _small(first["codes"][:, :k]), _small(first["components"][:k].T)
        U[:, self.problem.held_codes] = F[:, self.problem.held_components] = 1
        return {"codes": U, "items": F, "du": np.zeros_like(U), "dz": np.zeros_like(F), "pass": 0, "worse": 0,
                "least": np.inf, "best_codes": U, "best_items": F, "seed": int(rng.integers(2**62))}  # fmt: skip

    def step(self, state: State) -> tuple[State, float]:
        new = {name: state[name].copy() for name in ("codes", "items", "du", "dz")}
        t = state["pass"]
        rate = self.objective.dtype.type(self.how.rate(t))
        momentum = self.objective.dtype.type(self.how.momentum)
        bias = self.objective.dtype.type(self.counted.held**-2)
        rng = np.random.default_rng((state["seed"], t))
        held_user, held_item = self.problem.held_codes[0], self.problem.held_components[0]
        for stratum in rng.permutation(_PARTS):
            orders = [rng.permutation(entries) for entries in self.blocks[stratum]]

            def task(start: int, stop: int, orders=orders) -> None:
                for order in orders[start:stop]:
                    descend_block(
                        self.users, self.items, self.values, order, new["codes"], new["items"], new["du"], new["dz"],
                        *self.ridges, bias, rate, momentum, held_user, held_item,
                    )  # fmt: skip

            run(task, _PARTS, 1)
        new = {**state, **new, "pass": t + 1}
        objective = self._objective(new)
        if not np.isfinite(objective):
            raise ValueError(
                f"stochastic gradient descent ran away at learning_rate={self.how.learning_rate:g}: give a smaller one "
                "with solver=SGD(learning_rate=...)"
            )
        return self._judged(new), objective

    def _objective(self, state: dict) -> float:
        loss = self.objective.value(state["codes"], np.ascontiguousarray(state["items"].T))
        return (float(loss) + self.counted.penalties(*self._held(state["codes"], state["items"]))) * self.counted.unit

    def _held(self, U: NDArray, F: NDArray) -> tuple[NDArray, NDArray]:
        """Put beside the biases what least squares holds there; a step is too long for a bias in these units."""
        k, held = self.problem.n_components, U.dtype.type(self.counted.held)
        U, F = U.copy(), F.copy()
        U[:, k], U[:, k + 1] = U[:, k] / held, held
        F[:, k], F[:, k + 1] = held, F[:, k + 1] / held
        return U, F

    def _judged(self, state: dict) -> dict:
        """Remember the state of the least held-out error, and for how long there was none better."""
        if self.test is None:
            return {**state, "best_codes": state["codes"], "best_items": state["items"]}
        error = float(
            np.sqrt(2 * self.test.value(state["codes"], np.ascontiguousarray(state["items"].T)) / self.test.X.nnz)
        )
        if error < state["least"]:
            return {**state, "least": error, "worse": 0, "best_codes": state["codes"], "best_items": state["items"]}
        return {**state, "worse": state["worse"] + 1}

    def settled(self, state: State) -> bool:
        return self.test is not None and state["worse"] >= self.how.early_stopping

    def at(self, state: State) -> CountedAlternate:
        """Return least squares of the same objective, for the last codes and the certificate."""
        return self.counted

    def records(self, state: State, units: Units) -> SideRecords:
        """Tell what was learned of features and drift: this method takes none."""
        return SideRecords()

    def finish(self, state: State) -> State:
        U, F = self._held(state["best_codes"], state["best_items"])
        return {"codes": U, "components": np.ascontiguousarray(F.T)}


def _small(vectors: NDArray) -> NDArray:
    """Bring each column to a tenth on average, in units of the standardised table, and no entry above it.

    Singular vectors lie on few users and items where these have most of the ratings: theirs would be of full size.
    """
    size = np.sqrt(np.mean(np.square(vectors), axis=0))
    return np.clip(0.1 * vectors / np.where(size > 0, size, 1), -0.1, 0.1)


def how_to_descend(solver) -> SGD | None:
    """Return the settings of ``solver="sgd"`` or of an :class:`SGD` object; None for any other solver."""
    if isinstance(solver, SGD):
        return solver.validate()
    return SGD() if isinstance(solver, str) and solver == "sgd" else None
