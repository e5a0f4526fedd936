"""The rank and the ridge of a matrix completion, on held-out entries where they are not given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.complete.counted import CountedAlternate
from unweave.complete.features_guided import Guide, GuidedAlternate
from unweave.complete.held_out import (
    RANKS,
    SHARE,
    STRENGTHS,
    drawn,
    observed,
    part,
    ridge_path,
    root_mean_square,
)
from unweave.factorization.settings import generator, number, whole
from unweave.objectives import Objective, Observed
from unweave.select.chosen import Choice
from unweave.solve.alternate import Alternate
from unweave.solve.plan import make_plan

BINS = (1, 2, 4, 8, 16, 32)
_BETTER, _WORSE = 1 - 1e-4, 1.005  # a larger rank must gain a little, and the search ends when one loses


def choose(model, objective: Objective, loss) -> tuple[int, float]:
    """(rank, ridge) of `model` for a centred table; where it searched, the paths and ``choice_`` are set."""
    vars(model).pop("choice_", None)
    auto = model.n_components == "auto"
    rank = RANKS[2] if auto else whole(model.n_components, "n_components", 1)
    given = None if isinstance(model.ridge, str) else number(model.ridge, "ridge")
    if given is None and model.ridge != "auto":
        raise ValueError(f"ridge={model.ridge!r} must be a number or 'auto'")
    if given is not None and not auto:
        return rank, given
    trial = Trial.of(model, objective, loss)
    if trial is None:
        return min(rank, *objective.shape), 1.0 if given is None else given
    train = trial.train
    unit = 1 / float(train.X.nnz / max(train.shape)) ** model._power()
    strengths = STRENGTHS * unit if given is None else np.array([given])
    ranks = [r for r in RANKS if r <= min(objective.shape)] if auto else [rank]
    found = _search(trial, ranks, strengths)
    if auto:
        model.choice_ = Choice(
            found[0], dict(model.rank_path_), {}, "held-out", "error at held-out entries", "n_components", False
        )
    return found


def choose_bins(model, objective: Objective, loss) -> int:
    """Stretches of time of least held-out error, for the rank and the ridge chosen; sets ``bins_path_``."""
    trial = Trial.of(model, objective, loss)
    if trial is None or trial.guide is None:
        return 1
    model.bins_path_ = {}
    for bins in BINS:
        path = ridge_path(
            replace(trial, guide=replace(trial.guide, n_bins=bins)).beginner(model._rank), [model.ridge_], trial.error
        )
        model.bins_path_[bins] = path[model.ridge_]
    return min(BINS, key=lambda bins: model.bins_path_[bins])


def _search(trial: Trial, ranks: list[int], strengths) -> tuple[int, float]:
    model = trial.model
    model.rank_path_, least, best = {}, np.inf, (ranks[0], float(strengths[0]))
    for rank in ranks:
        path = ridge_path(trial.beginner(rank), strengths, trial.error)
        strength = min(path, key=lambda value: path[value])
        model.rank_path_[rank] = path[strength]
        if path[strength] < least * _BETTER:
            least, best, model.ridge_path_ = path[strength], (rank, strength), path
        elif path[strength] > _WORSE * least:
            break
    return best


@dataclass(frozen=True)
class Trial:
    """A table split into entries to fit and entries to judge by, with what is known besides them."""

    model: Any
    loss: Any
    train: Observed
    test: Observed
    guide: Guide | None
    test_times: NDArray | None
    rng: np.random.Generator

    @classmethod
    def of(cls, model, objective: Objective, loss) -> Trial | None:
        """None when there are too few entries to spare any."""
        rng = generator(model.random_state if not isinstance(model.random_state, np.random.RandomState) else 0)
        table, guide = observed(objective), model._guide
        out = drawn(table, rng, SHARE)
        if out is None:
            return None
        times = None if guide is None or guide.times is None else guide.times[out]
        guide = None if guide is None else guide.take(~out)
        return cls(model, loss, part(table, ~out), part(table, out), guide, times, rng)

    def beginner(self, rank: int):
        """``begin(strength)`` → (scheme, first state) of a fit of this rank."""

        def begin(strength: float) -> tuple[CountedAlternate, dict]:
            self.model._rank, self.model.ridge_ = rank, strength
            problem = self.model._problem(self.loss, self.train.shape, False)
            _, scheme, first = make_plan(self.train, problem, "auto", self.model.init, self.rng)
            assert isinstance(scheme, Alternate)
            return alternating(scheme, strength, self.model._power(), self.guide, first)

        return begin

    def error(self, scheme, state: dict) -> float:
        """Root-mean-square error at the entries held out."""
        if isinstance(scheme, GuidedAlternate):
            return scheme.error(state, self.test, self.test_times)
        return root_mean_square(self.test, state["codes"], state["components"])


def alternating(
    plain: Alternate, strength: float, power: float, guide: Guide | None, first: dict, unit: float = 1.0
) -> tuple[CountedAlternate, dict]:
    """Alternating least squares under the counted ridge, with side information if there is any, and its first state."""
    if guide is None:
        return CountedAlternate(plain, strength, power, unit), first
    scheme = GuidedAlternate(plain, strength, power, guide, unit)
    return scheme, scheme.begin(first)
