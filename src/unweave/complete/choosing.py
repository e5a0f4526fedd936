"""The rank and the ridge of a matrix completion, on held-out entries where they are not given."""

from __future__ import annotations

import numpy as np

from unweave.complete.counted import CountedAlternate
from unweave.complete.held_out import RANKS, SHARE, STRENGTHS, hold_out, observed, ridge_path, spread
from unweave.factorization.settings import generator, number, whole
from unweave.objectives import Objective, Observed
from unweave.solve.alternate import Alternate
from unweave.solve.plan import make_plan

_BETTER, _WORSE = 1 - 1e-4, 1.005  # a larger rank must gain a little, and the search ends when one loses


def choose(model, objective: Objective, loss) -> tuple[int, float]:
    """(rank, ridge) of `model` for a centred table; sets ``ridge_path_`` and ``rank_path_`` where it searched."""
    auto = model.n_components == "auto"
    rank = RANKS[2] if auto else whole(model.n_components, "n_components", 1)
    given = None if isinstance(model.ridge, str) else number(model.ridge, "ridge")
    if given is None and model.ridge != "auto":
        raise ValueError(f"ridge={model.ridge!r} must be a number or 'auto'")
    if given is not None and not auto:
        return rank, given
    rng = generator(model.random_state if not isinstance(model.random_state, np.random.RandomState) else 0)
    train, test = hold_out(observed(objective), rng, SHARE)
    if test is None:
        return min(rank, *objective.shape), 1.0 if given is None else given
    unit = spread(train) / float(train.X.nnz / max(train.shape)) ** model._power()
    strengths = STRENGTHS * unit if given is None else np.array([given])
    ranks = [r for r in RANKS if r <= min(objective.shape)] if auto else [rank]
    return _search(model, train, test, loss, ranks, strengths, rng)


def _search(model, train: Observed, test: Observed, loss, ranks: list[int], strengths, rng) -> tuple[int, float]:
    model.rank_path_, least, best = {}, np.inf, (ranks[0], float(strengths[0]))
    for rank in ranks:
        path = ridge_path(_beginner(model, train, loss, rank, rng), strengths, test)
        strength = min(path, key=lambda value: path[value])
        model.rank_path_[rank] = path[strength]
        if path[strength] < least * _BETTER:
            least, best, model.ridge_path_ = path[strength], (rank, strength), path
        elif path[strength] > _WORSE * least:
            break
    return best


def _beginner(model, train: Observed, loss, rank: int, rng):
    def begin(strength: float) -> tuple[CountedAlternate, dict]:
        model._rank, model.ridge_ = rank, strength
        problem = model._problem(loss, train.shape, False)
        _, scheme, first = make_plan(train, problem, "auto", model.init, rng)
        assert isinstance(scheme, Alternate)
        return CountedAlternate(scheme, strength, model._power()), first

    return begin
