"""Drift found before anything else, beside biases alone: what a sampler takes off its ratings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.choosing import Trial, alternating, biases_alone
from unweave.complete.counted import Strengths
from unweave.complete.features_guided import Guide, GuidedAlternate, Less
from unweave.objectives import Observed
from unweave.solve.alternate import Alternate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import make_plan

_SWEEPS = Loop(max_iter=50, ending="the drift is found")


def level_ridge(model, standard: Observed, loss) -> float:
    """The ridge of biases that stand alone, on held-out entries."""
    trial = Trial.of(model, standard, loss)
    if trial is None or trial.guide is None:
        return 1.0
    timed = replace(trial, guide=replace(trial.guide, users=None, items=None))
    return biases_alone(timed, None).bias_ridge


def take_off(model, standard: Observed, loss, guide: Guide, ridge: float) -> tuple[Observed, dict]:
    """(the table less the drift of its ratings, the drift for `drift_` in standard units) of biases that drift."""
    problem = replace(model._problem(loss, standard.shape, False), n_components=0)
    none = np.zeros((0, standard.shape[1]))
    _, plain, first = make_plan(standard, problem, "auto", none, np.random.default_rng(0))
    assert isinstance(plain, Alternate)
    strengths = Strengths(ridge, ridge, model._power())
    scheme, state = alternating(plain, strengths, replace(guide, users=None, items=None), first)
    assert isinstance(scheme, GuidedAlternate) and scheme.drift is not None
    state, _ = iterate(scheme.step, state, _SWEEPS, settled=scheme.settled)
    levels = state["components"][-1].astype(np.float64)
    parts = scheme.drift.settle(state["bins"], less_levels(standard, levels, ridge, model._power()))
    told = {**scheme.drift.published(parts), "levels": levels, "level_ridge": ridge}
    return Less(standard, scheme.drift.at_entries(parts)), told


def less_levels(table: Observed, levels: NDArray, ridge: float, power: float) -> Callable[[NDArray], NDArray]:
    """``residual(drift)``: what biases leave of the entries, those of the items given and those of the rows best."""
    t = table.by_row
    counts = np.diff(t.indptr)
    rows = np.repeat(np.arange(t.n_rows), counts)
    full = counts + ridge * np.maximum(counts, 1.0) ** power
    data = t.data.astype(np.float64) - levels[t.indices]

    def residual(drift: NDArray) -> NDArray:
        left = data - drift
        return left - (np.bincount(rows, left, minlength=t.n_rows) / np.maximum(full, 1e-300))[rows]

    return residual
