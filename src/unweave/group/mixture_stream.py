"""Mixtures block by block: stepwise EM, in which only statistics are kept.

Statistics s of all blocks so far are averaged with those of the new block at the current parameters,
s ← (1 − η) s + η s_block, and maximised with. η is the weight of the block over that of all blocks, where at block t
the weight of those before is first multiplied by t / (t + 1): early blocks, whose statistics stem from poor
parameters, are slowly forgotten (with equal blocks η falls like 2 / t).

Reference: Cappé and Moulines (2009), On-line expectation–maximization algorithm for latent data models.
"""

from __future__ import annotations

from unweave.data.arguments import row_weights
from unweave.group.em import mixture_em
from unweave.group.mixture_base import FIRST_BLOCK, BaseMixture
from unweave.objectives.opening import open_table, reopen_table
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate


def add_block(model: BaseMixture, X, sample_weight) -> None:
    """Let a mixture learn from one more block; labels and codes are those of the block."""
    if not hasattr(model, "_running"):
        _first_block(model, X, sample_weight)
        return
    objective = reopen_table(model, X, model.missing, model._learned)
    rows = model._open(objective, row_weights(sample_weight, objective.shape[0]))
    family = model._family(len(model.weights_), rows.shape[1])
    parameters, running = model._parameters(), model._running
    new, bound = mixture_em(family, rows).expect(parameters)
    blocks = running["blocks"] + 1
    mass = rows.total + running["mass"] * blocks / (blocks + 1)
    old = _scaled(running["statistics"], 1 / running["mass"])
    statistics = _scaled(family.blend(old, _scaled(new, 1 / rows.total), rows.total / mass), mass)
    model._publish(family.maximise({**parameters, **statistics}))
    model._running = {"statistics": statistics, "mass": mass, "blocks": blocks}
    model.lower_bound_, model.objective_, model.n_iter_ = bound, -bound, blocks
    model.history_ = History()
    model.certificate_ = Certificate("none", float("-inf"), float("inf"), False, -bound)
    model._label(rows, keep_codes=True)


def _first_block(model: BaseMixture, X, sample_weight) -> None:
    """A start, and a few steps on the first block alone."""
    objective, model._learned = open_table(model, X, model.missing, "squared")
    rows = model._open(objective, row_weights(sample_weight, objective.shape[0]))
    loop = Loop(max_iter=FIRST_BLOCK, tol=0.0, ending="the first block")
    em, state = model._first(rows, loop, lambda state: False)
    state, _ = iterate(em.step, state, loop)
    model._keep(state, History(), rows)
    model.converged_, model.n_iter_ = False, 1
    model._label(rows, keep_codes=True)


def _scaled(statistics: dict, by: float) -> dict:
    """Sums times a number; the points they are taken about stay."""
    return {name: value if name == "about" else by * value for name, value in statistics.items()}
