"""Updates, losses and penalties say what they are, and the planner asks nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.losses import LOSSES, get_loss
from unweave.losses import register as register_loss
from unweave.penalties import PENALTIES, Both, get_penalty
from unweave.penalties import register as register_penalty
from unweave.updates import UPDATES, Update
from unweave.updates import register as register_update

X = np.abs(np.random.default_rng(0).normal(size=(9, 4))) + 0.1


def test_one_update_can_do_everything():
    assert [update.name for update in UPDATES if update.general] == ["proximal"]
    assert len({update.name for update in UPDATES}) == len(UPDATES)


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_in_data_units_predicts_what_it_is_given(name):
    loss = get_loss(name)
    if not loss.in_data_units:
        levels = (X > 1).astype(float)
        ready = loss.prepare(levels)
        assert ready.prediction_columns(4) != 4 or not np.allclose(ready.value(levels, levels), 0, atol=1e-6)
        return
    ready = loss.prepare(X)
    np.testing.assert_array_equal(ready.predict(X), X)
    # Nothing is cheaper than predicting the data themselves.
    least = ready.value(ready.encode(X), X)
    assert (least <= ready.value(ready.encode(X), 1.3 * X) + 1e-12).all()


@pytest.mark.parametrize("name", LOSSES)
def test_a_squared_loss_is_half_the_square(name):
    loss = get_loss(name)
    if loss.is_squared:
        np.testing.assert_allclose(loss.value(X, np.zeros_like(X)), 0.5 * X**2)
        assert loss.any_number


@pytest.mark.parametrize("name", [name for name in PENALTIES if name != "fixed"])
def test_traits_of_penalties_are_true_of_what_they_allow(name):
    penalty = get_penalty(name)
    F = np.random.default_rng(1).normal(size=(8, 5))
    allowed = penalty.prox(F, 0.3)
    if penalty.nonnegative:
        assert allowed.min() >= 0
    if penalty.sums_to_one:
        np.testing.assert_allclose(allowed.sum(axis=1), 1)
    if penalty.picks_one:
        assert (np.count_nonzero(allowed, axis=1) == 1).all()
    if penalty.sign_blind:
        np.testing.assert_allclose(np.abs(penalty.prox(-F, 0.3)), np.abs(allowed))
    if penalty.is_free:
        np.testing.assert_array_equal(allowed, F)
    slope = np.random.default_rng(2).normal(size=(8, 5))
    least = penalty.least_along(slope)
    if least is not None:
        for seed in range(50):
            other = penalty.prox(10 * np.random.default_rng(seed).normal(size=(8, 5)), 0.0)
            assert ((slope * other).sum(axis=1) >= least - 1e-9).all()


@pytest.mark.parametrize("name", ["simplex", "one-hot", "boolean", "l1", "sparse", "l2-ball"])
def test_nonnegative_and_one_more_keeps_the_traits_of_the_other(name):
    both, other = Both("nonnegative", name), get_penalty(name)
    assert both.nonnegative
    for trait in ("sums_to_one", "picks_one", "picks_components", "makes_zeros", "is_penalty", "acts"):
        assert getattr(both, trait) == getattr(other, trait), trait


@pytest.mark.parametrize("table, register", [(LOSSES, register_loss), (PENALTIES, register_penalty)])
def test_a_name_that_is_taken_is_refused(table, register):
    name, kind = next(iter(table.items()))
    with pytest.raises(ValueError, match="name of its own"):
        register(type("Other", (kind,), {"name": name}))
    with pytest.raises(ValueError, match="name of its own"):
        register(type("Nameless", (kind,), {"name": ""}))
    assert register(kind) is kind and table[name] is kind


def test_an_update_with_a_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match="name of its own"):
        register_update(type("Other", (Update,), {"name": "proximal"}))
    before = len(UPDATES)
    register_update(type(UPDATES[0]))
    assert len(UPDATES) == before
