"""The one runner: what it publishes, and that a fit which raises leaves no trace."""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from unweave.registry import ESTIMATORS, find, small_model, small_table, takes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CALLED_BACK = [name for name, entry in ESTIMATORS.items() if entry.explains and "callback" in takes(name)]


class Stopped(Exception):
    pass


def stop(progress):
    raise Stopped


def same(a, b) -> bool:
    return a is b or (np.shape(a) == np.shape(b) and np.array_equal(a, b))


@pytest.mark.parametrize("name", CALLED_BACK)
def test_a_fit_that_raises_leaves_an_unfitted_estimator_as_it_was(name):
    model = small_model(name, callback=stop)
    before = dict(vars(model))
    with pytest.raises(Stopped):
        model.fit(small_table(name))
    assert vars(model) == before


@pytest.mark.parametrize("name", CALLED_BACK)
def test_a_fit_that_raises_keeps_the_former_fit(name):
    X = small_table(name)
    model = small_model(name).fit(X)
    model.callback = stop
    before = dict(vars(model))
    with pytest.raises(Stopped):
        model.fit(X[::-1][:, ::-1] if ESTIMATORS[name].table == "similarities" else X[::-1])
    assert vars(model).keys() == before.keys()
    assert all(same(value, before[key]) for key, value in vars(model).items())


@pytest.mark.parametrize("name", CALLED_BACK)
def test_every_fit_says_what_happened(name):
    model = small_model(name).fit(small_table(name))
    assert model.n_iter_ >= 1 and len(model.history_) >= 1
    assert model.history_.stopped and str(model.plan_)
    assert np.isfinite(model.objective_)
    assert model.certificate_.objective == pytest.approx(model.objective_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_nothing_that_only_a_fit_needs_is_left_behind(name, tmp_path):
    """Private attributes are what is learned: a loaded model, which never ran, has no fewer."""
    X = small_table(name)
    model = small_model(name).fit(X, [i % 2 for i in range(len(X))])  # some need a target
    assert find(name) is type(model)
    loaded = unweave.load(model.save(tmp_path / "model.unweave"))
    lost = {key for key in vars(model) if key not in vars(loaded)}
    assert not lost, lost
