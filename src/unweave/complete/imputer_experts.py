"""The models a table imputer asks, what each is told, and how they are fitted in one loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.imputer_gaussian import Gaussian, OneGaussian, flat
from unweave.complete.imputer_groups import Groups, Mixture
from unweave.complete.imputer_layout import Layout
from unweave.complete.imputer_low_rank import LowRank, MixedFactors, make_outputs
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate

Model = LowRank | Groups | Gaussian
_LIFT = 5.0  # log of the largest density of a standardised cell, nearly: objectives count from there and stay positive
_BLOCK = 1 << 13  # numbers in a block of rows that is predicted at once


@dataclass(frozen=True)
class Spec:
    """One model: a low rank or the full one with its ridge (on normal scores or not), or so many groups."""

    kind: str  # "low-rank", "gaussian" or "groups"
    size: int
    ridge: float = 0.0
    scores: bool = False

    def __str__(self) -> str:
        if self.kind == "groups":
            return f"{self.size} groups"
        rank = "full rank" if self.kind == "gaussian" else f"rank {self.size}"
        return f"{rank}, ridge {self.ridge:g}" + (", skewed columns as normal scores" if self.scores else "")


@dataclass
class Data:
    """A table as answers."""

    layout: Layout
    answers: NDArray
    seen: NDArray

    def without(self, held: NDArray) -> Data:
        """The same with some cells hidden."""
        seen = self.seen & ~held
        return Data(self.layout, np.where(seen[:, self.layout.owner], self.answers, 0.0), seen)


class Together:
    """Several models fitted side by side: one state, one objective (their sum), so that one loop serves them all.

    Each objective is minus a log-likelihood, which has no natural zero; 5 a cell is added, so that it is positive and a
    relative change means the same for every table.
    """

    def __init__(self, specs: Sequence[Spec], data: Data) -> None:
        self.specs, self.data = list(specs), data
        self.schemes = [_scheme(spec, data) for spec in specs]

    def begin(self, rng: np.random.Generator) -> dict:
        state: dict = {}
        for i, scheme in enumerate(self.schemes):
            first = scheme.begin(rng) if isinstance(scheme, Mixture) else scheme.begin()
            state |= {f"{i}:{name}": value for name, value in first.items()}
        return state

    def step(self, state: dict) -> tuple[dict, float]:
        after: dict = {}
        total = _LIFT * float(self.data.seen.sum()) * len(self.schemes)
        for i, scheme in enumerate(self.schemes):
            own, value = scheme.step(own_state(state, i))
            after |= {f"{i}:{name}": part for name, part in own.items()}
            total += value
        return after, total

    def models(self, state: dict) -> list[Model]:
        rows = len(self.data.answers)
        return [_model(spec, own_state(state, i), rows) for i, spec in enumerate(self.specs)]


def fit_quietly(specs: Sequence[Spec], data: Data, rng: np.random.Generator, max_iter: int, tol: float) -> list[Model]:
    """The models fitted without listeners; Ctrl-C ends the search, not one of its fits."""
    joint = Together(specs, data)
    loop = Loop(max_iter=max_iter, tol=tol, ending="a fit of the search")
    state, history = iterate(joint.step, joint.begin(rng), loop)
    _raise_if_interrupted(history)
    return joint.models(state)


def predict(model: Model, data: Data) -> tuple[NDArray, NDArray]:
    """Mean and variance of every answer, block after block."""
    if isinstance(model, Gaussian):
        return model.predict(data.layout, data.answers, data.seen)  # runs on the pool itself
    mean, variance = np.empty_like(data.answers), np.empty_like(data.answers)

    def block(start: int, stop: int) -> None:
        own = slice(start, stop)
        mean[own], variance[own] = model.predict(data.layout, data.answers[own], data.seen[own])

    k = len(model.components) ** 2 if isinstance(model, LowRank) else 1
    parallel.run(block, len(mean), max(64, _BLOCK // (k + data.answers.shape[1])))
    return mean, variance


def _scheme(spec: Spec, data: Data) -> MixedFactors | Mixture | OneGaussian:
    if spec.kind == "groups":
        return Mixture(data.layout, data.answers, data.seen, spec.size)
    if spec.kind == "gaussian":
        return OneGaussian(*flat(data.layout, data.answers, data.seen, spec.scores), spec.ridge)
    table = make_outputs(data.layout, data.answers, data.seen, spec.scores)
    return MixedFactors(table, spec.size, spec.ridge)


def own_state(state: dict, i: int) -> dict:
    """The part of a joint state that belongs to model i."""
    mark = f"{i}:"
    return {name[len(mark) :]: value for name, value in state.items() if name.startswith(mark)}


def _model(spec: Spec, state: dict, rows: int) -> Model:
    if spec.kind == "groups":
        return Groups(state["shares"], state["means"], state["spreads"], state["count"])
    if spec.kind == "gaussian":
        moments = (state["mean"], state["covariance"], state["precision"])
        return Gaussian(*moments, rows=rows, scores=spec.scores)
    factors = (state["components"], state["offset"], state["noise"], state["gram"])
    return LowRank(*factors, ridge=spec.ridge, scores=spec.scores)


def _raise_if_interrupted(history: History) -> None:
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
