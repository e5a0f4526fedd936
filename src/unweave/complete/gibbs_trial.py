"""Whether vectors pay in a sampler: a short run with them and one of biases alone, judged at held-out entries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.complete.choosing import CLEARLY, Trial
from unweave.complete.gibbs import Gibbs
from unweave.complete.gibbs_sides import DrawnSide
from unweave.complete.held_out import Errors, excess
from unweave.objectives import Observed
from unweave.solve.iterate import Loop, iterate

SWEEPS = 60  # of a trial: the first fifth warms up


class JudgedGibbs(Gibbs):
    """A sampler that adds up, besides, what its draws predict at other entries."""

    def __init__(self, train: Observed, test: Observed, k: int, sides: dict[str, DrawnSide]):
        super().__init__(train, k, SWEEPS, np.random.default_rng(0), sides=sides)
        self.test = test.by_row

    def begin(self) -> dict:
        return {**super().begin(), "asked": np.zeros(len(self.test.data))}

    def step(self, state: dict) -> tuple[dict, float]:
        new, value = super().step(state)
        if new["averaged"] > state["averaged"]:
            new["asked"] = state["asked"] + self.at_entries(self.test, new["users"], new["items"])
        return new, value

    def errors(self) -> Errors:
        """Squared errors of the mean prediction at the other entries, after all sweeps."""
        state, _ = iterate(self.step, self.begin(), replace(Loop(max_iter=SWEEPS), tol=0.0))
        return np.square(self.test.data - state["asked"] / max(state["averaged"], 1))


def vectors_pay(trial: Trial, rank: int, sides: dict[str, DrawnSide]) -> bool:
    """Whether draws of this rank predict held-out entries clearly better than biases alone do; sets ``rank_path_``."""
    alone, vectors = (JudgedGibbs(trial.train, trial.test, k, sides).errors() for k in (0, rank))
    trial.model.rank_path_ = {0: trial.told(alone), rank: trial.told(vectors)}
    return excess(alone, vectors) > CLEARLY
