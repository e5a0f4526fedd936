"""RBFNetwork: gradients, exact answers where there are any, three sorts of centres, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave
from unweave import RBFNetwork
from unweave.predict.radial.problem import Everything, Outputs, units

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([RBFNetwork(task="numbers", centers="all"), RBFNetwork(8, task="classes", centers="gradient")])
def test_other_settings_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("classes", [True, False])
def test_gradients_are_those_of_differences(classes, rng):
    X, h, t = rng.normal(size=(12, 3)), 4, 2
    target = np.eye(2)[rng.integers(0, 2, 12)] if classes else rng.normal(size=(12, t))
    everything = Everything(X, h, target, classes, 0.1)
    x = everything.start(rng.normal(size=(h, 3)), np.full(h, 0.4), rng.normal(size=h * t + t))
    for problem, at in ((everything, x), (Outputs(units(X, X[:h], np.full(h, 0.3)), target, classes, 0.1), x[-10:])):
        _, gradient = problem.value_and_gradient(at)
        for i in range(len(at)):
            step = np.zeros(len(at))
            step[i] = 1e-6
            slope = (problem.value_and_gradient(at + step)[0] - problem.value_and_gradient(at - step)[0]) / 2e-6
            assert gradient[i] == pytest.approx(slope, abs=1e-7)


def test_a_unit_says_what_the_formula_says(rng):
    X, y = rng.normal(3, 5, size=(40, 2)), rng.integers(0, 2, 40)
    model = RBFNetwork(5, beta=0.7, random_state=0).fit(X, y)
    away = (X[:, None] - model.centers_) / model.scale_
    np.testing.assert_allclose(model.activations(X), np.exp(-0.7 * (away**2).sum(axis=2)), atol=1e-9)


def test_with_a_unit_at_every_row_amounts_are_met_exactly(rng):
    X = rng.normal(size=(40, 2))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = RBFNetwork(centers="all", beta=2.0, ridge=1e-12).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-3)


def test_curved_classes_are_parted():
    X, y = make_moons(300, noise=0.15, random_state=1)
    for centers, n_units in (("kmeans", 30), ("all", 1), ("gradient", 8)):
        score = cross_val_score(RBFNetwork(n_units, centers=centers, random_state=0), X, y, cv=3).mean()
        assert score > 0.94, centers  # a line: 0.87


def test_learned_centres_are_no_worse_and_the_objective_never_rises():
    X, y = load_wine(return_X_y=True)
    fixed = RBFNetwork(6, random_state=0).fit(X, y)
    learned = RBFNetwork(6, centers="gradient", random_state=0).fit(X, y)
    assert learned.objective_ < fixed.objective_ and learned.score(X, y) > 0.99
    assert (np.diff(learned.history_.objective) <= 0).all()
    np.testing.assert_allclose(fixed.predict_proba(X).sum(axis=1), 1)


def test_several_amounts(rng):
    X = rng.normal(size=(80, 2))
    Y = np.stack([X[:, 0] ** 2, 100 * X[:, 1]], axis=1)
    model = RBFNetwork(30, random_state=0).fit(X, Y)
    assert model.predict(X).shape == (80, 2) and model.score(X, Y) > 0.9


def test_what_is_refused():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    for change, words in [
        ({"centers": "random"}, "centers must be one of"),
        ({"beta": 0}, "beta must be positive"),
        ({"task": "words"}, "task must be"),
    ]:
        with pytest.raises(ValueError, match=words):
            RBFNetwork(**change).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        RBFNetwork().fit(X, np.ones(10, dtype=int))
    with pytest.raises(ValueError, match="leave out the rows without a target"):
        RBFNetwork().fit(X, np.where(y, np.nan, 0.5))
    with pytest.raises(ValueError, match="y holds words"):
        RBFNetwork(task="numbers").fit(X, ["a", "b"] * 5)
    many = RBFNetwork(3).fit(X[:4], ["a", "b", "c", "d"])
    assert many.predict_proba(X[:4]).shape == (4, 4)
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'"):
        RBFNetwork(3).fit(X, 0.5 * y + X[:, 0] / 7).predict_proba(X)
    with pytest.raises(ValueError, match="use 'kmeans'"):
        RBFNetwork(centers="all").fit(np.random.default_rng(0).normal(size=(10_001, 1)), np.arange(10_001) % 2)


def test_saved_and_loaded(tmp_path):
    X, y = load_wine(return_X_y=True)
    model = RBFNetwork(10, random_state=0).fit(X, load_wine().target_names[y])
    loaded = unweave.load(model.save(tmp_path / "network.unweave"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
