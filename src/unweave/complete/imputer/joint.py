"""Fit the models of a table imputer side by side in one loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.complete.imputer.columns import EncodedTable
from unweave.complete.imputer.gaussian import GaussianScheme
from unweave.complete.imputer.groups import GroupsScheme
from unweave.complete.imputer.low_rank import LowRankScheme
from unweave.complete.imputer.model import FittedModel
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import Scheme

_LIFT = 5.0  # log of the largest density of a standardised cell, nearly: objectives count from there and stay positive


@dataclass(frozen=True)
class Spec:
    """Name one model to fit: a low rank or the full one with its ridge (on normal scores or not), or so many groups."""

    kind: str  # "low-rank", "gaussian" or "groups"
    size: int
    ridge: float = 0.0
    scores: bool = False

    def __str__(self) -> str:
        if self.kind == "groups":
            return f"{self.size} groups"
        rank = "full rank" if self.kind == "gaussian" else f"rank {self.size}"
        return f"{rank}, ridge {self.ridge:g}" + (", skewed columns as normal scores" if self.scores else "")

    def scheme(self, table: EncodedTable) -> LowRankScheme | GaussianScheme | GroupsScheme:
        """Make the method that fits this model to a table."""
        if self.kind == "groups":
            return GroupsScheme(table, self.size)
        if self.kind == "gaussian":
            return GaussianScheme(table, self.ridge, self.scores)
        return LowRankScheme(table, self.size, self.ridge, self.scores)


class JointFit(Scheme):
    """Fit several models side by side: one state, one objective (their sum), so that one loop serves them all.

    Each objective is minus a log-likelihood, which has no natural zero; 5 per cell is added, so that it is positive and
    a relative change means the same for every table. Without models the first step ends the fit.
    """

    rises = True  # as its parts do

    def __init__(self, specs: Sequence[Spec], table: EncodedTable) -> None:
        self.schemes = [spec.scheme(table) for spec in specs]
        self.lift = _LIFT * float(table.seen.sum())

    def begin(self, rng=None) -> dict:
        """Begin with the first states of all models."""
        state: dict = {}
        for i, scheme in enumerate(self.schemes):
            state |= {f"{i}:{name}": value for name, value in scheme.begin(rng).items()}
        return state

    def step(self, state: dict) -> tuple[dict, float]:
        after: dict = {}
        total = self.lift * len(self.schemes)
        for i, scheme in enumerate(self.schemes):
            own, value = scheme.step(_own_state(state, i))
            after |= {f"{i}:{name}": part for name, part in own.items()}
            total += value
        return after, total

    def fixed(self, state: dict) -> bool:
        return not self.schemes

    def models(self, state: dict) -> list[FittedModel]:
        """Make the fitted models of a state."""
        return [scheme.model(_own_state(state, i)) for i, scheme in enumerate(self.schemes)]


def _own_state(state: dict, i: int) -> dict:
    """Take the part of a joint state that belongs to model i."""
    mark = f"{i}:"
    return {name[len(mark) :]: value for name, value in state.items() if name.startswith(mark)}


def fit_quietly(spec: Spec, table: EncodedTable, rng: np.random.Generator, max_iter: int, tol: float) -> FittedModel:
    """Fit one model without listeners; Ctrl-C ends the search, not one of its fits."""
    joint = JointFit([spec], table)
    loop = Loop(max_iter=max_iter, tol=tol, ending="a fit of the search")
    state, history = iterate(joint, joint.begin(rng), loop)
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    return joint.models(state)[0]
